import SignetTransport
import Synchronization

/// A call under way: its plan, its waiting caller and its body.
///
/// It ends exactly once, by whichever comes first: the response, an error, its deadline, a
/// cancellation or the engine's shutdown.
final class Call: Sendable {
    /// A suspended caller. It is removed from the call's phase before it is woken, so it is woken
    /// once.
    @safe struct Waiter: Sendable {
        private let continuation: UnsafeContinuation<Void, Never>

        init(_ continuation: UnsafeContinuation<Void, Never>) {
            unsafe self.continuation = continuation
        }

        func wake() { unsafe continuation.resume() }
    }

    /// The result that a caller waits for.
    enum Outcome: Sendable {
        indirect case response(ReceivedResponse)
        case handshake(ProbeResult)
    }

    private enum Phase {
        case new
        case waiting(Waiter)
        /// The caller was woken and hasn't received its outcome yet.
        case completed(Outcome)
        /// The caller has its outcome. The body may still be arriving.
        case delivered
        case ended(TransportError)
    }

    let identifier: UInt64
    let plan: RequestPlan
    let trust: HandshakeTrust
    let isProbe: Bool
    /// Monotonic milliseconds.
    let deadline: Int64
    let body: BodyBuffer
    let timings = TimingsRecord()
    /// The request's body if it is a stream.
    let upload: UploadFeed?
    /// Whether the caller's task runs on the loop, so that waking it only queues a job.
    let resumesOnLoop: Bool

    private let phase = Mutex(Phase.new)

    init(
        identifier: UInt64, plan: RequestPlan, trust: HandshakeTrust, isProbe: Bool,
        deadline: Int64, body: BodyBuffer, upload: UploadFeed?, resumesOnLoop: Bool
    ) {
        self.identifier = identifier
        self.plan = plan
        self.trust = trust
        self.isProbe = isProbe
        self.deadline = deadline
        self.body = body
        self.upload = upload
        self.resumesOnLoop = resumesOnLoop
    }

    /// Suspends the caller. If the call has already ended, wakes it at once.
    ///
    /// - Returns: Whether the caller waits.
    func wait(_ waiter: Waiter) -> Bool {
        let waits = phase.withLock { phase -> Bool in
            if case .ended = phase { return false }
            phase = .waiting(waiter)
            return true
        }
        if !waits { waiter.wake() }
        return waits
    }

    /// Returns the outcome for which the caller was woken.
    func receiveOutcome() throws(TransportError) -> Outcome {
        let outcome = phase.withLock { phase -> Result<Outcome, TransportError> in
            switch phase {
            case .completed(let outcome):
                phase = .delivered
                return .success(outcome)
            case .ended(let error): return .failure(error)
            case .new, .waiting, .delivered: return .failure(Self.noResponse)
            }
        }
        return try outcome.get()
    }

    static let noResponse = TransportError(.malformedResponse, "the call ended without a response")

    /// Wakes the caller with an outcome if it still waits.
    func complete(with outcome: Outcome) {
        let waiter = phase.withLock { phase -> Waiter? in
            guard case .waiting(let waiter) = phase else { return nil }
            phase = .completed(outcome)
            return waiter
        }
        waiter?.wake()
    }

    /// Ends the call with an error, for the waiting caller or for the reader of the body.
    func fail(_ error: TransportError) {
        let (waiter, endsBody) = phase.withLock { phase -> (Waiter?, Bool) in
            switch phase {
            case .waiting(let waiter):
                phase = .ended(error)
                return (waiter, false)
            case .new:
                phase = .ended(error)
                return (nil, false)
            case .completed, .delivered: return (nil, true)
            case .ended: return (nil, false)
            }
        }
        waiter?.wake()
        if endsBody { body.finish(error) }
    }

    /// Whether the call has ended with an error.
    var hasEnded: Bool {
        phase.withLock { if case .ended = $0 { true } else { false } }
    }
}
