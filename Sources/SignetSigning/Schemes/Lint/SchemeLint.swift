import SignetBase

extension SigningScheme {
    /// The weaknesses of the scheme, as `signet schemes lint` prints them. Always empty for
    /// `rfc9421` and `salted-hmac-v1`.
    public var findings: [SchemeFinding] {
        guard case .document(let compiled) = kind else { return [] }
        return SchemeLint(compiled).findings
    }
}

/// Looks for weaknesses in a compiled scheme.
private struct SchemeLint {
    private(set) var findings: [SchemeFinding] = []
    /// The sources that the signed text contains, as they are or after parsing.
    private var sources: Set<SchemeTemplate.Source> = []
    /// The results of ``isDelimited(_:by:)`` for values, which depend on the literal's first byte.
    private var delimitedValues: [ValueEnd: Bool] = [:]

    /// The end of a value, with the first byte of the literal after it.
    private struct ValueEnd: Hashable {
        let value: Int
        let next: UInt8?
    }

    private let scheme: CompiledScheme

    init(_ scheme: CompiledScheme) {
        self.scheme = scheme
        gather(scheme.text)
        for template in scheme.algorithm.templates { gather(template) }
        gatherSlots()
        checkAlgorithm()
        checkCoverage()
    }

    private mutating func add(_ code: SchemeFinding.Code, _ message: String) {
        guard !findings.contains(where: { $0.code == code }) else { return }
        findings.append(SchemeFinding(code: code, message: message))
    }

    private mutating func checkAlgorithm() {
        if case .hmac(.sha1, _, _, _) = scheme.algorithm {
            add(.weakHash, "signs with an HMAC with sha1, which is outdated; write sha256")
        }
        guard case .hash(let function, let before, _) = scheme.algorithm else { return }
        if function.isBroken {
            add(
                .brokenHash,
                "\(function.rawValue) is broken: collisions are known; write sha256")
        }
        if before?.sources.contains(.secret) == true {
            add(
                .secretPrefixHash,
                "the secret is hashed before the text: a longer text can be signed without it"
            )
        }
        add(
            .noHMAC,
            "signs with a hash of the secret and the text instead of an HMAC; write "
                + "{\"hmac\": \"sha256\"}")
    }

    private mutating func checkCoverage() {
        if !scheme.signed.hasTime {
            let hasDate = sources.contains { if case .time = $0 { true } else { false } }
            add(
                .noTime,
                hasDate
                    ? "only a date is signed: a message can be sent again for a whole day"
                    : "no time is signed: a copied message stays valid without limit")
        }
        if !scheme.signed.sources.contains(.nonce) {
            add(.noNonce, "no nonce is signed: a message can be sent again within its window")
        }
        if sources.isDisjoint(with: [.method, .lowercaseMethod]) {
            add(.noMethod, "the method is not signed")
        }
        let signsHost =
            sources.contains(.host)
            || (sources.contains(.headerLines)
                && scheme.headers?.required.contains(SignableMessage.host) == true)
        if !signsHost {
            add(
                .noHost, "the host is not signed: a message for one server is valid for another too"
            )
        }
        if sources.isDisjoint(with: [.target, .path]) {
            add(.noPath, "the path is not signed")
        }
        if sources.isDisjoint(with: [.target, .query]) {
            add(.noQuery, "the query is not signed")
        }
        if !sources.contains(.body) { add(.noBody, "the body is not signed") }
    }

    /// Gathers the sources that a signer writes into a field or parameter and then signs.
    private mutating func gatherSlots() {
        for slot in scheme.injections {
            let isSigned =
                switch slot.location {
                case .header(let name):
                    sources.contains(.headerLines)
                        && scheme.headers?.selects(name.utf8.map(\.lowercased)) == true
                case .query: !sources.isDisjoint(with: [.target, .query])
                case .form, .xml: sources.contains(.body)
                }
            if isSigned { sources.formUnion(slot.templates.flatMap(\.sources)) }
        }
    }

    /// - Parameter value: The name of the value that the step belongs to.
    private mutating func gather(_ step: CompiledScheme.Step, value: String? = nil) {
        let owner = value.map { "in {\($0)}, " } ?? ""
        switch step {
        case .template(let template): gather(template)
        case .join(let steps, let separator):
            for (index, step) in steps.enumerated() {
                gather(step, value: value)
                if index + 1 < steps.count, !isDelimited(step, by: separator) {
                    addJoin(
                        of: step, name: name(of: step, number: index + 1, atEnd: true),
                        with: name(of: steps[index + 1], number: index + 2, atEnd: false))
                }
            }
        case .hash(_, let step, _): gather(step, value: value)
        case .path: sources.insert(.path)
        case .parameters(let rule):
            if rule.origins.contains(.query) { sources.insert(.query) }
            if rule.origins.contains(where: { $0 != .query }) {
                sources.insert(.body)
                add(
                    .reserialisedBody,
                    "\(owner)parameters parsed from the body are signed, not the bytes that were "
                        + "sent; write {body}")
            }
            if !rule.encodes, rule.decodes || rule.origins.contains(.xml) {
                add(
                    .unescapedJoin,
                    "\(owner)parameters are joined without escaping: one value can look like two "
                        + "parameters; write \"encode\": true")
            }
            if rule.encodes, [rule.assign, rule.separator].contains(where: Self.survivesEncoding) {
                add(
                    .unescapedJoin,
                    "\(owner)parameters are joined by a text that an encoded value may contain "
                        + "too; write \"assign\": \"=\", \"with\": \"&\"")
            }
            if rule.order == .pair {
                add(
                    .pairSort,
                    "\(owner)parameters are sorted as written pairs, not by name; write "
                        + "\"sort\": \"key-value\"")
            }
            for (_, template) in rule.added { gather(template) }
        case .choice(let choices): for (_, step) in choices { gather(step, value: value) }
        }
    }

