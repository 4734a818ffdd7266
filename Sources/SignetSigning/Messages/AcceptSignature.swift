import SignetBase

/// One signature that a peer requests in Accept-Signature (RFC 9421, section 5.1).
///
/// ```swift
/// // A server requests a signature in its response.
/// var request = AcceptSignature(
///     label: "sig1", components: try ComponentIdentifier.list(parsing: "@method,@path"))
/// request.nonce = "n-8Yq2"
/// var response = try SignableMessage(parsing: Array("HTTP/1.1 401 Unauthorized\n\n".utf8))
/// try response.append(AcceptSignature.field([request]))
/// let policy = VerificationPolicy(acceptSignature: request)
///
/// // The client signs its next request accordingly.
/// let keys = try KeySource("client-keys.json").load()
/// var options = MessageSigner.Options()
/// options.acceptSignature = try AcceptSignature.all(in: response).first
/// let signer = try MessageSigner(
///     scheme: .rfc9421, key: keys.key(id: "orders-2026"), options: options)
/// print(policy.nonce ?? "", signer.keyID)
/// ```
///
/// A client can also request a signed response, in its request. A signer that cannot provide all
/// requested components and parameters throws an error.
public struct AcceptSignature: Sendable, Hashable {
    /// The label of the signature.
    public var label: String
    /// The components to cover, in order.
    public var components: [ComponentIdentifier]
    /// Whether the signature must have `created`. This package's signatures always do.
    public var requestsCreated = true
    /// Whether the signature must have `expires`.
    public var requestsExpiration = false
    /// The id of the key to sign with; nil for any.
    public var keyID: String?
    /// The algorithm to sign with; nil for any. If it is set, the signature has `alg`.
    public var algorithm: String?
    /// The nonce of the signature; nil for any.
    public var nonce: String?
    /// The tag of the signature; nil for any.
    public var tag: String?

    /// Creates a request for a signature with `created`.
    public init(label: String, components: [ComponentIdentifier]) {
        self.label = label
        self.components = components
    }

    /// Parses a message's Accept-Signature. Returns the requests in order, none if the field is
    /// missing.
    ///
    /// - Throws: `SigningError`: `malformed-signature`, `malformed-component`,
    ///   `unsupported-component`, `duplicate-component`, and `unsupported-parameter` for an unknown
    ///   parameter.
    public static func all(
        in message: SignableMessage
    ) throws(SigningError) -> [AcceptSignature] {
        guard let text = message.value(of: fieldBytes) else { return [] }
        let dictionary = try StructuredDictionary(parsing: text, field: fieldName)
        var requests: [AcceptSignature] = []
        for member in dictionary.members {
            requests.append(try AcceptSignature(member: member, of: dictionary))
        }
        return requests
    }

    /// Returns the field Accept-Signature for some requests.
    ///
    /// - Throws: `SigningError`: `invalid-value` for an invalid label, nonce, tag or key id;
    ///   `duplicate-label`; `duplicate-component`.
    public static func field(
        _ requests: [AcceptSignature]
    ) throws(SigningError) -> SignableMessage.Field {
        var value: [UInt8] = []
        var labels: Set<[UInt8]> = []
        for request in requests {
            let label = Array(request.label.utf8)
            guard RFC9421Fields.isLabel(label) else {
                throw SigningError(.invalidValue, "expected a label that is a key of RFC 9651")
            }
            guard labels.insert(label).inserted else {
                throw SigningError(.duplicateLabel, "two requested signatures have the same label")
            }
            if !value.isEmpty { value.append(", ") }
            value.append(contentsOf: label)
            value.append(ASCII.equals)
            try request.append(to: &value)
        }
        return SignableMessage.Field(known: fieldName, value: value)
    }

    static let fieldName = "Accept-Signature"
    private static let fieldBytes = Array("accept-signature".utf8)

    private func append(to value: inout [UInt8]) throws(SigningError) {
        value.append(ASCII.leftParenthesis)
        for (index, component) in try DistinctComponents(components).list.enumerated() {
            if index > 0 { value.append(ASCII.space) }
            value.append(contentsOf: component.serialized)
        }
        value.append(ASCII.rightParenthesis)
        if requestsCreated { value.append(";created") }
        if requestsExpiration { value.append(";expires") }
        for (name, text) in [
            ("keyid", keyID), ("alg", algorithm), ("nonce", nonce), ("tag", tag),
        ] {
            guard let text else { continue }
            try SigningText.requirePrintable(text, name: name)
            value.append(";\(name)=")
            value.append(quoted: text.utf8)
        }
    }

    private init(
        member: StructuredDictionary.Member, of dictionary: StructuredDictionary
    ) throws(SigningError) {
        guard case .innerList(let list) = member.value else {
            throw SigningError(
                .malformedSignature, "\(Self.fieldName): expected a list of components")
        }
        self.init(
            label: String(decoding: dictionary[member.key], as: UTF8.self),
            components: try ComponentIdentifier.components(of: dictionary, in: list))
        requestsCreated = false
        for parameter in member.parameters {
            switch String(decoding: dictionary[parameter.name], as: UTF8.self) {
            case "created": requestsCreated = try Self.flag(parameter)
            case "expires": requestsExpiration = try Self.flag(parameter)
            case "keyid": keyID = try dictionary.text(parameter)
            case "alg": algorithm = try dictionary.text(parameter)
            case "nonce": nonce = try dictionary.text(parameter)
            case "tag": tag = try dictionary.text(parameter)
            default:
                throw SigningError(
                    .unsupportedParameter, "\(Self.fieldName): found an unknown parameter")
            }
        }
    }

    /// Returns `true` for a parameter without a value.
    private static func flag(
        _ parameter: StructuredDictionary.Parameter
    ) throws(SigningError) -> Bool {
        guard case .yes = parameter.value else {
            throw SigningError(
                .malformedSignature,
                "\(fieldName): expected created and expires without a value")
        }
        return true
    }
}
