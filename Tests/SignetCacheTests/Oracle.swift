import HTTPTypes
import SignetBase
import TestSupport

/// The words of a random origin about one content. All times are seconds after the arrival.
struct OraclePolicy {
    var maxAge: Int64?
    var expires: Int64?
    var unchangedFor: Int64?
    var age: Int64?
    var dateOffset: Int64 = 0
    var staleWhileRevalidate: Int64?
    var staleIfError: Int64?
    var isNoStore = false
    var isNoCache = false
    var mustRevalidate = false
    var isImmutable = false
    var varies: [String] = []
    var hasTag = false

    init(_ random: inout SplitMix) {
        func perhaps(_ chance: Int, _ range: ClosedRange<Int64>) -> Int64? {
            Int.random(in: 0..<100, using: &random) < chance
                ? Int64.random(in: range, using: &random) : nil
        }
        maxAge = perhaps(60, 0...60)
        expires = perhaps(20, -5...60)
        unchangedFor = perhaps(30, 0...600)
        age = perhaps(20, 0...40)
        dateOffset = perhaps(20, -40...10) ?? 0
        staleWhileRevalidate = perhaps(20, 0...40)
        staleIfError = perhaps(20, 0...60)
        isNoStore = perhaps(8, 0...0) != nil
        isNoCache = perhaps(8, 0...0) != nil
        mustRevalidate = perhaps(15, 0...0) != nil
        isImmutable = perhaps(15, 0...0) != nil
        varies = ["Foo", "Bar"].filter { _ in perhaps(25, 0...0) != nil }
        if perhaps(4, 0...0) != nil { varies.append("*") }
        hasTag = perhaps(60, 0...0) != nil
    }

    /// The fields of a response that arrives at a time.
    func fields(version: Int, at now: Int64, random: inout SplitMix) -> HTTPFields {
        var directives: [String] = []
        func add(_ name: String, _ value: Int64?) {
            if let value { directives.append("\(name)=\(value)") }
        }
        add("max-age", maxAge)
        add("stale-while-revalidate", staleWhileRevalidate)
        add("Stale-If-Error", staleIfError)
        if isNoStore { directives.append("no-store") }
        if isNoCache { directives.append("No-Cache") }
        if mustRevalidate { directives.append("must-revalidate") }
        if isImmutable { directives.append("immutable") }
        // What a private cache doesn't know or doesn't obey.
        for word in ["private", "public", "s-maxage=0", "proxy-revalidate", "x=\"no-store, y\""]
        where Int.random(in: 0..<10, using: &random) == 0 { directives.append(word) }
        directives.shuffle(using: &random)
        var fields = HTTPFields()
        for directive in directives {
            fields.append(HTTPField(name: .cacheControl, value: directive))
        }
        fields[.date] = UnixTime.httpDate(now + dateOffset)
        fields[.expires] = expires.map { UnixTime.httpDate(now + $0) }
        fields[.lastModified] = unchangedFor.map { UnixTime.httpDate(now - $0) }
        fields[.age] = age.map(String.init)
        fields[.vary] = varies.isEmpty ? nil : varies.joined(separator: ", ")
        if hasTag { fields[.eTag] = "\"v\(version)\"" }
        fields[HTTPField.Name("X-Version")!] = String(version)
        return fields
    }

    var initialAge: Int64 { max(age ?? 0, -dateOffset, 0) }

    var lifetime: Int64 {
        if let maxAge { return maxAge }
        if let expires { return max(0, expires - dateOffset) }
        return unchangedFor.map { max(0, $0 + dateOffset) / 10 } ?? 0
    }
}

/// The wishes of a random caller.
struct OracleRequest: Sendable {
    var scope = ""
    var path = ""
    var method = HTTPRequest.Method.get
    var fields: [String: String] = [:]
    var maxAge: Int64?
    var minFresh: Int64?
    var maxStale: Int64?
    var staleIfError: Int64?
    var isNoStore = false
    var isNoCache = false
    var isOnlyIfCached = false
    var range: ClosedRange<Int>?

    init() {}

    init(_ random: inout SplitMix) {
        func perhaps(_ chance: Int, _ range: ClosedRange<Int64> = 0...60) -> Int64? {
            Int.random(in: 0..<100, using: &random) < chance
                ? Int64.random(in: range, using: &random) : nil
        }
        scope = perhaps(50) == nil ? "one" : "two"
        path = "/\(perhaps(100, 0...2) ?? 0)"
        if perhaps(8) != nil { method = perhaps(50) == nil ? .put : .post }
        if perhaps(8) != nil { method = .head }
        for name in ["Foo", "Bar"] {
            if let value = perhaps(60, 1...2) { fields[name] = String(value) }
        }
        maxAge = perhaps(10)
        minFresh = perhaps(10)
        maxStale = perhaps(15)
        staleIfError = perhaps(10)
        isNoStore = perhaps(4) != nil
        isNoCache = perhaps(8) != nil
        isOnlyIfCached = perhaps(5) != nil
        if method == .get, let first = perhaps(20, 0...14) {
            range = Int(first)...Int(first + 13)
        }
    }

