internal import CSignetOpenSSL

/// Digests for which collisions can be constructed (RFC 6151, RFC 6194). Only for partners that
/// support no other.
package enum InsecureDigest {
    package enum Algorithm: Sendable, Hashable {
        case md5, sha1
    }

    /// Returns the digest: 16 bytes for MD5 (RFC 1321), 20 for SHA-1 (FIPS 180-4).
    package static func of(
        _ bytes: Span<UInt8>, using algorithm: Algorithm
    ) throws(CryptoFailure) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: algorithm == .md5 ? 16 : 20)
        let count = digest.count
        let status = unsafe bytes.withUnsafeBytes { bytes in
            unsafe digest.withUnsafeMutableBytes { digest in
                unsafe signet_openssl_digest_once(
                    algorithm == .md5 ? "MD5" : "SHA1", bytes.baseAddress, bytes.count,
                    digest.baseAddress, count)
            }
        }
        guard status == 1 else { throw CryptoFailure.library("\(algorithm)") }
        return digest
    }
}
