/// The one signature of a message that a verifier looks at, read from its fields.
struct ReceivedSignature {
    /// Signature-Input, and where in it the covered list lies with its parentheses.
    let inputs: StructuredDictionary
    let list: Range<Int>
    /// The list with the signature's parameters: the value of the base's last line.
    let parameters: [UInt8]
    let claims: SignatureClaims
    /// The parameter `alg`.
    let algorithm: String?
    /// The signature itself.
    let bytes: [UInt8]

    /// Selects by tag (RFC 9421, section 7.2.5): labels are not signed.
    ///
    /// - Throws: `SigningError` with `no-signature`, `ambiguous-signature`, `malformed-signature`,
    ///   `unsupported-parameter`, `missing-created` or `missing-keyid`.
    init(_ message: SignableMessage, tag wanted: String?) throws(SigningError) {
        let inputText = message.valueInHeadAndTrailers(of: RFC9421Fields.signatureInput)
        let signatureText = message.valueInHeadAndTrailers(of: RFC9421Fields.signature)
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
            inputs.members.allSatisfy({ signatures.member(Array(inputs[$0.key])) != nil })
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
        guard let held = signatures.member(Array(inputs[member.key])), held.parameters.isEmpty,
            case .bytes(let range) = held.value,
            let bytes = signatures.decoded(range)
        else {
            throw SigningError(.malformedSignature, "Signature is no canonical base64")
        }
        self.bytes = bytes
        self.inputs = inputs
        self.list = list
        self.parameters = Array(inputs[member.whole])
        var created: Int64?
        var expiration: Int64?
        var texts = Texts()
        for parameter in member.parameters {
            if inputs.matches(parameter.name, bytes: Name.created) {
                created = try inputs.integer(parameter)
            } else if inputs.matches(parameter.name, bytes: Name.keyID) {
                texts.keyID = try inputs.text(parameter)
            } else if inputs.matches(parameter.name, bytes: Name.nonce) {
                texts.nonce = try inputs.text(parameter)
            } else if inputs.matches(parameter.name, bytes: Name.tag) {
                texts.tag = try inputs.text(parameter)
            } else if inputs.matches(parameter.name, bytes: Name.expires) {
                expiration = try inputs.integer(parameter)
            } else if inputs.matches(parameter.name, bytes: Name.algorithm) {
                texts.algorithm = try inputs.text(parameter)
            } else {
                throw SigningError(
                    .unsupportedParameter, "the signature has a parameter that nobody knows")
            }
        }
        self.algorithm = texts.algorithm
        guard let created else {
            throw SigningError(.missingCreated, "the signature has no created")
        }
        guard let keyID = texts.keyID else {
            throw SigningError(.missingKeyID, "the signature has no keyid")
        }
        self.claims = SignatureClaims(
            keyID: keyID, created: created, expiration: expiration, nonce: texts.nonce,
            tag: texts.tag)
    }

    private struct Texts {
        var keyID: String?
        var nonce: String?
        var tag: String?
        var algorithm: String?
    }

    private enum Name {
        static let created = Array("created".utf8)
        static let expires = Array("expires".utf8)
        static let keyID = Array("keyid".utf8)
        static let nonce = Array("nonce".utf8)
        static let tag = Array("tag".utf8)
        static let algorithm = Array("alg".utf8)
    }
}

extension StructuredDictionary {
    /// A parameter's text.
    ///
    /// - Throws: `SigningError` with `malformed-signature` where it is no string.
    func text(_ parameter: Parameter) throws(SigningError) -> String {
        guard case .string(let range) = parameter.value else {
            throw SigningError(
                .malformedSignature,
                "\(String(decoding: self[parameter.name], as: UTF8.self)) is no string")
        }
        return string(range)
    }

    /// A parameter's number.
    ///
    /// - Throws: `SigningError` with `malformed-signature` where it is no integer.
    func integer(_ parameter: Parameter) throws(SigningError) -> Int64 {
        guard case .integer(let number) = parameter.value else {
            throw SigningError(
                .malformedSignature,
                "\(String(decoding: self[parameter.name], as: UTF8.self)) is no integer")
        }
        return number
    }

    /// A parameter's text, or nil without it.
    ///
    /// - Throws: `SigningError` with `malformed-signature` where it is no string.
    func text(of name: String, in member: Member) throws(SigningError) -> String? {
        guard let parameter = parameter(name, in: member) else { return nil }
        return try text(parameter)
    }

    /// A parameter's number, or nil without it.
    ///
    /// - Throws: `SigningError` with `malformed-signature` where it is no integer.
    func integer(of name: String, in member: Member) throws(SigningError) -> Int64? {
        guard let parameter = parameter(name, in: member) else { return nil }
        return try integer(parameter)
    }

    /// A parameter's value, or nil without it.
    func value(of name: String, in member: Member) -> Value? {
        parameter(name, in: member)?.value
    }

    private func parameter(_ name: String, in member: Member) -> Parameter? {
        let bytes = Array(name.utf8)
        return member.parameters.first { matches($0.name, bytes: bytes) }
    }
}
