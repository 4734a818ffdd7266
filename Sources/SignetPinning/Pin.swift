import SignetBase
import SignetCrypto

/// The SHA-256 digest of a public key, as DER SubjectPublicKeyInfo (RFC 7469, section 2.4).
///
/// `signet pins show https://api.example.com` prints the pins of a host's certificates, and `signet
/// pins show FILE` those of a certificate, a certificate request or a key. OpenSSL computes the
/// part after `sha256/` too:
///
///     openssl x509 -in leaf.pem -noout -pubkey | openssl pkey -pubin -outform DER \
///         | openssl dgst -sha256 -binary | base64
///
/// A new pin is best tried in report mode first, together with the pin of a backup key:
///
/// ```swift
/// let current = try Pin(parsing: "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=")
/// let backup = try Pin(parsing: "sha256/E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g=")
/// let rule = try PinRule(host: "api.example.com", pins: [current, backup], mode: .report)
/// print(rule.pins.map(\.text))
/// ```
public struct Pin: Sendable, Hashable, CustomStringConvertible {
    /// The prefix of every pin's text.
    public static let prefix = "sha256/"

    /// 32 bytes.
    public let bytes: [UInt8]

    /// Creates a pin from a digest of 32 bytes.
    ///
    /// - Throws: `PinError` with code `bad-pin` if `bytes` has another length.
    public init(bytes: [UInt8]) throws(PinError) {
        guard bytes.count == 32 else {
            throw Self.malformed("found \(bytes.count) bytes, expected the 32 bytes of SHA-256")
        }
        self.bytes = bytes
    }

    /// Reads `sha256/` and 44 characters of canonical base64 (RFC 4648, section 4).
    ///
    /// - Throws: `PinError` with code `bad-pin`.
    public init(parsing text: String) throws(PinError) {
        let characters = Array(text.utf8)
        guard characters.starts(with: Pin.prefix.utf8) else {
            throw Self.malformed("a pin starts with \"sha256/\", in lower case")
        }
        let encoded = Array(characters.dropFirst(Pin.prefix.utf8.count))
        guard encoded.count == 44, encoded[43] == UInt8(ascii: "="),
            encoded[42] != UInt8(ascii: "=")
        else {
            throw Self.malformed(
                "found \(encoded.count) characters after \"sha256/\", expected 44 characters of"
                    + " base64 that end in one \"=\" (32 bytes)")
        }
        guard let bytes = Base64.decode(encoded, from: .standard) else {
            let digits = encoded.dropLast()
            if let index = digits.firstIndex(where: { !Self.base64Alphabet.contains($0) }) {
                throw Self.malformed(
                    "character \(index + 1) after \"sha256/\" isn't in the base64 alphabet"
                        + " (A-Z a-z 0-9 + /)")
            }
            throw Self.malformed(
                "the base64 after \"sha256/\" isn't canonical: its last character sets unused bits")
        }
        self.bytes = bytes
    }

    /// `sha256/` and the digest's base64.
    public var text: String { Pin.prefix + base64 }

    /// The digest's base64 without the prefix.
    package var base64: String { Base64.encode(bytes, as: .standard) }

    /// The text.
    public var description: String { text }

    /// Whether the pin is the SHA-256 of empty input, which a shell pipeline computes if its first
    /// command fails.
    var isHashOfEmptyInput: Bool { text == "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=" }

    /// Whether the pin repeats one or two bytes, as people type it to fill a gap.
    var isPlaceholder: Bool { Set(bytes).count <= 2 }

    /// Whether no key can match the pin.
    var matchesNoKey: Bool { isHashOfEmptyInput || isPlaceholder }

    /// The alphabet of base64, without the padding.
    static let base64Alphabet = ASCIISet(lettersDigitsAnd: "+/")

    private static func malformed(_ message: String) -> PinError {
        PinError(.badPin, message)
    }
}
