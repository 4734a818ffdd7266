/// A weakness of a scheme.
public struct SchemeFinding: Sendable, Hashable {
    /// What kind of weakness; more kinds may come.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name that scripts rely on, in kebab-case.
        public let name: String

        private init(_ name: String) { self.name = name }

        /// The name.
        public var description: String { name }

        /// It signs with MD5 or SHA-1, for which collisions are known (RFC 6151, RFC 6194).
        public static let brokenHash = Code("broken-hash")
        /// It hashes the secret before the text: whoever sees one hash can sign a longer text.
        public static let secretPrefixHash = Code("secret-prefix-hash")
        /// It hashes secret and text where an HMAC (RFC 2104) belongs.
        public static let noHMAC = Code("no-hmac")
        /// Two messages can give one text, because parts are joined with nothing that tells them apart.
        public static let unescapedJoin = Code("unescaped-join")
        /// Parameters are sorted as written pairs, where `a1=x` comes before `a=1`: two sides that sort
        /// by name disagree.
        public static let pairSort = Code("pair-sort")
        /// It signs what was read from the body, not the bytes that were sent.
        public static let reserialisedBody = Code("re-serialised-body")
        /// It signs no time: a message can be sent again for ever.
        public static let noTime = Code("no-time")
        /// It signs no nonce: a message can be sent again within the window of time.
        public static let noNonce = Code("no-nonce")
        /// It does not sign the method.
        public static let noMethod = Code("no-method")
        /// It does not sign the host: a message for one server is good for another.
        public static let noHost = Code("no-host")
        /// It does not sign the path.
        public static let noPath = Code("no-path")
        /// It does not sign the query.
        public static let noQuery = Code("no-query")
        /// It does not sign the body.
        public static let noBody = Code("no-body")
    }

    /// The kind.
    public let code: Code
    /// What an attacker or a careless partner makes of it, in one line.
    public let message: String
}

extension SigningScheme {
    /// What is weak about the scheme; nothing for the two with an engine of their own.
    public var findings: [SchemeFinding] {
        guard case .document(let plan) = kind else { return [] }
        return SchemeLint(plan).findings
    }
}

/// Looks for weaknesses in a plan.
private struct SchemeLint {
    private(set) var findings: [SchemeFinding] = []
    /// What reaches the text that is signed.
    private var sources: Set<SchemeTemplate.Source> = []
    private var signsPath = false
    private var signsQuery = false
    private var signsBody = false

    init(_ plan: CompiledScheme) {
        gather(plan.text, plan)
        gatherCarried(plan)
        algorithm(plan)
        binding(plan)
    }

    private mutating func add(_ code: SchemeFinding.Code, _ message: String) {
        guard !findings.contains(where: { $0.code == code }) else { return }
        findings.append(SchemeFinding(code: code, message: message))
    }

    private mutating func algorithm(_ plan: CompiledScheme) {
        guard case .hash(let function, let before, _) = plan.algorithm else { return }
        if function.isBroken {
            add(.brokenHash, "\(function.rawValue) is broken: collisions are known")
        }
        if before?.sources.contains(.secret) == true {
            add(
                .secretPrefixHash,
                "the secret stands before the text: a longer text can be signed without it")
        }
        add(.noHMAC, "a hash over secret and text, where an HMAC belongs")
    }

    private mutating func binding(_ plan: CompiledScheme) {
        let hasTime = sources.contains { if case .time = $0 { true } else { false } }
        if !hasTime { add(.noTime, "no time is signed: a message can be sent again for ever") }
        if !sources.contains(.nonce) {
            add(.noNonce, "no nonce is signed: a message can be sent again within its window")
        }
        if !sources.contains(.method) { add(.noMethod, "the method is not signed") }
        let signsHost =
            sources.contains(.host)
            || (sources.contains(.headerLines)
                && plan.headers?.required.contains(SignableMessage.host) == true)
        if !signsHost {
            add(.noHost, "the host is not signed: what one server takes, another takes too")
        }
        let target = sources.contains(.target)
        if !target, !signsPath, !sources.contains(.path) {
            add(.noPath, "the path is not signed")
        }
        if !target, !signsQuery, !sources.contains(.query) {
            add(.noQuery, "the query is not signed")
        }
        if !signsBody, !sources.contains(.body) { add(.noBody, "the body is not signed") }
    }

