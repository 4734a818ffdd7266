internal import CSignetOpenSSL
internal import SignetSystem

/// Bytes that nobody can guess, from OpenSSL's generator.
package enum RandomBytes {
    /// Random bytes that will be seen: salts, nonces, file names.
    package static func bytes(_ count: Int) throws(CryptoFailure) -> [UInt8] {
        try demand(count)
        var status: Int32 = 1
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            if count > 0 { status = unsafe copenssl_random(buffer.baseAddress, Int32(count)) }
            written = status == 1 ? count : 0
        }
        guard status == 1 else { throw CryptoFailure.library("random bytes") }
        return bytes
    }

    /// Random bytes of a key, from the generator that OpenSSL keeps for secrets.
    package static func secret(_ count: Int) throws(CryptoFailure) -> SecretBytes {
        try demand(count)
        return try SecretBytes(count: count) {
            (target: inout MutableSpan<UInt8>) throws(CryptoFailure) in
            guard count > 0 else { return }
            let status = unsafe target.withUnsafeMutableBytes { target in
                unsafe copenssl_random_secret(target.baseAddress, Int32(count))
            }
            guard status == 1 else { throw CryptoFailure.library("random bytes") }
        }
    }

    private static func demand(_ count: Int) throws(CryptoFailure) {
        guard (0...Int(Int32.max)).contains(count) else {
            throw CryptoFailure(operation: "random bytes", reason: "\(count) bytes asked for")
        }
    }
}

/// Whether two runs of bytes are the same, in a time that depends on their length alone.
///
/// The only comparison of tags, digests and keys in this package.
package func constantTimeEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe left.withUnsafeBytes { left in
        unsafe right.withUnsafeBytes { right in
            unsafe copenssl_equal(left.baseAddress, right.baseAddress, left.count) == 1
        }
    }
}

/// Whether two arrays are the same, in a time that depends on their length alone.
package func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    constantTimeEqual(left.span, right.span)
}
