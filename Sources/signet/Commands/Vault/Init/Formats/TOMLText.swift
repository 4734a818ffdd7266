#if Tool
import SignetBase
import SignetVault

/// Rewrites a TOML text for the parser, without parsing it.
///
/// This also checks the nesting: the parser limits brackets but not the parts of a dotted name, and
/// takes a part of the stack for each of them.
struct TOMLText {
    /// The characters that stand for something else. The text has neither of them.
    struct Marks {
        /// Begins a string in the place of a value without quotes that isn't a boolean.
        let bare: Unicode.Scalar
        /// Stands for a zero byte (`\u0000`).
        let zero: Unicode.Scalar
    }

    private struct Container {
        /// The bracket that closes it, which the document doesn't have.
        var end: UInt8?
        /// Whether each of its items is a value, as in an array, not a name with a value.
        var isArray = false
        /// The dots of the current name.
        var dots = 0
    }

    private static let limit = 256

    private let marks: Marks?
    private var rest: ArraySlice<UInt8>
    private var output: [UInt8] = []
    private var line = 1
    /// The document, and each open bracket.
    private var containers = [Container()]
    private var depth = 0
    /// Whether a value follows the last `=`.
    private var wantsValue = false

    /// Returns the text with marks for what the parser would not keep. If the text is invalid, so
    /// is the result, except for a value without quotes.
    ///
    /// Without marks, only integers of more than 64 bits are replaced, which the parser refuses.
    ///
    /// - Throws: `MalformedSource` if a name, with the names of the tables around it on the same
    ///   lines, has more than 256 dots.
    static func rewritten(_ text: String, with marks: Marks?) throws(MalformedSource) -> String {
        var scanner = TOMLText(marks: marks, rest: Array(text.utf8)[...])
        while let byte = scanner.rest.first { try scanner.take(byte) }
        return String(decoding: scanner.output, as: UTF8.self)
    }

    private init(marks: Marks?, rest: ArraySlice<UInt8>) {
        self.marks = marks
        self.rest = rest
    }

    /// The innermost open bracket.
    private var container: Container {
        get { containers[containers.count - 1] }
        set { containers[containers.count - 1] = newValue }
    }

    private mutating func take(_ byte: UInt8) throws(MalformedSource) {
        switch byte {
        case ASCII.quote, UInt8(ascii: "'"):
            takeString(quote: byte)
            wantsValue = false
            return
        case UInt8(ascii: "#"):
            rest = rest.drop { $0 != ASCII.lineFeed }
            return
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
        case ASCII.lineFeed:
            line += 1
            if containers.count == 1 { endName() }
        case UInt8(ascii: "["):
            if containers.count == 1, !wantsValue { try requireTableName() }
            let isArray = wantsValue || container.isArray
            containers.append(Container(end: UInt8(ascii: "]"), isArray: isArray))
            wantsValue = false
        case UInt8(ascii: "{"):
            containers.append(Container(end: UInt8(ascii: "}")))
            wantsValue = false
        case UInt8(ascii: "]"), UInt8(ascii: "}"):
            // The parser ends the process at a brace in an array.
            guard byte == container.end else {
                throw MalformedSource("a bracket that closes nothing", line: line)
            }
            endName()
            containers.removeLast()
        case UInt8(ascii: ","): endName()
        case UInt8(ascii: "="): wantsValue = true
        case _ where wantsValue || container.isArray:
            try takeBareValue()
            return
        case UInt8(ascii: "."):
            container.dots += 1
            depth += 1
            guard depth <= Self.limit else {
                throw MalformedSource("names of more than \(Self.limit) parts", line: line)
            }
        default: break
        }
        rest.removeFirst()
        output.append(byte)
    }

