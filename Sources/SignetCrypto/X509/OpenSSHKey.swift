import SignetBase

/// Reads Ed25519 keys as OpenSSH writes them. No option of ssh-keygen converts them to PKCS #8 or
/// to a SubjectPublicKeyInfo; it converts those of other types.
enum OpenSSHKey {
    private static let type = Array("ssh-ed25519".utf8)
    /// The beginnings of the types of public keys.
    private static let typeStarts = ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"]

    // MARK: - Private keys

    /// Returns the place of the seed and of the public key after it in a block `OPENSSH PRIVATE
    /// KEY`.
    ///
    /// - Throws: `X509Failure` for an encrypted key, another type, and a malformed block.
    static func pair(in block: Span<UInt8>) throws(X509Failure) -> Range<Int> {
        let magic = Array("openssh-key-v1\u{0}".utf8)
        var outer = SSHCursor(over: 0..<block.count)
        guard outer.skip(magic, in: block), let cipher = outer.string(in: block),
            let derivation = outer.string(in: block), outer.string(in: block) != nil,
            outer.number(in: block) == 1, outer.string(in: block) != nil,
            let secret = outer.string(in: block), outer.isAtEnd
        else { throw malformed }
        guard isEqual(block, in: cipher, to: "none"), isEqual(block, in: derivation, to: "none")
        else {
            throw X509Failure(
                "the private key is encrypted; ssh-keygen -p -m PKCS8 -N '' -f COPY decrypts a "
                    + "copy of it")
        }
        var inner = SSHCursor(over: secret)
        guard let check = inner.number(in: block), inner.number(in: block) == check,
            let found = inner.string(in: block)
        else { throw malformed }
        guard isEqual(block, in: found, to: type) else {
            throw X509Failure(
                "found a key of OpenSSH that is not Ed25519, expected PKCS #8; ssh-keygen -p -m "
                    + "PKCS8 -f COPY converts a copy of it")
        }
        guard let point = inner.string(in: block), point.count == 32,
            let pair = inner.string(in: block), pair.count == 64,
            isEqual(block, in: pair.suffix(32), to: point.map { block[$0] })
        else { throw malformed }
        return pair
    }

    // MARK: - Public keys

    /// Returns whether bytes begin with a public key's line: a type, and the base64 of the length
    /// of a type.
    static func isLine(_ bytes: [UInt8]) -> Bool {
        let words = bytes.split(maxSplits: 2) { $0.isBlank || $0 == ASCII.lineFeed }
        return words.count > 1 && words[1].starts(with: "AAAA".utf8)
            && typeStarts.contains { words[0].starts(with: $0.utf8) }
    }

    /// Returns the 32 bytes of the only line's key: the type, base64 and a comment.
    ///
    /// - Throws: `X509Failure` for another type, several lines and a malformed line.
    static func publicKey(ofLine bytes: [UInt8]) throws(X509Failure) -> [UInt8] {
        let lines = bytes.split { $0 == ASCII.lineFeed || $0 == ASCII.carriageReturn }
            .filter { !$0.allSatisfy(\.isBlank) }
        guard let line = lines.first, lines.count == 1 else {
            throw X509Failure("found \(lines.count) lines of OpenSSH, expected one public key")
        }
        let words = line.split(whereSeparator: \.isBlank)
        guard words[0].elementsEqual(type) else {
            throw X509Failure(
                "found a public key of OpenSSH that is not Ed25519; if it is RSA or ECDSA, "
                    + "ssh-keygen -e -m PKCS8 -f FILE prints it in PEM")
        }
        guard words.count > 1, let blob = Base64.decode(Array(words[1]), from: .standard) else {
            throw X509Failure("the public key of OpenSSH is not base64")
        }
        var cursor = SSHCursor(over: blob.indices)
        guard let found = cursor.string(in: blob.span), isEqual(blob.span, in: found, to: type),
            let point = cursor.string(in: blob.span), point.count == 32, cursor.isAtEnd
        else { throw X509Failure("the public key of OpenSSH is malformed") }
        return Array(blob[point])
    }

    private static var malformed: X509Failure {
        X509Failure("the PEM block OPENSSH PRIVATE KEY is malformed")
    }

    private static func isEqual(
        _ bytes: Span<UInt8>, in range: Range<Int>, to expected: [UInt8]
    ) -> Bool {
        range.count == expected.count
            && range.indices.allSatisfy { bytes[$0] == expected[$0 - range.lowerBound] }
    }

    private static func isEqual(
        _ bytes: Span<UInt8>, in range: Range<Int>, to expected: String
    ) -> Bool { isEqual(bytes, in: range, to: Array(expected.utf8)) }
}

/// A place in numbers and strings of SSH (RFC 4251, section 5).
private struct SSHCursor {
    private var position: Int
    private let end: Int

    init(over range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    var isAtEnd: Bool { position == end }

    /// Moves over a text. Returns false if something else is there.
    mutating func skip(_ text: [UInt8], in bytes: Span<UInt8>) -> Bool {
        guard end - position >= text.count,
            text.indices.allSatisfy({ bytes[position + $0] == text[$0] })
        else { return false }
        position += text.count
        return true
    }

    /// Returns the next `uint32`.
    mutating func number(in bytes: Span<UInt8>) -> Int? {
        guard end - position >= 4 else { return nil }
        defer { position += 4 }
        return (position..<position + 4).reduce(0) { $0 << 8 | Int(bytes[$1]) }
    }

    /// Returns the range of the next string.
    mutating func string(in bytes: Span<UInt8>) -> Range<Int>? {
        guard let count = number(in: bytes), count <= end - position else { return nil }
        defer { position += count }
        return position..<position + count
    }
}
