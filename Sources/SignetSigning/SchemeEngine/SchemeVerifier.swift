import SignetCrypto

/// Verifies messages by a scheme document.
final class SchemeVerifier: VerificationEngine {
    private let rules: VerifierRules
    private let scheme: ConfiguredScheme
    private var policy: VerificationPolicy { rules.policy }

    init(_ rules: VerifierRules, compiled: CompiledScheme) throws(SigningError) {
        let policy = rules.policy
        guard policy.tag == nil, !policy.restrictsAlgorithms else {
            throw SigningError(
                .unsupportedOption,
                "\(compiled.name): the policy cannot have a tag or algorithms")
        }
        self.rules = rules
        self.scheme = try ConfiguredScheme(compiled, settings: policy.settings)
        if rules.requiresNonce { try rules.scheme.requireSignedNonce() }
    }

    func check(
        _ message: SignableMessage, now: Int64
    ) throws(SigningError) -> (VerifiedMessage, SignatureClaims) {
        let received = try ReceivedSchemeSignature(of: message, scheme: scheme)
        var evaluator = SchemeEvaluator(scheme, message: message)
        evaluator.prepare(toVerify: received)
        var (claims, covered) = try admit(received, with: &evaluator, now: now)
        let text = try evaluator.text()
        let key = try signer(of: text, received: received, with: &evaluator, now: now)
        var expected: [UInt8] = []
        for claim in received.claimed {
            expected.removeAll(keepingCapacity: true)
            try evaluator.append(claim.source, to: &expected)
            guard expected.elementsEqual(claim.value) else {
                throw SigningError(
                    .signatureMismatch,
                    "a value sent with the signature does not match the message")
            }
        }
        let proof = VerifiedMessage(
            scheme: rules.scheme, keyID: key.id,
            created: scheme.compiled.signed.hasTime ? received.time : nil,
            expiration: claims.expiration, nonce: claims.nonce, covered: covered,
            of: evaluator.message,
            body: covered.contains(.body) ? evaluator.message.heldBody : nil)
        claims.keyID = key.id
        return (proof, claims)
    }

    /// Checks everything that needs neither cryptography nor the body.
    ///
    /// - Returns: The claims and the covered parts.
    private func admit(
        _ received: ReceivedSchemeSignature, with evaluator: inout SchemeEvaluator, now: Int64
    ) throws(SigningError) -> (SignatureClaims, [SchemeCoverage.Part]) {
        for name in scheme.injectedNames where received.headerNames?.contains(name) == false {
            throw ReceivedSchemeSignature.notCovered(name)
        }
        let covered = try scheme.coverage.parts(of: &evaluator)
        for component in policy.coveredComponents ?? []
        where !covered.contains(where: { $0.name == component.listed }) {
            throw SigningError(.notCovered, "\(component.name) is not covered")
        }
        let claims = try checkTime(of: received, now: now)
        try rules.requireNonce(claims)
        return (claims, covered)
    }

    func checkHead(
        _ message: SignableMessage, now: Int64
    ) throws(SigningError) -> (VerifiedMessage, SignatureClaims)? {
        let received = try ReceivedSchemeSignature(of: message, scheme: scheme)
        var evaluator = SchemeEvaluator(scheme, message: message)
        evaluator.prepare(toVerify: received)
        _ = try admit(received, with: &evaluator, now: now)
        // Throws for a scheme that signs the body itself and not a hash of it.
        _ = try evaluator.text()
        return nil
    }

    func draft(_ message: SignableMessage) throws(SigningError) -> Explanation.Draft {
        let received = try ReceivedSchemeSignature(of: message, scheme: scheme)
        var evaluator = SchemeEvaluator(scheme, message: message)
        evaluator.prepare(toVerify: received)
        let known = rules.keys.current.set.keys
        if received.keyID == nil, known.count == 1 { evaluator.keyID = Array(known[0].id.utf8) }
        let trace = SchemeTrace(of: evaluator)
        var draft = Explanation.Draft(base: [], parts: trace.parts, failure: trace.failure)
        do throws(SigningError) {
            draft.base = try evaluator.text()
        } catch {
            draft.failure = error
        }
        return draft
    }

