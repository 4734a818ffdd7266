internal import SignetTransport
internal import Synchronization

/// One call on its way: its plan, its waiting caller and its body.
///
/// It ends exactly once, by whichever comes first: the reply, an error, its deadline, a
/// cancellation or the engine's end.
final class Call: Sendable {
    /// Who waits. It is woken once, since it leaves the call's phase before it is.
    @safe struct Waiter: Sendable {
        private let continuation: UnsafeContinuation<Void, Never>

        init(_ continuation: UnsafeContinuation<Void, Never>) {
            unsafe self.continuation = continuation
        }

        func wake() { unsafe continuation.resume() }
    }

    /// What a caller waits for.
    enum Answer: Sendable {
        case reply(Reply)
        case handshake(ProbeResult)
    }

    private enum Phase {
        case new
        case waiting(Waiter)
        /// The caller is woken, to take its answer.
        case answered(Answer)
        /// The caller has its answer; the body may still be coming.
        case taken
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
        let waits = phase.withLock { phase -> Bool in
            if case .ended = phase { return false }
            phase = .waiting(waiter)
            return true
        }
        if !waits { waiter.wake() }
        return waits
    }

    /// What the caller was woken for.
    func takeAnswer() throws(TransportError) -> Answer {
        let answer = phase.withLock { phase -> Result<Answer, TransportError> in
            switch phase {
            case .answered(let answer):
                phase = .taken
                return .success(answer)
            case .ended(let error): return .failure(error)
            case .new, .waiting, .taken: return .failure(Self.noReply)
            }
        }
        return try answer.get()
    }

    static let noReply = TransportError(code: .malformedResponse, message: "no reply came")

    /// Gives the caller its answer, if it still waits.
    func answer(_ answer: Answer) {
        let waiter = phase.withLock { phase -> Waiter? in
            guard case .waiting(let waiter) = phase else { return nil }
            phase = .answered(answer)
            return waiter
        }
        waiter?.wake()
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
            case .answered, .taken: return (nil, true)
            case .ended: return (nil, false)
            }
        }
        waiter?.wake()
        if reads { body.finish(error) }
    }

    /// Whether nobody waits for the call any more.
    var hasEnded: Bool {
        phase.withLock { if case .ended = $0 { true } else { false } }
    }
}
