import SignetBase
import SignetCrypto

/// Signs messages by a scheme document with one key.
final class SchemeSigner: SignatureEngine {
    private let scheme: ConfiguredScheme
    private let key: SchemeKey
    private let keyID: [UInt8]
    private var compiled: CompiledScheme { scheme.compiled }

    init(
        _ compiled: CompiledScheme, key: CryptoKey, options: MessageSigner.Options
    ) throws(SigningError) {
        guard options.coveredComponents == nil, options.label == nil, options.tag == nil else {
            throw SigningError(
                .unsupportedOption,
                "\(compiled.name) defines what it covers, and has no label and no tag")
        }
        for (name, isSet) in [
            ("acceptSignature", options.acceptSignature != nil),
            ("lifetime", options.lifetime != nil),
            ("addsNonce", options.addsNonce && !compiled.uses(.nonce)),
        ] where isSet {
            throw SigningError(.unsupportedOption, "\(compiled.name) has no option \(name)")
        }
        self.key = try SchemeKey(key, for: compiled)
        guard key.isPrivate else {
            throw SigningError(
                .wrongKeyUse, "found a public key, expected a private key to sign with")
        }
        self.keyID = Array(key.id.utf8)
        self.scheme = try ConfiguredScheme(compiled, settings: options.settings)
        try scheme.requireReadable(keyID, as: .keyID, named: "the key ID")
        for (index, setting) in compiled.settings.enumerated() {
            guard let value = scheme.settings[index] else { continue }
            try scheme.requireReadable(
                value, as: .setting(index), named: "the setting \(setting.name)")
        }
        guard scheme.placements.flatMap(\.templates).flatMap(\.sources).contains(.signature) else {
            throw SigningError(
                .malformedScheme,
                "\(compiled.name): with these settings no \"place\" contains the signature")
        }
    }

    func bodyDigests(for _: SignableMessage) -> Set<BodyDigest> { compiled.bodyDigests }

    func readsParameters(inBodyOf message: SignableMessage) -> Bool {
        let origins = (scheme.values + [scheme.text]).flatMap(\.parameterOrigins)
        let writesBody = (scheme.injections + scheme.placements).contains { slot in
            switch slot.location {
            case .form, .xml: true
            case .header, .query: false
            }
        }
        return writesBody || origins.contains(.xml) || origins.contains(.form) && message.hasForm
    }

    func sign(
        _ message: inout SignableMessage, created: Int64, expiration expires: Int64?,
        nonce: String?, salt _: [UInt8]?
    ) throws(SigningError) -> MessageSigner.Result {
        var evaluator = SchemeEvaluator(scheme, message: message)
        evaluator.keyID = keyID
        evaluator.time = created
        guard (0...SigningTime.latest).contains(created) else { throw SigningTime.outOfRange }
        if let expires {
            guard compiled.uses(.lifetime) else {
                throw SigningError(.unsupportedOption, "\(compiled.name) has no expiration")
            }
            guard expires > created else {
                throw SigningError(.invalidTime, "the expiration must be after the creation time")
            }
            guard expires - created <= SchemeLimits.lifetime else {
                throw SigningError(
                    .invalidTime,
                    "the expiration is \(expires - created) s after the creation time, expected at "
                        + "most \(SchemeLimits.lifetime) s (a week)")
            }
            evaluator.lifetime = expires - created
        }
        if scheme.usesNonce { evaluator.nonce = try self.nonce(nonce) }
        var added: [SignableMessage.Field] = []
        added.reserveCapacity(scheme.injections.count + scheme.placements.count)
        for slot in scheme.injections { try write(slot, with: &evaluator, added: &added) }
        let text = try evaluator.text()
        evaluator.signature = compiled.encoding.encode(try key.sign(text, with: &evaluator))
        for slot in scheme.placements { try write(slot, with: &evaluator, added: &added) }
        message = evaluator.message
        return MessageSigner.Result(
            text: SignedText(bytes: text), addedFields: added, origin: evaluator)
    }

    private func nonce(_ given: String?) throws(SigningError) -> [UInt8] {
        if let given {
            let nonce = Array(given.utf8)
            guard nonce.allSatisfy({ $0.isVisible && !compiled.nonce.forbidden.contains($0) })
            else {
                throw SigningError(
                    .invalidValue, "the nonce contains a byte that \(compiled.name) forbids")
            }
            try scheme.requireReadable(nonce, as: .nonce, named: "the nonce")
            return nonce
        }
        let random = try RandomBytes.forSigning(compiled.nonce.byteCount)
        return compiled.nonce.prefix + compiled.nonce.encoding.encode(random)
    }

    /// Writes a slot into the evaluator's message.
    private func write(
        _ slot: CompiledScheme.Slot, with evaluator: inout SchemeEvaluator,
        added: inout [SignableMessage.Field]
    ) throws(SigningError) {
        var value: [UInt8] = []
        value.reserveCapacity(256)
        for index in slot.templates.indices {
            if index > 0, let separator = slot.separator { value += separator }
            try evaluator.append(slot.templates[index], to: &value)
        }
        for location in slot.locations {
            try requireAbsent(location, from: evaluator.message)
        }
        switch slot.location {
        case .header(let name):
            let field = try SignableMessage.Field(token: name, value: value)
            try evaluator.message.append(field)
            added.append(field)
        case .query(let name):
            _ = try evaluator.request()
            evaluator.message.appendQuery(name: name, value: value)
        case .form(let name): try evaluator.message.appendForm(name: name, value: value)
        case .xml(let name): try evaluator.message.appendXML(name: name, value: value)
        }
    }

    /// Throws `duplicate-field` if a message already has a field or parameter that the scheme adds.
    private func requireAbsent(
        _ location: CompiledScheme.Location, from message: SignableMessage
    ) throws(SigningError) {
        let isPresent =
            switch location {
            case .header(let name):
                message.fields.contains { $0.name.isSame(ignoringCaseOf: name) }
            case .query(let name): !message.queryValues(of: name).isEmpty
            case .form(let name): try !message.formValues(of: name).isEmpty
            case .xml: false  // Checked when the element is appended.
            }
        guard !isPresent else {
            throw SigningError(
                .duplicateField,
                "the message already has the \(location.name), which \(compiled.name) adds")
        }
    }
}

extension ConfiguredScheme {
    /// Throws if a verifier couldn't read a value back from a slot: if the value is empty, too
    /// long, not visible ASCII, or contains the text that follows it there.
    func requireReadable(
        _ value: [UInt8], as source: SchemeTemplate.Source, named name: String
    ) throws(SigningError) {
        for slot in injections + placements {
            for template in slot.templates {
                for (index, part) in template.sources.enumerated() where part == source {
                    let longest = source == .keyID || source == .nonce ? 256 : Int.max
                    guard (1...longest).contains(value.count), value.allSatisfy(\.isVisible) else {
                        throw SigningError(
                            .invalidValue,
                            "\(name) must be visible ASCII of 1 to 256 bytes for "
                                + slot.location.name
                        )
                    }
                    var ends = slot.separator.map { [[$0[0]]] } ?? []
                    if index + 1 < template.sources.count,
                        case .literal(let next) = template.sources[index + 1]
                    {
                        ends.append(next)
                    }
                    for end in ends where value.firstRange(of: end) != nil {
                        throw SigningError(
                            .invalidValue,
                            "\(name) contains \(String(decoding: end, as: UTF8.self)), which would "
                                + "end it in \(slot.location.name)")
                    }
                }
            }
        }
    }
}