    /// What the scheme writes into fields and parameters that it then signs.
    private mutating func gatherCarried(_ plan: CompiledScheme) {
        for carrier in plan.injections {
            let isSigned =
                switch carrier.place {
                case .header(let name):
                    sources.contains(.headerLines)
                        && plan.headers?.selects(name.utf8.map(\.lowercased)) == true
                case .query: signsQuery || sources.contains(.query) || sources.contains(.target)
                case .xml: signsBody || sources.contains(.body)
                }
            if isSigned { sources.formUnion(carrier.templates.flatMap(\.sources)) }
        }
    }

    private mutating func gather(_ step: CompiledScheme.Step, _ plan: CompiledScheme) {
        switch step {
        case .template(let template): gather(template, plan)
        case .join(let steps, let separator):
            for (index, step) in steps.enumerated() {
                gather(step, plan)
                if index + 1 < steps.count, !isDelimited(step, by: separator, plan) {
                    add(.unescapedJoin, "parts that may hold the separator are joined by it")
                }
            }
        case .hash(_, let step, _): gather(step, plan)
        case .path: signsPath = true
        case .parameters(let rule):
            if rule.origins.contains(.query) { signsQuery = true }
            if rule.origins.contains(where: { $0 != .query }) {
                signsBody = true
                add(
                    .reserialisedBody,
                    "parameters read from the body are signed, not the bytes that were sent")
            }
            if !rule.encodes, rule.decodes || rule.origins.contains(.xml) {
                add(
                    .unescapedJoin,
                    "parameters are joined without escaping: one value can look like two parameters"
                )
            }
            if rule.encodes, [rule.assign, rule.separator].contains(where: Self.survivesEncoding) {
                add(
                    .unescapedJoin,
                    "parameters are joined by what stands in an encoded value as it is")
            }
            if rule.order == .pair {
                add(.pairSort, "parameters are sorted as written pairs, not by name")
            }
            for (_, template) in rule.added { gather(template, plan) }
        case .choice(let choices): for (_, step) in choices { gather(step, plan) }
        }
    }

    /// Whether a text between names and values can also come out of percent-encoding.
    private static func survivesEncoding(_ text: [UInt8]) -> Bool {
        text.allSatisfy { $0.isLetter || $0.isDigit || "-._~%".utf8.contains($0) }
    }

    private mutating func gather(_ template: SchemeTemplate, _ plan: CompiledScheme) {
        for (index, source) in template.sources.enumerated() {
            sources.insert(source)
            if case .value(let number) = source { gather(plan.values[number], plan) }
            if case .literal = source { continue }
            // The last part that varies ends where the text does.
            let isLast = template.sources[(index + 1)...].allSatisfy {
                if case .literal = $0 { true } else { false }
            }
            guard !isLast else { continue }
            var next: [UInt8] = []
            if case .literal(let literal) = template.sources[index + 1] { next = literal }
            if !isDelimited(.template(SchemeTemplate([source])), by: next, plan) {
                add(
                    .unescapedJoin,
                    "parts are joined so that one can be lengthened and the next shortened")
            }
        }
    }

    /// Whether a step's text cannot hold the bytes behind it, so that its end is where it seems.
    private func isDelimited(
        _ step: CompiledScheme.Step, by literal: [UInt8], _ plan: CompiledScheme
    ) -> Bool {
        switch step {
        case .hash: return true
        case .path: return literal.first == ASCII.lineFeed
        case .parameters(let rule): return rule.encodes && literal.first == ASCII.lineFeed
        case .join(let steps, _): return steps.allSatisfy { isDelimited($0, by: literal, plan) }
        case .choice(let choices):
            return choices.allSatisfy { isDelimited($0.1, by: literal, plan) }
        case .template(let template):
            return template.sources.allSatisfy { isDelimited($0, by: literal, plan) }
        }
    }

    private func isDelimited(
        _ source: SchemeTemplate.Source, by literal: [UInt8], _ plan: CompiledScheme
    ) -> Bool {
        switch source {
        // Of a fixed form, or chosen by us and not by who sends.
        case .literal, .time, .lifetime, .setting, .signature, .secret: return true
        case .value(let index): return isDelimited(plan.values[index], by: literal, plan)
        // The lines end themselves, and the names that follow tell how many there are.
        case .headerLines: return true
        case .body: return false
        case .nonce:
            return literal.first.map { $0 <= ASCII.space || plan.nonce.forbidden.contains($0) }
                ?? false
        case .keyID, .method, .target, .path, .query, .host, .header, .headerNames:
            return literal.first == ASCII.lineFeed
        }
    }
}
