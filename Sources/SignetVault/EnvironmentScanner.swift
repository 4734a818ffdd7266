import SignetBase
import SignetJSON

/// Finds the names and values in lines `NAME=value`.
struct EnvironmentScanner {
    private typealias Malformed = EnvironmentFile.Malformed

    private let syntax: EnvironmentFile.Syntax
    private var rest: ArraySlice<UInt8>
    /// The line of the last name.
    private(set) var line = 0
    private var nextLine = 1
    /// The comment before the next name, if it's a mark.
    private var mark: EnvironmentFile.Mark?

    /// The lines of values that a shell or a library for .env files would change.
    private var expandedLines: [Int] = []

    private static let nameBytes = ASCIISet(lettersDigitsAnd: "_")
    /// Those that libraries for .env files take too.
    private static let moreNameBytes = ASCIISet(lettersDigitsAnd: "_.-")

    init(_ text: String, as syntax: EnvironmentFile.Syntax) {
        self.syntax = syntax
        self.rest = Array(text.utf8)[...]
    }

    /// Notes about the values that other programs read differently.
    var notes: [String] {
        guard !expandedLines.isEmpty else { return [] }
        let shown = expandedLines.prefix(10).map(String.init).joined(separator: ", ")
        let more = expandedLines.count > 10 ? " and \(expandedLines.count - 10) more" : ""
        return [
            "variables ($NAME), commands and backticks are kept as text, which other programs "
                + "replace: line \(shown)\(more)"
        ]
    }

    /// Reads the next line with a name.
    mutating func next() throws(EnvironmentFile.Malformed) -> (name: String, value: JSONValue)? {
        while true {
            skip { $0.isBlank || $0 == ASCII.carriageReturn }
            guard let byte = rest.first else { return nil }
            if byte == ASCII.lineFeed {
                rest.removeFirst()
                nextLine += 1
            } else if byte == UInt8(ascii: "#")
                || byte == UInt8(ascii: ";") && syntax == .systemd
            {
                try readComment()
            } else {
                break
            }
        }
        line = nextLine
        defer { mark = nil }
        var name = readName()
        if syntax == .shell, name == "export" {
            skip(while: \.isBlank)
            name = readName()
        }
        if syntax != .docker { skip(while: \.isBlank) }
        guard !name.isEmpty, rest.first == UInt8(ascii: "=") else {
            throw Malformed(
                "expected NAME=value, with letters, digits and \"_\" in NAME"
                    + (syntax != .shell ? "" : ", or \".\" and \"-\""),
                line: line)
        }
        rest.removeFirst()
        do throws(Malformed) {
            return (name, try value())
        } catch {
            throw Malformed(error.problem, line: line)
        }
    }

    private mutating func value() throws(EnvironmentFile.Malformed) -> JSONValue {
        let text: [UInt8]
        var isQuoted = false
        switch syntax {
        case .shell: (text, isQuoted) = try shellValue()
        case .docker:
            let value = takeLine { $0 == ASCII.lineFeed }
            text = Array(value.last == ASCII.carriageReturn ? value.dropLast() : value)
        case .systemd: (text, isQuoted) = try systemdValue()
        }
        // In quotes, a value is text unless a mark says that it's JSON.
        let quotedMark = mark == .json ? mark : .text
        return try EnvironmentFile.value(
            of: String(decoding: text, as: UTF8.self),
            marked: isQuoted ? quotedMark : syntax == .docker ? mark : nil)
    }

    // MARK: - Lines

    private mutating func skip(while condition: (UInt8) -> Bool) {
        rest = rest.drop(while: condition)
    }

    private mutating func takeLine(until isEnd: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let line = rest.prefix { !isEnd($0) }
        rest = rest[line.endIndex...]
        return line
    }

    private mutating func readName() -> String {
        let bytes = syntax == .shell ? Self.moreNameBytes : Self.nameBytes
        let name = rest.prefix(while: bytes.contains)
        rest = rest[name.endIndex...]
        return String(decoding: name, as: UTF8.self)
    }

    /// Reads a comment, which systemd ends at a carriage return too.
    private mutating func readComment() throws(EnvironmentFile.Malformed) {
        let isSystemd = syntax == .systemd
        let comment = takeLine {
            $0 == ASCII.lineFeed || isSystemd && $0 == ASCII.carriageReturn
        }
        guard !isSystemd || comment.last != ASCII.backslash else {
            throw Malformed(
                "a comment that ends with a backslash, which some versions of systemd continue in "
                    + "the next line", line: nextLine)
        }
        let text = Self.trimmed(comment)
        mark = EnvironmentFile.Mark.allCases.first { text.elementsEqual($0.comment.utf8) }
    }

