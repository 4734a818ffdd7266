import SignetBase
import SignetJSON
import SignetPinning

/// Code that builds OkHttp's `CertificatePinner` (square.github.io/okhttp, CertificatePinner).
///
/// OkHttp accepts a key that *any* matching pattern pins. A policy accepts only the keys of the
/// most specific rule.
enum OkHttpFormat {
    // MARK: - Reading

    /// Finds the calls `.add("pattern", "sha256/…", …)` of Kotlin or Java code. An argument may be
    /// a constant of the file: `val PIN = "sha256/…"` or `final String PIN = "sha256/…"`.
    static func read(_ bytes: [UInt8], notes: inout ConversionNotes) throws(PinError) -> PinPolicy {
        guard bytes.count <= PropertyList.sizeLimit, String(validating: bytes, as: UTF8.self) != nil
        else {
            throw CodeReader.malformed("the file isn't UTF-8, or has more than 16 MiB", line: 1)
        }
        var order: [PinRule.Pattern] = []
        var pins: [PinRule.Pattern: [Pin]] = [:]
        for call in try CodeReader.calls(in: bytes) {
            let pattern = try PinRule.Pattern(parsing: call.pattern)
            if pins[pattern] == nil { order.append(pattern) }
            do throws(PinError) {
                pins[pattern, default: []] += try call.pins.map(Pin.init(parsing:))
            } catch {
                throw PinError(error.code, "line \(call.line): \(error.message)")
            }
        }
        guard !order.isEmpty else {
            throw CodeReader.malformed("found no .add(\"host\", \"sha256/…\")", line: 1)
        }
        let rules = try order.map { (pattern) throws(PinError) in
            let pins = pins[pattern, default: []].withoutDuplicates
            return try PinRule(host: pattern.description, pins: pins)
        }
        notes.addUnlisted(in: "OkHttp")
        return try PinPolicy(rules: merged(try PinPolicy(rules: rules), notes: &notes))
    }

    /// The largest number of pins in all rules, after each rule got those of the wider ones.
    /// Without a limit, many names below a name with many pins would need too much memory.
    private static let maximumPinCount = 1_000_000

    /// Returns the rules, each with the pins of the wider ones added.
    private static func merged(_ policy: PinPolicy, notes: inout ConversionNotes) throws(PinError)
        -> [PinRule]
    {
        let index = RuleScopeIndex(policy)
        var rules: [PinRule] = []
        var room = maximumPinCount
        for rule in policy.rules {
            let wider = index.rules(coveringAllOf: rule).filter { !isNarrower($0, than: rule) }
            let pins = merged(
                rule.pins, of: rule.pattern.description, withPinsOf: wider, notes: &notes)
            rules.append(try PinRule(host: rule.pattern.description, pins: pins))
            room -= pins.count
            guard room >= 0 else {
                throw PinError(
                    .malformedInput,
                    "with the pins of the wider patterns, the rules have more than"
                        + " \(maximumPinCount) pins")
            }
            if let above = index.rule(coveringTopOf: rule) {
                let host = rule.pattern.host.text
                rules.append(
                    try PinRule(
                        host: host, pins: merged(pins, of: host, withPinsOf: [above], notes: &notes)
                    ))
            }
        }
        return rules
    }

    private static func merged(
        _ pins: [Pin], of name: String, withPinsOf wider: [PinRule], notes: inout ConversionNotes
    ) -> [Pin] {
        var pins = pins
        var known = Set(pins)
        for wider in wider {
            let more = wider.pins.filter { known.insert($0).inserted }
            guard !more.isEmpty else { continue }
            pins += more
            notes.add(
                "\(name) gets the pins of \(wider.pattern) too: OkHttp accepts a key that"
                    + " any matching pattern pins")
        }
        return pins
    }

    /// Whether a rule covers fewer hosts than another of the same name.
    private static func isNarrower(_ rule: PinRule, than other: PinRule) -> Bool {
        rule.pattern.host == other.pattern.host && other.pattern.scope == .anyDepth
    }

    // MARK: - Writing

