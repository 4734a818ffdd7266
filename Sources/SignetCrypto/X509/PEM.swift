internal import CSignetOpenSSL

/// The blocks between `-----BEGIN …-----` and `-----END …-----` (RFC 7468).
enum PEM {
    /// What stands around a block's bytes.
    struct Label {
        let name: String
        /// Whether the lines inside say that it is encrypted (RFC 1421, section 4.6.1.1).
        let isEncrypted: Bool
    }

    /// Hands over every block in order. Nothing is decrypted, and nobody is asked for a pass phrase.
    ///
    /// - Parameters:
    ///   - file: Text around the blocks is passed over.
    ///   - body: Gets bytes that are wiped afterwards.
    /// - Returns: How many blocks there were; 0 where the file is no PEM.
    /// - Throws: `X509Failure` for a block that does not end or is no base64, and what `body` throws.
    static func forEachBlock(
        in file: [UInt8], _ body: (Label, Span<UInt8>) throws(X509Failure) -> Void
    ) throws(X509Failure) -> Int {
        // OpenSSL's reader keeps a pointer to the bytes, which live to the end of the closure.
        try unsafe file.span.withUnsafeBytes { (bytes) throws(X509Failure) -> Int in
            guard let reader = unsafe copenssl_reader(bytes.baseAddress, Int32(bytes.count)) else {
                throw X509Failure("OpenSSL refused to read")
            }
            defer { unsafe BIO_free(reader) }
            var blocks = 0
            while unsafe try next(reader, body) { blocks += 1 }
            return blocks
        }
    }

    private static func next(
        _ reader: OpaquePointer, _ body: (Label, Span<UInt8>) throws(X509Failure) -> Void
    ) throws(X509Failure) -> Bool {
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard unsafe copenssl_next_block(reader, &name, &header, &bytes, &count) == 1 else {
            guard copenssl_no_more_blocks() == 1 else { throw X509Failure("a broken PEM block") }
            return false
        }
        defer {
            unsafe copenssl_free(name)
            unsafe copenssl_free(header)
            unsafe copenssl_free_wiped(bytes, count)
        }
        guard let name = unsafe name, let header = unsafe header, let bytes = unsafe bytes else {
            throw X509Failure("a broken PEM block")
        }
        let label = unsafe Label(
            name: String(cString: name), isEncrypted: !String(cString: header).isEmpty)
        try body(label, unsafe Span(_unsafeStart: bytes, count: count))
        return true
    }
}
