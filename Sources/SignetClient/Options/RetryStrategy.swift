import HTTPTypes
import SignetBase

/// Which calls are worth another attempt, and the pauses before it.
///
/// A call that can't have reached the server (`name`, `offline`, `connect`, `proxy`) is sent again,
/// with any method. After a status of the list, or a response that was cut off, only an
/// idempotent call is (`RequestOptions.idempotency`; by default GET, HEAD, OPTIONS, PUT and
/// DELETE). A body that can be read only once is never sent again. Each host has a budget: in an
/// outage, calls end with their first failure after 35 further attempts. The article <doc:Retries>
/// has the details.
///
/// ```swift
/// var options = RequestOptions(idempotency: .always)  // this POST may arrive twice
/// options.attempts = 5
/// options.retry = RetryStrategy()
/// options.retry?.longestPause = .seconds(1)
/// ```
public struct RetryStrategy: Sendable, Hashable {
    /// The statuses that are worth another attempt. Defaults to 429, 502, 503 and 504.
    public var statusCodes: Set<Int> = [429, 502, 503, 504]
    /// The longest pause after the first attempt; it doubles with each attempt. The pause is
    /// random, between half of it and all of it. Defaults to 100 ms.
    public var firstPause = Duration.milliseconds(100)
    /// The longest pause. If a server asks for a longer one (`Retry-After`), the call ends with
    /// that response: an earlier attempt would be refused too. Defaults to 5 s.
    public var longestPause = Duration.seconds(5)

    /// Whether a longer wait that a server asks for is shortened, as AWS's SDKs do. For their test
    /// cases.
    package var shortensWaits = false

    /// Creates the default policy.
    public init() {}

    static let standard = RetryStrategy()

    /// Returns the pause before the next attempt.
    ///
    /// - Parameter random: In 0..<1.
    func pause(after attempt: Int, random: Double) -> Duration {
        var whole = firstPause
        for _ in 1..<max(attempt, 1) where whole < longestPause { whole *= 2 }
        return min(longestPause, whole) * (0.5 + min(max(random, 0), 1) / 2)
    }

    /// Whether a method does no more if it arrives twice (RFC 9110, section 9.2.2).
    static func isIdempotent(_ method: HTTPRequest.Method) -> Bool {
        switch method {
        case .get, .head, .options, .put, .delete: true
        default: false
        }
    }

    /// Whether a status tells of a failure of the server.
    func isFailure(_ status: Int) -> Bool { status >= 500 || statusCodes.contains(status) }

    /// Returns the pause that a status is worth, or nil if the response is final.
    ///
    /// - Parameter wait: The time that the response asks to wait; nil if it doesn't ask.
    func pause(
        after attempt: Int, status: Int, wait: Duration?, random: Double
    ) -> Duration? {
        guard statusCodes.contains(status) else { return nil }
        let pause = pause(after: attempt, random: random)
        guard let wait else { return pause }
        if shortensWaits { return min(max(pause, wait), pause + longestPause) }
        return wait <= longestPause ? max(pause, wait) : nil
    }

    /// Returns the time that a response asks to wait: seconds, or a date (RFC 9110, section 10.2.3)
    /// that is read against the response's own Date. Nil if the field is missing or malformed.
    static func wait(_ response: HTTPResponse, now: Int64) -> Duration? {
        guard let text = response.headerFields[.retryAfter] else { return nil }
        if text.utf8.allSatisfy(\.isDigit) {
            return text.isEmpty ? nil : .seconds(Int64(text) ?? .max)
        }
        guard let date = UnixTime.parseHTTPDate(inAnyForm: text, now: now) else { return nil }
        let own = response.headerFields[.date].flatMap {
            UnixTime.parseHTTPDate(inAnyForm: $0, now: now)
        }
        return .seconds(max(0, date - (own ?? now)))
    }
}
