import SignetBase
import SignetCrypto

/// Signs messages by RFC 9421, section 3.1.
final class RFC9421Signer: SignatureEngine {
    /// The list of covered components, or the default lists.
    private enum Coverage: Sendable {
        case fixed(CoveragePlan)
        /// One list for each combination of query and body, and those for responses.
        case chosen(requests: [CoveragePlan], responses: [CoveragePlan])
    }

    /// A signature base and the parts of the message in it.
    struct Draft: Sendable, Hashable {
        let text: SignedText
        /// The inner list with its parameters: the value of the base's last line.
        let parameters: [UInt8]
        /// The digests that were added to the message.
        let digests: [SignableMessage.Field]
    }

    let algorithm: HTTPSignatureAlgorithm
    /// Nil if the key is held elsewhere.
    let key: RFC9421Key?
    private let coverage: Coverage
    private let fieldTypes: StructuredFieldTypes
    private let label: [UInt8]
    private let lifetime: Int64?
    let digest: BodyDigest
    let addsNonce: Bool
    private let acceptSignature: AcceptSignature?
    /// `;keyid="…"`
    private let keyIDParameter: [UInt8]
    /// `;tag="…"` and, if it was requested, `;alg="…"`; may be empty.
    private let lastParameters: [UInt8]

    convenience init(key: CryptoKey, options: MessageSigner.Options) throws(SigningError) {
        let own = try key.rfc9421SigningKey()
        try self.init(key: own, keyID: key.id, algorithm: own.algorithm, options: options)
    }

    /// - Parameter key: Nil if the key is held elsewhere; then only drafts can be made.
    init(
        key: RFC9421Key?, keyID: String, algorithm: HTTPSignatureAlgorithm,
        options: MessageSigner.Options
    ) throws(SigningError) {
        try SigningText.requireNone(options.settings, of: SigningScheme.rfc9421.name)
        self.key = key
        self.algorithm = algorithm
        try SigningText.requirePrintable(keyID, name: "the key's id")
        let acceptSignature = options.acceptSignature
        try acceptSignature?.check(options, keyID: keyID, algorithm: algorithm)
        self.acceptSignature = acceptSignature
        let label = Array((acceptSignature?.label ?? options.label ?? "sig1").utf8)
        guard RFC9421Fields.isLabel(label) else {
            throw SigningError(
                .invalidValue,
                "found an invalid label: expected a-z or *, then a-z, 0-9, _, -, . and *")
        }
        self.label = label
        self.lifetime = options.lifetime
        self.digest = options.digest
        self.addsNonce = options.addsNonce && acceptSignature?.nonce == nil
        var parameter = Array(";keyid=".utf8)
        parameter.append(quoted: keyID.utf8)
        self.keyIDParameter = parameter
        parameter = []
        if let tag = acceptSignature?.tag ?? options.tag {
            try SigningText.requirePrintable(tag, name: "the tag")
            parameter.append(";tag=")
            parameter.append(quoted: tag.utf8)
        }
        if acceptSignature?.algorithm != nil {
            parameter.append(";alg=")
            parameter.append(quoted: algorithm.name.utf8)
        }
        self.lastParameters = parameter
        self.fieldTypes = options.fieldTypes
        self.coverage = try Self.coverage(
            of: acceptSignature?.components ?? options.coveredComponents, label: label,
            types: options.fieldTypes)
    }

    private static func coverage(
        of components: [ComponentIdentifier]?, label: [UInt8], types: StructuredFieldTypes
    ) throws(SigningError) -> Coverage {
        if let components {
            for component in components { try requireOther(component, than: label) }
            return .fixed(try CoveragePlan(components, types: types))
        }
        var requests: [CoveragePlan] = []
        var responses: [CoveragePlan] = []
        for list in [[], [ContentDigest.component]] {
            requests.append(try CoveragePlan(RFC9421Fields.requestCore + list, types: types))
            requests.append(
                try CoveragePlan(
                    RFC9421Fields.requestCore + [RFC9421Fields.query] + list, types: types))
            responses.append(try CoveragePlan([RFC9421Fields.status] + list, types: types))
        }
        return .chosen(requests: requests, responses: responses)
    }

