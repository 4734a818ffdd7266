internal import SignetCrypto

/// Signs by a scheme document with one key.
struct SchemeSigner: Sendable {
    private let scheme: BoundScheme
    private let key: SchemeKey
    private let keyID: [UInt8]
    private var plan: SchemePlan { scheme.plan }

    init(
        _ plan: SchemePlan, key: Key, options: MessageSigner.Options
    ) throws(SigningError) {
        guard options.coveredComponents == nil, options.label == nil, options.tag == nil else {
            throw SigningError(
                .unsupportedOption,
                "\(plan.name) says itself what it covers, and has no label and no tag")
        }
        self.key = try SchemeKey(key, plan)
        guard key.isPrivate else {
            throw SigningError(
                .wrongKeyUse, "the key is a public one, which verifies and does not sign")
        }
        self.keyID = Array(key.id.utf8)
        self.scheme = try BoundScheme(plan, options.settings)
        let settings = scheme.settings
        try plan.requireReadable(.keyID, "the key's id", keyID, settings)
        for (index, setting) in plan.settings.enumerated() {
            guard let value = settings[index] else { continue }
            try plan.requireReadable(
                .setting(index), "the setting \(setting.name)", value, settings)
        }
        guard
            scheme.placements.contains(where: {
                $0.templates.contains { $0.sources.contains(.signature) }
            })
        else {
            throw SigningError(
                .malformedScheme,
                "\(plan.name): with these settings no \"place\" takes the signature")
        }
    }

    /// The digests of the body that signing takes.
    var bodyDigests: Set<BodyDigest> { plan.bodyDigests }

    func sign(
        _ message: inout SignableMessage, created: Int64, expires: Int64?, nonce: String?
    ) throws(SigningError) -> MessageSigner.Result {
        var run = SchemeRun(scheme, message)
        run.keyID = keyID
        run.time = created
        guard (0...SigningTime.latest).contains(created) else { throw SigningTime.outOfRange }
        if let expires {
            guard scheme.usesLifetime else {
                throw SigningError(.unsupportedOption, "\(plan.name) has no expiry")
            }
            guard expires > created else {
                throw SigningError(.invalidTime, "the end is not behind the beginning")
            }
            guard expires - created <= SchemeLimits.lifetime else {
                throw SigningError(
                    .invalidTime,
                    "the end is \(expires - created) s behind the beginning: wanted at most "
                        + "\(SchemeLimits.lifetime), a week")
            }
            run.lifetime = expires - created
        }
        if scheme.usesNonce { run.nonce = try self.nonce(nonce) }
        var added: [SignableMessage.Field] = []
        added.reserveCapacity(scheme.injections.count + scheme.placements.count)
        for carrier in scheme.injections { try place(carrier, &run, &added) }
        let text = try run.text()
        run.signature = plan.encoding.encode(try key.sign(text, &run))
        for carrier in scheme.placements { try place(carrier, &run, &added) }
        message = run.message
        return MessageSigner.Result(base: text, addedFields: added, origin: run)
    }

