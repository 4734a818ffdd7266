import HTTPTypes
import SignetBase

/// A private cache's decisions by RFC 9111, without storage, clock or I/O.
///
/// Ask ``decide(_:key:stored:at:)`` before a request is sent, ``receive(_:to:at:)`` when the
/// header of a response has arrived, and ``fail(_:at:)`` if the origin can't be reached. The caller
/// keeps the stored responses and applies the changes. Times are Unix seconds.
public struct PrivateCache: Sendable, Hashable {
    /// The name in `Cache-Status`, a token.
    public var name = "signet"
    /// The percentage of the time since `Last-Modified` for which a response without a lifetime is
    /// fresh (section 4.2.2). The default is 10, which the section calls typical; 0 is never.
    public var heuristicPercentage: Int64 = 10
    /// The longest heuristic lifetime, in seconds. The default is a week.
    public var longestHeuristicLifetime: Int64 = 604_800
    /// The `stale-if-error` of a response that has none, in seconds. The default is `nil`: without
    /// the directive, a stale response isn't served when the origin fails.
    public var staleIfError: Int64?

    /// Creates a cache with the defaults.
    public init() {}

    /// The seconds for which a response is fresh after it was made (section 4.2.1).
    public func lifetime(of stored: StoredResponse) -> Int64 {
        if let lifetime = stored.explicitLifetime { return lifetime }
        guard
            Self.heuristicStatuses.contains(stored.response.status.code)
                || stored.directives.contains(.isPublic),
            let lastModified = stored.lastModified
        else { return 0 }
        let unchanged = max(0, stored.date - lastModified)
        return min(unchanged * heuristicPercentage / 100, longestHeuristicLifetime)
    }

    /// Whether a response is fresh at a time (section 4.2): it can be used without validation,
    /// unless a directive of the request or the response forbids it.
    public func isFresh(_ stored: StoredResponse, at now: Int64) -> Bool {
        guard !stored.isInvalidated, let age = stored.age(at: now) else { return false }
        return lifetime(of: stored) > age
    }

    /// The statuses whose responses may have a heuristic lifetime (RFC 9110, section 15.1).
    static let heuristicStatuses: Set<Int> = [
        200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501,
    ]
}

/// Whether and why a stored response may be used without validation.
enum Use {
    case fresh
    /// Stale, and the request's `max-stale` accepts it (section 5.2.1.2).
    case accepted
    /// Stale, and `stale-while-revalidate` allows it (RFC 5861, section 3).
    case whileRevalidating
    /// Fresh, but a directive of the request forbids it.
    case refusedByRequest
    case refused
}

extension PrivateCache {
    /// Decides about the use of a stored response (section 4).
    func use(of stored: StoredResponse, for asked: CacheDirectives, at now: Int64) -> Use {
        // no-cache of the response (section 5.2.2.4); an invalidated response (section 4.4).
        guard !stored.isInvalidated, !stored.directives.contains(.noCache),
            let age = stored.age(at: now)
        else { return .refused }
        let remaining = lifetime(of: stored) - age
        let isFresh = remaining > 0
        let refused: Use = isFresh ? .refusedByRequest : .refused
        if asked.contains(.noCache) { return refused }  // Section 5.2.1.4.
        if let maxAge = asked.maxAge, age > maxAge || maxAge == 0 {  // Section 5.2.1.1.
            // A reload sends max-age=0, and doesn't validate an immutable response while it is
            // fresh; a forced reload sends no-cache (RFC 8246, section 2).
            guard maxAge == 0, isFresh, stored.directives.contains(.immutable) else {
                return refused
            }
        }
        // Section 5.2.1.3.
        if let minFresh = asked.minFresh, remaining < minFresh { return refused }
        if isFresh { return .fresh }
        // must-revalidate forbids each stale use (section 5.2.2.2).
        guard !stored.directives.contains(.mustRevalidate) else { return .refused }
        if let maxStale = asked.maxStale, isAny(maxStale) || -remaining <= maxStale {
            return .accepted
        }
        if asked.maxAge == nil, let window = stored.directives.staleWhileRevalidate,
            -remaining <= window
        {
            return .whileRevalidating
        }
        return .refused
    }

    private func isAny(_ maxStale: Int64) -> Bool { maxStale == CacheDirectives.mostSeconds }

    /// Whether a response may be served because the origin failed (RFC 5861, section 4).
    func servesAfterFailure(
        _ stored: StoredResponse, for asked: CacheDirectives, at now: Int64
    ) -> Bool {
        // A `no-cache` of either side and `must-revalidate` demand a successful validation.
        // A stored failure doesn't replace another one.
        guard !stored.isInvalidated, stored.response.status.code < 500, !asked.contains(.noCache),
            !stored.directives.contains(.noCache), !stored.directives.contains(.mustRevalidate),
            let age = stored.age(at: now)
        else { return false }
        let windows = [stored.directives.staleIfError ?? staleIfError, asked.staleIfError]
        guard let window = windows.compactMap(\.self).max() else { return false }
        return age - lifetime(of: stored) <= window
    }
}
