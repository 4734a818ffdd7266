internal import SignetCrypto

extension Verifier {
    /// Verifies by a scheme document.
    func verifyScheme(
        _ plan: SchemePlan, _ message: SignableMessage, now: Int64
    ) throws(SigningError) -> (VerifiedMessage, SignatureClaims) {
        var (run, received, claims, covered) = try admitScheme(plan, message, now: now)
        let text = try run.run(plan.text)
        let key = try signer(plan, received, of: text, &run, now: now)
        for (source, value) in received.claimed {
            guard try run.bytes(of: source) == value else {
                throw SigningError(
                    .signatureMismatch, "a field of the signature does not fit the message")
            }
        }
        let proof = VerifiedMessage(
            scheme: scheme, keyID: key.id, created: plan.signed.hasTime ? received.time : nil,
            expires: claims.expires, nonce: claims.nonce, covered: covered,
            body: covered.contains { $0.identifier == "body" } ? message.heldBody : nil)
        claims.keyID = key.id
        return (proof, claims)
    }

    /// What can be refused before any cryptography, and before the body is there.
    private func admitScheme(
        _ plan: SchemePlan, _ message: SignableMessage, now: Int64
    ) throws(SigningError) -> (SchemeRun, ReceivedScheme, SignatureClaims, [MessagePart]) {
        let settings = try plan.settings(policy.settings)
        let received = try ReceivedScheme(message, plan, settings)
        var run = try run(plan, settings, message, received)
        try requireInjected(plan, settings, received.headerNames)
        let covered = try plan.covered(&run)
        for component in policy.required ?? []
        where !covered.contains(where: { $0.identifier == component.listed }) {
            throw SigningError(.notCovered, "\(component.name) is not covered")
        }
        let claims = try checkTime(plan, received, now: now)
        try requireNonce(claims)
        return (run, received, claims, covered)
    }

    /// Refuses what can be refused of a head whose body is still to come.
    func admitScheme(
        _ plan: SchemePlan, head: SignableMessage, now: Int64
    ) throws(SigningError) {
        var (run, _, _, _) = try admitScheme(plan, head, now: now)
        // Refuses a scheme that signs more than a hash of the body.
        _ = try run.run(plan.text)
    }

    /// What a verifier computes of a message, whether or not it holds.
    func draftScheme(
        _ plan: SchemePlan, _ message: SignableMessage
    ) throws(SigningError) -> Explanation.Draft {
        let settings = try plan.settings(policy.settings)
        let received = try ReceivedScheme(message, plan, settings)
        var run = try run(plan, settings, message, received)
        let keys = keys.current.set.keys
        if received.keyID == nil, keys.count == 1 { run.keyID = Array(keys[0].id.utf8) }
        var draft = Explanation.Draft(base: [], names: [], values: [], failure: nil)
        let trace = SchemeTrace(of: run)
        draft.parts = trace.parts
        draft.failure = trace.failure
        do throws(SigningError) {
            draft.base = try run.run(plan.text)
        } catch {
            draft.failure = error
        }
        return draft
    }

    private func run(
        _ plan: SchemePlan, _ settings: [[UInt8]?], _ message: SignableMessage,
        _ received: ReceivedScheme
    ) throws(SigningError) -> SchemeRun {
        var run = SchemeRun(plan: plan, settings: settings, message: message)
        run.keyID = Array((received.keyID ?? "").utf8)
        run.nonce = Array((received.nonce ?? "").utf8)
        run.time = received.time ?? 0
        run.millisecond = received.millisecond
        run.lifetime = received.lifetime
        run.receivedNames = received.headerNames
        // What is not part of the text that was signed.
        for carrier in plan.carriers(plan.placements, settings) {
            if case .query(let name) = carrier.place { run.message.removeQuery(name) }
        }
        return run
    }

    /// A field that the scheme makes must be among those that are signed, where it names them.
    private func requireInjected(
        _ plan: SchemePlan, _ settings: [[UInt8]?], _ names: [[UInt8]]?
    ) throws(SigningError) {
        guard let names, let rule = plan.headers else { return }
        for carrier in plan.carriers(plan.injections, settings) {
            guard case .header(let field) = carrier.place else { continue }
            let name = field.utf8.map(\.lowercased)
            guard names.contains(name) || !rule.selects(name) else {
                throw SigningError(.notCovered, "\(field) is not covered")
            }
        }
    }