    static func write(_ policy: PinPolicy, notes: inout ConversionNotes) throws(PinError)
        -> [UInt8]
    {
        let index = RuleScopeIndex(policy)
        let pins = Dictionary(policy.rules.map { ($0.pattern, Set($0.pins)) }) { first, _ in first }
        var lines = ["CertificatePinner.Builder()"]
        for rule in policy.rules {
            let around = index.pinnedRules(around: rule)
            if rule.isExclusion || rule.mode == .report {
                let what = rule.isExclusion ? "exclusions" : "report mode"
                guard around.isEmpty else {
                    throw PinError(
                        .notExpressible,
                        "OkHttp has no \(what), and \(around[0].pattern) pins \(rule.pattern)")
                }
                notes.add("\(rule.pattern): OkHttp has no \(what), so it is left out")
                continue
            }
            let own = pins[rule.pattern] ?? []
            if let wider = around.first(where: { pins[$0.pattern]?.isSubset(of: own) != true }) {
                throw PinError(
                    .notExpressible,
                    "OkHttp would also accept the pins of \(wider.pattern) for \(rule.pattern),"
                        + " which the policy doesn't")
            }
            guard rule.pattern.scope != .oneLabel || !rule.includesSubdomains else {
                throw PinError(
                    .notExpressible,
                    "OkHttp can't express \(rule.pattern) with its subdomains and without"
                        + " \(rule.pattern.host)")
            }
            notes.addExpiry(of: rule, in: "OkHttp")
            let pattern =
                rule.includesSubdomains ? "**.\(rule.pattern.host)" : rule.pattern.description
            for pin in rule.pins {
                lines.append(
                    "    .add(\(JSONValue.string(pattern).text), \(JSONValue.string(pin.text).text))"
                )
            }
        }
        lines.append("    .build()")
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }
}

/// Finds the calls of a certificate pinner's builder in Kotlin or Java.
struct CodeReader {
    struct Call {
        let pattern: String
        let pins: [String]
        let line: Int
    }

    private enum Token: Equatable {
        case text(String)
        case word(String)
        case mark(UInt8)

        var isWord: Bool {
            if case .word = self { true } else { false }
        }
    }

    private var constants: [String: String?] = [:]
    private let bytes: [UInt8]
    private var index = 0
    private var line = 1

    static func malformed(_ what: String, line: Int) -> PinError {
        PinError(.malformedInput, "line \(line): \(what)")
    }