    /// Checks that `[` or `[[` precedes a name. The parser ends the process if it finds another
    /// character there.
    private func requireTableName() throws(MalformedSource) {
        let isList = rest.dropFirst().first == UInt8(ascii: "[")
        let name = rest.dropFirst(isList ? 2 : 1).drop { $0 == ASCII.space || $0 == ASCII.tab }
        guard let first = name.first, first.isLetterOrDigit || "-_\"'".utf8.contains(first) else {
            throw MalformedSource("expected the name of a table after [", line: line)
        }
    }

    private mutating func endName() {
        depth -= container.dots
        container.dots = 0
        wantsValue = false
    }

    /// Takes a value without quotes: as it is if it's a boolean, else as a string with the mark.
    ///
    /// The parser ends the process at a line separator of Unicode in the place of an element, and
    /// at a date before a single digit.
    private mutating func takeBareValue() throws(MalformedSource) {
        let text = Self.bareValue(rest)
        let next = rest[text.endIndex...].first { $0 != ASCII.space && $0 != ASCII.tab }
        guard !text.isEmpty, text.allSatisfy({ $0 < 0x7F }),
            next.map(Array(",]}#\r\n".utf8).contains) ?? true
        else { throw MalformedSource("a value without quotes that isn't of TOML", line: line) }
        rest = rest[text.endIndex...]
        wantsValue = false
        guard let marks else {
            output += Self.isLongInteger(text) ? [UInt8(ascii: "0")] : text
            return
        }
        if text.elementsEqual("true".utf8) || text.elementsEqual("false".utf8) {
            output += text
        } else {
            output += [ASCII.quote] + Array(String(marks.bare).utf8) + text
            output.append(ASCII.quote)
        }
    }

    /// Returns whether a text is a decimal integer of more than 64 bits.
    private static func isLongInteger(_ text: ArraySlice<UInt8>) -> Bool {
        let isSigned = text.first == ASCII.minus || text.first == ASCII.plus
        let digits = text.dropFirst(isSigned ? 1 : 0)
        return digits.first != UInt8(ascii: "0") && digits.allSatisfy(\.isDigit)
            && Int64(String(decoding: text, as: UTF8.self)) == nil
    }

    private static func bareValue(_ rest: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func word(_ rest: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            rest.prefix { $0 > UInt8(ascii: " ") && !",]}#\"'\\".utf8.contains($0) }
        }
        let first = word(rest)
        // A date may have a space before its time.
        let next = rest[first.endIndex...]
        guard first.count == 10, first.dropFirst(4).first == ASCII.minus,
            next.first == UInt8(ascii: " "), next.dropFirst().first?.isDigit == true,
            next.dropFirst(2).first?.isDigit == true
        else { return first }
        return rest[..<word(next.dropFirst()).endIndex]
    }

    /// Takes a string with its quotes.
    private mutating func takeString(quote: UInt8) {
        let long = [quote, quote, quote]
        let isLong = rest.starts(with: long)
        takeBytes(isLong ? 3 : 1)
        while let byte = rest.first {
            if byte == ASCII.lineFeed {
                line += 1
                takeBytes(1)
                if !isLong { return }
            } else if byte == ASCII.backslash, quote == ASCII.quote {
                takeEscape()
            } else if byte == quote, !isLong {
                takeBytes(1)
                return
            } else if byte == quote, rest.starts(with: long) {
                // Two more quotes before the end belong to the text.
                takeBytes(min(5, rest.prefix { $0 == quote }.count))
                return
            } else {
                takeBytes(1)
            }
        }
    }

    private mutating func takeEscape() {
        if let marks {
            for zero in [#"\u0000"#, #"\U00000000"#] where rest.starts(with: zero.utf8) {
                output += String(marks.zero).utf8
                rest.removeFirst(zero.utf8.count)
                return
            }
        }
        if rest.dropFirst().first == ASCII.lineFeed { line += 1 }
        takeBytes(min(2, rest.count))
    }

    private mutating func takeBytes(_ count: Int) {
        output += rest.prefix(count)
        rest = rest.dropFirst(count)
    }
}
#endif