    /// A nonce or an end that travels unsigned is what anybody wrote: it is not one.
    private func checkTime(
        _ plan: SchemePlan, _ received: ReceivedScheme, now: Int64
    ) throws(SigningError) -> SignatureClaims {
        guard (0...SigningTime.latest).contains(now) else { throw SigningTime.outOfRange }
        var claims = SignatureClaims(
            keyID: received.keyID ?? "", created: received.time ?? now, expires: nil,
            nonce: plan.signed.sources.contains(.nonce) ? received.nonce : nil, tag: nil)
        guard let time = received.time else { return claims }
        guard let lifetime = received.lifetime, plan.signed.sources.contains(.lifetime) else {
            try policy.check(claims, now: now)
            return claims
        }
        // The signer chose the end; the age is bounded by it alone, at most a week.
        claims.expires = time + lifetime
        claims.lifetimeEnd = claims.expires
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
        _ plan: SchemePlan, _ received: ReceivedScheme, of text: [UInt8], _ run: inout SchemeRun,
        now: Int64
    ) throws(SigningError) -> Key {
        let table = keys.current
        if let id = received.keyID {
            let key = try key(id, now: now)
            guard
                try table.schemeKey(key, plan).verifies(received.signatures, of: text, &run)
            else { throw Self.mismatch }
            return key
        }
        var refusal = SigningError(.unknownKey, "no key of the set can be this scheme's")
        for key in table.set.keys {
            let candidate: SchemeKey
            do throws(SigningError) {
                try key.requireUsableForSigning(at: now)
                candidate = try table.schemeKey(key, plan)
            } catch {
                continue
            }
            var own = run.trying(keyID: Array(key.id.utf8))
            let signed = plan.uses(.keyID) ? try own.run(plan.text) : text
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

extension SchemePlan {
    /// What the text that is signed takes from the message.
    func covered(_ run: inout SchemeRun) throws(SigningError) -> [MessagePart] {
        var names: [String] = []
        var components: [MessagePart] = []
        func add(
            _ name: String, _ source: SchemeTemplate.Source, _ run: inout SchemeRun
        ) throws(SigningError) {
            guard !names.contains(name) else { return }
            names.append(name)
            components.append(
                MessagePart(identifier: name, value: try run.bytes(of: source)))
        }
        // A body that lies elsewhere is proved by its digest.
        func addBody(_ run: inout SchemeRun) throws(SigningError) {
            guard case .digested(let digests) = run.message.content else {
                if run.message.content == .expected { return }
                return try add("body", .body, &run)
            }
            for algorithm in BodyDigest.allCases {
                guard let digest = digests[algorithm], !names.contains("body-digest") else {
                    continue
                }
                names.append("body-digest")
                let value = Base64.encodeBytes(digest.span, .standard)
                components.append(MessagePart(identifier: "body-digest", value: value))
            }
        }
        // Parameters are signed as the text that is made of them, not as the bytes they came in.
        func addParameters(
            _ rule: ParameterRule, _ name: String, _ run: inout SchemeRun
        ) throws(SigningError) {
            if keepsQuery(rule) { return try add("@query", .query, &run) }
            if run.message.content == .expected, rule.origins != [.query] { return }
            guard !names.contains(name) else { return }
            names.append(name)
            components.append(
                MessagePart(identifier: name, value: try run.run(.parameters(rule))))
        }
        var isUsed = [Bool](repeating: false, count: values.count)
        var inlineRules = 0
        func visit(
            _ step: Step, _ value: String? = nil, _ run: inout SchemeRun
        ) throws(SigningError) {
            for part in step.parts(run.settings) {
                switch part {
                case .source(.value(let index)) where !isUsed[index]:
                    isUsed[index] = true
                    try visit(values[index], valueNames[index], &run)
                case .source(.method): try add("@method", .method, &run)
                case .source(.target):
                    try add("@path", .path, &run)
                    try add("@query", .query, &run)
                case .source(.path), .path: try add("@path", .path, &run)
                case .source(.query): try add("@query", .query, &run)
                case .parameters(let rule):
                    inlineRules += value == nil ? 1 : 0
                    let name = value ?? "parameters\(inlineRules > 1 ? "#\(inlineRules)" : "")"
                    try addParameters(rule, "{\(name)}", &run)
                case .source(.host): try add("@authority", .host, &run)
                case .source(.body): try addBody(&run)
                case .source(.header(let name)):
                    try add(String(decoding: name, as: UTF8.self), .header(name), &run)
                case .source(.headerLines):
                    for name in try run.signedNames {
                        let isHost = name == SignableMessage.host
                        try add(
                            isHost ? "@authority" : String(decoding: name, as: UTF8.self),
                            isHost ? .host : .header(name), &run)
                    }
                case .source: break
                }
            }
        }
        try visit(text, nil, &run)
        return components
    }

    /// Whether the text of a rule says what the query says: every parameter, each told from the next.
    private func keepsQuery(_ rule: ParameterRule) -> Bool {
        rule.origins == [.query] && rule.encodes && !rule.skipsEmpty
            && rule.except.allSatisfy { name in
                placements.contains { $0.place == .query(name) }
            }
    }
}

extension SchemePlan.Step {
    /// What a step takes from elsewhere.
    enum Part {
        case source(SchemeTemplate.Source)
        case path
        case parameters(SchemePlan.ParameterRule)
    }

    func parts(_ settings: [[UInt8]?]) -> [Part] {
        switch self {
        case .template(let template): return template.sources.map(Part.source)
        case .join(let steps, _): return steps.flatMap { $0.parts(settings) }
        case .hash(_, let step, _): return step.parts(settings)
        case .path: return [.path]
        case .parameters(let rule):
            return [.parameters(rule)]
                + rule.added.flatMap(\.value.sources).map(Part.source)
        case .choice(let choices):
            return choices.first { $0.0.holds(settings) }?.1.parts(settings) ?? []
        }
    }
}
