import SignetBase

/// The form encoding of query parameters (RFC 9421, section 2.2.8, after the URL standard): decodes
/// and percent-encodes again, so that each parameter has one spelling.
enum FormURLEncoding {
    /// Whether the bytes are a possible result of ``encode(_:)`` for a text.
    static func isEncoded(_ bytes: [UInt8]) -> Bool {
        guard let decoded = PercentCoding.decoded(bytes[...]) else { return false }
        return encode(decoded) == bytes && String(validating: decoded, as: UTF8.self) != nil
    }

    /// Percent-encodes all bytes except letters, digits, `*`, `-`, `.` and `_`, with upper-case
    /// digits.
    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        PercentCoding.append(bytes[...], keeping: PercentCoding.form, to: &result)
        return result
    }

    /// Decodes `%XX` and `+`. Returns nil for an incomplete escape.
    static func decode(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        PercentCoding.decoded(bytes, plusIsSpace: true)
    }

    /// Returns the bytes as the URL standard reads them. Invalid UTF-8 becomes U+FFFD, so such a
    /// name can repeat another one.
    static func repaired(_ bytes: [UInt8]) -> [UInt8] {
        String(validating: bytes, as: UTF8.self) == nil
            ? Array(String(decoding: bytes, as: UTF8.self).utf8) : bytes
    }
}

extension ArraySlice<UInt8> {
    /// The parameters of a query or form as they are written, without empty ones.
    var queryParameters: ParameterSequence { ParameterSequence(rest: self) }
}

/// The parameters of a query or form, which are read one by one.
struct ParameterSequence: Sequence, IteratorProtocol {
    fileprivate var rest: ArraySlice<UInt8>

    mutating func next() -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)? {
        while !rest.isEmpty {
            let end = rest.firstIndex(of: 0x26) ?? rest.endIndex
            let pair = rest[..<end]
            rest = rest[end...].dropFirst()
            guard !pair.isEmpty else { continue }
            let equals = pair.firstIndex(of: ASCII.equals) ?? end
            return (pair[..<equals], pair[equals...].dropFirst())
        }
        return nil
    }
}

/// The parameters of a query by their encoded names.
struct QueryParameters {
    /// The values as written in the query; nil if several parameters have the name.
    private var values: [[UInt8]: ArraySlice<UInt8>?] = [:]

    /// - Parameter query: A query of RFC 3986 without `?`.
    init(_ query: ArraySlice<UInt8>) {
        for (name, value) in query.queryParameters {
            guard let name = FormURLEncoding.decode(name) else { continue }
            let encoded = FormURLEncoding.encode(FormURLEncoding.repaired(name))
            let isRepeated = values[encoded] != nil
            values[encoded] = .some(isRepeated ? nil : value)
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
