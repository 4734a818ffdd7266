package import HTTPTypes
import SignetTransport

extension HTTPFields {
    /// The lines of trailers in libcurl's form, each ended by a zero byte.
    ///
    /// - Throws: `TransportError` with code `invalid-request` for a control character.
    func trailerLines() throws(TransportError) -> [UInt8] {
        var lines: [UInt8] = []
        for field in self { try lines.append(field, separator: ": ") }
        return lines
    }
}

extension HTTPFields {
    /// Returns the values of the fields with a name as bytes, which may not be UTF-8.
    package func bytes(of name: HTTPField.Name) -> [[UInt8]] {
        self[fields: name].map(\.valueBytes)
    }
}

extension HTTPField {
    /// The value's bytes, which may not be UTF-8.
    package var valueBytes: [UInt8] { unsafe withUnsafeBytesOfValue { unsafe Array($0) } }
}

extension [UInt8] {
    /// Adds the line of a field, ended by a zero byte.
    ///
    /// - Throws: `TransportError` with code `invalid-request` for a control character.
    mutating func append(_ field: HTTPField, separator: String) throws(TransportError) {
        append(contentsOf: field.name.rawName.utf8)
        append(contentsOf: separator.utf8)
        let start = count
        unsafe field.withUnsafeBytesOfValue { unsafe append(contentsOf: $0) }
        for byte in self[start...] where byte < 0x20 && byte != 0x09 || byte == 0x7F {
            throw TransportError(
                .invalidRequest, "the field \(field.name.rawName) contains a control character")
        }
        append(0)
    }
}
