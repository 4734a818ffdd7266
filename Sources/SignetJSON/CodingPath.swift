/// A coding key for an array's index or a member's name.
struct AnyCodingKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) { (self.stringValue, self.intValue) = (stringValue, nil) }
    init(intValue: Int) { (self.stringValue, self.intValue) = ("\(intValue)", intValue) }
}

extension JSONError {
    /// The number of keys of a path that a message shows.
    static let shownKeys = 32

    /// Returns a path for messages, such as `$.orders[2].price`.
    ///
    /// Escapes names that aren't printable ASCII and shortens long ones, because names come from
    /// the input too.
    static func text(of path: [any CodingKey]) -> String {
        var text = "$"
        for key in path.prefix(shownKeys) {
            if let index = key.intValue {
                text += "[\(index)]"
                continue
            }
            text += "."
            for scalar in key.stringValue.unicodeScalars.prefix(64) {
                let isPlain = (0x20..<0x7f).contains(scalar.value)
                text += isPlain ? String(scalar) : scalar.escaped(asASCII: true)
            }
            if key.stringValue.unicodeScalars.count > 64 { text += "…" }
        }
        return path.count > shownKeys ? text + "…" : text
    }

    /// Creates an error whose message begins with the path.
    init(_ code: Code, _ problem: String, at path: [any CodingKey], offset: Int? = nil) {
        let path = Self.text(of: path)
        let place = path + (offset.map { " (byte \($0))" } ?? "")
        self.init(
            code, place: "at \(place): ", problem: problem, offset: offset, path: path)
    }

    /// Converts an error of a type's `init(from:)` or `encode(to:)` to one that holds no value.
    ///
    /// Keeps only the kind and the path: the standard library's descriptions can hold values, such
    /// as an enum's unknown raw value.
    static func withoutValues(_ error: any Error) -> JSONError {
        switch error {
        case let error as JSONError: return error
        case DecodingError.keyNotFound(let key, let context):
            return JSONError(
                .missingMember, "the member is missing", at: context.codingPath + [key])
        case DecodingError.typeMismatch(_, let context):
            return JSONError(
                .typeMismatch, "found a value of another type than expected",
                at: context.codingPath)
        case DecodingError.valueNotFound(_, let context):
            return JSONError(
                .typeMismatch, "found null or nothing, expected a value", at: context.codingPath)
        case DecodingError.dataCorrupted(let context):
            return JSONError(.refusedByType, "the type refuses the value", at: context.codingPath)
        case EncodingError.invalidValue(_, let context):
            return JSONError(
                .refusedByType, "the type refuses to be encoded", at: context.codingPath)
        default:
            return JSONError(.refusedByType, "a type refuses its value")
        }
    }
}
