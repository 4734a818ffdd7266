internal import SignetBase
internal import SignetCrypto

/// A hash function that a scheme document can name.
enum HashFunction: String, Sendable, CaseIterable {
    case sha256, sha512, sha1, md5

    /// Whether collisions are known. Only ``SigningScheme/Insecure`` creates a scheme that signs
    /// with such a hash.
    var isBroken: Bool { self == .sha1 || self == .md5 }

    /// The body digest of the same algorithm, if a message can hold one in place of its body.
    var bodyDigest: BodyDigest? {
        switch self {
        case .sha256: .sha256
        case .sha512: .sha512
        case .sha1, .md5: nil
        }
    }

    func hash(_ bytes: Span<UInt8>) throws(CryptoFailure) -> [UInt8] {
        switch self {
        case .sha256: try Digest.of(bytes, using: .sha256)
        case .sha512: try Digest.of(bytes, using: .sha512)
        case .sha1: try InsecureDigest.of(bytes, using: .sha1)
        case .md5: try InsecureDigest.of(bytes, using: .md5)
        }
    }
}

/// The hash function of an HMAC, as a scheme document names it.
enum HMACHash: String, Sendable, CaseIterable {
    case sha256, sha384, sha512
    /// Only ``SigningScheme/Insecure`` creates a scheme that signs with it.
    case sha1

    /// The algorithm; `nil` for SHA-1.
    var digest: DigestAlgorithm? { DigestAlgorithm(rawValue: rawValue) }
}

extension CompiledScheme.Encoding {
    func encode(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .hex: Self.hex(bytes, ten: 0x61)
        case .upperHex: Self.hex(bytes, ten: 0x41)
        case .base64: Base64.encodeBytes(bytes.span, as: .standard)
        case .base64URL: Base64.encodeBytes(bytes.span, as: .url)
        }
    }

    /// Decodes a text, or returns `nil` if it is invalid. Hexadecimal digits may be of either case.
    func decode(_ text: [UInt8]) -> [UInt8]? {
        switch self {
        case .base64: Base64.decode(text, from: .standard)
        case .base64URL: Base64.decode(text, from: .url)
        case .hex, .upperHex: text.decodingHexadecimal()
        }
    }

    /// - Parameter ten: The digit after 9, `a` or `A`.
    private static func hex(_ bytes: [UInt8], ten: UInt8) -> [UInt8] {
        // Branch-free: the digits are random, so a branch would often be mispredicted.
        func digit(_ value: UInt8) -> UInt8 {
            ASCII.zero &+ value &+ (value &+ 6) >> 4 &* (ten &- ASCII.zero &- 10)
        }
        var text = [UInt8](repeating: 0, count: 2 * bytes.count)
        var digits = text.mutableSpan
        for index in bytes.indices {
            digits[2 * index] = digit(bytes[index] >> 4)
            digits[2 * index + 1] = digit(bytes[index] & 15)
        }
        return text
    }
}
