internal import HTTPTypes
internal import SignetTransport

extension ResponseHead {
    /// Parses the lines of a response's trailers that libcurl delivered.
    ///
    /// - Returns: `nil` if they aren't fields of RFC 9110.
    static func trailers(_ bytes: borrowing Span<UInt8>) -> HTTPFields? {
        var fields = HTTPFields()
        var position = 0
        while position < bytes.count {
            guard let line = nextLine(of: bytes, from: &position),
                let field = field(line, of: bytes)
            else { return nil }
            fields.append(field)
        }
        return fields
    }
}

extension HTTPFields {
    /// The lines of trailers in libcurl's form, each ended by a zero byte.
    ///
    /// - Throws: `TransportError` with code `invalid-request` for a control character.
    func trailerLines() throws(TransportError) -> [UInt8] {
        var lines: [UInt8] = []
        for field in self {
            lines.append(contentsOf: field.name.rawName.utf8)
            lines.append(contentsOf: ": ".utf8)
            let start = lines.count
            unsafe field.withUnsafeBytesOfValue { unsafe lines.append(contentsOf: $0) }
            for byte in lines[start...] where byte < 0x20 && byte != 0x09 || byte == 0x7F {
                throw TransportError(
                    .invalidRequest,
                    "the field \(field.name.rawName) of the trailers contains a control character")
            }
            lines.append(0)
        }
        return lines
    }
}