    /// Refuses a signature over its own fields, because no verifier could accept it.
    ///
    /// - Parameter isTrailer: Whether the signature will be in the trailers.
    private static func requireOther(
        _ component: ComponentIdentifier, than label: [UInt8], isTrailer: Bool = false
    ) throws(SigningError) {
        guard
            component.nameBytes == RFC9421Fields.signature
                || component.nameBytes == RFC9421Fields.signatureInput,
            !component.isOfRequest, !component.isTrailer || isTrailer,
            component.key.map({ $0.utf8.elementsEqual(label) }) ?? true
        else { return }
        throw SigningError(
            .unsupportedComponent,
            "\(component.name): a signature cannot cover itself; cover another with ;key=\"LABEL\""
        )
    }

    func sign(
        _ message: inout SignableMessage, created: Int64, expiration: Int64?, nonce: String?,
        salt _: [UInt8]?
    ) throws(SigningError) -> MessageSigner.Result {
        guard key != nil else { throw Self.keyIsElsewhere }
        let draft = try draft(&message, created: created, expiration: expiration, nonce: nonce)
        do throws(SigningError) {
            return add(try signature(of: draft), of: draft, to: &message)
        } catch {
            message.fields.removeLast(draft.digests.count)
            throw error
        }
    }

    func bodyDigests(for message: SignableMessage) -> Set<BodyDigest> {
        DigestField.allAlgorithms(in: message.fields).union([digest])
    }

    /// Returns the signature of a draft.
    func signature(of draft: Draft) throws(SigningError) -> [UInt8] {
        guard let key else { throw Self.keyIsElsewhere }
        return try key.sign(draft.text.bytes)
    }

    private static var keyIsElsewhere: SigningError {
        SigningError(.unsupportedOption, "the key is held elsewhere: use prepare and apply")
    }

    /// Computes the base and adds the covered digests. If this throws, the message is unchanged.
    func draft(
        _ message: inout SignableMessage, created: Int64, expiration: Int64?, nonce: String?,
        plan: CoveragePlan? = nil
    ) throws(SigningError) -> Draft {
        try RFC9421Fields.requireFree(label, on: message)
        let plan = plan ?? self.plan(for: message)
        let parameters = try parameters(
            of: plan, created: created, expiration: expiration, nonce: nonce)
        let count = message.fields.count
        do throws(SigningError) {
            try addDigests(of: plan, to: &message)
            return Draft(
                text: try plan.base(of: message, parameters: parameters), parameters: parameters,
                digests: Array(message.fields[count...]))
        } catch {
            message.fields.removeLast(message.fields.count - count)
            throw error
        }
    }

    /// Adds the signature of a draft to its message.
    private func add(
        _ signature: [UInt8], of draft: Draft, to message: inout SignableMessage
    ) -> MessageSigner.Result {
        let made = fields(of: draft, signature: signature)
        message.fields.append(contentsOf: made)
        return MessageSigner.Result(text: draft.text, addedFields: draft.digests + made)
    }

    /// Returns Signature-Input and Signature.
    func fields(of draft: Draft, signature: [UInt8]) -> [SignableMessage.Field] {
        var value: [UInt8] = []
        value.reserveCapacity(signature.count * 4 / 3 + 8)
        value.append(ASCII.colon)
        Base64.append(signature.span, as: .standard, to: &value)
        value.append(ASCII.colon)
        return [
            field("Signature-Input", member: draft.parameters), field("Signature", member: value),
        ]
    }

