/// The reason that a text isn't a valid pattern, and its position.
package struct PatternFailure: Error {
    package let reason: String
}

/// A pattern as a tree.
indirect enum PatternNode: Sendable {
    case scalars(ScalarSet)
    case textStart
    case textEnd
    case sequence([PatternNode])
    case choice([PatternNode])
    case repeated(PatternNode, atLeast: Int, atMost: Int?)
}

/// Parses a regular expression in the syntax of ECMA-262. Refuses everything that can't be matched
/// in one pass (backreferences, lookaround, atomic groups), and everything that dialects interpret
/// differently.
struct PatternParser {
    private let text: [Unicode.Scalar]
    private var position = 0
    private var depth = 0
    private var ignoresCase = false

    private static let maximumDepth = 50
    static let maximumCount = 10_000
    private static let controls: [Unicode.Scalar: UInt32] = [
        "t": 0x09, "n": 0x0a, "v": 0x0b, "f": 0x0c, "r": 0x0d, "0": 0,
    ]

    static func parse(_ text: String) throws(PatternFailure) -> PatternNode {
        var parser = PatternParser(text: Array(text.unicodeScalars))
        if parser.consume("(?i)") { parser.ignoresCase = true }
        let node = try parser.choice()
        guard parser.position == parser.text.count else {
            throw parser.failure("a closing parenthesis without an opening one")
        }
        return node
    }

    private init(text: [Unicode.Scalar]) { self.text = text }

    private func failure(_ reason: String) -> PatternFailure {
        PatternFailure(reason: "\(reason) (character \(position + 1))")
    }

    private var next: Unicode.Scalar? { position < text.count ? text[position] : nil }

    private mutating func consume(_ wanted: String) -> Bool {
        let scalars = wanted.unicodeScalars
        guard text[position...].starts(with: scalars) else { return false }
        position += scalars.count
        return true
    }

    // MARK: - Structure

    private mutating func choice() throws(PatternFailure) -> PatternNode {
        var branches = [try sequence()]
        while consume("|") { branches.append(try sequence()) }
        return branches.count == 1 ? branches[0] : .choice(branches)
    }

    private mutating func sequence() throws(PatternFailure) -> PatternNode {
        var nodes: [PatternNode] = []
        while let next, next != "|", next != ")" {
            let atom = try atom()
            nodes.append(try repeated(atom))
        }
        return nodes.count == 1 ? nodes[0] : .sequence(nodes)
    }

    private mutating func atom() throws(PatternFailure) -> PatternNode {
        if consume("(") { return try group() }
        if consume("[") { return .scalars(try characterClass()) }
        if consume("^") { return .textStart }
        if consume("$") { return .textEnd }
        if consume(".") { return .scalars(.complement(ScalarSet.lineEnds)) }
        if consume("\\") { return .scalars(cased(try escape(inClass: false))) }
        guard let scalar = next, !"*+?{".unicodeScalars.contains(scalar) else {
            throw failure("a repetition of nothing; write a literal brace as \\{")
        }
        position += 1
        return .scalars(cased(ScalarSet([scalar.value...scalar.value])))
    }

    private func cased(_ set: ScalarSet) -> ScalarSet {
        var set = set
        set.ignoresCase = ignoresCase
        return set
    }

    private mutating func group() throws(PatternFailure) -> PatternNode {
        if consume("?") {
            if consume("<") {
                guard next != "=", next != "!" else { throw failure("lookbehind is not supported") }
                while let scalar = next, scalar.properties.isAlphabetic || scalar == "_" {
                    position += 1
                }
                guard consume(">") else { throw failure("a group's name must consist of letters") }
            } else if !consume(":") {
                throw failure(
                    next == "=" || next == "!"
                        ? "lookahead is not supported" : "this kind of group is not supported")
            }
        }
        depth += 1
        guard depth <= Self.maximumDepth else { throw failure("groups nested too deeply") }
        let node = try choice()
        guard consume(")") else { throw failure("a group that is not closed") }
        depth -= 1
        return node
    }

    private mutating func repeated(_ node: PatternNode) throws(PatternFailure) -> PatternNode {
        let bounds: (Int, Int?)
        if consume("*") {
            bounds = (0, nil)
        } else if consume("+") {
            bounds = (1, nil)
        } else if consume("?") {
            bounds = (0, 1)
        } else if consume("{") {
            bounds = try counts()
        } else {
            return node
        }
        switch node {
        case .textStart, .textEnd: throw failure("a repetition of an anchor")
        default: break
        }
        // A lazy repetition matches the same whole texts as a greedy one.
        if !consume("?"), let next, "*+{".unicodeScalars.contains(next) {
            throw failure("a repetition of a repetition")
        }
        return .repeated(node, atLeast: bounds.0, atMost: bounds.1)
    }

