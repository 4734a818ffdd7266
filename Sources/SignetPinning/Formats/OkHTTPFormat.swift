internal import SignetJSON

/// Code that builds OkHttp's `CertificatePinner` (square.github.io/okhttp, CertificatePinner).
///
/// OkHttp takes a key that *any* matching pattern wants, a policy one that the most specific rule wants.
enum OkHTTPFormat {
    // MARK: - Reading

    /// Finds the calls `.add("pattern", "sha256/…", …)` of Kotlin or Java code.
    static func read(_ bytes: [UInt8], _ notes: inout ConversionNotes) throws(PinError) -> PinPolicy
    {
        guard bytes.count <= PropertyList.sizeLimit, String(validating: bytes, as: UTF8.self) != nil
        else { throw CodeReader.malformed("it is not UTF-8, or more than 16 MiB", line: 1) }
        var order: [PinRule.Pattern] = []
        var pins: [PinRule.Pattern: DistinctPins] = [:]
        for call in try CodeReader.calls(in: bytes) {
            let pattern = try PinRule.Pattern(parsing: call.pattern)
            if pins[pattern] == nil {
                order.append(pattern)
                pins[pattern] = DistinctPins()
            }
            for text in call.pins {
                let pin: Pin
                do throws(PinError) {
                    pin = try Pin(parsing: text)
                } catch {
                    throw PinError(
                        code: error.code, message: "line \(call.line): \(error.message)")
                }
                pins[pattern]?.add(pin)
            }
        }
        guard !order.isEmpty else {
            throw CodeReader.malformed("no .add(\"host\", \"sha256/…\") was found", line: 1)
        }
        var rules: [PinRule] = []
        for pattern in order {
            rules.append(try PinRule(host: pattern.description, pins: pins[pattern]?.pins ?? []))
        }
        notes.addUnlisted("OkHttp")
        return try PinPolicy(rules: joined(try PinPolicy(rules: rules), &notes))
    }

    /// The most pins that the rules may have once each has those of the wider ones too: many names below
    /// one with many pins would take any amount of memory.
    private static let mostPins = 1_000_000

    /// The rules, each with the pins of the wider ones.
    private static func joined(_ policy: PinPolicy, _ notes: inout ConversionNotes) throws(PinError)
        -> [PinRule]
    {
        let index = RuleScopeIndex(policy)
        var rules: [PinRule] = []
        var room = mostPins
        for rule in policy.rules {
            let wider = index.rules(reachingAllOf: rule).filter { !isNarrower($0, rule) }
            let pins = joined(rule.pins, rule.pattern.description, wider, &notes)
            rules.append(try PinRule(host: rule.pattern.description, pins: pins))
            room -= pins.count
            guard room >= 0 else {
                throw PinError(
                    code: .malformedInput,
                    message: "with the pins of the wider patterns the rules have more than"
                        + " \(mostPins) pins")
            }
            if let above = index.rule(reachingTopOf: rule) {
                let host = rule.pattern.host.text
                rules.append(try PinRule(host: host, pins: joined(pins, host, [above], &notes)))
            }
        }
        return rules
    }

    private static func joined(
        _ pins: [Pin], _ name: String, _ wider: [PinRule], _ notes: inout ConversionNotes
    ) -> [Pin] {
        var pins = pins
        var known = Set(pins)
        for wider in wider {
            let more = wider.pins.filter { known.insert($0).inserted }
            guard !more.isEmpty else { continue }
            pins += more
            notes.add(
                "\(name) gets the pins of \(wider.pattern) too: OkHttp takes a key that any matching"
                    + " pattern wants")
        }
        return pins
    }

    /// Whether one of two rules of the same name reaches less than the other.
    private static func isNarrower(_ rule: PinRule, _ other: PinRule) -> Bool {
        rule.pattern.host == other.pattern.host && other.pattern.scope == .anyDepth
    }

    // MARK: - Writing

    static func write(_ policy: PinPolicy, _ notes: inout ConversionNotes) throws(PinError)
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
                    throw PinConversion.notExpressible(
                        "OkHttp has no \(what), and \(around[0].pattern) pins \(rule.pattern)")
                }
                notes.add("\(rule.pattern): OkHttp has no \(what), so it is left out")
                continue
            }
            let own = pins[rule.pattern] ?? []
            if let wider = around.first(where: { pins[$0.pattern]?.isSubset(of: own) != true }) {
                throw PinConversion.notExpressible(
                    "OkHttp would take the pins of \(wider.pattern) for \(rule.pattern) too, which"
                        + " the policy does not")
            }
            guard rule.pattern.scope != .oneLabel || !rule.includesSubdomains else {
                throw PinConversion.notExpressible(
                    "OkHttp cannot say \(rule.pattern) with its subdomains and without"
                        + " \(rule.pattern.host)")
            }
            notes.addExpiry(of: rule, "OkHttp")
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
    }

    private let bytes: [UInt8]
    private var index = 0
    private var line = 1

    static func malformed(_ what: String, line: Int) -> PinError {
        PinError(code: .malformedInput, message: "line \(line): \(what)")
    }

    static func calls(in bytes: [UInt8]) throws(PinError) -> [Call] {
        var reader = CodeReader(bytes: bytes)
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

    /// The call's arguments, or nil where it is another `add`, such as a list's.
    private mutating func arguments() throws(PinError) -> Call? {
        let start = line
        guard try next() == .mark(UInt8(ascii: "(")) else { return nil }
        var groups: [[Token]] = [[]]
        var depth = 1
        while depth > 0 {
            guard let token = try next() else {
                throw Self.malformed("a call of add does not end", line: start)
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
        var texts: [String] = []
        for group in groups {
            if group.count == 1, case .text(let text) = group[0] { texts.append(text) }
        }
        if texts.count == groups.count, texts.count >= 2 {
            return Call(pattern: texts[0], pins: Array(texts.dropFirst()), line: start)
        }
        guard groups.count < 2 else {
            throw Self.malformed(
                "the arguments of add are not all plain strings: write them out", line: start)
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
                throw Self.malformed("raw strings are not read", line: line)
            } else if byte == UInt8(ascii: "\"") {
                return .text(try string())
            } else if byte == UInt8(ascii: "'") {
                try character()
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

    private func isWord(_ byte: UInt8) -> Bool {
        byte >= 0x80 || byte == UInt8(ascii: "_")
            || (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z"))
            || (byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9"))
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
        throw Self.malformed("a comment does not end", line: start)
    }

    private mutating func character() throws(PinError) {
        index += 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") {
            let byte = bytes[index]
            index += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "'") { return }
        }
        throw Self.malformed("a character does not end", line: line)
    }

    private mutating func string() throws(PinError) -> String {
        index += 1
        var text: [UInt8] = []
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                // No host and no pin needs an escape; what it stands for is of no account elsewhere.
                text.append(0)
                index += 1
            case UInt8(ascii: "$"):
                text.append(0)
            default: text.append(byte)
            }
        }
        throw Self.malformed("a string does not end", line: line)
    }
}
