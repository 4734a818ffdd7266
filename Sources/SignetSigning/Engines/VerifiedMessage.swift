import SignetBase

/// The proof of a valid signature: the values that it covered, and nothing else of the message.
///
/// Only ``Verifier`` creates it. Act on these values, not on the message, because anyone may have
/// changed the rest of the message.
public struct VerifiedMessage: Sendable, Hashable {
    /// The scheme of the signature.
    public let scheme: SigningScheme
    /// The key's id.
    public let keyID: String
    /// The time of the signature, in seconds since 1970; nil if the scheme has no time.
    public let created: Int64?
    /// The expiration, in seconds since 1970; nil if the signature has none.
    public let expiration: Int64?
    /// The nonce; nil if the signature has none.
    public let nonce: String?
    /// The purpose of the signature; nil if it has no tag.
    public let tag: String?
    /// The body, if the signature or a covered digest was computed over it; nil if neither was, or
    /// if the body isn't in memory.
    public let body: [UInt8]?

    private let content: Content

    /// The covered values.
    private enum Content: Sendable, Hashable {
        /// Parts of the signed text.
        case text(SignedText)
        /// Parts of the message. No other parts are ever returned.
        case message(SignableMessage, [SchemeCoverage.Part])

        var names: [String] {
            switch self {
            case .text(let text): text.names
            case .message(_, let parts): parts.map(\.name)
            }
        }

        /// The covered values, which are all that `==` compares.
        var parts: [MessagePart] {
            switch self {
            case .text(let text): return text.parts
            case .message(let message, let parts):
                var fields = FieldIndex(message.fields)
                return parts.map {
                    MessagePart(identifier: $0.name, value: $0.value(in: message, fields: &fields))
                }
            }
        }

        static func == (left: Content, right: Content) -> Bool { left.parts == right.parts }

        func hash(into hasher: inout Hasher) { hasher.combine(parts) }
    }

    init(
        scheme: SigningScheme, claims: SignatureClaims, text: SignedText, body: [UInt8]?
    ) {
        self.body = body
        self.scheme = scheme
        self.keyID = claims.keyID
        self.created = claims.created
        self.expiration = claims.expiration
        self.nonce = claims.nonce
        self.tag = claims.tag
        self.content = .text(text)
    }

    /// Creates the proof for a scheme document, whose text doesn't contain every covered value.
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

    /// The names of the covered components, in the signature's order.
    var names: [String] { content.names }

    /// The covered components, in the signature's order.
    ///
    /// The identifier of a component without parameters has no quotes; otherwise it is written as
    /// in RFC 9421. For `salted-hmac-v1` the identifiers are `@method`, `@authority`, `@path`,
    /// `@query` (without `?`), the names of the covered fields, and `body-digest`, the base64 of
    /// the body's hash. For a scheme document they are these and `body`. The parameters of a form,
    /// an XML body or a partly signed query appear as the signed text under its name in the
    /// document, such as `{parameters}`.
    public var covered: [MessagePart] { content.parts }

    /// The value of a covered component, or nil if it isn't covered.
    ///
    /// - Parameter component: The component. The order of its parameters doesn't matter.
    public subscript(component: ComponentIdentifier) -> [UInt8]? {
        for part in covered {
            let name = part.identifier
            if sameBytes(name, component.listed) { return part.value }
            guard !component.parameters.isEmpty, name.utf8.first == ASCII.quote,
                let known = try? ComponentIdentifier.list(parsing: name), known == [component]
            else { continue }
            return part.value
        }
        return nil
    }

    /// The value of a covered component by its identifier in ``covered``, or nil if it isn't
    /// covered.
    public subscript(identifier: String) -> [UInt8]? {
        covered.first { sameBytes($0.identifier, identifier) }?.value
    }
}