    var request: HTTPRequest {
        var request = HTTPRequest(
            method: method, scheme: "https", authority: "api.example.com", path: path)
        for (name, value) in fields { request.headerFields[HTTPField.Name(name)!] = value }
        let numbers = [
            ("max-age", maxAge), ("min-fresh", minFresh), ("max-stale", maxStale),
            ("stale-if-error", staleIfError),
        ]
        let words = [
            (isNoStore, "no-store"), (isNoCache, "no-cache"), (isOnlyIfCached, "only-if-cached"),
        ]
        let directives =
            numbers.compactMap { name, value in value.map { "\(name)=\($0)" } }
            + words.filter(\.0).map(\.1)
        if !directives.isEmpty {
            request.headerFields[.cacheControl] = directives.joined(separator: ", ")
        }
        if let range {
            request.headerFields[.range] = "bytes=\(range.lowerBound)-\(range.upperBound)"
        }
        return request
    }
}

/// Says which responses RFC 9111 allows a cache to serve. It reads no field of a message but knows
/// what the origin and the callers meant, and keeps all that the origin ever sent.
struct Oracle {
    /// One content of the origin.
    struct Version {
        let path: String
        let scope: String
        /// The fields of the request that it was made for.
        let fields: [String: String]
        let policy: OraclePolicy
        /// When the origin sent or confirmed it, since the last PUT or POST, and in which turn.
        var confirmed: [(time: Int64, turn: Int)] = []
    }

    private(set) var versions: [Version] = []
    /// The number of the calls that run at once.
    private var turn = 0
    private var invalidated: Set<String> = []

    /// 28 bytes that name the user, the path and the version.
    func content(of version: Int) -> [UInt8] {
        let digits = String(version)
        let number = String(repeating: "0", count: 6 - digits.count) + digits
        let (scope, path) = (versions[version].scope, versions[version].path)
        return Array(String(repeating: "\(scope):\(path):v\(number)", count: 2).utf8)
    }

    /// Adds a content and returns its number.
    mutating func add(for request: OracleRequest, _ policy: OraclePolicy) -> Int {
        versions.append(
            Version(
                path: request.path, scope: request.scope, fields: request.fields, policy: policy))
        return versions.count - 1
    }

    mutating func confirm(_ version: Int, at now: Int64) {
        versions[version].confirmed.append((now, turn))
    }

    /// Forbids what was sent before this turn, for the turns that follow.
    mutating func invalidate(path: String) { invalidated.insert(path) }

    /// Ends the calls that run at once.
    mutating func endTurn() {
        for index in versions.indices where invalidated.contains(versions[index].path) {
            versions[index].confirmed.removeAll { $0.turn < turn }
        }
        invalidated = []
        turn += 1
    }

    /// Returns why a response must not be served, or nil.
    func objection(
        to number: Int, age: Int64, for request: OracleRequest, at now: Int64, afterFailure: Bool
    ) -> String? {
        let version = versions[number]
        let policy = version.policy
        guard version.scope == request.scope else { return "another user's" }
        guard version.path == request.path else { return "another URL's" }
        guard request.method == .get || request.method == .head else { return "a method" }
        guard !policy.isNoStore else { return "no-store of the response" }
        guard !request.isNoStore else { return "no-store of the request" }
        for name in policy.varies
        where name == "*" || version.fields[name] != request.fields[name] {
            return "another variant"
        }
        guard
            version.confirmed.contains(where: {
                $0.time <= now && now - $0.time + policy.initialAge == age
            })
        else {
            return "an Age of \(age), or it was invalidated"
        }
        let staleness = age - policy.lifetime
        let isFresh = staleness < 0
        guard !policy.isNoCache, !request.isNoCache else { return "no-cache" }
        if afterFailure {
            guard !policy.mustRevalidate else { return "must-revalidate after a failure" }
            let window = max(policy.staleIfError ?? -.max, request.staleIfError ?? -.max)
            return staleness <= window ? nil : "no stale-if-error"
        }
        let isReload = request.maxAge == 0 && policy.isImmutable && isFresh
        if let maxAge = request.maxAge, age > maxAge, !isReload { return "max-age" }
        if let minFresh = request.minFresh, -staleness < minFresh { return "min-fresh" }
        if isFresh { return nil }
        guard !policy.mustRevalidate else { return "must-revalidate" }
        if let maxStale = request.maxStale, staleness <= maxStale { return nil }
        if let window = policy.staleWhileRevalidate, staleness <= window { return nil }
        return "stale"
    }
}
