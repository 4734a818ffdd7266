import CSignetOpenSSL

/// Digests of bytes in memory (FIPS 180-4).
package enum Digest {
    /// Returns the digest of `bytes`, `algorithm.byteCount` bytes.
    package static func of(
        _ bytes: Span<UInt8>, using algorithm: DigestAlgorithm = .sha256
    ) throws(CryptoFailure) -> [UInt8] {
        var digest = try IncrementalDigest(algorithm)
        try digest.update(bytes)
        return try digest.finish()
    }

    /// Returns the digest of an array's bytes.
    package static func of(
        _ bytes: [UInt8], using algorithm: DigestAlgorithm = .sha256
    ) throws(CryptoFailure) -> [UInt8] {
        try of(bytes.span, using: algorithm)
    }
}

/// A digest of bytes that arrive in pieces. It may be passed to another thread.
@safe package struct IncrementalDigest: ~Copyable, @unchecked Sendable {
    private static let idle = ContextPool()

    private let context: OpaquePointer
    private let algorithm: DigestAlgorithm

    package init(_ algorithm: DigestAlgorithm = .sha256) throws(CryptoFailure) {
        guard let fetched = unsafe algorithm.fetched else {
            throw CryptoFailure(
                operation: "digest", reason: "OpenSSL does not provide \(algorithm.opensslName)")
        }
        guard let context = unsafe Self.idle.acquire() ?? EVP_MD_CTX_new() else {
            throw CryptoFailure.library("digest")
        }
        guard unsafe signet_openssl_digest_start(context, fetched) == 1 else {
            unsafe EVP_MD_CTX_free(context)
            throw CryptoFailure.library("digest")
        }
        unsafe self.context = context
        self.algorithm = algorithm
    }

    /// Adds bytes.
    package mutating func update(_ bytes: Span<UInt8>) throws(CryptoFailure) {
        let status = unsafe bytes.withUnsafeBytes { bytes in
            unsafe signet_openssl_digest_update(context, bytes.baseAddress, bytes.count)
        }
        guard status == 1 else { throw CryptoFailure.library("digest") }
    }

    /// Returns the digest of all added bytes.
    package consuming func finish() throws(CryptoFailure) -> [UInt8] {
        let count = algorithm.byteCount
        let context = unsafe self.context
        let digest = unsafe [UInt8].written(count: count) { target in
            unsafe signet_openssl_digest_finish(context, target.baseAddress, count) == 1
        }
        guard let digest else { throw CryptoFailure.library("digest") }
        return digest
    }

    deinit {
        if unsafe !Self.idle.release(context) { unsafe EVP_MD_CTX_free(context) }
    }
}