    private mutating func counts() throws(PatternFailure) -> (Int, Int?) {
        guard let minimum = number() else {
            throw failure("a brace without a count; write a literal brace as \\{")
        }
        var maximum: Int? = minimum
        if consume(",") { maximum = number() }
        guard consume("}") else { throw failure("a count that is not closed") }
        guard minimum <= Self.maximumCount, maximum ?? 0 <= Self.maximumCount else {
            throw failure("a count above \(Self.maximumCount)")
        }
        guard maximum.map({ minimum <= $0 }) != false else {
            throw failure("a count whose minimum is above its maximum")
        }
        return (minimum, maximum)
    }

    private mutating func number() -> Int? {
        var value: Int?
        while let digit = next, ("0"..."9").contains(digit) {
            value = min((value ?? 0) * 10 + Int(digit.value - 0x30), Self.maximumCount + 1)
            position += 1
        }
        return value
    }

    // MARK: - Characters

    private mutating func characterClass() throws(PatternFailure) -> ScalarSet {
        let isNegated = consume("^")
        var members: [ScalarSet] = []
        while !consume("]") {
            guard next != nil else { throw failure("a class that is not closed") }
            for pair in ["&&", "--", "~~", "["]
            where text[position...].starts(with: pair.unicodeScalars) {
                throw failure("\(pair) in a class; write a literal one after a backslash")
            }
            let low = try classMember()
            guard next == "-", position + 1 < text.count, text[position + 1] != "]" else {
                members.append(low)
                continue
            }
            position += 1
            let high = try classMember()
            guard let from = low.single, let to = high.single else {
                throw failure("a range whose ends are not single characters")
            }
            guard from <= to else { throw failure("a range whose start is above its end") }
            members.append(ScalarSet([from...to]))
        }
        guard !members.isEmpty else { throw failure("an empty class") }
        var set = ScalarSet(joining: members)
        set.isNegated = isNegated
        return cased(set)
    }

    private mutating func classMember() throws(PatternFailure) -> ScalarSet {
        if consume("\\") { return try escape(inClass: true) }
        guard let scalar = next else { throw failure("a class that is not closed") }
        position += 1
        return ScalarSet([scalar.value...scalar.value])
    }

    private mutating func escape(inClass: Bool) throws(PatternFailure) -> ScalarSet {
        guard let scalar = next else { throw failure("a backslash at the end") }
        position += 1
        switch scalar {
        case "d": return ScalarSet(ScalarSet.digits)
        case "D": return .complement(ScalarSet.digits)
        case "w": return ScalarSet(ScalarSet.wordCharacters)
        case "W": return .complement(ScalarSet.wordCharacters)
        case "s": return ScalarSet(ScalarSet.spaces)
        case "S": return .complement(ScalarSet.spaces)
        case "x": return .one(try hexadecimal(2))
        case "u":
            guard consume("{") else { return .one(try hexadecimal(4)) }
            let digits = text[position...].prefix { $0 != "}" }.count
            guard (1...6).contains(digits) else { throw failure("no code point after \\u{") }
            let value = try hexadecimal(digits)
            guard consume("}") else { throw failure("no code point after \\u{") }
            return .one(value)
        case "p", "P":
            guard consume("{") else { throw failure("no category after \\\(scalar)") }
            let name = text[position...].prefix { $0 != "}" }
            guard name.endIndex < text.endIndex,
                let category = ScalarCategory(String(String.UnicodeScalarView(name)))
            else {
                throw failure("an unknown category; expected L, Lu, Nd and so on")
            }
            position += name.count + 1
            return ScalarSet(category, isIncluded: scalar == "p")
        case "1"..."9", "k": throw failure("a backreference is not supported")
        case "b" where !inClass, "B" where !inClass:
            throw failure("a word boundary is not supported")
        default:
            if let control = Self.controls[scalar] { return .one(control) }
            guard !scalar.properties.isAlphabetic, !("0"..."9").contains(scalar) else {
                throw failure("an unknown escape")
            }
            return .one(scalar.value)
        }
    }

    private mutating func hexadecimal(_ count: Int) throws(PatternFailure) -> UInt32 {
        let digits = text[position...].prefix(count)
        guard digits.count == count, digits.allSatisfy(\.properties.isASCIIHexDigit),
            let value = UInt32(String(String.UnicodeScalarView(digits)), radix: 16),
            Unicode.Scalar(value) != nil
        else { throw failure("expected a code point in hexadecimal") }
        position += count
        return value
    }
}

extension ScalarSet {
    static func one(_ scalar: UInt32) -> ScalarSet { ScalarSet([scalar...scalar]) }

    /// The only scalar of the set, or nil.
    var single: UInt32? {
        guard ranges.count == 1, ranges[0].count == 1, categories.isEmpty else { return nil }
        return ranges[0].lowerBound
    }
}
