internal import SignetBase
package import SignetJSON

/// Reads a .env file: lines `NAME=value`, whose names become keys with dots.
package enum EnvironmentFile {
    /// The line before a quoted list or map.
    package static let jsonComment = "# json"

    /// The reason that a file is refused, without any of its values.
    package struct Malformed: Error, Sendable, Hashable {
        package let problem: String
        /// The line, counted from 1; nil if it is unknown.
        package var line: Int?

        package init(_ problem: String, line: Int? = nil) {
            self.problem = problem
            self.line = line
        }
    }

    /// Reads the lines. `DATABASE_HOST` becomes `database.host`, as `Database.Host` does.
    ///
    /// A value is text in single quotes, without escapes; in double quotes, where `\n`,
    /// `\r`, `\t`, `\"`, `\\` and `\$` are escapes; or without quotes up to ` #`. Quoted values may
    /// have several lines, and quoted texts and `\'` may follow each other without a space, as in
    /// sh. Nothing is expanded, and a note names the lines in which other programs would.
    ///
    /// A value without quotes is a boolean or a number if it's spelled as in JSON. A quoted one is
    /// JSON if the line before it is ``jsonComment``, else text.
    ///
    /// - Returns: The values, and notes about those that other programs read differently.
    package static func object(
        parsing text: String
    ) throws(Malformed) -> (object: JSONObject, notes: [String]) {
        var scanner = Scanner(rest: Array(text.utf8)[...])
        var object = JSONObject()
        while let (name, value) = try scanner.next() {
            let key = name.lowercased().split { $0 == "_" || $0 == "." }.joined(separator: ".")
            guard !key.isEmpty, object[key] == nil else {
                throw Malformed(
                    key.isEmpty ? "a name without a letter or digit" : "two names for one key",
                    line: scanner.line)
            }
            object[key] = value
        }
        return (object, scanner.notes)
    }

    private struct Scanner {
        var rest: ArraySlice<UInt8>
        /// The line of the last name.
        var line = 0
        var nextLine = 1
        /// Whether ``jsonComment`` is the line before.
        var isJSON = false

        /// The lines of values that a shell or a library for .env files would change.
        var expandedLines: [Int] = []

        private static let nameBytes = ASCIISet(lettersDigitsAnd: "_.-")

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
        mutating func next() throws(Malformed) -> (name: String, value: JSONValue)? {
            while true {
                skip { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
                guard let byte = rest.first else { return nil }
                if byte == 0x0A {
                    rest.removeFirst()
                    nextLine += 1
                } else if byte == UInt8(ascii: "#") {
                    let comment = rest.prefix { $0 != 0x0A }
                    rest = rest[comment.endIndex...]
                    isJSON = Self.trimmed(comment).elementsEqual(EnvironmentFile.jsonComment.utf8)
                } else {
                    break
                }
            }
            line = nextLine
            defer { isJSON = false }
            var name = readName()
            if name == "export" {
                skip { $0 == 0x20 || $0 == 0x09 }
                name = readName()
            }
            skip { $0 == 0x20 || $0 == 0x09 }
            guard !name.isEmpty, rest.first == UInt8(ascii: "=") else {
                throw Malformed(
                    "expected NAME=value, with letters, digits, \"_\", \".\" and \"-\" in NAME",
                    line: line)
            }
            rest.removeFirst()
            skip { $0 == 0x20 || $0 == 0x09 }
            return (name, try value())
        }

        private mutating func skip(while condition: (UInt8) -> Bool) {
            rest = rest.drop(while: condition)
        }

        private mutating func readName() -> String {
            let name = rest.prefix(while: Self.nameBytes.contains)
            rest = rest[name.endIndex...]
            return String(decoding: name, as: UTF8.self)
        }

        private mutating func value() throws(Malformed) -> JSONValue {
            guard rest.first == 0x22 || rest.first == 0x27 else {
                let text = rest.prefix { $0 != 0x0A }
                rest = rest[text.endIndex...]
                let value = Self.withoutComment(text)
                noteExpansion(in: value)
                return Self.plainValue(String(decoding: value, as: UTF8.self))
            }
            var text: [UInt8] = []
            while let byte = rest.first {
                if byte == 0x22 || byte == 0x27 {
                    rest.removeFirst()
                    text += try quoted(by: byte)
                } else if rest.starts(with: #"\'"#.utf8) {
                    rest.removeFirst(2)
                    text.append(0x27)
                } else {
                    break
                }
            }
            skip { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
            if rest.first == UInt8(ascii: "#") { skip { $0 != 0x0A } }
            guard rest.first ?? 0x0A == 0x0A else {
                throw Malformed("text after the closing quote", line: line)
            }
            guard isJSON else { return .string(String(decoding: text, as: UTF8.self)) }
            do throws(JSONError) {
                return try JSONValue(parsing: text)
            } catch {
                throw Malformed(
                    "found a value that is not JSON after \(EnvironmentFile.jsonComment)",
                    line: line)
            }
        }

        /// Returns a boolean or a number if the text is spelled as in JSON, else the text.
        private static func plainValue(_ text: String) -> JSONValue {
            switch text {
            case "true": .bool(true)
            case "false": .bool(false)
            default: JSONNumber(text: text).map(JSONValue.number) ?? .string(text)
            }
        }

        /// Reads up to the closing quote.
        private mutating func quoted(by quote: UInt8) throws(Malformed) -> [UInt8] {
            var text: [UInt8] = []
            while let byte = rest.popFirst() {
                if byte == quote { return text }
                if byte == 0x0A { nextLine += 1 }
                guard quote == 0x22, byte == UInt8(ascii: "\\"), let escaped = rest.first else {
                    if quote == 0x22, byte == UInt8(ascii: "$") || byte == UInt8(ascii: "`") {
                        noteExpansion(in: [byte] + rest.prefix(1))
                    }
                    text.append(byte)
                    continue
                }
                rest.removeFirst()
                switch escaped {
                case UInt8(ascii: "n"): text.append(0x0A)
                case UInt8(ascii: "r"): text.append(0x0D)
                case UInt8(ascii: "t"): text.append(0x09)
                case 0x22, UInt8(ascii: "\\"), UInt8(ascii: "$"): text.append(escaped)
                default: text += [byte, escaped]
                }
            }
            throw Malformed("missing closing quote", line: line)
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
                text[index] == UInt8(ascii: "#")
                    && (text[index - 1] == 0x20 || text[index - 1] == 0x09)
            }
            let value = trimmed(text[..<(comment ?? text.endIndex)])
            return value.first == UInt8(ascii: "#") ? [] : value
        }

        /// Returns the text without spaces at its end.
        private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            var text = text
            while let last = text.last, last == 0x20 || last == 0x09 || last == 0x0D {
                text.removeLast()
            }
            return text
        }
    }
}
