/// Percent-encoding of everything but unreserved characters (RFC 3986, section 2.3).
enum PercentEncoding {
    /// Returns a text without any character that has a meaning in a URL.
    static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends a text as `application/x-www-form-urlencoded` (WHATWG URL, section 5.2): a space
    /// becomes a plus sign; ASCII letters, digits and `*-._` stay.
    static func appendForm(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case 0x20: bytes.append(0x2B)
            case 0x2A, 0x2D, 0x2E, 0x5F: bytes.append(byte)
            case _ where isAlphanumeric(byte): bytes.append(byte)
            default: appendEscaped(byte, to: &bytes)
            }
        }
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case 0x2D, 0x2E, 0x5F, 0x7E: bytes.append(byte)
            case _ where isAlphanumeric(byte): bytes.append(byte)
            default: appendEscaped(byte, to: &bytes)
            }
        }
    }

    private static func appendEscaped(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes += [0x25, digit(byte >> 4), digit(byte & 15)]
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }

    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
