internal import HTTPTypes

/// Which calls are worth another attempt, and the pauses before it.
public struct RetryPolicy: Sendable, Hashable {
    /// The statuses that are worth another attempt, if the call is idempotent.
    public var statusCodes: Set<Int> = []
    /// The pause after the first attempt. It doubles with each attempt, and up to half of it is random.
    public var firstPause = Duration.milliseconds(100)
    /// The longest pause. A server that asks for a longer one isn't asked again.
    public var longestPause = Duration.seconds(5)

    /// Creates the default policy: only what can't have reached the server is sent again.
    public init() {}

    /// Returns the pause before the next attempt.
    func pause(after attempt: Int) -> Duration {
        let whole = min(longestPause, firstPause * (1 << min(attempt - 1, 16)))
        return whole * Double.random(in: 0.5...1)
    }

    /// Whether a method does no more if it arrives twice (RFC 9110, section 9.2.2).
    static func isIdempotent(_ method: HTTPRequest.Method) -> Bool {
        [.get, .head, .options, .put, .delete].contains(method)
    }

    /// Returns the pause that a response is worth, or nil if the response is final.
    func pause(after attempt: Int, response: HTTPResponse) -> Duration? {
        guard statusCodes.contains(response.status.code) else { return nil }
        let pause = pause(after: attempt)
        guard let text = response.headerFields[.retryAfter] else { return pause }
        guard let seconds = Int(text), seconds >= 0 else { return pause }
        return .seconds(seconds) > longestPause ? nil : max(pause, .seconds(seconds))
    }
}