    /// Whether a separator can also occur in a percent-encoded value.
    private static func survivesEncoding(_ text: [UInt8]) -> Bool {
        text.allSatisfy { $0.isLetter || $0.isDigit || "-._~%".utf8.contains($0) }
    }

    private mutating func gather(_ template: SchemeTemplate) {
        for (index, source) in template.sources.enumerated() {
            let isNew = sources.insert(source).inserted
            if case .value(let number) = source, isNew {
                gather(scheme.values[number], value: scheme.valueNames[number])
            }
            // The last placeholder ends where the text ends.
            guard !source.isLiteral,
                let after = template.sources[(index + 1)...].first(where: { !$0.isLiteral })
            else { continue }
            // A host has no slash, and the target of a request to a server begins with one.
            let rest = template.sources[(index + 1)...]
            if source == .host, rest.first == .target || rest.first == .path { continue }
            var next: [UInt8] = []
            if case .literal(let literal) = template.sources[index + 1] { next = literal }
            if !isDelimited(source, by: next) {
                addJoin(
                    of: .template(SchemeTemplate([source])),
                    name: scheme.name(of: source) ?? "", with: scheme.name(of: after) ?? "")
            }
        }
    }

    // MARK: Joins

    /// Adds a finding for a part whose end is ambiguous, with the nearest fix.
    private mutating func addJoin(
        of step: CompiledScheme.Step, name: String, with next: String
    ) {
        let fix =
            isDelimited(step, by: [ASCII.lineFeed])
            ? "write \"\\n\" between them"
            : joinsRawParameters(step)
                ? "write \"decode\": true and \"encode\": true in the parameters of \(name), and "
                    + "\"\\n\" between them"
                : "write the hash of \(name) instead, or write \(name) last"
        add(
            .unescapedJoin,
            "between \(name) and \(next), bytes can move from one part to the other; \(fix)")
    }

    /// A part in the words of the document: its placeholder that touches the separator, its kind,
    /// or its number.
    private func name(of step: CompiledScheme.Step, number: Int, atEnd: Bool) -> String {
        switch step {
        case .template(let template):
            let places = template.sources.filter { !$0.isLiteral }
            let source = atEnd ? places.last : places.first
            return source.flatMap(scheme.name) ?? "part \(number)"
        case .parameters: return "the parameters"
        case .path: return "the path"
        case .join, .hash, .choice: return "part \(number)"
        }
    }

    /// Whether a step is a text of parameters that aren't encoded.
    private func joinsRawParameters(_ step: CompiledScheme.Step) -> Bool {
        switch step {
        case .parameters(let rule): return !rule.encodes
        case .template(let template):
            guard template.sources.count == 1, case .value(let index) = template.sources[0] else {
                return false
            }
            return joinsRawParameters(scheme.values[index])
        default: return false
        }
    }

    // MARK: Ends of parts

    /// Whether a step's text can't contain the literal that follows it, so that its end is
    /// unambiguous.
    private mutating func isDelimited(_ step: CompiledScheme.Step, by literal: [UInt8]) -> Bool {
        switch step {
        case .hash: return true
        case .path: return literal.first == ASCII.lineFeed
        case .parameters(let rule): return rule.encodes && literal.first == ASCII.lineFeed
        case .join(let steps, _): return steps.allSatisfy { isDelimited($0, by: literal) }
        case .choice(let choices):
            return choices.allSatisfy { isDelimited($0.1, by: literal) }
        case .template(let template):
            return template.sources.allSatisfy { isDelimited($0, by: literal) }
        }
    }

    private mutating func isDelimited(_ source: SchemeTemplate.Source, by literal: [UInt8]) -> Bool
    {
        switch source {
        // These have a fixed form, or the sender of a message doesn't choose them.
        case .literal, .time, .lifetime, .setting, .signature, .secret: return true
        case .value(let index):
            let key = ValueEnd(value: index, next: literal.first)
            if let known = delimitedValues[key] { return known }
            let result = isDelimited(scheme.values[index], by: literal)
            delimitedValues[key] = result
            return result
        // Each line ends with a line feed, and the names that follow give the number of lines.
        case .headerLines: return true
        case .body: return false
        case .nonce:
            return literal.first.map { $0 <= ASCII.space || scheme.nonce.forbidden.contains($0) }
                ?? false
        case .keyID, .method, .lowercaseMethod, .target, .path, .query, .host, .header,
            .headerNames:
            return literal.first == ASCII.lineFeed
        }
    }
}
