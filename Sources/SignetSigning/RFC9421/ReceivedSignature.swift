import SignetBase

/// The signature to verify, parsed from a message's fields.
struct ReceivedSignature {
    /// The field Signature-Input.
    let inputs: StructuredDictionary
    /// The range of the covered list in `inputs`, including its parentheses.
    let list: Range<Int>
    /// The list with the signature's parameters: the value of the base's last line.
    let parameters: [UInt8]
    let claims: SignatureClaims
    /// The parameter `alg`.
    let algorithm: String?
    /// The signature itself.
    let bytes: [UInt8]

    /// Selects a signature by its tag (RFC 9421, section 7.2.5), because labels aren't signed.
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
                .malformedSignature, "expected both Signature-Input and Signature, found one")
        }
        let inputs = try StructuredDictionary(parsing: inputText, field: "Signature-Input")
        let signatures = try StructuredDictionary(parsing: signatureText, field: "Signature")
        guard inputs.members.count == signatures.members.count,
            inputs.members.allSatisfy({ signatures.member(Array(inputs[$0.key])) != nil })
        else {
            throw SigningError(
                .malformedSignature, "Signature-Input and Signature have different labels")
        }
        var selected: StructuredDictionary.Member?
        for member in inputs.members {
            guard case .innerList = member.value else {
                throw SigningError(
                    .malformedSignature, "Signature-Input: expected a list of components")
            }
            if let wanted {
                let tag = try inputs.text(of: "tag", in: member)
                guard let tag, sameBytes(tag, wanted) else { continue }
            }
            guard selected == nil else {
                throw SigningError(
                    .ambiguousSignature,
                    wanted == nil
                        ? "found several signatures, expected one or a policy with a tag"
                        : "found several signatures with the required tag, expected one")
            }
            selected = member
        }
        guard let member = selected, case .innerList(let list) = member.value else {
            throw SigningError(.noSignature, "no signature has the required tag")
        }
        guard let held = signatures.member(Array(inputs[member.key])), held.parameters.isEmpty,
            case .bytes(let range) = held.value,
            let bytes = signatures.decoded(range)
        else {
            throw SigningError(.malformedSignature, "Signature: expected canonical base64")
        }
        self.bytes = bytes
        self.inputs = inputs
        self.list = list
        self.parameters = Array(inputs[member.whole])
        var (created, expiration): (Int64?, Int64?)
        var (keyID, nonce, tag, algorithm): (String?, String?, String?, String?)
        for parameter in member.parameters {
            switch String(decoding: inputs[parameter.name], as: UTF8.self) {
            case "created": created = try inputs.integer(parameter)
            case "expires": expiration = try inputs.integer(parameter)
            case "keyid": keyID = try inputs.text(parameter)
            case "nonce": nonce = try inputs.text(parameter)
            case "tag": tag = try inputs.text(parameter)
            case "alg": algorithm = try inputs.text(parameter)
            default:
                throw SigningError(
                    .unsupportedParameter, "the signature has an unknown parameter")
            }
        }
        self.algorithm = algorithm
        guard let created else {
            throw SigningError(.missingCreated, "the signature has no created")
        }
        guard let keyID else {
            throw SigningError(.missingKeyID, "the signature has no keyid")
        }
        self.claims = SignatureClaims(
            keyID: keyID, created: created, expiration: expiration, nonce: nonce, tag: tag)
    }
}

extension StructuredDictionary {
    /// Returns a parameter's string.
    ///
    /// - Throws: `SigningError` with `malformed-signature` if it isn't a string.
    func text(_ parameter: Parameter) throws(SigningError) -> String {
        guard case .string(let range) = parameter.value else {
            throw malformed(parameter, expected: "a string")
        }
        return string(range)
    }

    /// Returns a parameter's number.
    ///
    /// - Throws: `SigningError` with `malformed-signature` if it isn't an integer.
    func integer(_ parameter: Parameter) throws(SigningError) -> Int64 {
        guard case .integer(let number) = parameter.value else {
            throw malformed(parameter, expected: "an integer")
        }
        return number
    }

    private func malformed(_ parameter: Parameter, expected: String) -> SigningError {
        let name = String(decoding: self[parameter.name], as: UTF8.self)
        return SigningError(.malformedSignature, "\(name): expected \(expected)")
    }

    /// Returns a parameter's string, or nil if it is missing.
    ///
    /// - Throws: `SigningError` with `malformed-signature` if it isn't a string.
    func text(of name: String, in member: Member) throws(SigningError) -> String? {
        guard let parameter = parameter(name, in: member) else { return nil }
        return try text(parameter)
    }

    /// Returns a parameter's number, or nil if it is missing.
    ///
    /// - Throws: `SigningError` with `malformed-signature` if it isn't an integer.
    func integer(of name: String, in member: Member) throws(SigningError) -> Int64? {
        guard let parameter = parameter(name, in: member) else { return nil }
        return try integer(parameter)
    }

    func parameter(_ name: String, in member: Member) -> Parameter? {
        let bytes = Array(name.utf8)
        return member.parameters.first { matches($0.name, bytes: bytes) }
    }
}