    static func calls(in bytes: [UInt8]) throws(PinError) -> [Call] {
        var reader = CodeReader(bytes: bytes)
        reader.constants = try constants(in: bytes)
        var calls: [Call] = []
        var before: Token?
        while let token = try reader.next() {
            if token == .word("add"), before == .mark(UInt8(ascii: ".")),
                let call = try reader.arguments()
            {
                calls.append(call)
                before = nil
            } else {
                before = token
            }
        }
        return calls
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the strings of Kotlin's `val` and Java's `final String`, which nothing changes
    /// later. A name with several values, or with an expression, has the value nil.
    private static func constants(in bytes: [UInt8]) throws(PinError) -> [String: String?] {
        var reader = CodeReader(bytes: bytes)
        var constants: [String: String?] = [:]
        var token = try reader.next()
        while let keyword = token {
            token = try reader.next()
            let isJava = keyword == .word("final")
            guard isJava || keyword == .word("val") else { continue }
            if isJava {
                if token == .word("static") { token = try reader.next() }
                guard token == .word("String") else { continue }
                token = try reader.next()
            }
            guard case .word(let name) = token else { continue }
            token = try reader.next()
            if !isJava, token == .mark(UInt8(ascii: ":")) {
                _ = try reader.next()
                token = try reader.next()
            }
            guard token == .mark(UInt8(ascii: "=")) else { continue }
            let value = try reader.next()
            let line = reader.line
            token = value == nil ? nil : try reader.next()
            // In `"a" + b`, `"a".trim()` and `"a" to b` the string is only the expression's start.
            let isPart =
                token == .mark(UInt8(ascii: "+")) || token == .mark(UInt8(ascii: "."))
                || (reader.line == line && token?.isWord == true)
            guard case .text(let text) = value, !isPart,
                constants[name].map({ old in old.map { sameBytes($0, text) } ?? false }) != false
            else {
                constants[name] = .some(nil)
                continue
            }
            constants[name] = text
        }
        return constants
    }

    /// Returns the text of an argument: a literal, or a constant such as `PIN` or `Pins.PIN`.
    private func text(of argument: [Token]) -> String? {
        if argument.count == 1, case .text(let text) = argument[0] { return text }
        let isName = argument.enumerated().allSatisfy { index, token in
            index % 2 == 0 ? token.isWord : token == .mark(UInt8(ascii: "."))
        }
        guard isName, case .word(let name)? = argument.last else { return nil }
        return constants[name] ?? nil
    }

    /// Reads the call's arguments. Returns nil for another function `add`, such as a list's.
    private mutating func arguments() throws(PinError) -> Call? {
        let start = line
        guard try next() == .mark(UInt8(ascii: "(")) else { return nil }
        var groups: [[Token]] = [[]]
        var depth = 1
        while depth > 0 {
            guard let token = try next() else {
                throw Self.malformed("a call of add isn't closed", line: start)
            }
            switch token {
            case .mark(UInt8(ascii: "(")): depth += 1
            case .mark(UInt8(ascii: ")")): depth -= 1
            case .mark(UInt8(ascii: ",")) where depth == 1:
                groups.append([])
                continue
            default: break
            }
            if depth > 0 { groups[groups.count - 1].append(token) }
        }
        if groups.count > 1, groups.last?.isEmpty == true { groups.removeLast() }
        let texts = groups.compactMap(text(of:))
        if texts.count == groups.count, texts.count >= 2 {
            return Call(pattern: texts[0], pins: Array(texts.dropFirst()), line: start)
        }
        guard groups.count < 2 else {
            throw Self.malformed(
                "the arguments of add must be strings, or constants of this file with one value"
                    + " (val NAME = \"…\", final String NAME = \"…\")", line: start)
        }
        return nil
    }

    private mutating func next() throws(PinError) -> Token? {
        while index < bytes.count {
            let byte = bytes[index]
            let rest = bytes[index...]
            if byte == UInt8(ascii: "\n") { line += 1 }
            if XMLReader.isSpace(byte) {
                index += 1
            } else if rest.starts(with: "//".utf8) {
                index = rest.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            } else if rest.starts(with: "/*".utf8) {
                try comment()
            } else if rest.starts(with: "\"\"\"".utf8) {
                throw Self.malformed("raw strings aren't supported", line: line)
            } else if byte == UInt8(ascii: "\"") {
                return .text(try literal(named: "a string"))
            } else if byte == UInt8(ascii: "'") {
                _ = try literal(named: "a character literal")
            } else if isWord(byte) {
                let end = rest.firstIndex { !isWord($0) } ?? bytes.count
                defer { index = end }
                return .word(String(decoding: bytes[index..<end], as: UTF8.self))
            } else {
                index += 1
                return .mark(byte)
            }
        }
        return nil
    }

    private static let wordCharacters = ASCIISet(lettersDigitsAnd: "_")

    private func isWord(_ byte: UInt8) -> Bool {
        byte >= 0x80 || Self.wordCharacters.contains(byte)
    }

    private mutating func comment() throws(PinError) {
        let start = line
        index += 2
        while index < bytes.count {
            if bytes[index...].starts(with: "*/".utf8) {
                index += 2
                return
            }
            if bytes[index] == UInt8(ascii: "\n") { line += 1 }
            index += 1
        }
        throw Self.malformed("a comment isn't closed", line: start)
    }

    /// Reads a literal in quotes of one kind.
    private mutating func literal(named what: String) throws(PinError) -> String {
        let quote = bytes[index]
        index += 1
        var text: [UInt8] = []
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") {
            let byte = bytes[index]
            index += 1
            switch byte {
            case quote: return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                // Hosts and pins need no escapes, and other strings don't matter.
                text.append(0)
                index += 1
            case UInt8(ascii: "$"):
                text.append(0)
            default: text.append(byte)
            }
        }
        throw Self.malformed("\(what) isn't closed", line: line)
    }
}
