internal import SignetCrypto

/// What a message's fields say of a scheme's signature, before anything of it is proved.
struct ReceivedSchemeSignature {
    /// How many fields one signature may cover.
    static let maximumNames = 256

    /// The signatures that stand in the list, decoded.
    private(set) var signatures: [[UInt8]] = []
    private(set) var keyID: String?
    private(set) var nonce: String?
    private(set) var time: Int64?
    private(set) var millisecond: Int64 = 0
    private(set) var lifetime: Int64?
    private(set) var headerNames: [[UInt8]]?
    /// What must turn out as the plan makes it.
    private(set) var claimed: [(source: SchemeTemplate.Source, value: [UInt8])] = []

    /// Reads every carrier of the plan.
    ///
    /// - Throws: `no-signature`, `malformed-signature`, `missing-component`.
    init(
        _ message: SignableMessage, _ scheme: ConfiguredScheme
    ) throws(SigningError) {
        let plan = scheme.plan
        for carrier in scheme.readPlacements {
            guard let text = try Self.text(carrier, message) else {
                throw SigningError(
                    .noSignature, "the message has no \(carrier.place.name) of \(plan.name)")
            }
            try read(text, carrier, plan)
        }
        for carrier in scheme.readInjections {
            guard let text = try Self.text(carrier, message) else {
                throw SigningError(
                    .missingComponent, "the message has no \(carrier.place.name) of \(plan.name)")
            }
            try read(text, carrier, plan)
        }
        guard !signatures.isEmpty else {
            throw SigningError(.noSignature, "the message has no signature of \(plan.name)")
        }
        guard signatures.count <= 8 else {
            throw SigningError(.malformedSignature, "more than eight signatures in one list")
        }
    }

    /// What stands in a carrier's place, or nil.
    private static func text(
        _ carrier: CompiledScheme.Carrier, _ message: SignableMessage
    ) throws(SigningError) -> [UInt8]? {
        let values: [[UInt8]]
        switch carrier.place {
        case .header(let name):
            var found: [UInt8]?
            for field in message.fields where field.name.isSame(ignoringCaseOf: name) {
                guard found == nil else { throw Self.several(carrier.place) }
                found = field.value
            }
            return found
        case .query(let name): values = message.queryValues(of: name)
        case .xml(let name):
            values = try message.xmlChildren().filter { $0.name == name }.map(\.value)
        }
        guard values.count <= 1 else { throw several(carrier.place) }
        return values.first
    }

    private static func several(_ place: CompiledScheme.Place) -> SigningError {
        SigningError(.malformedSignature, "the message has several \(place.name)")
    }

    private mutating func read(
        _ text: [UInt8], _ carrier: CompiledScheme.Carrier, _ plan: CompiledScheme
    ) throws(SigningError) {
        var malformed: SigningError {
            SigningError(
                .malformedSignature,
                "\(carrier.place.name): found another form, wanted \(printable(carrier.shape))")
        }
        guard let separator = carrier.separator else {
            guard let captures = carrier.templates[0].match(text) else { throw malformed }
            return try take(captures, plan, carrier)
        }
        let entries = text.split(separator: separator[0]).map { Array($0).trimmingWhiteSpace() }
        guard entries.count <= 64 else { throw malformed }
        for template in carrier.templates {
            // Entries of other versions are nobody's; a signature may stand in several.
            let found = entries.compactMap(template.match)
            let isSignature = template.sources.contains(.signature)
            guard isSignature || found.count == 1 else { throw malformed }
            for captures in found { try take(captures, plan, carrier) }
        }
    }

    private mutating func take(
        _ captures: [(source: SchemeTemplate.Source, value: [UInt8])], _ plan: CompiledScheme,
        _ carrier: CompiledScheme.Carrier
    ) throws(SigningError) {
        func malformed(_ what: String) -> SigningError {
            SigningError(.malformedSignature, "\(carrier.place.name): \(what)")
        }
        func text(_ value: [UInt8], _ what: String) throws(SigningError) -> String {
            guard value.count <= 256, value.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw malformed("\(what) is no visible ASCII of at most 256 bytes")
            }
            return String(decoding: value, as: UTF8.self)
        }
        for (source, value) in captures {
            switch source {
            case .signature:
                guard let signature = plan.encoding.decode(value) else {
                    throw malformed("the signature is no \(plan.encoding.rawValue)")
                }
                signatures.append(signature)
            case .keyID:
                let found = try text(value, "the key's id")
                guard keyID == nil || keyID == found else { throw malformed("two ids of keys") }
                keyID = found
            case .nonce:
                let found = try text(value, "the nonce")
                guard nonce == nil || nonce == found else { throw malformed("two nonces") }
                guard !value.contains(where: plan.nonce.forbidden.contains) else {
                    throw malformed("the nonce holds what the scheme does not allow")
                }
                nonce = found
            case .time(let format) where format.isWhole:
                guard let found = format.time(of: value) else {
                    throw malformed("the time is not of its form, or not in the years 1970 to 9999")
                }
                guard time == nil || time == found else { throw malformed("two times") }
                time = found
                if format == .milliseconds { millisecond = format.millisecond(of: value) }
                claimed.append((source, value))
            case .lifetime:
                guard let found = SchemeTime.unix.time(of: value),
                    (1...SchemeLimits.lifetime).contains(found)
                else { throw malformed("the lifetime is no number of seconds up to a week") }
                lifetime = found
            case .headerNames: headerNames = try names(value, plan, malformed)
            default: claimed.append((source, value))
            }
        }
    }

    /// The fields that a signature says it covers: lower case, sorted, each once, the required ones
    /// among them.
    private func names(
        _ text: [UInt8], _ plan: CompiledScheme, _ malformed: (String) -> SigningError
    ) throws(SigningError) -> [[UInt8]] {
        let names = text.split(separator: ASCII.semicolon, omittingEmptySubsequences: false)
            .map { Array($0) }
        guard names.count <= Self.maximumNames,
            names.allSatisfy({ name in
                !name.isEmpty && name.allSatisfy { $0.isToken && $0.lowercased == $0 }
            }),
            zip(names, names.dropFirst()).allSatisfy({ $0.lexicographicallyPrecedes($1) })
        else {
            throw malformed("the names of the signed fields are not sorted names in lower case")
        }
        for name in plan.headers?.required ?? [] where !names.contains(name) {
            throw SigningError(
                .notCovered, "\(String(decoding: name, as: UTF8.self)) is not covered")
        }
        return names
    }
}

extension CompiledScheme.Place {
    /// The place in words.
    var name: String {
        switch self {
        case .header(let name): "field \(name)"
        case .query(let name): "query parameter \(String(decoding: name, as: UTF8.self))"
        case .xml(let name): "element \(String(decoding: name, as: UTF8.self))"
        }
    }
}
