/// A key of an array's element, or of a member whose name is made on the way.
struct AnyCodingKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) { (self.stringValue, self.intValue) = (stringValue, nil) }
    init(intValue: Int) { (self.stringValue, self.intValue) = ("\(intValue)", intValue) }
}

extension JSONError {
    /// How many keys of a path a message shows.
    static let shownKeys = 32

    /// A path for messages: `$.orders[2].price`.
    ///
    /// Names that are not plain are escaped and long ones shortened, since a name may be input too.
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

    /// An error at a path.
    static func at(
        _ path: [any CodingKey], offset: Int? = nil, _ code: Code, _ what: String
    ) -> JSONError {
        let path = text(of: path)
        let place = path + (offset.map { " (byte \($0))" } ?? "")
        return JSONError(
            code: code, place: "at \(place): ", problem: what, offset: offset, path: path)
    }

    /// Turns what a type's own `init(from:)` or `encode(to:)` threw into an error that holds no value.
    ///
    /// The standard library's own descriptions do hold values (an enum names the unknown raw value),
    /// so only the kind and the path are taken over.
    static func withoutValues(_ error: any Error) -> JSONError {
        switch error {
        case let error as JSONError: return error
        case DecodingError.keyNotFound(let key, let context):
            return .at(context.codingPath + [key], .missingMember, "the member is missing")
        case DecodingError.typeMismatch(_, let context):
            return .at(context.codingPath, .typeMismatch, "a value of another type was wanted")
        case DecodingError.valueNotFound(_, let context):
            return .at(context.codingPath, .typeMismatch, "found null or nothing, wanted a value")
        case DecodingError.dataCorrupted(let context):
            return .at(context.codingPath, .refused, "the type refuses the value")
        case EncodingError.invalidValue(_, let context):
            return .at(context.codingPath, .refused, "the type refuses to be encoded")
        default:
            return JSONError(code: .refused, message: "a type refuses its value")
        }
    }
}
