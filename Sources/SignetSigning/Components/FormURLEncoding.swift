/// The form encoding of query parameters (RFC 9421, section 2.2.8, after the URL standard): decodes
/// and percent-encodes again, so that each parameter has one spelling.
enum FormURLEncoding {
    /// Whether the bytes are a possible result of ``encode(_:)`` for a text.
    static func isEncoded(_ bytes: [UInt8]) -> Bool {
        guard let decoded = decode(bytes[...], plusIsSpace: false) else { return false }
        return encode(decoded) == bytes && String(validating: decoded, as: UTF8.self) != nil
    }

    /// Percent-encodes all bytes except letters, digits, `*`, `-`, `.` and `_`, with upper-case
    /// digits.
    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for byte in bytes {
            if byte.isLetterOrDigit || byte == 0x2A || byte == ASCII.minus || byte == ASCII.dot
                || byte == 0x5F
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

    /// Decodes `%XX` and, in a form, `+`. Returns nil for an incomplete escape.
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

    /// Returns the bytes as the URL standard reads them. Invalid UTF-8 becomes U+FFFD, so such a
    /// name can repeat another one.
    static func repaired(_ bytes: [UInt8]) -> [UInt8] {
        String(validating: bytes, as: UTF8.self) == nil
            ? Array(String(decoding: bytes, as: UTF8.self).utf8) : bytes
    }
}

/// The parameters of a query by their encoded names.
struct QueryParameters {
    /// The values as written in the query; nil if several parameters have the name.
    private var values: [[UInt8]: ArraySlice<UInt8>?] = [:]

    /// - Parameter query: A query of RFC 3986 without `?`.
    init(_ query: ArraySlice<UInt8>) {
        for pair in query.split(separator: 0x26) {
            let equals = pair.firstIndex(of: ASCII.equals) ?? pair.endIndex
            guard let name = FormURLEncoding.decode(pair[..<equals]) else { continue }
            let encoded = FormURLEncoding.encode(FormURLEncoding.repaired(name))
            let isRepeated = values[encoded] != nil
            values[encoded] = .some(isRepeated ? nil : pair[equals...].dropFirst())
        }
    }

    /// Returns the encoded value of the only parameter with an encoded name.
    ///
    /// - Throws: `SigningError`: `missing-component` if no parameter has the name;
    ///   `repeated-parameter` if several have; `non-utf8-value` for a value that isn't UTF-8, which
    ///   the URL standard would silently change.
    func value(of name: String) throws(SigningError) -> [UInt8] {
        guard let found = values[Array(name.utf8)] else {
            throw SigningError(.missingComponent, "the query has no parameter \(name)")
        }
        guard let found else {
            throw SigningError(
                .repeatedParameter,
                "found several query parameters \(name), expected one")
        }
        guard let value = FormURLEncoding.decode(found),
            String(validating: value, as: UTF8.self) != nil
        else {
            throw SigningError(
                .nonUTF8Value, "the value of the query parameter \(name) isn't UTF-8")
        }
        return FormURLEncoding.encode(value)
    }
}
