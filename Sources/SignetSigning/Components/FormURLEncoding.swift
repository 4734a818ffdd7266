/// The form encoding of queries as RFC 9421, section 2.2.8, takes it from the URL standard: decoded,
/// then percent-encoded anew, so that each parameter has one spelling.
enum FormURLEncoding {
    /// Whether the bytes are what ``encode(_:)`` writes for some text.
    static func isEncoded(_ bytes: [UInt8]) -> Bool {
        guard let decoded = decode(bytes[...], plusIsSpace: false) else { return false }
        return encode(decoded) == bytes && String(validating: decoded, as: UTF8.self) != nil
    }

    /// Percent-encodes all but letters, digits, `*`, `-`, `.` and `_`, in upper-case hexadecimal.
    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for byte in bytes {
            if byte.isDigit || (byte | 0x20).isLowercaseLetter || byte == 0x2A
                || byte == ASCII.minus || byte == ASCII.dot || byte == 0x5F
            {
                result.append(byte)
            } else {
                result.append(0x25)
                result.append(hex[Int(byte >> 4)])
                result.append(hex[Int(byte & 15)])
            }
        }
        return result
    }

    private static let hex = Array("0123456789ABCDEF".utf8)

    /// Resolves `%XX` and, in a form, `+`; nil for a lone percent sign.
    static func decode(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool = true) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == 0x25 {
                guard index + 2 < bytes.endIndex, let high = bytes[index + 1].hexValue,
                    let low = bytes[index + 2].hexValue
                else { return nil }
                result.append(high << 4 | low)
                index += 3
                continue
            }
            result.append(byte == 0x2B && plusIsSpace ? ASCII.space : byte)
            index += 1
        }
        return result
    }

    /// The bytes as the URL standard reads them: what is not UTF-8 becomes U+FFFD, so that such a
    /// name counts as a repetition of another one.
    static func repaired(_ bytes: [UInt8]) -> [UInt8] {
        String(validating: bytes, as: UTF8.self) == nil
            ? Array(String(decoding: bytes, as: UTF8.self).utf8) : bytes
    }
}

/// The parameters of one query, by their encoded names.
struct QueryParameters {
    /// The value as it stands in the query; nil where several parameters have the name.
    private var values: [[UInt8]: ArraySlice<UInt8>?] = [:]

    /// - Parameter query: Without its `?`, a query of RFC 3986.
    init(_ query: ArraySlice<UInt8>) {
        for pair in query.split(separator: 0x26) {
            let equals = pair.firstIndex(of: ASCII.equals) ?? pair.endIndex
            guard let name = FormURLEncoding.decode(pair[..<equals]) else { continue }
            let encoded = FormURLEncoding.encode(FormURLEncoding.repaired(name))
            let isRepeated = values[encoded] != nil
            values[encoded] = .some(isRepeated ? nil : pair[equals...].dropFirst())
        }
    }

    /// The encoded value of the one parameter of an encoded name.
    ///
    /// - Throws: `SigningError` with `missing-component` where no parameter has the name, with
    ///   `repeated-parameter` where several have, and with `non-utf8-value` for a value that is not
    ///   UTF-8, which the URL standard would change in silence.
    func value(of name: String) throws(SigningError) -> [UInt8] {
        guard let found = values[Array(name.utf8)] else {
            throw SigningError(.missingComponent, "the query has no parameter \(name)")
        }
        guard let found else {
            throw SigningError(
                .repeatedParameter,
                "the query has several parameters \(name), and one is covered: which is meant?")
        }
        guard let value = FormURLEncoding.decode(found),
            String(validating: value, as: UTF8.self) != nil
        else {
            throw SigningError(
                .nonUTF8Value, "the value of the query's parameter \(name) is not UTF-8")
        }
        return FormURLEncoding.encode(value)
    }
}
