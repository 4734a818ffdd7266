internal import SignetTransport
internal import Synchronization

/// One call on its way: its plan, its waiting caller and its body.
///
/// It ends exactly once, by whichever comes first: the reply, an error, its deadline, a
/// cancellation or the engine's end.
final class Call: Sendable {
    typealias Outcome = Result<Answer, TransportError>

    /// Who waits. It is told once, since it leaves the call's phase before it is.
    @safe struct Waiter: Sendable {
        private let continuation: UnsafeContinuation<Outcome, Never>

        init(_ continuation: UnsafeContinuation<Outcome, Never>) {
            unsafe self.continuation = continuation
        }

        func resume(returning outcome: Outcome) { unsafe continuation.resume(returning: outcome) }
    }

    /// What a caller waits for.
    enum Answer: Sendable {
        case reply(Reply)
        case handshake(ProbeResult)
    }

    private enum Phase {
        case new
        case waiting(Waiter)
        /// The caller has its answer; the body may still be coming.
        case answered
        case ended(TransportError)
    }

    let identifier: UInt64
    let plan: RequestPlan
    let isProbe: Bool
    /// Monotonic milliseconds.
    let deadline: Int64
    let body: BodyBuffer
    let timings = TimingsRecord()
    /// The request's body, where it is a stream.
    let upload: UploadFeed?

    private let phase = Mutex(Phase.new)

    init(
        identifier: UInt64, plan: RequestPlan, isProbe: Bool, deadline: Int64, body: BodyBuffer,
        upload: UploadFeed? = nil
    ) {
        self.identifier = identifier
        self.plan = plan
        self.isProbe = isProbe
        self.deadline = deadline
        self.body = body
        self.upload = upload
    }

    /// Lets the caller wait; a call that has ended meanwhile answers at once.
    ///
    /// - Returns: Whether it waits.
    func wait(_ waiter: Waiter) -> Bool {
        let error = phase.withLock { phase -> TransportError? in
            if case .ended(let error) = phase { return error }
            phase = .waiting(waiter)
            return nil
        }
        if let error { waiter.resume(returning: .failure(error)) }
        return error == nil
    }

    /// Gives the caller its answer, if it still waits.
    func answer(_ answer: Answer) {
        let waiter = phase.withLock { phase -> Waiter? in
            guard case .waiting(let waiter) = phase else { return nil }
            phase = .answered
            return waiter
        }
        waiter?.resume(returning: .success(answer))
    }

    /// Ends the call with an error: for the waiting caller, or for the reader of the body.
    func fail(_ error: TransportError) {
        let (waiter, reads) = phase.withLock { phase -> (Waiter?, Bool) in
            switch phase {
            case .waiting(let waiter):
                phase = .ended(error)
                return (waiter, false)
            case .new:
                phase = .ended(error)
                return (nil, false)
            case .answered: return (nil, true)
            case .ended: return (nil, false)
            }
        }
        waiter?.resume(returning: .failure(error))
        if reads { body.finish(error) }
    }

    /// Whether nobody waits for the call any more.
    var hasEnded: Bool {
        phase.withLock { if case .ended = $0 { true } else { false } }
    }
}
