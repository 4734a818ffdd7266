/// One signature that a peer asks for in Accept-Signature (RFC 9421, section 5).
///
/// A server asks a client in a response, a client asks a server in a request; whoever answers signs the
/// next message under the same label, over the same components, with every parameter asked for, or says
/// by name why it cannot.
public struct AcceptSignature: Sendable, Hashable {
    /// The signature's label in the answer.
    public var label: String
    /// What the answer must cover, in this order.
    public var components: [ComponentIdentifier]
    /// Whether the answer must say when it was made; ours always does.
    public var requestsCreated = true
    /// Whether the answer must say when it ends.
    public var requestsExpiration = false
    /// The key that must sign, where the peer names one.
    public var keyID: String?
    /// The algorithm that must be used, where the peer names one; the answer then bears `alg`.
    public var algorithm: String?
    /// The nonce that the answer must bear, where the peer gives one.
    public var nonce: String?
    /// The tag that the answer must bear, where the peer gives one.
    public var tag: String?

    /// Asks for a signature with `created`.
    public init(label: String, components: [ComponentIdentifier]) {
        self.label = label
        self.components = components
    }

    /// Reads what a message asks for, in its order; none where it has no Accept-Signature.
    ///
    /// - Throws: `SigningError` with `malformed-signature` where the field cannot be read, with
    ///   `malformed-component`, `unsupported-component`, `duplicate-component`, and with
    ///   `unsupported-parameter` for a parameter that is not known.
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

    /// The field Accept-Signature that asks for signatures.
    ///
    /// - Throws: `SigningError` with `invalid-value` for a label, nonce, tag or key id that cannot be
    ///   written, with `duplicate-label` and with `duplicate-component`.
    public static func field(
        _ requests: [AcceptSignature]
    ) throws(SigningError) -> SignableMessage.Field {
        var value: [UInt8] = []
        var labels: Set<[UInt8]> = []
        for request in requests {
            let label = Array(request.label.utf8)
            guard RFC9421Fields.isLabel(label) else {
                throw SigningError(.invalidValue, "a label is no key of RFC 9651")
            }
            guard labels.insert(label).inserted else {
                throw SigningError(.duplicateLabel, "two signatures are asked for by one label")
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
                .malformedSignature, "\(Self.fieldName) holds what is no list of components")
        }
        self.init(
            label: String(decoding: dictionary[member.key], as: UTF8.self),
            components: try ComponentIdentifier.components(of: dictionary, in: list))
        requestsCreated = false
        for parameter in member.parameters {
            switch String(decoding: dictionary[parameter.name], as: UTF8.self) {
            case "created":
                try Self.requireFlag(parameter)
                requestsCreated = true
            case "expires":
                try Self.requireFlag(parameter)
                requestsExpiration = true
            case "keyid": keyID = try dictionary.text(parameter)
            case "alg": algorithm = try dictionary.text(parameter)
            case "nonce": nonce = try dictionary.text(parameter)
            case "tag": tag = try dictionary.text(parameter)
            default:
                throw SigningError(
                    .unsupportedParameter, "\(Self.fieldName) has a parameter that nobody knows")
            }
        }
    }

    private static func requireFlag(
        _ parameter: StructuredDictionary.Parameter
    ) throws(SigningError) {
        guard case .yes = parameter.value else {
            throw SigningError(
                .malformedSignature, "\(fieldName): created and expires are flags without a value")
        }
    }
}

extension AcceptSignature {
    /// Demands that a signer can give what is asked for.
    func check(
        _ options: MessageSigner.Options, keyID own: String, algorithm used: HTTPSignatureAlgorithm
    ) throws(SigningError) {
        guard options.coveredComponents == nil, options.label == nil, options.tag == nil else {
            throw SigningError(
                .unsupportedOption,
                "label, components and tag of an answer are those that were asked for")
        }
        if let keyID, !keyID.utf8.elementsEqual(own.utf8) {
            throw SigningError(.unanswerableRequest, "a signature by another key is asked for")
        }
        if let algorithm, HTTPSignatureAlgorithm(name: algorithm) != used {
            throw SigningError(
                .algorithmMismatch, "another algorithm is asked for than the key's, \(used.name)")
        }
        if let nonce {
            try SigningText.requirePrintable(nonce, name: "the nonce that is asked for")
        }
    }

    /// The nonce of an answer.
    func nonce(_ given: String?, expiration: Int64?) throws(SigningError) -> String? {
        guard !requestsExpiration || expiration != nil else {
            throw SigningError(
                .unanswerableRequest, "a signature with an end is asked for: none was given")
        }
        guard let nonce, let given else { return nonce ?? given }
        guard nonce.utf8.elementsEqual(given.utf8) else {
            throw SigningError(
                .unanswerableRequest, "another nonce is asked for than the one given")
        }
        return nonce
    }
}
