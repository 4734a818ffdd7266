import CSignetOpenSSL
import SignetBase
import SignetSystem

/// Reads and writes blocks between `-----BEGIN …-----` and `-----END …-----` (RFC 7468).
package enum PEM {
    /// Returns a certificate's block (section 5), with a newline at the end.
    package static func text(ofCertificate der: [UInt8]) -> [UInt8] {
        text(of: der, label: "CERTIFICATE")
    }

    /// Returns the block of a SubjectPublicKeyInfo (section 13), with a newline at the end.
    package static func text(ofPublicKey der: [UInt8]) -> [UInt8] {
        text(of: der, label: "PUBLIC KEY")
    }

    private static func text(of der: [UInt8], label: String) -> [UInt8] {
        let digits = Base64.encodeBytes(der.span, as: .standard)
        var text = Array("-----BEGIN \(label)-----\n".utf8)
        for start in stride(from: 0, to: digits.count, by: 64) {
            text += digits[start..<min(start + 64, digits.count)]
            text.append(UInt8(ascii: "\n"))
        }
        return text + "-----END \(label)-----\n".utf8
    }

    /// Returns whether bytes contain a block of PEM.
    package static func isContained(in bytes: [UInt8]) -> Bool {
        let opening = Array("-----BEGIN ".utf8)
        return bytes.indices.contains { index in
            (index == 0 || bytes[index - 1] == UInt8(ascii: "\n"))
                && bytes[index...].starts(with: opening)
        }
    }

    /// Returns whether bytes contain the beginning of a block in any form: indented, in quotes, in
    /// UTF-16, or with its line breaks as two characters.
    package static func isDisguised(in bytes: [UInt8]) -> Bool {
        let opening = Array("-----BEGIN".utf8)
        var text = bytes.filter { $0 != 0 }
        defer { wipe(&text) }
        return text.indices.contains { text[$0...].starts(with: opening) }
    }

    /// Returns blocks as a file has them: without the indentation, the quotes, the zero bytes of
    /// UTF-16 and the byte order mark, with `\n` and `\r` of two characters as a line break, and
    /// with the line breaks of a block that has none.
    ///
    /// - Parameter bytes: The text, which the caller wipes, as the result.
    package static func undisguised(_ bytes: [UInt8]) -> [UInt8] {
        let dropped = [0, 0xFF, 0xFE, 0xEF, 0xBB, 0xBF] + Array("\"'".utf8)
        var text: [UInt8] = []
        defer { wipe(&text) }
        text.reserveCapacity(bytes.count)
        var isEscaped = false
        var isAfterReturn = false
        for var byte in bytes where !dropped.contains(byte) {
            if isEscaped {
                switch byte {
                case UInt8(ascii: "n"): byte = ASCII.lineFeed
                case UInt8(ascii: "r"): byte = ASCII.carriageReturn
                default:
                    // A backslash may be escaped too.
                    isEscaped = byte == UInt8(ascii: "\\")
                    continue
                }
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
                continue
            }
            // CR alone ends a line too, but CRs before a LF don't.
            if byte == ASCII.carriageReturn {
                isAfterReturn = true
                continue
            }
            if isAfterReturn, byte != ASCII.lineFeed { text.append(ASCII.lineFeed) }
            isAfterReturn = false
            if !byte.isBlank || text.last.map({ $0 != ASCII.lineFeed }) == true {
                text.append(byte)
            }
        }
        return withLines(text)
    }

    /// Returns blocks, with lines in each that is on one line, whose line breaks were lost or
    /// became spaces.
    private static func withLines(_ text: [UInt8]) -> [UInt8] {
        let (opening, closing) = (Array("-----BEGIN ".utf8), Array("-----END ".utf8))
        let dashes = opening.prefix(5)
        var lines: [UInt8] = []
        lines.reserveCapacity(text.count + text.count / 16 + 64)
        var rest = text[...]
        while let begin = rest.firstRange(of: opening),
            let label = rest[begin.upperBound...].firstRange(of: dashes),
            let end = rest[label.upperBound...].firstRange(of: closing),
            let last = rest[end.upperBound...].firstRange(of: dashes)
        {
            lines += rest[..<label.upperBound]
            let content = rest[label.upperBound..<end.lowerBound]
            if content.contains(ASCII.lineFeed) {
                lines += content
            } else {
                var column = 0
                for byte in content where !byte.isBlank {
                    if column % 64 == 0 { lines.append(ASCII.lineFeed) }
                    column += 1
                    lines.append(byte)
                }
                lines.append(ASCII.lineFeed)
            }
            lines += rest[end.lowerBound..<last.upperBound]
            rest = rest[last.upperBound...]
            rest = rest.drop(while: \.isBlank)
            if let next = rest.first, next != ASCII.lineFeed { lines.append(ASCII.lineFeed) }
        }
        lines += rest
        return lines
    }

    /// A block's label and header.
    struct Label {
        let name: String
        /// Whether the block has a header, which means that it is encrypted (RFC 1421, section
        /// 4.6.1.1).
        let isEncrypted: Bool
    }

    /// Passes every block to `body`, in order. Decrypts nothing and asks for no passphrase.
    ///
    /// - Parameters:
    ///   - file: The whole file; text around the blocks is ignored.
    ///   - body: Receives a block's decoded bytes, which are wiped after the call.
    /// - Returns: The number of blocks; 0 if the file isn't PEM.
    /// - Throws: `X509Failure` for a block without an end or with invalid base64, and what `body`
    ///   throws.
    static func forEachBlock(
        in file: [UInt8], _ body: (Label, Span<UInt8>) throws(X509Failure) -> Void
    ) throws(X509Failure) -> Int {
        // OpenSSL's reader keeps a pointer to the bytes, which are valid until the closure ends.
        try unsafe file.span.withUnsafeBytes { (bytes) throws(X509Failure) -> Int in
            guard let reader = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else {
                throw X509Failure("OpenSSL cannot allocate a reader")
            }
            defer { unsafe BIO_free(reader) }
            var blocks = 0
            while unsafe try readBlock(from: reader, body) { blocks += 1 }
            return blocks
        }
    }

    /// Reads the next block. Returns false at the end.
    private static func readBlock(
        from reader: OpaquePointer, _ body: (Label, Span<UInt8>) throws(X509Failure) -> Void
    ) throws(X509Failure) -> Bool {
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard unsafe signet_openssl_next_block(reader, &name, &header, &bytes, &count) == 1 else {
            guard signet_openssl_no_more_blocks() == 1 else {
                throw X509Failure("a PEM block is malformed")
            }
            return false
        }
        defer {
            unsafe signet_openssl_free(name)
            unsafe signet_openssl_free(header)
            unsafe signet_openssl_free_wiped(bytes, count)
        }
        guard let name = unsafe name, let header = unsafe header, let bytes = unsafe bytes else {
            throw X509Failure("a PEM block is malformed")
        }
        let label = unsafe Label(
            name: String(cString: name), isEncrypted: !String(cString: header).isEmpty)
        try body(label, unsafe Span(_unsafeStart: bytes, count: count))
        return true
    }
}
