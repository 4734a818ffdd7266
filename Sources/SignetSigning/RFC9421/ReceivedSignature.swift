internal import SignetCrypto

/// The one signature of a message that a verifier looks at, read from its fields.
struct ReceivedSignature {
    /// The covered list with its parentheses.
    let innerList: [UInt8]
    /// The list with the signature's parameters: the value of the base's last line.
    let parameters: [UInt8]
    let claims: SignatureClaims
    /// The parameter `alg`.
    let algorithm: String?
    /// The signature itself.
    let tag: [UInt8]

    /// Selects by tag (RFC 9421, section 7.2.5): labels are not signed.
    ///
    /// - Throws: `SigningError` with `no-signature`, `ambiguous-signature`, `malformed-signature`,
    ///   `unsupported-parameter`, `missing-created` or `missing-keyid`.
    init(_ message: SignableMessage, tag wanted: String?) throws(SigningError) {
        let inputText = message.value(of: RFC9421Fields.signatureInput)
        let signatureText = message.value(of: RFC9421Fields.signature)
        if inputText == nil, signatureText == nil {
            throw SigningError(.noSignature, "the message has no signature")
        }
        guard let inputText, let signatureText else {
            throw SigningError(
                .malformedSignature, "of Signature-Input and Signature only one is there")
        }
        let inputs = try StructuredDictionary(parsing: inputText, field: "Signature-Input")
        let signatures = try StructuredDictionary(parsing: signatureText, field: "Signature")
        guard inputs.members.count == signatures.members.count,
            inputs.members.allSatisfy({ signatures.member(inputs[$0.key]) != nil })
        else {
            throw SigningError(
                .malformedSignature, "Signature-Input and Signature do not have the same labels")
        }
        var selected: StructuredDictionary.Member?
        for member in inputs.members {
            guard case .innerList = member.value else {
                throw SigningError(
                    .malformedSignature, "Signature-Input holds what is no list of components")
            }
            if let wanted {
                let tag = try inputs.text(of: "tag", in: member)
                guard let tag, tag.utf8.elementsEqual(wanted.utf8) else { continue }
            }
            guard selected == nil else {
                throw SigningError(
                    .ambiguousSignature,
                    wanted == nil
                        ? "the message has several signatures: choose one by its tag"
                        : "several signatures have the wanted tag")
            }
            selected = member
        }
        guard let member = selected, case .innerList(let list) = member.value else {
            throw SigningError(.noSignature, "no signature has the wanted tag")
        }
        guard let held = signatures.member(inputs[member.key]), held.parameters.isEmpty,
            case .bytes(let range) = held.value,
            let tag = Base64.decode(Array(signatures[range]), .standard)
        else {
            throw SigningError(.malformedSignature, "Signature is no canonical base64")
        }
        self.tag = tag
        self.innerList = Array(inputs[list])
        self.parameters = Array(inputs[member.whole])
        for parameter in member.parameters {
            guard Self.known.contains(where: { inputs[parameter.name].elementsEqual($0) }) else {
                throw SigningError(
                    .unsupportedParameter, "the signature has a parameter that nobody knows")
            }
        }
        self.algorithm = try inputs.text(of: "alg", in: member)
        guard let created = try inputs.integer(of: "created", in: member) else {
            throw SigningError(.missingCreated, "the signature has no created")
        }
        guard let keyID = try inputs.text(of: "keyid", in: member) else {
            throw SigningError(.missingKeyID, "the signature has no keyid")
        }
        self.claims = SignatureClaims(
            keyID: keyID, created: created, expires: try inputs.integer(of: "expires", in: member),
            nonce: try inputs.text(of: "nonce", in: member),
            tag: try inputs.text(of: "tag", in: member))
    }

    private static let known = ["created", "expires", "keyid", "nonce", "tag", "alg"].map {
        Array($0.utf8)
    }
}

extension StructuredDictionary {
    /// A parameter's text, or nil without it.
    ///
    /// - Throws: `SigningError` with `malformed-signature` where it is no string.
    func text(of name: String, in member: Member) throws(SigningError) -> String? {
        guard let value = value(of: name, in: member) else { return nil }
        guard case .string(let range) = value else {
            throw SigningError(.malformedSignature, "\(name) is no string")
        }
        return string(range)
    }

    /// A parameter's number, or nil without it.
    ///
    /// - Throws: `SigningError` with `malformed-signature` where it is no integer.
    func integer(of name: String, in member: Member) throws(SigningError) -> Int64? {
        guard let value = value(of: name, in: member) else { return nil }
        guard case .integer(let number) = value else {
            throw SigningError(.malformedSignature, "\(name) is no integer")
        }
        return number
    }

    /// A parameter's value, or nil without it.
    func value(of name: String, in member: Member) -> Value? {
        for parameter in member.parameters where text[parameter.name].elementsEqual(name.utf8) {
            return parameter.value
        }
        return nil
    }
}
