internal import SignetCrypto

/// Signs by RFC 9421, section 3.1, with hmac-sha256.
struct RFC9421Signer: Sendable {
    /// The covered list, or the lists that are chosen from when the caller names none.
    private enum Coverage: Sendable {
        case fixed(CoveragePlan)
        /// By whether there is a query and a body, and for responses.
        case chosen(requests: [CoveragePlan], responses: [CoveragePlan])
    }

    private let key: HMACKey
    private let coverage: Coverage
    private let label: [UInt8]
    private let lifetime: Int64?
    /// `;keyid="…"`
    private let keyIDParameter: [UInt8]
    /// `;tag="…"`, empty without one.
    private let tagParameter: [UInt8]

    init(key: Key, options: MessageSigner.Options) throws(SigningError) {
        self.key = try key.rfc9421HMACKey()
        try SigningText.require(key.id, "the key's id")
        let label = Array((options.label ?? "sig1").utf8)
        guard RFC9421Fields.isLabel(label) else {
            throw SigningError(
                .invalidValue,
                "a label begins with a-z or * and goes on with a-z, 0-9, _, -, . and *")
        }
        self.label = label
        self.lifetime = options.lifetime
        var parameter = Array(";keyid=".utf8)
        parameter.append(quoted: key.id.utf8)
        self.keyIDParameter = parameter
        if let tag = options.tag {
            try SigningText.require(tag, "the tag")
            parameter = Array(";tag=".utf8)
            parameter.append(quoted: tag.utf8)
            self.tagParameter = parameter
        } else {
            self.tagParameter = []
        }
        if let covers = options.covers {
            self.coverage = .fixed(try CoveragePlan(covers))
        } else {
            var requests: [CoveragePlan] = []
            var responses: [CoveragePlan] = []
            let digest = ContentDigest.component
            for list in [[], [digest]] {
                requests.append(try CoveragePlan(RFC9421Fields.requestCore + list))
                requests.append(
                    try CoveragePlan(
                        RFC9421Fields.requestCore + [RFC9421Fields.query] + list))
                responses.append(try CoveragePlan([RFC9421Fields.status] + list))
            }
            self.coverage = .chosen(requests: requests, responses: responses)
        }
    }

    func sign(
        _ message: inout SignableMessage, created: Int64, expires: Int64?, nonce: String?
    ) throws(SigningError) -> MessageSigner.Result {
        try RFC9421Fields.requireFree(label, on: message)
        let plan = plan(for: message)
        var added: [SignableMessage.Field] = []
        if plan.coversContentDigest {
            if message.contains(ContentDigest.component.nameBytes) {
                try ContentDigest.check(message)
            } else {
                added.append(try ContentDigest.field(of: message.body))
                message.fields.append(added[0])
            }
        }
        do throws(SigningError) {
            let parameters = try parameters(plan, created, expires, nonce)
            var base: [UInt8] = []
            base.reserveCapacity(512 + parameters.count)
            var values: [Range<Int>] = []
            try plan.appendLines(of: message, to: &base, values: &values)
            base.append(contentsOf: RFC9421Fields.parametersPrefix)
            base.append(contentsOf: parameters)
            let tag = try tag(of: base)
            added.append(field("Signature-Input", parameters))
            var signature: [UInt8] = []
            signature.reserveCapacity(64)
            signature.append(ASCII.colon)
            Base64.append(tag.span, .standard, to: &signature)
            signature.append(ASCII.colon)
            added.append(field("Signature", signature))
            message.fields.append(contentsOf: added.suffix(2))
            return MessageSigner.Result(base: base, addedFields: added)
        } catch {
            message.fields.removeLast(added.count)
            throw error
        }
    }

    private func plan(for message: SignableMessage) -> CoveragePlan {
        switch coverage {
        case .fixed(let plan): return plan
        case .chosen(let requests, let responses):
            let hasBody = !message.body.isEmpty
            guard let request = message.request else { return responses[hasBody ? 1 : 0] }
            return requests[(hasBody ? 2 : 0) + (request.query == nil ? 0 : 1)]
        }
    }

    /// The signature's parameters in their order: created, expires, keyid, nonce, tag.
    private func parameters(
        _ plan: CoveragePlan, _ created: Int64, _ expires: Int64?, _ nonce: String?
    ) throws(SigningError) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(plan.innerList.count + keyIDParameter.count + 96)
        text.append(contentsOf: plan.innerList)
        text.append(";created=")
        text.append(decimal: created)
        if let expires = expires ?? lifetime.map({ created + min($0, SigningTime.latest) }) {
            guard expires > created, expires <= SigningTime.latest else {
                throw SigningError(.invalidTime, "the signature expires before it is made")
            }
            text.append(";expires=")
            text.append(decimal: expires)
        }
        text.append(contentsOf: keyIDParameter)
        if let nonce {
            text.append(";nonce=")
            text.append(quoted: nonce.utf8)
        }
        text.append(contentsOf: tagParameter)
        return text
    }

    private func tag(of base: [UInt8]) throws(SigningError) -> [UInt8] {
        do throws(CryptoFailure) {
            return try key.tag(of: base.span)
        } catch {
            throw SigningError(error)
        }
    }

    private func field(_ name: String, _ member: [UInt8]) -> SignableMessage.Field {
        var value: [UInt8] = []
        value.reserveCapacity(label.count + 1 + member.count)
        value.append(contentsOf: label)
        value.append(ASCII.equals)
        value.append(contentsOf: member)
        return SignableMessage.Field(known: name, value: value)
    }
}
