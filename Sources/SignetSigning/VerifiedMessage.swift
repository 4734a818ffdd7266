/// The proof that a signature holds: exactly what it covered, and nothing else of the message.
///
/// Only ``Verifier`` makes one. A program acts on these values, not on the message they came from:
/// what is not here may have been written by anybody.
public struct VerifiedMessage: Sendable, Hashable {
    /// One covered component.
    public struct Component: Sendable, Hashable {
        /// The identifier, without quotes.
        public let identifier: String
        /// The value as it was signed.
        public let value: [UInt8]
    }

    /// The scheme by which the message was signed.
    public let scheme: SigningScheme
    /// The key's id.
    public let keyID: String
    /// When the signature was made, in seconds since 1970.
    public let created: Int64
    /// When the signature ends, in seconds since 1970, where it says so.
    public let expires: Int64?
    /// The nonce, where there is one.
    public let nonce: String?
    /// What the signature is for, where it says so.
    public let tag: String?

    private let base: [UInt8]
    private let names: [String]
    private let values: [Range<Int>]

    init(
        scheme: SigningScheme, claims: SignatureClaims, base: [UInt8], names: [String],
        values: [Range<Int>]
    ) {
        self.scheme = scheme
        self.keyID = claims.keyID
        self.created = claims.created
        self.expires = claims.expires
        self.nonce = claims.nonce
        self.tag = claims.tag
        self.base = base
        self.names = names
        self.values = values
    }

    /// The covered components in the signature's order.
    ///
    /// For `salted-hmac-v1` these are `@method`, `@authority`, `@path`, `@query` (without its `?`),
    /// the covered fields, and `body-digest`, the base64 of the body's hash.
    public var covered: [Component] {
        zip(names, values).map { Component(identifier: $0, value: Array(base[$1])) }
    }

    /// The value of a covered component, or nil where it is not covered.
    public subscript(identifier: String) -> [UInt8]? {
        for (name, range) in zip(names, values) where name.utf8.elementsEqual(identifier.utf8) {
            return Array(base[range])
        }
        return nil
    }
}

/// What a signature says of itself.
struct SignatureClaims: Sendable {
    var keyID: String
    var created: Int64
    var expires: Int64?
    var nonce: String?
    var tag: String?
}
