#if Tool
import SignetBase
import SignetJSON

/// Interprets scalars by the core schema of YAML 1.2 (section 10.3.2).
///
/// JSON can't hold `.inf` and `.nan`, which stay text. Digits with a leading zero stay text too: in
/// other versions of YAML they are octal, and often they are an identifier.
enum CoreSchema {
    /// The beginning of the tags that `!!` stands for.
    static let prefix = "tag:yaml.org,2002:"

    /// Returns the value of a scalar without quotes and tag.
    static func value(of text: String) -> JSONValue {
        switch text {
        case "", "~", "null", "Null", "NULL": .null
        case "true", "True", "TRUE": .bool(true)
        case "false", "False", "FALSE": .bool(false)
        default: number(text).map(JSONValue.number) ?? .string(text)
        }
    }

    /// Returns the value of a scalar with a tag, or nil if the tag is unknown or doesn't fit.
    static func value(of text: String, tag: String) -> JSONValue? {
        let value = value(of: text)
        let fits =
            switch tag.dropFirst(prefix.count) {
            case _ where !tag.startsWithBytes(of: prefix): false
            case "int": value.number?.isInteger == true
            case "float": value.number != nil
            case "bool": value.bool != nil
            case "null": value.isNull
            default: false
            }
        return fits ? .some(value) : .none
    }

    /// Returns whether YAML 1.1 takes a text for a boolean that YAML 1.2 doesn't have.
    static func isSwitch(_ text: String) -> Bool { switches.contains(text) }

    private static let switches: Set<String> = [
        "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF",
    ]

    /// Returns a number with the text of the file where JSON has that spelling.
    private static func number(_ text: String) -> JSONNumber? {
        if text.startsWithBytes(of: "0x") { return integer(text.dropFirst(2), radix: 16) }
        if text.startsWithBytes(of: "0o") { return integer(text.dropFirst(2), radix: 8) }
        let sign = text.startsWithBytes(of: "-") ? "-" : ""
        let unsigned = text.utf8.drop { $0 == ASCII.minus || $0 == ASCII.plus }
        guard text.utf8.count - unsigned.count <= 1 else { return nil }
        let whole = unsigned.prefix(while: \.isDigit)
        var rest = unsigned[whole.endIndex...]
        var fraction = ""
        if rest.first == ASCII.dot {
            let digits = rest.dropFirst().prefix(while: \.isDigit)
            guard !whole.isEmpty || !digits.isEmpty else { return nil }
            fraction = digits.isEmpty ? ".0" : ".\(Substring(digits))"
            rest = rest[digits.endIndex...]
        } else if whole.isEmpty {
            return nil
        }
        return JSONNumber(
            text: sign + (whole.isEmpty ? "0" : Substring(whole)) + fraction + Substring(rest))
    }

    /// Returns an integer of at most 64 bits. A longer one is rather an identifier.
    private static func integer(_ digits: Substring, radix: Int) -> JSONNumber? {
        guard digits.first?.isHexDigit == true else { return nil }
        return UInt64(digits, radix: radix).map { JSONNumber($0) }
    }
}
#endif