    /// Checks the time and the expiration. Ignores a nonce or a lifetime that is not signed,
    /// because anyone could have written it.
    private func checkTime(
        of received: ReceivedSchemeSignature, now: Int64
    ) throws(SigningError) -> SignatureClaims {
        guard (0...SigningTime.latest).contains(now) else { throw SigningTime.outOfRange }
        var claims = SignatureClaims(
            keyID: received.keyID ?? "", created: received.time ?? now, expiration: nil,
            nonce: scheme.compiled.signed.sources.contains(.nonce) ? received.nonce : nil, tag: nil)
        guard let time = received.time else { return claims }
        guard let lifetime = received.lifetime, scheme.compiled.signed.sources.contains(.lifetime)
        else {
            try policy.check(claims, now: now)
            return claims
        }
        // The signer chose the expiration, at most a week. It replaces the policy's maximum age.
        claims.expiration = time + lifetime
        claims.ignoresMaximumAge = true
        guard time - now <= policy.clampedClockSkew else {
            throw SigningError(
                .createdInFuture,
                "the time is \(time - now) s in the future, expected at most \(policy.clockSkew) s")
        }
        guard now < time + lifetime else {
            throw SigningError(
                .signatureExpired, "the signature expired \(now - time - lifetime) s ago")
        }
        return claims
    }

    /// Returns the key that made the signature. If the message names no key, tries all usable keys.
    private func signer(
        of text: [UInt8], received: ReceivedSchemeSignature,
        with evaluator: inout SchemeEvaluator, now: Int64
    ) throws(SigningError) -> CryptoKey {
        let table = rules.keys.current
        if let id = received.keyID {
            let key = try rules.key(id, now: now)
            guard
                try table.schemeKey(key, for: scheme.compiled).verifies(
                    received.signatures, of: text, with: &evaluator)
            else { throw Self.mismatch }
            return key
        }
        var refusal = SigningError(.unknownKey, "the key set has no usable key for this scheme")
        for key in table.set.keys {
            let candidate: SchemeKey
            do throws(SigningError) {
                try key.requireUsableForSigning(at: now)
                candidate = try table.schemeKey(key, for: scheme.compiled)
            } catch {
                if refusal.code == .unknownKey {
                    refusal = SigningError(
                        .unknownKey,
                        "the key set has no usable key for this scheme: \(error.message)")
                }
                continue
            }
            var own = evaluator.with(keyID: Array(key.id.utf8))
            let signed = scheme.usesKeyID ? try own.text() : text
            if try candidate.verifies(received.signatures, of: signed, with: &own) { return key }
            refusal = Self.mismatch
        }
        throw refusal
    }

    private static var mismatch: SigningError {
        SigningError(.signatureMismatch, "the signature does not fit the message")
    }
}

extension SchemeEvaluator {
    /// Takes over what a received signature says, so that the text is the one that was signed.
    fileprivate mutating func prepare(toVerify received: ReceivedSchemeSignature) {
        keyID = Array((received.keyID ?? "").utf8)
        nonce = Array((received.nonce ?? "").utf8)
        time = received.time ?? 0
        fraction = received.fraction
        lifetime = received.lifetime
        receivedNames = received.headerNames
        message.removeParameters(of: scheme.placements)
    }
}

extension SigningScheme {
    /// Throws if the scheme's signature covers no nonce.
    func requireSignedNonce() throws(SigningError) {
        guard !findings.contains(where: { $0.code == .noNonce }) else {
            throw SigningError(
                .unsupportedOption,
                "\(name) doesn't sign a nonce, so nonces can't prevent replays")
        }
    }
}
