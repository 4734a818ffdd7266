import SignetBase

/// Verifies messages by RFC 9421, section 3.2.
final class RFC9421Verifier: VerificationEngine {
    private let rules: VerifierRules
    private let plans = PlanCache()
    private var policy: VerificationPolicy { rules.policy }

    init(_ rules: VerifierRules) throws(SigningError) {
        try SigningText.requireNone(rules.policy.settings, of: rules.scheme.name)
        _ = try DistinctComponents(rules.policy.coveredComponents ?? [])
        self.rules = rules
    }

    func check(
        _ message: SignableMessage, now: Int64
    ) throws(SigningError) -> (VerifiedMessage, SignatureClaims) {
        let signature = try ReceivedSignature(message, tag: policy.tag)
        let claims = signature.claims
        let known = plans.plan(of: signature.list, in: signature.inputs)
        let plan = if let known { known } else { try compile(signature) }
        try requireCoverage(plan, of: message)
        try policy.check(claims, now: now)
        try rules.requireNonce(claims)
        let key = try rules.key(claims.keyID, now: now).rfc9421Key()
        let algorithm = key.algorithm
        guard signature.algorithm.map({ sameBytes($0, algorithm.name) }) ?? true else {
            throw SigningError(
                .algorithmMismatch,
                "found another alg than the key's, \(algorithm.name)")
        }
        try policy.require(algorithm, ofKey: claims.keyID)
        let text = try plan.base(of: message, parameters: signature.parameters)
        guard try key.verifies(signature.bytes, of: text.bytes) else {
            throw SigningError(.signatureMismatch, "the signature does not fit the message")
        }
        try plan.checkDigests(of: message, checksRepresentation: policy.checksRepresentation)
        if known == nil { plans.add(plan) }
        let verified = VerifiedMessage(
            scheme: rules.scheme, claims: claims, text: text,
            body: plan.provesBody(checksRepresentation: policy.checksRepresentation)
                ? message.heldBody : nil)
        return (verified, claims)
    }

    func draft(_ message: SignableMessage) throws(SigningError) -> Explanation.Draft {
        let signature = try ReceivedSignature(message, tag: policy.tag)
        let plan = try compile(signature)
        var text = SignedText()
        do throws(SigningError) {
            try plan.appendLines(of: message, to: &text)
        } catch {
            return Explanation.Draft(base: [], parts: text.parts, failure: error)
        }
        text = try plan.base(of: message, parameters: signature.parameters)
        return Explanation.Draft(base: text.bytes, parts: text.parts)
    }

    func checkHead(
        _ message: SignableMessage, now: Int64
    ) throws(SigningError) -> (VerifiedMessage, SignatureClaims)? {
        try signsHead(message) ? check(message, now: now) : nil
    }

    func provesBody(_ verified: VerifiedMessage) -> Bool {
        let components = verified.names.compactMap { try? ComponentIdentifier.list(parsing: $0) }
        return components.joined().compactMap(CoveragePlan.Digest.init).contains { digest in
            !digest.isOfRequest && (digest.field == .content || policy.checksRepresentation)
        }
    }

    /// Whether the selected signature is in the head and covers no trailers.
    private func signsHead(_ message: SignableMessage) throws(SigningError) -> Bool {
        guard message.contains(RFC9421Fields.signatureInput) else { return false }
        do throws(SigningError) {
            let plan = try compile(try ReceivedSignature(message, tag: policy.tag))
            return !plan.components.contains { $0.isTrailer && !$0.isOfRequest }
        } catch  where error.code == .noSignature {
            return false
        }
    }

    private func requireCoverage(
        _ plan: CoveragePlan, of message: SignableMessage
    ) throws(SigningError) {
        if let required = policy.coveredComponents {
            for component in required where !plan.components.contains(component) {
                throw SigningError(.notCovered, "\(component.listed) is not covered")
            }
            return
        }
        var required = [RFC9421Fields.status]
        if let request = message.request {
            required = RFC9421Fields.requestCore
            if request.target.contains(ASCII.question) { required.append(RFC9421Fields.query) }
        }
        for component in required where !plan.components.contains(where: { $0.includes(component) })
        {
            throw SigningError(.notCovered, "\(component.listed) is not covered")
        }
        // A body that will follow needs no coverage yet: its first uncovered byte is refused.
        guard
            message.content == .expected || message.content.isEmpty
                || plan.provesBody(checksRepresentation: false)
        else {
            throw SigningError(.notCovered, "content-digest is not covered")
        }
    }

    /// Compiles a received list.
    ///
    /// - Throws: `SigningError` with `malformed-signature`, `unsupported-component` or
    ///   `unknown-field-type`.
    private func compile(_ signature: ReceivedSignature) throws(SigningError) -> CoveragePlan {
        do throws(SigningError) {
            return try CoveragePlan(
                try ComponentIdentifier.components(of: signature.inputs, in: signature.list),
                types: policy.fieldTypes)
        } catch  where error.code == .malformedComponent || error.code == .duplicateComponent {
            throw SigningError(.malformedSignature, "Signature-Input: \(error.message)")
        }
    }
}
