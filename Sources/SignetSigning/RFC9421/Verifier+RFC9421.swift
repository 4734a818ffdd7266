internal import SignetCrypto
internal import Synchronization

extension Verifier {
    /// Verifies by RFC 9421, section 3.2.
    func verifyRFC9421(
        _ message: SignableMessage, now: Int64
    ) throws(SigningError) -> VerifiedMessage {
        let signature = try ReceivedSignature(message, tag: policy.tag)
        let claims = signature.claims
        let (plan, isKnown) = try plan(signature.innerList)
        try requireCoverage(plan, of: message)
        try policy.check(claims, now: now)
        try requireNonce(claims)
        let key = try key(claims.keyID, now: now).rfc9421HMACKey()
        guard signature.algorithm == nil || signature.algorithm == "hmac-sha256" else {
            throw SigningError(
                .algorithmMismatch, "alg contradicts the key, which is bound to hmac-sha256")
        }
        var base: [UInt8] = []
        base.reserveCapacity(512 + signature.parameters.count)
        var values: [Range<Int>] = []
        values.reserveCapacity(plan.steps.count)
        try plan.appendLines(of: message, to: &base, values: &values)
        base.append(contentsOf: RFC9421Fields.parametersPrefix)
        base.append(contentsOf: signature.parameters)
        let expected: [UInt8]
        do throws(CryptoFailure) {
            expected = try key.tag(of: base.span)
        } catch {
            throw SigningError(error)
        }
        guard constantTimeEqual(signature.tag.span, expected.span) else {
            throw SigningError(.signatureMismatch, "the signature does not fit the message")
        }
        if plan.coversContentDigest { try ContentDigest.check(message) }
        try remember(claims, now: now)
        if !isKnown { keep(plan) }
        return VerifiedMessage(
            scheme: scheme, claims: claims, base: base, names: plan.names, values: values)
    }

    private func requireCoverage(
        _ plan: CoveragePlan, of message: SignableMessage
    ) throws(SigningError) {
        func require(_ component: ComponentIdentifier) throws(SigningError) {
            guard plan.covers(component) else {
                throw SigningError(.notCovered, "\(component.name) is not covered")
            }
        }
        if let required = policy.required {
            for component in required { try require(component) }
            return
        }
        guard message.request != nil else { return try require(RFC9421Fields.status) }
        for component in RFC9421Fields.requestCore { try require(component) }
        if !message.body.isEmpty { try require(ContentDigest.component) }
    }

    /// The steps of a covered list: those of an earlier signature that held, or new ones.
    private func plan(
        _ innerList: [UInt8]
    ) throws(SigningError) -> (plan: CoveragePlan, isKnown: Bool) {
        if let plan = plans.withLock({ $0.first { $0.innerList == innerList } }) {
            return (plan, true)
        }
        return (try CoveragePlan(innerList: innerList), false)
    }

    /// Keeps a plan, up to a bound; only those who hold a key can fill the room.
    private func keep(_ plan: CoveragePlan) {
        plans.withLock { plans in
            if plans.count < 16 { plans.append(plan) }
        }
    }
}

extension CoveragePlan {
    /// Compiles an inner list in the spelling of RFC 9651, section 4.1.1.1.
    ///
    /// - Throws: `SigningError` with `malformed-signature` for what is no list of strings, and with
    ///   `unsupported-component` for parameters and for unknown derived components.
    init(innerList: [UInt8]) throws(SigningError) {
        var components: [ComponentIdentifier] = []
        var index = 1
        while index < innerList.count - 1 {
            if innerList[index] == ASCII.space { index += 1 }
            guard innerList[index] == ASCII.quote,
                let end = innerList[(index + 1)...].firstIndex(of: ASCII.quote)
            else {
                throw SigningError(
                    .malformedSignature, "Signature-Input covers what is no string")
            }
            guard innerList[end + 1] != ASCII.semicolon else {
                throw SigningError(
                    .unsupportedComponent,
                    "a covered component has parameters (sf, key, bs, req, tr, name), which cannot"
                        + " be verified yet")
            }
            let name = innerList[(index + 1)..<end]
            guard !name.contains(ASCII.backslash) else {
                throw SigningError(
                    .malformedSignature, "Signature-Input covers what is no component's name")
            }
            let component: ComponentIdentifier
            do throws(SigningError) {
                component = try ComponentIdentifier(String(decoding: name, as: UTF8.self))
            } catch  where error.code == .malformedComponent {
                throw SigningError(.malformedSignature, "Signature-Input: \(error.message)")
            }
            do throws(SigningError) {
                try components.add(component)
            } catch {
                throw SigningError(.malformedSignature, "Signature-Input: \(error.message)")
            }
            index = end + 1
        }
        try self.init(components)
    }
}
