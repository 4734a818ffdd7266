import SignetRPC
import SignetSystem
import SignetTransport

/// The limits of one call.
struct CallLimits: Sendable {
    /// Of one attempt.
    let timeout: Duration
    let connectTimeout: Duration?
    let attempts: Int
    /// In bytes.
    let maximumResponseSize: Int
    let retry: RetryStrategy
    let redirects: RedirectPolicy
    /// Whether the call may reach the server twice.
    let idempotency: Idempotency
    /// The end of all attempts together.
    var end: MonotonicTime?

    /// Makes limits of merged options.
    ///
    /// - Parameters:
    ///   - isProcedure: Whether the request is a remote procedure's call.
    ///   - limit: The system's limit of a response's size.
    ///   - now: The time of the call's start.
    init(
        _ options: RequestOptions, isProcedure: Bool,
        maximumResponseSize limit: Int, now: () -> MonotonicTime
    ) {
        timeout = options.timeout ?? .seconds(30)
        connectTimeout = options.connectTimeout
        attempts = options.attempts ?? 3
        maximumResponseSize = min(limit, options.maximumResponseSize ?? limit)
        retry = options.retry ?? .standard
        var redirects = options.redirects ?? RedirectPolicy()
        // A remote procedure's call is its body: as GET it would be another request.
        if isProcedure { redirects.changesMethod = false }
        self.redirects = redirects
        idempotency = options.idempotency ?? .byMethod
        end = options.deadline.map { now() + $0 }
    }

    /// The time that an attempt which begins now may take.
    ///
    /// - Throws: `timeout` if the deadline has passed.
    func timeLeft(at now: () -> MonotonicTime) throws(ClientError) -> Duration {
        guard let end else { return timeout }
        let left = end - now()
        guard left > .zero else { throw .deadlinePassed }
        return min(timeout, left)
    }
}

extension CallRecord.Limits {
    init(_ limits: CallLimits, deadline: Duration?) {
        self.init(
            deadline: deadline, timeout: limits.timeout, connectTimeout: limits.connectTimeout,
            attempts: limits.attempts, maximumResponseSize: limits.maximumResponseSize,
            maximumRedirects: limits.redirects.maximum)
    }
}