    /// Returns the text without spaces at its end.
    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = text
        while let last = text.last, last.isBlank || last == ASCII.carriageReturn {
            text.removeLast()
        }
        return text
    }

    // MARK: - The syntax of sh

    private mutating func shellValue() throws(EnvironmentFile.Malformed) -> ([UInt8], Bool) {
        skip(while: \.isBlank)
        guard rest.first == ASCII.quote || rest.first == UInt8(ascii: "'") else {
            let value = Self.withoutComment(takeLine { $0 == ASCII.lineFeed })
            noteExpansion(in: value)
            return (Array(value), false)
        }
        var text: [UInt8] = []
        while let byte = rest.first {
            if byte == ASCII.quote || byte == UInt8(ascii: "'") {
                rest.removeFirst()
                text += try quoted(by: byte)
            } else if rest.starts(with: #"\'"#.utf8) {
                rest.removeFirst(2)
                text.append(UInt8(ascii: "'"))
            } else {
                break
            }
        }
        skip { $0.isBlank || $0 == ASCII.carriageReturn }
        if rest.first == UInt8(ascii: "#") { skip { $0 != ASCII.lineFeed } }
        guard rest.first ?? ASCII.lineFeed == ASCII.lineFeed else {
            throw Malformed("text after the closing quote")
        }
        return (text, true)
    }

    /// Remembers the line if a text has a backtick, or `$` before a name, `{`, `(` or a quote.
    private mutating func noteExpansion(in text: ArraySlice<UInt8>) {
        let isExpanded = zip(text, text.dropFirst() + [0x20]).contains { byte, next in
            byte == UInt8(ascii: "`")
                || byte == UInt8(ascii: "$")
                    && (next.isLetter || next == ASCII.underscore || "{('".utf8.contains(next))
        }
        if isExpanded, expandedLines.last != line { expandedLines.append(line) }
    }

    /// Returns the text before a comment, without spaces at its end.
    private static func withoutComment(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let comment = text.indices.dropFirst().first { index in
            text[index] == UInt8(ascii: "#") && text[index - 1].isBlank
        }
        let value = trimmed(text[..<(comment ?? text.endIndex)])
        return value.first == UInt8(ascii: "#") ? [] : value
    }

    // MARK: - Quotes

    /// Reads up to the closing quote.
    private mutating func quoted(
        by quote: UInt8
    ) throws(EnvironmentFile.Malformed) -> [UInt8] {
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == quote { return text }
            if byte == ASCII.lineFeed { nextLine += 1 }
            guard quote == ASCII.quote, byte == ASCII.backslash, let escaped = rest.popFirst()
            else {
                if syntax == .shell, quote == ASCII.quote,
                    byte == UInt8(ascii: "$") || byte == UInt8(ascii: "`")
                {
                    noteExpansion(in: [byte] + rest.prefix(1))
                }
                text.append(byte)
                continue
            }
            if escaped == ASCII.lineFeed { nextLine += 1 }
            text += syntax == .systemd ? Self.systemdEscape(escaped) : Self.shellEscape(escaped)
        }
        throw Malformed("missing closing quote")
    }

    private static func shellEscape(_ escaped: UInt8) -> [UInt8] {
        switch escaped {
        case UInt8(ascii: "n"): [ASCII.lineFeed]
        case UInt8(ascii: "r"): [ASCII.carriageReturn]
        case UInt8(ascii: "t"): [0x09]
        case ASCII.quote, ASCII.backslash, UInt8(ascii: "$"): [escaped]
        default: [ASCII.backslash, escaped]
        }
    }

    private static func systemdEscape(_ escaped: UInt8) -> [UInt8] {
        switch escaped {
        case ASCII.lineFeed: []
        case ASCII.quote, ASCII.backslash, UInt8(ascii: "`"), UInt8(ascii: "$"): [escaped]
        default: [ASCII.backslash, escaped]
        }
    }

    // MARK: - The syntax of systemd

    private mutating func systemdValue() throws(EnvironmentFile.Malformed) -> ([UInt8], Bool) {
        var text: [UInt8] = []
        var isQuoted = false
        skip(while: \.isBlank)
        while let quote = rest.first, quote == ASCII.quote || quote == UInt8(ascii: "'") {
            rest.removeFirst()
            text += try quoted(by: quote)
            isQuoted = true
            skip(while: \.isBlank)
        }
        // From here on, quotes have no meaning.
        var kept = text.count
        while let byte = rest.first, byte != ASCII.lineFeed, byte != ASCII.carriageReturn {
            rest.removeFirst()
            guard byte == ASCII.backslash else {
                text.append(byte)
                if !byte.isBlank { kept = text.count }
                continue
            }
            isQuoted = true
            if let escaped = rest.popFirst() {
                if escaped == ASCII.lineFeed { nextLine += 1 }
                if escaped != ASCII.lineFeed, escaped != ASCII.carriageReturn {
                    text.append(escaped)
                }
            }
            kept = text.count
        }
        return (Array(text.prefix(kept)), isQuoted)
    }
}
