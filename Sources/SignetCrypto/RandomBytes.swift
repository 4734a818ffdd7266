import CSignetOpenSSL
import SignetSystem

/// Random bytes from OpenSSL's cryptographic generator.
package enum RandomBytes {
    /// Returns random bytes that may be published: salts, nonces, file names.
    package static func bytes(_ count: Int) throws(CryptoFailure) -> [UInt8] {
        try require(count: count)
        var status: Int32 = 1
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            if count > 0 { status = unsafe signet_openssl_random(buffer.baseAddress, Int32(count)) }
            written = status == 1 ? count : 0
        }
        guard status == 1 else { throw CryptoFailure.library("random bytes") }
        return bytes
    }

    /// Returns random bytes for a key, from OpenSSL's separate generator for secrets.
    package static func secret(_ count: Int) throws(CryptoFailure) -> SecretBytes {
        try require(count: count)
        return try SecretBytes(count: count) {
            (target: inout MutableSpan<UInt8>) throws(CryptoFailure) in
            guard count > 0 else { return }
            let status = unsafe target.withUnsafeMutableBytes { target in
                unsafe signet_openssl_random_secret(target.baseAddress, Int32(count))
            }
            guard status == 1 else { throw CryptoFailure.library("random bytes") }
        }
    }

    private static func require(count: Int) throws(CryptoFailure) {
        guard (0...Int(Int32.max)).contains(count) else {
            throw CryptoFailure(
                operation: "random bytes",
                reason: "found a count of \(count), expected 0 to \(Int32.max)")
        }
    }
}

/// Returns whether two byte sequences are equal, in a time that depends only on their lengths.
///
/// This package compares tags, digests and keys only with this function.
package func constantTimeEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe left.withUnsafeBytes { left in
        unsafe right.withUnsafeBytes { right in
            unsafe signet_openssl_equal(left.baseAddress, right.baseAddress, left.count) == 1
        }
    }
}

/// Returns whether two arrays are equal, in a time that depends only on their lengths.
package func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    constantTimeEqual(left.span, right.span)
}