    private func nonce(_ given: String?) throws(SigningError) -> [UInt8] {
        if let given {
            let nonce = Array(given.utf8)
            guard nonce.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !plan.nonce.forbidden.contains($0) })
            else {
                throw SigningError(
                    .invalidValue, "the nonce holds what \(plan.name) does not allow in one")
            }
            try plan.requireReadable(.nonce, "the nonce", nonce, scheme.settings)
            return nonce
        }
        do throws(CryptoFailure) {
            let random = try RandomBytes.bytes(plan.nonce.byteCount)
            return plan.nonce.prefix + plan.nonce.encoding.encode(random)
        } catch {
            throw SigningError(error)
        }
    }

    private func place(
        _ carrier: SchemePlan.Carrier, _ run: inout SchemeRun,
        _ added: inout [SignableMessage.Field]
    ) throws(SigningError) {
        var value: [UInt8] = []
        value.reserveCapacity(256)
        for (index, template) in carrier.templates.enumerated() {
            if index > 0, let separator = carrier.separator { value += separator }
            try run.append(template, to: &value)
        }
        switch carrier.place {
        case .header(let name):
            guard !run.message.fields.contains(where: { $0.name.isSame(ignoringCaseOf: name) })
            else {
                throw SigningError(
                    .duplicateField, "the message has a \(name) already, which \(plan.name) makes")
            }
            let field = try SignableMessage.Field(token: name, value: value)
            try run.message.append(field)
            added.append(field)
        case .query(let name):
            guard run.message.request != nil else {
                throw SigningError(
                    .unsupportedComponent, "\(plan.name) signs requests, and this is a response")
            }
            guard run.message.queryValues(of: name).isEmpty else {
                throw SigningError(
                    .duplicateField,
                    "the query has a \(String(decoding: name, as: UTF8.self)) already, "
                        + "which \(plan.name) makes")
            }
            run.message.appendQuery(name, value)
        case .xml(let name): try run.message.appendXML(name, value)
        }
    }
}

extension SchemePlan {
    /// Refuses a value that a verifier could not read back from where it stands: one that is empty, too
    /// long, no visible ASCII, or that holds the text behind it.
    func requireReadable(
        _ source: SchemeTemplate.Source, _ what: String, _ value: [UInt8], _ settings: [[UInt8]?]
    ) throws(SigningError) {
        for carrier in carriers(injections + placements, settings) {
            for template in carrier.templates {
                for (index, part) in template.sources.enumerated() where part == source {
                    let longest = source == .keyID || source == .nonce ? 256 : Int.max
                    guard (1...longest).contains(value.count), value.allSatisfy(\.isVisible) else {
                        throw SigningError(
                            .invalidValue,
                            "\(what) must be visible ASCII of 1 to 256 bytes for \(carrier.place.name)"
                        )
                    }
                    var ends = carrier.separator.map { [[$0[0]]] } ?? []
                    if index + 1 < template.sources.count,
                        case .literal(let next) = template.sources[index + 1]
                    {
                        ends.append(next)
                    }
                    for end in ends where value.firstRange(of: end) != nil {
                        throw SigningError(
                            .invalidValue,
                            "\(what) holds \(String(decoding: end, as: UTF8.self)), which ends it in "
                                + carrier.place.name)
                    }
                }
            }
        }
    }

    /// Whether anything that is written or signed holds a source.
    func uses(_ source: SchemeTemplate.Source) -> Bool {
        let carried = (injections + placements).flatMap(\.templates)
        return carried.contains { $0.sources.contains(source) }
            || ([text] + values).contains { $0.templates.contains { $0.sources.contains(source) } }
    }
}

extension SchemePlan.Step {
    /// Every template in it.
    var templates: [SchemeTemplate] {
        switch self {
        case .template(let template): [template]
        case .join(let steps, _): steps.flatMap(\.templates)
        case .hash(_, let step, _): step.templates
        case .path: []
        case .parameters(let rule): rule.added.map(\.value)
        case .choice(let choices): choices.flatMap(\.1.templates)
        }
    }
}

extension SchemePlan {
    /// The digests of a body that the scheme asks for.
    var bodyDigests: Set<BodyDigest> {
        let carried = (injections + placements).flatMap(\.templates).map(Step.template)
        return Set((values + carried + [text]).flatMap(\.bodyDigests))
    }
}

extension SchemePlan.Step {
    /// Whether it is the body as it stands.
    var isBody: Bool {
        if case .template(let template) = self { template.sources == [.body] } else { false }
    }

    fileprivate var bodyDigests: [BodyDigest] {
        switch self {
        case .template, .path, .parameters: []
        case .join(let steps, _): steps.flatMap(\.bodyDigests)
        case .hash(let function, let step, _):
            step.isBody ? function.bodyDigest.map { [$0] } ?? [] : step.bodyDigests
        case .choice(let choices): choices.flatMap(\.1.bodyDigests)
        }
    }
}
