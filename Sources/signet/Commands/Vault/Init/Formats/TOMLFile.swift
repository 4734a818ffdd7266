#if Tool
import SignetBase
import SignetJSON
import SignetVault
import TOMLKit

/// Reads a TOML file.
///
/// The parser keeps neither the text of a number nor a zero byte of a text. So it reads a text in
/// which each number, date and time is a string that begins with a mark, and another character
/// stands for a zero byte.
///
/// Numbers keep their text, but JSON has no `_` and no sign `+` in them, and only decimal integers.
/// Dates, times, `inf` and `nan` become the text of the file.
struct TOMLFile {
    private let marks: TOMLText.Marks

    /// Reads a document. Its keys come in alphabetical order.
    static func object(parsing text: String) throws(MalformedSource) -> JSONObject {
        let chosen = try UnusedCharacters.choose(2, for: text)
        let marks = TOMLText.Marks(bare: chosen[0], zero: chosen[1])
        let marked = try TOMLText.rewritten(text, with: marks)
        // In the marked text, every number is valid.
        _ = try table(TOMLText.rewritten(text, with: nil))
        return try TOMLFile(marks: marks).object(of: table(marked))
    }

    private static func table(_ text: String) throws(MalformedSource) -> TOMLTable {
        do {
            return try TOMLTable(string: text)
        } catch {
            // The error's own text may repeat what it found.
            throw MalformedSource(
                "invalid text", line: (error as? TOMLParseError)?.source.begin.line)
        }
    }

    private func object(of table: TOMLTable) throws(MalformedSource) -> JSONObject {
        var members: [(name: String, value: JSONValue)] = []
        for (name, member) in table { members.append((restored(name), try value(of: member))) }
        return JSONObject(members)
    }

    private func value(of value: any TOMLValueConvertible) throws(MalformedSource) -> JSONValue {
        if let table = value.table { return .object(try object(of: table)) }
        if let array = value.array {
            var elements: [JSONValue] = []
            for element in array { elements.append(try self.value(of: element)) }
            return .array(elements)
        }
        if let bool = value.bool { return .bool(bool) }
        guard let text = value.string else {
            throw MalformedSource("a value of an unknown type")
        }
        guard text.unicodeScalars.first == marks.bare else { return .string(restored(text)) }
        return Self.value(ofBare: String(text.unicodeScalars.dropFirst()))
    }

    private func restored(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { result.append(scalar == marks.zero ? "\0" : scalar) }
        return String(result)
    }

    /// Returns a number, or the text of a date, a time, an infinity or a NaN.
    private static func value(ofBare text: String) -> JSONValue {
        let digits = text.replacing("_", with: "")
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)]
        where digits.startsWithBytes(of: prefix) {
            return UInt64(digits.dropFirst(2), radix: radix).map { .number(JSONNumber($0)) }
                ?? .string(text)
        }
        let unsigned = digits.startsWithBytes(of: "+") ? String(digits.dropFirst()) : digits
        return JSONNumber(text: unsigned).map(JSONValue.number) ?? .string(text)
    }
}
#endif
