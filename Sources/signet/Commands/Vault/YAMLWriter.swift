#if Tool
import SignetBase
import SignetJSON

/// Writes JSON values as YAML 1.2 that readers of YAML 1.1 take for the same.
enum YAMLWriter {
    /// Returns a document: objects as blocks, everything else as JSON, which is YAML.
    static func text(of object: JSONObject) -> String {
        object.isEmpty ? "{}\n" : block(object, indentation: 0)
    }

    private static func block(_ object: JSONObject, indentation: Int) -> String {
        var text = ""
        for (name, value) in object {
            text += String(repeating: "  ", count: indentation) + key(name) + ":"
            if let nested = value.object, !nested.isEmpty {
                text += "\n" + block(nested, indentation: indentation + 1)
            } else {
                text += " " + escaped(value.text) + "\n"
            }
        }
        return text
    }

    /// Returns a name unchanged if every YAML reader takes it for text, else in quotes.
    private static func key(_ name: String) -> String {
        let first = name.utf8.first ?? 0
        let isPlain =
            (first.isLetter || first == ASCII.underscore)
            && name.utf8.allSatisfy {
                $0.isLetterOrDigit || $0 == ASCII.minus || $0 == ASCII.underscore
            }
        return isPlain && !words.contains(name.lowercased())
            ? name : escaped(JSONValue.string(name).text)
    }

    /// The words that YAML 1.1 takes for booleans or null.
    private static let words: Set<String> = [
        "y", "n", "yes", "no", "on", "off", "true", "false", "null",
    ]

    /// JSON text with the characters escaped that YAML doesn't take as they are. Outside of
    /// strings, JSON text is ASCII.
    private static func escaped(_ json: String) -> String {
        var text = ""
        for scalar in json.unicodeScalars {
            switch scalar.value {
            case 0x7F...0x9F, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
#endif
