import SignetCache

/// Whether the responses to calls are kept, and until when.
///
/// By default nothing is kept. ``http`` keeps what HTTP allows; the other rules are the program's
/// own and hold for any protocol. If they are combined, a response is used only while all of them
/// allow it.
///
/// ```swift
/// var options = RequestOptions()
/// options.cache = .age(.seconds(180))
/// options.cache = .version(api: "2", app: "1.4.0").limited(to: 1 << 20)
/// ```
///
/// `never` of any level wins over the rules of all other levels: an endpoint whose data must not
/// be kept can't be cached by a service or a call.
public struct CachePolicy: Sendable, Hashable, CustomStringConvertible {
    /// The program's own rules.
    struct OwnRules: Sendable, Hashable {
        var age: Duration?
        var apiVersion: String?
        var appVersion: String?
        var byteCount: Int?
    }

    enum Rule: Sendable, Hashable {
        case never, http
        case own(OwnRules)
    }

    let rule: Rule

    /// Nothing is stored, and nothing that is stored is used.
    public static let never = CachePolicy(rule: .never)

    /// A private cache by RFC 9111, for REST calls and exchanges: the response's fields decide.
    public static let http = CachePolicy(rule: .http)

    /// Keeps responses for a time after they arrived.
    public static func age(_ age: Duration) -> CachePolicy {
        CachePolicy(rule: .own(OwnRules(age: age)))
    }

    /// Keeps responses until the version of the API or the app is another one. Either may be `nil`.
    public static func version(api: String? = nil, app: String? = nil) -> CachePolicy {
        CachePolicy(rule: .own(OwnRules(apiVersion: api, appVersion: app)))
    }

    /// Keeps the responses of an API that were used last, as many as take so many bytes.
    public static func size(_ byteCount: Int) -> CachePolicy {
        CachePolicy(rule: .own(OwnRules(byteCount: byteCount)))
    }

    /// Returns the program's own rules with a time for which responses are kept.
    public func lasting(_ age: Duration) -> CachePolicy { with { $0.age = age } }

    /// Returns the program's own rules with versions. A `nil` keeps the version that is set.
    public func versioned(api: String? = nil, app: String? = nil) -> CachePolicy {
        with {
            $0.apiVersion = api ?? $0.apiVersion
            $0.appVersion = app ?? $0.appVersion
        }
    }

    /// Returns the program's own rules with a limit of the bytes that an API's responses take.
    public func limited(to byteCount: Int) -> CachePolicy { with { $0.byteCount = byteCount } }

    /// `never` stays as it is, and HTTP's own rules become the program's.
    private func with(_ change: (inout OwnRules) -> Void) -> CachePolicy {
        if rule == .never { return self }
        var rules = ownRules ?? OwnRules()
        change(&rules)
        return CachePolicy(rule: .own(rules))
    }

    var ownRules: OwnRules? { if case .own(let rules) = rule { rules } else { nil } }

    /// The rules in words, such as `age 180.0 seconds`.
    public var description: String {
        switch rule {
        case .never: return "never"
        case .http: return "http"
        case .own(let rules):
            let parts = [
                rules.age.map { "age \($0)" }, rules.apiVersion.map { "API version \($0)" },
                rules.appVersion.map { "app version \($0)" },
                rules.byteCount.map { "\($0) bytes" },
            ]
            return parts.compactMap(\.self).joined(separator: ", ")
        }
    }

    /// Why the rules can't be used; nil if they can.
    var problem: String? {
        guard let rules = ownRules else { return nil }
        if let age = rules.age, age <= .zero { return "the age is not above zero" }
        if let count = rules.byteCount, count < 1 { return "the size is not above zero" }
        return nil
    }
}

/// Whether a call that has a ``CachePolicy`` uses what is stored.
public enum CacheMode: String, Sendable, Hashable, CaseIterable {
    /// A stored response is used if the policy allows it, else the server is asked.
    case standard = "default"
    /// The server is asked, and its response is stored.
    case refresh
    /// Only a stored response is used, even if it is stale, unless it demands to be validated.
    /// Without one the call ends with `not-cached`.
    case only
}

/// How the cache handled a call.
public struct CacheUse: Sendable, Hashable {
    /// The decision about a call. New ones may be added.
    public struct Decision: Sendable, Hashable, CustomStringConvertible {
        private let name: String

        /// The name in kebab-case.
        public var description: String { name }

        /// A stored response was used, and no server was asked.
        public static let hit = Decision(name: "hit")
        /// Nothing that can be used is stored.
        public static let miss = Decision(name: "miss")
        /// The server said that the stored response is still valid.
        public static let validated = Decision(name: "validated")
        /// A stored part was completed with bytes of the server.
        public static let completed = Decision(name: "completed")
        /// The server couldn't be reached or failed, and a stale response was used.
        public static let stale = Decision(name: "stale")
        /// The cache wasn't asked.
        public static let bypassed = Decision(name: "bypassed")
    }

    /// The merged rules.
    public internal(set) var policy: CachePolicy
    /// The mode.
    public internal(set) var mode: CacheMode
    /// A keyed digest of all that tells the call's responses apart; nil if the call isn't cached.
    public var key: String? { hashedKey?.text }
    var hashedKey: HashedKey?
    /// The decision.
    public internal(set) var decision: Decision
    /// More about the decision, such as `uri-miss` or `stale-while-revalidate` (RFC 9211).
    public internal(set) var reason: String?
    /// The seconds since the stored response was made; nil if none was used.
    public internal(set) var age: Int64?
    /// Whether the server's response was stored.
    public internal(set) var isStored = false
}

extension CacheUse {
    /// The key of the stored responses, which is hashed when somebody reads it. It shows the hash
    /// alone.
    struct HashedKey: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
        private let key: CacheKey
        private let hash: @Sendable (CacheKey) -> String?

        init(_ key: CacheKey, hash: @escaping @Sendable (CacheKey) -> String?) {
            (self.key, self.hash) = (key, hash)
        }

        var text: String? { hash(key) }
        var description: String { text ?? "" }
        var customMirror: Mirror { Mirror(self, children: ["text": description]) }

        static func == (left: HashedKey, right: HashedKey) -> Bool { left.key == right.key }
        func hash(into hasher: inout Hasher) { hasher.combine(key) }
    }

    /// Whether the caller got a stored response.
    var isServed: Bool { decision != .miss && decision != .bypassed }
}
