internal import SignetCrypto

extension Verifier {
    /// Verifies by a scheme document.
    func verifyScheme(
        _ plan: SchemePlan, _ message: SignableMessage, now: Int64
    ) throws(SigningError) -> (VerifiedMessage, SignatureClaims) {
        let scheme = try bound(plan)
        var (run, received, claims, covered) = try admitScheme(scheme, message, now: now)
        let text = try run.text()
        let key = try signer(scheme, received, of: text, &run, now: now)
        var made: [UInt8] = []
        for (source, value) in received.claimed {
            made.removeAll(keepingCapacity: true)
            try run.append(source, to: &made)
            guard made == value else {
                throw SigningError(
                    .signatureMismatch, "a field of the signature does not fit the message")
            }
        }
        let proof = VerifiedMessage(
            scheme: self.scheme, keyID: key.id, created: plan.signed.hasTime ? received.time : nil,
            expiration: claims.expiration, nonce: claims.nonce, covered: covered, of: run.message,
            body: covered.contains(.body) ? message.heldBody : nil)
        claims.keyID = key.id
        return (proof, claims)
    }

    /// What can be refused before any cryptography, and before the body is there.
    private func admitScheme(
        _ scheme: BoundScheme, _ message: SignableMessage, now: Int64
    ) throws(SigningError) -> (SchemeRun, ReceivedScheme, SignatureClaims, [SchemeCoverage.Part]) {
        let received = try ReceivedScheme(message, scheme)
        var run = run(scheme, message, received)
        try requireInjected(scheme, received.headerNames)
        let covered = try scheme.coverage.parts(of: &run)
        for component in policy.coveredComponents ?? []
        where !covered.contains(where: { $0.name == component.listed }) {
            throw SigningError(.notCovered, "\(component.name) is not covered")
        }
        let claims = try checkTime(scheme.plan, received, now: now)
        try requireNonce(claims)
        return (run, received, claims, covered)
    }

    /// Refuses what can be refused of a head whose body is still to come.
    func admitScheme(
        _ plan: SchemePlan, head: SignableMessage, now: Int64
    ) throws(SigningError) {
        var (run, _, _, _) = try admitScheme(bound(plan), head, now: now)
        // Refuses a scheme that signs more than a hash of the body.
        _ = try run.text()
    }

    /// What a verifier computes of a message, whether or not it holds.
    func draftScheme(
        _ plan: SchemePlan, _ message: SignableMessage
    ) throws(SigningError) -> Explanation.Draft {
        let scheme = try bound(plan)
        let received = try ReceivedScheme(message, scheme)
        var run = run(scheme, message, received)
        let known = keys.current.set.keys
        if received.keyID == nil, known.count == 1 { run.keyID = Array(known[0].id.utf8) }
        var draft = Explanation.Draft(base: [], names: [], values: [], failure: nil)
        let trace = SchemeTrace(of: run)
        draft.parts = trace.parts
        draft.failure = trace.failure
        do throws(SigningError) {
            draft.base = try run.text()
        } catch {
            draft.failure = error
        }
        return draft
    }

    /// The scheme under the policy's settings, which the verifier has bound once.
    private func bound(_ plan: SchemePlan) throws(SigningError) -> BoundScheme {
        if let boundScheme { return boundScheme }
        return try BoundScheme(plan, policy.settings)
    }

    private func run(
        _ scheme: BoundScheme, _ message: SignableMessage, _ received: ReceivedScheme
    ) -> SchemeRun {
        var run = SchemeRun(scheme, message)
        run.keyID = Array((received.keyID ?? "").utf8)
        run.nonce = Array((received.nonce ?? "").utf8)
        run.time = received.time ?? 0
        run.millisecond = received.millisecond
        run.lifetime = received.lifetime
        run.receivedNames = received.headerNames
        // What is not part of the text that was signed.
        for carrier in scheme.readPlacements {
            if case .query(let name) = carrier.place { run.message.removeQuery(name) }
        }
        return run
    }

    /// A field that the scheme makes must be among those that are signed, where it names them.
    private func requireInjected(
        _ scheme: BoundScheme, _ names: [[UInt8]]?
    ) throws(SigningError) {
        guard let names else { return }
        for name in scheme.injectedNames where !names.contains(name) {
            throw SigningError(
                .notCovered, "\(String(decoding: name, as: UTF8.self)) is not covered")
        }
    }

    /// A nonce or an end that travels unsigned is what anybody wrote: it is not one.
    private func checkTime(
        _ plan: SchemePlan, _ received: ReceivedScheme, now: Int64
    ) throws(SigningError) -> SignatureClaims {
        guard (0...SigningTime.latest).contains(now) else { throw SigningTime.outOfRange }
        var claims = SignatureClaims(
            keyID: received.keyID ?? "", created: received.time ?? now, expiration: nil,
            nonce: plan.signed.sources.contains(.nonce) ? received.nonce : nil, tag: nil)
        guard let time = received.time else { return claims }
        guard let lifetime = received.lifetime, plan.signed.sources.contains(.lifetime) else {
            try policy.check(claims, now: now)
            return claims
        }
        // The signer chose the end; the age is bounded by it alone, at most a week.
        claims.expiration = time + lifetime
        claims.ignoresMaximumAge = true
        guard time - now <= policy.clampedClockSkew else {
            throw SigningError(.createdInFuture, "the time is \(time - now) s ahead of now")
        }
        guard now < time + lifetime else {
            throw SigningError(.expired, "the signature ended \(now - time - lifetime) s ago")
        }
        return claims
    }

    /// The key whose signature it is: the one that is named, or one of all that could be.
    private func signer(
        _ scheme: BoundScheme, _ received: ReceivedScheme, of text: [UInt8], _ run: inout SchemeRun,
        now: Int64
    ) throws(SigningError) -> Key {
        let table = keys.current
        if let id = received.keyID {
            let key = try key(id, now: now)
            guard
                try table.schemeKey(key, scheme.plan).verifies(received.signatures, of: text, &run)
            else { throw Self.mismatch }
            return key
        }
        var refusal = SigningError(.unknownKey, "no key of the set can be this scheme's")
        for key in table.set.keys {
            let candidate: SchemeKey
            do throws(SigningError) {
                try key.requireUsableForSigning(at: now)
                candidate = try table.schemeKey(key, scheme.plan)
            } catch {
                continue
            }
            var own = run.trying(keyID: Array(key.id.utf8))
            let signed = scheme.usesKeyID ? try own.text() : text
            if try candidate.verifies(received.signatures, of: signed, &own) { return key }
            refusal = Self.mismatch
        }
        throw refusal
    }

    private static var mismatch: SigningError {
        SigningError(.signatureMismatch, "the signature does not fit the message")
    }
}

extension SigningScheme {
    /// Refuses a scheme that carries no nonce, or one that its signature does not cover.
    func requireSignedNonce() throws(SigningError) {
        guard !findings.contains(where: { $0.code == .noNonce }) else {
            throw SigningError(
                .unsupportedOption,
                "\(name) signs no nonce: whoever sends a message again could change it or has none")
        }
    }
}
