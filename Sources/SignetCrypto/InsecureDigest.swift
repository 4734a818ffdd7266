import CSignetOpenSSL

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

/// HMAC with SHA-1. Only for partners that support no other.
package enum InsecureHMAC {
    /// Returns the tag, 20 bytes.
    package static func sha1(
        of message: Span<UInt8>, key: Span<UInt8>
    ) throws(CryptoFailure) -> [UInt8] {
        let context = unsafe try macContext()
        defer { unsafe EVP_MAC_CTX_free(context) }
        var tag = [UInt8](repeating: 0, count: 20)
        let count = tag.count
        let isDone = unsafe key.withUnsafeBytes { key in
            unsafe message.withUnsafeBytes { message in
                unsafe tag.withUnsafeMutableBytes { tag in
                    unsafe signet_openssl_mac_start(context, key.baseAddress, key.count, "SHA1")
                        == 1
                        && signet_openssl_mac_update(context, message.baseAddress, message.count)
                            == 1
                        && signet_openssl_mac_finish(context, tag.baseAddress, count) == 1
                }
            }
        }
        guard isDone else { throw CryptoFailure.library("HMAC") }
        return tag
    }
}
