import HTTPTypes
import SignetBase
import SignetJSON

/// Writes parameters as fields of a request. Refuses a value that could be read as several.
enum RESTFields {
    /// Returns a parameter as a field; nil for an empty array.
    ///
    /// - Throws: `invalid-params` for an invalid field name, for a value that is invalid in a
    ///   field, and for a comma in one of several values, which would split it in two.
    static func field(named name: String, value: JSONValue) throws(PayloadError) -> HTTPField? {
        guard let field = HTTPField.Name(name) else {
            throw .invalidParameters("\(quoted(name)) is not a valid field name")
        }
        let texts = try value.texts(of: "the field", named: name)
        guard !texts.isEmpty else { return nil }
        guard texts.count == 1 || !texts.contains(where: { $0.utf8.contains(0x2C) }) else {
            throw .invalidParameters(
                "a value of \(quoted(name)) contains the comma that separates its values")
        }
        let text = texts.joined(separator: ",")
        guard HTTPField.isValidValue(text) else {
            throw .invalidParameters(
                "the value of \(quoted(name)) is not a valid field value")
        }
        return HTTPField(name: field, value: text)
    }

    /// Returns parameters as one Cookie field (RFC 6265, section 4.2.1); nil if there aren't any.
    ///
    /// - Throws: `invalid-params` for a name or value that is invalid in a cookie.
    static func cookies(_ parameters: JSONObject) throws(PayloadError) -> HTTPField? {
        var pairs: [String] = []
        for (name, value) in parameters {
            let text = try value.text(of: "the cookie", named: name)
            guard !name.isEmpty, name.utf8.allSatisfy(\.isToken),
                text.utf8.allSatisfy(isCookieOctet)
            else {
                throw .invalidParameters(
                    "\(quoted(name)) has a name or value that is invalid in a cookie")
            }
            pairs.append("\(name)=\(text)")
        }
        return pairs.isEmpty ? nil : HTTPField(name: .cookie, value: pairs.joined(separator: "; "))
    }

    private static func isCookieOctet(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"\",;\\".utf8.contains(byte)
    }
}
