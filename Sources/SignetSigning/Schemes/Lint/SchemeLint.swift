internal import SignetBase

/// A weakness of a scheme, found by ``SigningScheme/findings``.
///
/// A test can accept the weaknesses that a partner's rules have, and fail if a change adds another:
///
/// ```swift
/// import Foundation
///
/// let file = try Data(contentsOf: URL(filePath: "tea-trade.json"))
/// let scheme = try SigningScheme(document: Array(file))
/// let accepted: Set<SchemeFinding.Code> = [.noHost, .noNonce]
/// let unexpected = scheme.findings.filter { !accepted.contains($0.code) }
/// precondition(unexpected.isEmpty, "\(unexpected.map(\.message))")
/// ```
public struct SchemeFinding: Sendable, Hashable {
    /// The kind of weakness. Later versions may add kinds.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name in kebab-case, which stays the same in later versions.
        public let name: String

        private init(_ name: String) { self.name = name }

        /// The name.
        public var description: String { name }

        /// The scheme signs with MD5 or SHA-1, for which collisions are known (RFC 6151, RFC 6194).
        public static let brokenHash = Code("broken-hash")
        /// The scheme signs with an HMAC with SHA-1. It isn't broken, but no new scheme should use it
        /// (RFC 6194).
        public static let weakHash = Code("weak-hash")
        /// The scheme hashes the secret before the text. From one hash, an attacker can compute the
        /// hash of a longer text.
        public static let secretPrefixHash = Code("secret-prefix-hash")
        /// The scheme hashes the secret and the text instead of using an HMAC (RFC 2104).
        public static let noHMAC = Code("no-hmac")
        /// Two different messages can have the same signed text, because the joined parts are
        /// ambiguous.
        public static let unescapedJoin = Code("unescaped-join")
        /// The scheme sorts parameters as written pairs, so that `a1=x` comes before `a=1`. A
        /// partner that sorts by name gets another order.
        public static let pairSort = Code("pair-sort")
        /// The scheme signs values parsed from the body, not the bytes that were sent.
        public static let reserialisedBody = Code("re-serialised-body")
        /// The scheme doesn't sign a time to the second: a message can be replayed forever, or for
        /// a day if a date is signed.
        public static let noTime = Code("no-time")
        /// The scheme doesn't sign a nonce: a message can be replayed until it is too old.
        public static let noNonce = Code("no-nonce")
        /// The scheme doesn't sign the method.
        public static let noMethod = Code("no-method")
        /// The scheme doesn't sign the host: a message for one server is valid for another server
        /// too.
        public static let noHost = Code("no-host")
        /// The scheme doesn't sign the path.
        public static let noPath = Code("no-path")
        /// The scheme doesn't sign the query.
        public static let noQuery = Code("no-query")
        /// The scheme doesn't sign the body.
        public static let noBody = Code("no-body")
    }

    /// The kind of weakness.
    public let code: Code
    /// The weakness and its consequence, in one line.
    public let message: String
}

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
            add(.brokenHash, "\(function.rawValue) is broken: collisions are known")
        }
        if before?.sources.contains(.secret) == true {
            add(
                .secretPrefixHash,
                "the secret is hashed before the text: a longer text can be signed without it"
            )
        }
        add(.noHMAC, "signs with a hash of the secret and the text instead of an HMAC")
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
        if sources.isDisjoint(with: [.method, .lowercaseMethod]) { add(.noMethod, "the method is not signed") }
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

    private mutating func gather(_ step: CompiledScheme.Step) {
        switch step {
        case .template(let template): gather(template)
        case .join(let steps, let separator):
            for (index, step) in steps.enumerated() {
                gather(step)
                if index + 1 < steps.count, !isDelimited(step, by: separator) {
                    add(.unescapedJoin, "parts that may contain the separator are joined by it")
                }
            }
        case .hash(_, let step, _): gather(step)
        case .path: sources.insert(.path)
        case .parameters(let rule):
            if rule.origins.contains(.query) { sources.insert(.query) }
            if rule.origins.contains(where: { $0 != .query }) {
                sources.insert(.body)
                add(
                    .reserialisedBody,
                    "parameters parsed from the body are signed, not the bytes that were sent")
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
                    "parameters are joined by a text that an encoded value may contain too")
            }
            if rule.order == .pair {
                add(.pairSort, "parameters are sorted as written pairs, not by name")
            }
            for (_, template) in rule.added { gather(template) }
        case .choice(let choices): for (_, step) in choices { gather(step) }
        }
    }

    /// Whether a separator can also occur in a percent-encoded value.
    private static func survivesEncoding(_ text: [UInt8]) -> Bool {
        text.allSatisfy { $0.isLetter || $0.isDigit || "-._~%".utf8.contains($0) }
    }

    private mutating func gather(_ template: SchemeTemplate) {
        for (index, source) in template.sources.enumerated() {
            let isNew = sources.insert(source).inserted
            if case .value(let number) = source, isNew { gather(scheme.values[number]) }
            // The last placeholder ends where the text ends.
            guard !source.isLiteral,
                !template.sources[(index + 1)...].allSatisfy(\.isLiteral)
            else { continue }
            var next: [UInt8] = []
            if case .literal(let literal) = template.sources[index + 1] { next = literal }
            if !isDelimited(source, by: next) {
                add(
                    .unescapedJoin,
                    "parts are joined so that bytes can move from one part to the next")
            }
        }
    }

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
        case .keyID, .method, .lowercaseMethod, .target, .path, .query, .host, .header, .headerNames:
            return literal.first == ASCII.lineFeed
        }
    }
}
