/// The proof that a signature holds: exactly what it covered, and nothing else of the message.
///
/// Only ``Verifier`` makes one. A program acts on these values, not on the message they came from:
/// what is not here may have been written by anybody.
public struct VerifiedMessage: Sendable, Hashable {
    /// The scheme by which the message was signed.
    public let scheme: SigningScheme
    /// The key's id.
    public let keyID: String
    /// When the signature was made, in seconds since 1970; nil where the scheme has no time.
    public let created: Int64?
    /// When the signature ends, in seconds since 1970, where it says so.
    public let expiration: Int64?
    /// The nonce, where there is one.
    public let nonce: String?
    /// What the signature is for, where it says so.
    public let tag: String?
    /// The body, where the signature or a digest that it covers was computed over it; nil where the body
    /// may have been written by anybody, and where it lies elsewhere.
    public let body: [UInt8]?

    private let content: Content

    /// Where the covered values are.
    private enum Content: Sendable, Hashable {
        /// In the text that was signed, each with its name.
        case text([UInt8], names: [String], values: [Range<Int>])
        /// In the message, of which these parts are covered and no others are ever told.
        case message(SignableMessage, [SchemeCoverage.Part])

        var names: [String] {
            switch self {
            case .text(_, let names, _): names
            case .message(_, let parts): parts.map(\.name)
            }
        }

        /// The covered values; what else the message holds makes no difference between two proofs.
        var parts: [MessagePart] {
            switch self {
            case .text(let base, let names, let values):
                MessagePart.all(named: names, at: values, in: base)
            case .message(let message, let parts):
                Self.parts(parts, of: message)
            }
        }

        private static func parts(
            _ parts: [SchemeCoverage.Part], of message: SignableMessage
        ) -> [MessagePart] {
            var fields = FieldIndex(message.fields)
            return parts.map {
                MessagePart(
                    identifier: $0.name, value: $0.value(in: message, fields: &fields))
            }
        }

        static func == (left: Content, right: Content) -> Bool { left.parts == right.parts }

        func hash(into hasher: inout Hasher) { hasher.combine(parts) }
    }

    init(
        scheme: SigningScheme, claims: SignatureClaims, base: [UInt8], names: [String],
        values: [Range<Int>], body: [UInt8]?
    ) {
        self.body = body
        self.scheme = scheme
        self.keyID = claims.keyID
        self.created = claims.created
        self.expiration = claims.expiration
        self.nonce = claims.nonce
        self.tag = claims.tag
        self.content = .text(base, names: names, values: values)
    }

    /// A proof by a scheme's document, whose text does not hold every value as it stands.
    init(
        scheme: SigningScheme, keyID: String, created: Int64?, expiration: Int64?, nonce: String?,
        covered: [SchemeCoverage.Part], of message: SignableMessage, body: [UInt8]?
    ) {
        self.body = body
        self.scheme = scheme
        self.keyID = keyID
        self.created = created
        self.expiration = expiration
        self.nonce = nonce
        self.tag = nil
        self.content = .message(message, covered)
    }

    /// The names of the covered components in the signature's order.
    var names: [String] { content.names }

    /// The covered components in the signature's order.
    ///
    /// A component without parameters is named without quotes, another one as RFC 9421 writes it. For
    /// `salted-hmac-v1` these are `@method`, `@authority`, `@path`, `@query` (without its `?`),
    /// the covered fields, and `body-digest`, the base64 of the body's hash. By a scheme's document they
    /// are these and `body`; parameters of a form or an XML body, and of a query that is not signed
    /// whole, are the text that was signed, by its name in the document, such as `{parameters}`.
    public var covered: [MessagePart] { content.parts }

    /// The value of a covered component, or nil where it is not covered.
    ///
    /// - Parameter component: The order of its parameters means nothing.
    public subscript(component: ComponentIdentifier) -> [UInt8]? {
        for part in covered {
            let name = part.identifier
            if name.utf8.elementsEqual(component.listed.utf8) { return part.value }
            guard !component.parameters.isEmpty, name.utf8.first == ASCII.quote,
                let known = try? ComponentIdentifier.list(parsing: name), known == [component]
            else { continue }
            return part.value
        }
        return nil
    }

    /// The value of a covered component by the name that ``covered`` gives it, or nil where it is not
    /// covered.
    public subscript(identifier: String) -> [UInt8]? {
        covered.first { $0.identifier.utf8.elementsEqual(identifier.utf8) }?.value
    }
}

/// A named part of what is signed, such as a covered component.
public struct MessagePart: Sendable, Hashable {
    /// The identifier, without quotes where it has no parameters.
    public let identifier: String
    /// The value as it was signed.
    public let value: [UInt8]

    static func all(
        named names: [String], at values: [Range<Int>], in base: [UInt8]
    ) -> [MessagePart] {
        zip(names, values).map { MessagePart(identifier: $0, value: Array(base[$1])) }
    }
}

/// What a signature says of itself.
struct SignatureClaims: Sendable {
    var keyID: String
    var created: Int64
    var expiration: Int64?
    var nonce: String?
    var tag: String?
    /// Whether `expiration` alone bounds the age, not the policy's maximum age.
    var ignoresMaximumAge = false
}
