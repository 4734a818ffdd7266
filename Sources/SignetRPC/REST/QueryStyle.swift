import SignetJSON

/// How a parameter with several values joins the query, as OpenAPI 3 names the styles.
///
/// A delimiter of a style is never mistaken for one in a value: where the style cannot tell them apart,
/// the value is refused.
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
    /// `color%5BR%5D=100&color%5BG%5D=200`, of objects only. OpenAPI: `deepObject`.
    public static let deepObject = QueryStyle(value: .deepObject)

    private init(value: Value) { self.value = value }

    /// The style that an OpenAPI parameter object names; nil where OpenAPI does not say what it means.
    ///
    /// - Parameters:
    ///   - name: The member `style`; nil is `form`.
    ///   - explodes: The member `explode`; nil is true for `form` and false for the others.
    public init?(openAPI name: String?, explodes: Bool?) {
        switch (name ?? "form", explodes) {
        case ("form", false): self = .form
        case ("form", _): self = .formExploded
        case ("spaceDelimited", nil), ("spaceDelimited", false): self = .spaceDelimited
        case ("pipeDelimited", nil), ("pipeDelimited", false): self = .pipeDelimited
        // Exploded, an array is the same with each of them.
        case ("spaceDelimited", _), ("pipeDelimited", _): self = .formExploded
        case ("deepObject", _): self = .deepObject
        default: return nil
        }
    }

    /// The pairs that a parameter becomes, not yet escaped but for what the style itself must keep apart.
    func pairs(_ name: String, _ value: JSONValue) throws(RPCError) -> [(name: String, value: Text)]
    {
        switch value {
        case .array(let elements):
            var texts: [String] = []
            for element in elements { texts.append(try Self.text(element, in: name)) }
            if self.value == .deepObject { throw Self.refusal(name, value) }
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
                        "a member of \(Printable.name(name)) has a bracket in its name")
                }
                return texts.map { ("\(name)[\($0.name)]", Text([$0.value])) }
            default:
                return texts.isEmpty
                    ? [] : [(name, try joined(texts.flatMap { [$0.name, $0.value] }, of: name))]
            }
        case .null: throw Self.refusal(name, value)
        default: return [(name, Text([try Self.text(value, in: name)]))]
        }
    }

    /// Texts with a delimiter between, which stands between their escaped forms.
    struct Text {
        var pieces: [String]
        var delimiter = ""

        init(_ pieces: [String], _ delimiter: String = "") {
            self.pieces = pieces
            self.delimiter = delimiter
        }

        var encoded: String {
            pieces.map(PercentEncoding.encode).joined(separator: delimiter)
        }
    }

    private func joined(_ texts: [String], of name: String) throws(RPCError) -> Text {
        let own: UInt8
        let delimiter: String
        switch value {
        case .space: (own, delimiter) = (0x20, "%20")
        case .pipe: (own, delimiter) = (0x7C, "%7C")
        // A comma of a value is escaped, the delimiter is not.
        default: return Text(texts, ",")
        }
        guard !texts.contains(where: { $0.utf8.contains(own) }) else {
            throw .invalidParameters(
                "a value of \(Printable.name(name)) holds the character that separates its values")
        }
        return Text(texts, delimiter)
    }

    private static func text(_ value: JSONValue, in name: String) throws(RPCError) -> String {
        guard let text = value.scalarText else { throw refusal(name, value) }
        return text
    }

    static func refusal(_ name: String, _ value: JSONValue) -> RPCError {
        .invalidParameters(
            "\(Printable.name(name)) holds a value of type \(value.typeName), which cannot join the "
                + "query as it is told to")
    }
}

extension JSONValue {
    /// A string, a number or a boolean as text; nil for what has more to it, and for null.
    package var scalarText: String? {
        switch self {
        case .string(let text): text
        case .number(let number): number.text
        case .bool(let bool): bool ? "true" : "false"
        case .null, .array, .object: nil
        }
    }
}
