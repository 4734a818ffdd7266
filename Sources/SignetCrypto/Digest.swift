internal import CSignetOpenSSL

/// Digests of bytes that are all there (FIPS 180-4).
package enum Digest {
    /// The digest of `bytes`, as many bytes as the algorithm says.
    package static func of(
        _ bytes: Span<UInt8>, _ algorithm: DigestAlgorithm = .sha256
    ) throws(CryptoFailure) -> [UInt8] {
        var digest = try IncrementalDigest(algorithm)
        try digest.update(bytes)
        return try digest.finish()
    }

    /// The digest of an array's bytes.
    package static func of(
        _ bytes: [UInt8], _ algorithm: DigestAlgorithm = .sha256
    ) throws(CryptoFailure) -> [UInt8] {
        try of(bytes.span, algorithm)
    }
}

/// A digest of bytes that arrive in pieces. Its one owner may hand it to another thread.
@safe package struct IncrementalDigest: ~Copyable, @unchecked Sendable {
    private static let pool = DigestPool()

    private let context: OpaquePointer
    private let algorithm: DigestAlgorithm

    package init(_ algorithm: DigestAlgorithm = .sha256) throws(CryptoFailure) {
        guard let fetched = unsafe algorithm.fetched else {
            throw CryptoFailure(
                operation: "digest", reason: "OpenSSL offers no \(algorithm.opensslName)")
        }
        guard let context = unsafe Self.pool.contexts.take() ?? EVP_MD_CTX_new() else {
            throw CryptoFailure.library("digest")
        }
        guard unsafe copenssl_digest_start(context, fetched) == 1 else {
            unsafe EVP_MD_CTX_free(context)
            throw CryptoFailure.library("digest")
        }
        unsafe self.context = context
        self.algorithm = algorithm
    }

    /// Adds bytes; any number of times, none is fine too.
    package mutating func update(_ bytes: Span<UInt8>) throws(CryptoFailure) {
        let status = unsafe bytes.withUnsafeBytes { bytes in
            unsafe copenssl_digest_update(context, bytes.baseAddress, bytes.count)
        }
        guard status == 1 else { throw CryptoFailure.library("digest") }
    }

    /// The digest of all that was added.
    package consuming func finish() throws(CryptoFailure) -> [UInt8] {
        let count = algorithm.byteCount
        var status: Int32 = 0
        let context = unsafe self.context
        let digest = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            status = unsafe copenssl_digest_finish(context, buffer.baseAddress, count)
            written = status == 1 ? count : 0
        }
        guard status == 1 else { throw CryptoFailure.library("digest") }
        return digest
    }

    deinit {
        if unsafe !Self.pool.contexts.giveBack(context) { unsafe EVP_MD_CTX_free(context) }
    }
}

/// Holds the process's idle digest contexts.
private final class DigestPool: Sendable {
    let contexts = ContextPool()
}