    /// Adds a signature of a draft's base that was made elsewhere.
    ///
    /// - Throws: `SigningError`: `invalid-signature` for a wrong length, `message-changed`,
    ///   `digest-mismatch` or `duplicate-label`.
    func apply(
        _ signature: [UInt8], of draft: Draft, to message: inout SignableMessage
    ) throws(SigningError) -> MessageSigner.Result {
        guard algorithm.byteCounts.contains(signature.count) else {
            let found = signature.first == 0x30 ? ", which looks like DER" : ""
            throw SigningError(
                .invalidSignature,
                "found a signature of \(signature.count) bytes\(found), expected "
                    + (algorithm.byteCounts.count == 1
                        ? "\(algorithm.byteCounts.lowerBound)" : "as many as the modulus")
                    + " for \(algorithm.name)")
        }
        try RFC9421Fields.requireFree(label, on: message)
        var text = SignedText()
        let plan = plan(for: message)
        try plan.checkDigests(of: message)
        try plan.appendLines(of: message, to: &text)
        guard draft.text.bytes.starts(with: text.bytes), text.values == draft.text.values else {
            throw SigningError(.messageChanged, "a covered value changed after the preparation")
        }
        return add(signature, of: draft, to: &message)
    }

    private func plan(for message: SignableMessage) -> CoveragePlan {
        switch coverage {
        case .fixed(let plan): return plan
        case .chosen(let requests, let responses):
            let hasBody = !message.content.isEmpty
            guard let request = message.request else { return responses[hasBody ? 1 : 0] }
            return requests[(hasBody ? 2 : 0) + (request.query == nil ? 0 : 1)]
        }
    }

    /// Returns the list for a signature in the trailers, after a body that is read once, with the
    /// digest in the trailers too.
    ///
    /// - Throws: `SigningError` with `unsupported-component` for a list without the body's digest,
    ///   or with the signature's own fields.
    func trailerPlan(for message: SignableMessage) throws(SigningError) -> CoveragePlan {
        let digest = ContentDigest.trailer
        guard case .fixed(let plan) = coverage else {
            let core =
                message.request.map {
                    RFC9421Fields.requestCore + ($0.query == nil ? [] : [RFC9421Fields.query])
                } ?? [RFC9421Fields.status]
            return try CoveragePlan(core + [digest], types: fieldTypes)
        }
        guard plan.components.contains(digest) else {
            throw SigningError(
                .unsupportedComponent,
                "a signature in the trailers must cover \(digest.listed)")
        }
        for component in plan.components {
            try Self.requireOther(component, than: label, isTrailer: true)
        }
        return plan
    }

    /// Adds covered digests that are missing and checks the others.
    private func addDigests(
        of plan: CoveragePlan, to message: inout SignableMessage
    ) throws(SigningError) {
        for digest in plan.digests {
            if digest.isOfRequest || digest.isTrailer || message.contains(digest.field.nameBytes) {
                try digest.check(message)
            } else {
                message.fields.append(try digest.field.make(of: message, algorithm: self.digest))
            }
        }
    }

    /// Returns the signature's parameters in order: created, expires, keyid, nonce, tag, alg.
    private func parameters(
        of plan: CoveragePlan, created: Int64, expiration: Int64?, nonce: String?
    ) throws(SigningError) -> [UInt8] {
        let expiration =
            expiration ?? lifetime.map { created + min($0, SigningTime.latest - created) }
        let nonce = try acceptSignature?.nonce(nonce, expiration: expiration) ?? nonce
        var text: [UInt8] = []
        text.reserveCapacity(plan.innerList.count + keyIDParameter.count + 96)
        text.append(contentsOf: plan.innerList)
        text.append(";created=")
        text.append(decimal: created)
        if let expiration {
            guard expiration <= SigningTime.latest else { throw SigningTime.outOfRange }
            guard expiration > created else {
                throw SigningError(.invalidTime, "the expiration isn't after created")
            }
            text.append(";expires=")
            text.append(decimal: expiration)
        }
        text.append(contentsOf: keyIDParameter)
        if let nonce {
            text.append(";nonce=")
            text.append(quoted: nonce.utf8)
        }
        text.append(contentsOf: lastParameters)
        return text
    }

    private func field(_ name: String, member: [UInt8]) -> SignableMessage.Field {
        var value: [UInt8] = []
        value.reserveCapacity(label.count + 1 + member.count)
        value.append(contentsOf: label)
        value.append(ASCII.equals)
        value.append(contentsOf: member)
        return SignableMessage.Field(known: name, value: value)
    }
}
