import SignetBase
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
        // With `explode`, an array is written the same in these styles as in `form`.
        case ("spaceDelimited", _), ("pipeDelimited", _): self = .formExploded
        case ("deepObject", _): self = .deepObject
        default: return nil
        }
    }

    /// Returns a parameter's pairs, whose values are percent-encoded.
    func pairs(
        for name: String, value: JSONValue
    ) throws(PayloadError) -> [(name: String, encoded: String)] {
        guard let members = value.object else {
            let texts = try value.texts(of: "a value of the parameter", named: name)
            if value.array == nil { return [(name, PercentCoding.encoded(texts[0]))] }
            if self.value == .deepObject { throw Self.refusal(of: value, in: name) }
            if self.value == .formExploded {
                return texts.map { (name, PercentCoding.encoded($0)) }
            }
            return texts.isEmpty ? [] : [(name, try joined(texts, of: name))]
        }
        let texts = try members.map { (member) throws(PayloadError) in
            (name: member.name, value: try member.value.text(of: "a member of", named: name))
        }
        switch self.value {
        case .formExploded: return texts.map { ($0.name, PercentCoding.encoded($0.value)) }
        case .deepObject:
            guard !texts.flatMap(\.name.utf8).contains(where: "[]".utf8.contains) else {
                throw .invalidParameters("found a bracket in a member name of \(quoted(name))")
            }
            return texts.map { ("\(name)[\($0.name)]", PercentCoding.encoded($0.value)) }
        default:
            return texts.isEmpty
                ? [] : [(name, try joined(texts.flatMap { [$0.name, $0.value] }, of: name))]
        }
    }

    /// Returns the texts, percent-encoded and joined by the style's delimiter.
    private func joined(_ texts: [String], of name: String) throws(PayloadError) -> String {
        // A comma in a value is escaped, the delimiter is not.
        let delimiter = value == .space ? "%20" : value == .pipe ? "%7C" : ","
        let encoded = texts.map { PercentCoding.encoded($0) }
        guard !encoded.contains(where: { $0.contains(delimiter) }) else {
            throw .invalidParameters(
                "a value of \(quoted(name)) contains the character that separates its values")
        }
        return encoded.joined(separator: delimiter)
    }

    static func refusal(of value: JSONValue, in name: String) -> PayloadError {
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

    /// Returns the text of a scalar; throws `invalid-params` for any other value.
    func text(of what: String, named name: String) throws(PayloadError) -> String {
        guard let scalarText else {
            throw .invalidParameters(
                "\(what) \(quoted(name)) is of type \(typeName), expected a string, number or "
                    + "boolean")
        }
        return scalarText
    }

    /// Returns the text of a scalar, or the texts of an array of them.
    func texts(of what: String, named name: String) throws(PayloadError) -> [String] {
        try (array ?? [self]).map { (element) throws(PayloadError) in
            try element.text(of: what, named: name)
        }
    }
}
