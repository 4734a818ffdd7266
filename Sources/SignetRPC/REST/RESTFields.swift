import HTTPTypes
import SignetJSON

/// Parameters that stand in a request's fields. A value is nothing but a value there, or is refused.
enum RESTFields {
    /// A parameter as a field; nil for an array without elements.
    ///
    /// - Throws: `invalid-params` for a name that no field has, for what is no text, and for a comma in one
    ///   of several values, which would be two.
    static func field(_ name: String, _ value: JSONValue) throws(RPCError) -> HTTPField? {
        guard let field = HTTPField.Name(name) else {
            throw .invalidParameters("\(Printable.name(name)) is no name of a field")
        }
        var texts: [String] = []
        for element in value.array ?? [value] {
            texts.append(try text(element, in: name, of: "a field"))
        }
        guard !texts.isEmpty else { return nil }
        guard texts.count == 1 || !texts.contains(where: { $0.utf8.contains(0x2C) }) else {
            throw .invalidParameters(
                "a value of \(Printable.name(name)) holds the comma that separates its values")
        }
        let text = texts.joined(separator: ",")
        guard HTTPField.isValidValue(text) else {
            throw .invalidParameters(
                "the value of \(Printable.name(name)) holds what no field can hold")
        }
        return HTTPField(name: field, value: text)
    }

    /// Parameters as one Cookie field (RFC 6265, section 4.2.1); nil without any.
    ///
    /// - Throws: `invalid-params` for a name or value that no cookie has.
    static func cookies(_ parameters: JSONObject) throws(RPCError) -> HTTPField? {
        var pairs: [String] = []
        for (name, value) in parameters {
            let text = try text(value, in: name, of: "a cookie")
            guard !name.isEmpty, name.utf8.allSatisfy(MediaType.isToken),
                text.utf8.allSatisfy(isCookieOctet)
            else {
                throw .invalidParameters(
                    "\(Printable.name(name)) has a name or value that no cookie can have")
            }
            pairs.append("\(name)=\(text)")
        }
        return pairs.isEmpty ? nil : HTTPField(name: .cookie, value: pairs.joined(separator: "; "))
    }

    private static func isCookieOctet(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"\",;\\".utf8.contains(byte)
    }

    private static func text(
        _ value: JSONValue, in name: String, of place: String
    ) throws(RPCError) -> String {
        guard let text = value.scalarText else {
            throw .invalidParameters(
                "\(Printable.name(name)) holds a value of type \(value.typeName), which \(place) cannot "
                    + "hold")
        }
        return text
    }
}
