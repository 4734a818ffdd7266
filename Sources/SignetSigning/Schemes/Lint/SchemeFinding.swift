/// A weakness of a scheme, found by ``SigningScheme/findings``.
///
/// A test can accept the weaknesses that a partner's rules have, and fail if a change adds another:
///
/// ```swift
/// import Foundation
///
/// let file = try Data(contentsOf: URL(filePath: "tea-trade.json"))
/// let scheme = try SigningScheme(document: Array(file))
/// let accepted: Set<SchemeFinding.Code> = [.noHost, .noNonce]
/// let unexpected = scheme.findings.filter { !accepted.contains($0.code) }
/// precondition(unexpected.isEmpty, "\(unexpected.map(\.message))")
/// ```
public struct SchemeFinding: Sendable, Hashable {
    /// The kind of weakness. Later versions may add kinds.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name in kebab-case, which stays the same in later versions.
        public let name: String

        private init(_ name: String) { self.name = name }

        /// The name.
        public var description: String { name }

        /// The scheme signs with MD5 or SHA-1, for which collisions are known (RFC 6151, RFC 6194).
        public static let brokenHash = Code("broken-hash")
        /// The scheme signs with an HMAC with SHA-1. It isn't broken, but no new scheme should use
        /// it (RFC 6194).
        public static let weakHash = Code("weak-hash")
        /// The scheme hashes the secret before the text. From one hash, an attacker can compute the
        /// hash of a longer text.
        public static let secretPrefixHash = Code("secret-prefix-hash")
        /// The scheme hashes the secret and the text instead of using an HMAC (RFC 2104).
        public static let noHMAC = Code("no-hmac")
        /// Two different messages can have the same signed text, because the joined parts are
        /// ambiguous.
        public static let unescapedJoin = Code("unescaped-join")
        /// The scheme sorts parameters as written pairs, so that `a1=x` comes before `a=1`. A
        /// partner that sorts by name gets another order.
        public static let pairSort = Code("pair-sort")
        /// The scheme signs values parsed from the body, not the bytes that were sent.
        public static let reserialisedBody = Code("re-serialised-body")
        /// The scheme doesn't sign a time to the second: a message can be replayed forever, or for
        /// a day if a date is signed.
        public static let noTime = Code("no-time")
        /// The scheme doesn't sign a nonce: a message can be replayed until it is too old.
        public static let noNonce = Code("no-nonce")
        /// The scheme doesn't sign the method.
        public static let noMethod = Code("no-method")
        /// The scheme doesn't sign the host: a message for one server is valid for another server
        /// too.
        public static let noHost = Code("no-host")
        /// The scheme doesn't sign the path.
        public static let noPath = Code("no-path")
        /// The scheme doesn't sign the query.
        public static let noQuery = Code("no-query")
        /// The scheme doesn't sign the body.
        public static let noBody = Code("no-body")
    }

    /// The kind of weakness.
    public let code: Code
    /// The weakness and its consequence, in one line.
    public let message: String
}
