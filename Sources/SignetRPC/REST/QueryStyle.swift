internal import SignetBase
import SignetJSON

/// How a parameter with several values is written in the query, by OpenAPI 3's styles.
///
/// A value that contains its style's delimiter is escaped or, if the style cannot do that, refused.
public struct QueryStyle: Sendable, Hashable {
    private enum Value { case form, formExploded, space, pipe, deepObject }
    private let value: Value

    /// `color=blue,black`; an object `color=R,100,G,200`. OpenAPI: `form`, `explode: false`.
    public static let form = QueryStyle(value: .form)
    /// `color=blue&color=black`; an object `R=100&G=200`. OpenAPI: `form`, its default.
    public static let formExploded = QueryStyle(value: .formExploded)
    /// `color=blue%20black`. OpenAPI: `spaceDelimited`, `explode: false`.
    public static let spaceDelimited = QueryStyle(value: .space)
    /// `color=blue%7Cblack`. OpenAPI: `pipeDelimited`, `explode: false`.
    public static let pipeDelimited = QueryStyle(value: .pipe)
    /// `color%5BR%5D=100&color%5BG%5D=200`, for objects only. OpenAPI: `deepObject`.
    public static let deepObject = QueryStyle(value: .deepObject)

    private init(value: Value) { self.value = value }

    /// Creates the style of an OpenAPI parameter object; nil if OpenAPI doesn't define its meaning.
    ///
    /// - Parameters:
    ///   - name: The member `style`; nil means `form`.
    ///   - explodes: The member `explode`; nil means true for `form` and false for the others.
    public init?(openAPI name: String?, explodes: Bool?) {
        switch (name ?? "form", explodes) {
        case ("form", false): self = .form
        case ("form", _): self = .formExploded
        case ("spaceDelimited", nil), ("spaceDelimited", false): self = .spaceDelimited
        case ("pipeDelimited", nil), ("pipeDelimited", false): self = .pipeDelimited
        // With `explode` an array looks the same in all styles.
        case ("spaceDelimited", _), ("pipeDelimited", _): self = .formExploded
        case ("deepObject", _): self = .deepObject
        default: return nil
        }
    }

    /// Returns a parameter's pairs, unescaped except for the style's own delimiters.
    func pairs(for name: String, value: JSONValue) throws(RPCError) -> [(name: String, value: Text)]
    {
        switch value {
        case .array(let elements):
            var texts: [String] = []
            for element in elements { texts.append(try Self.text(element, in: name)) }
            if self.value == .deepObject { throw Self.refusal(of: value, in: name) }
            if self.value == .formExploded { return texts.map { (name, Text([$0])) } }
            return texts.isEmpty ? [] : [(name, try joined(texts, of: name))]
        case .object(let members):
            var texts: [(name: String, value: String)] = []
            for (member, value) in members {
                texts.append((member, try Self.text(value, in: name)))
            }
            switch self.value {
            case .formExploded: return texts.map { ($0.name, Text([$0.value])) }
            case .deepObject:
                for (member, _) in texts
                where member.utf8.contains(where: { "[]".utf8.contains($0) }) {
                    throw .invalidParameters(
                        "found a bracket in a member name of \(quoted(name))")
                }
                return texts.map { ("\(name)[\($0.name)]", Text([$0.value])) }
            default:
                return texts.isEmpty
                    ? [] : [(name, try joined(texts.flatMap { [$0.name, $0.value] }, of: name))]
            }
        case .null: throw Self.refusal(of: value, in: name)
        default: return [(name, Text([try Self.text(value, in: name)]))]
        }
    }

    /// Pieces that are joined by a delimiter after they have been escaped.
    struct Text {
        var pieces: [String]
        var delimiter = ""

        init(_ pieces: [String], delimiter: String = "") {
            self.pieces = pieces
            self.delimiter = delimiter
        }

        var encoded: String {
            pieces.map { PercentCoding.encoded($0) }.joined(separator: delimiter)
        }
    }

    private func joined(_ texts: [String], of name: String) throws(RPCError) -> Text {
        let own: UInt8
        let delimiter: String
        switch value {
        case .space: (own, delimiter) = (0x20, "%20")
        case .pipe: (own, delimiter) = (0x7C, "%7C")
        // A comma in a value is escaped, the delimiter is not.
        default: return Text(texts, delimiter: ",")
        }
        guard !texts.contains(where: { $0.utf8.contains(own) }) else {
            throw .invalidParameters(
                "a value of \(quoted(name)) contains the character that separates its values"
            )
        }
        return Text(texts, delimiter: delimiter)
    }

    private static func text(_ value: JSONValue, in name: String) throws(RPCError) -> String {
        guard let text = value.scalarText else { throw refusal(of: value, in: name) }
        return text
    }

    static func refusal(of value: JSONValue, in name: String) -> RPCError {
        .invalidParameters(
            "found a value of type \(value.typeName) in \(quoted(name)), which its query "
                + "style cannot express")
    }
}

extension JSONValue {
    /// A string, number or boolean as text; nil for null, an array or an object.
    package var scalarText: String? {
        switch self {
        case .string(let text): text
        case .number(let number): number.text
        case .bool(let bool): bool ? "true" : "false"
        case .null, .array, .object: nil
        }
    }
}
