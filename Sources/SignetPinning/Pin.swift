/// The SHA-256 digest of a certificate's DER SubjectPublicKeyInfo (RFC 7469, section 2.4).
public struct Pin: Sendable, Hashable, CustomStringConvertible {
    /// What every pin's text begins with.
    public static let prefix = "sha256/"

    /// 32 bytes.
    public let bytes: [UInt8]

    /// Takes a digest.
    ///
    /// - Throws: `PinError` with code `bad-pin` where `bytes` are not 32.
    public init(bytes: [UInt8]) throws(PinError) {
        guard bytes.count == 32 else {
            throw PinError(
                code: .badPin, message: "a pin is 32 bytes of SHA-256, not \(bytes.count)")
        }
        self.bytes = bytes
    }

    /// Reads `sha256/` and 44 characters of canonical base64 (RFC 4648, section 4).
    ///
    /// - Throws: `PinError` with code `bad-pin`.
    public init(parsing text: String) throws(PinError) {
        let characters = Array(text.utf8)
        guard characters.starts(with: Pin.prefix.utf8) else {
            throw PinError(
                code: .badPin, message: "a pin begins with \"sha256/\" (letter case counts)")
        }
        let encoded = characters[Pin.prefix.utf8.count...]
        guard encoded.count == 44, encoded.last == UInt8(ascii: "="),
            encoded[encoded.endIndex - 2] != UInt8(ascii: "=")
        else {
            throw PinError(
                code: .badPin,
                message: "behind \"sha256/\" stand 44 characters of base64 ending in one \"=\""
                    + " (32 bytes), not \(encoded.count) characters")
        }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(33)
        var word: UInt32 = 0
        for (index, character) in encoded.dropLast().enumerated() {
            guard let value = Pin.value(of: character) else {
                throw PinError(
                    code: .badPin,
                    message: "character \(index + 1) behind \"sha256/\" is not of the base64"
                        + " alphabet (A-Z a-z 0-9 + /)")
            }
            word = word << 6 | UInt32(value)
            switch index % 4 {
            case 1: decoded.append(UInt8(truncatingIfNeeded: word >> 4))
            case 2: decoded.append(UInt8(truncatingIfNeeded: word >> 2))
            case 3: decoded.append(UInt8(truncatingIfNeeded: word))
            default: break
            }
        }
        guard word & 0b11 == 0 else {
            throw PinError(
                code: .badPin,
                message: "the base64 behind \"sha256/\" is not canonical: bits that mean nothing"
                    + " are set in its last character")
        }
        self.bytes = decoded
    }

    /// `sha256/` and the digest's base64.
    public var text: String {
        var characters = Array(Pin.prefix.utf8)
        characters.reserveCapacity(51)
        for start in stride(from: 0, to: 30, by: 3) {
            let word =
                UInt32(bytes[start]) << 16 | UInt32(bytes[start + 1]) << 8
                | UInt32(bytes[start + 2])
            for shift in [18, 12, 6, 0] as [UInt32] {
                characters.append(Pin.alphabet[Int(word >> shift & 63)])
            }
        }
        let word = UInt32(bytes[30]) << 16 | UInt32(bytes[31]) << 8
        for shift in [18, 12, 6] as [UInt32] {
            characters.append(Pin.alphabet[Int(word >> shift & 63)])
        }
        characters.append(UInt8(ascii: "="))
        return String(decoding: characters, as: UTF8.self)
    }

    /// The text.
    public var description: String { text }

    /// Whether it is SHA-256 of nothing: what a broken pipe of commands makes of a missing file.
    var isHashOfNothing: Bool { text == "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=" }

    /// Whether somebody typed it to stand in for a pin to come: one byte or two, over and over.
    var isPlaceholder: Bool { Set(bytes).count <= 2 }

    /// Whether it is certainly of no key.
    var isNoKey: Bool { isHashOfNothing || isPlaceholder }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}

extension Pin {
    /// The digest's base64 alone.
    package var base64: String { String(text.dropFirst(Pin.prefix.count)) }
}
