import CSignetOpenSSL
import SignetSystem

/// HKDF with SHA-256 (RFC 5869).
package enum HKDF {
    private static let digestCount = 32

    /// Returns a pseudorandom key of 32 bytes (section 2.2). An empty salt counts as 32 zero bytes.
    package static func extract(
        salt: Span<UInt8>, inputKey: Span<UInt8>
    ) throws(CryptoFailure) -> SecretBytes {
        try SecretBytes(count: digestCount) {
            (target: inout MutableSpan<UInt8>) throws(CryptoFailure) in
            try HMAC.write(to: &target, of: inputKey, key: salt, using: .sha256)
        }
    }

    /// Returns `count` bytes, at most 8160, derived from a pseudorandom key of at least 32 bytes
    /// (section 2.3).
    package static func expand(
        pseudorandomKey: Span<UInt8>, info: Span<UInt8>, count: Int
    ) throws(CryptoFailure) -> SecretBytes {
        guard (0...255 * digestCount).contains(count) else {
            throw CryptoFailure(
                operation: "HKDF expand",
                reason: "found a count of \(count), expected 0 to \(255 * digestCount)")
        }
        guard pseudorandomKey.count >= digestCount else {
            throw CryptoFailure(
                operation: "HKDF expand",
                reason: "found a key of \(pseudorandomKey.count) bytes, expected at least "
                    + "\(digestCount)"
            )
        }
        return try SecretBytes(count: count) {
            (target: inout MutableSpan<UInt8>) throws(CryptoFailure) in
            try HMAC.expand(to: &target, key: pseudorandomKey, info: info)
        }
    }
}

/// The password-based key derivation function scrypt (RFC 7914).
package enum Scrypt {
    /// Derives a key from a passphrase.
    ///
    /// - Parameters:
    ///   - passphrase: Bytes, used as given: not normalised, not trimmed.
    ///   - salt: Random bytes of any length, different for each use.
    ///   - logCost: Base-2 logarithm of *N*, in 1...22; 17 with a block size of 8 is 128 MiB.
    ///   - blockSize: *r*, in 1...32.
    ///   - parallelism: *p*, in 1...64.
    ///   - count: In 1...1024.
    /// - Returns: `count` bytes.
    /// - Throws: `CryptoFailure` if a value is out of range (before any work is done), or OpenSSL
    ///   fails.
    package static func derive(
        passphrase: Span<UInt8>, salt: Span<UInt8>, logCost: Int, blockSize: Int = 8,
        parallelism: Int = 1, count: Int = 32
    ) throws(CryptoFailure) -> SecretBytes {
        try require(logCost, in: 1...22, named: "log2 N")
        try require(blockSize, in: 1...32, named: "r")
        try require(parallelism, in: 1...64, named: "p")
        try require(count, in: 1...1024, named: "count")
        guard logCost < 16 * blockSize else {
            throw CryptoFailure(
                operation: "scrypt",
                reason: "found log2 N \(logCost), expected less than 16 r (RFC 7914, section 6)")
        }
        let n = UInt64(1) << UInt64(logCost)
        let r = UInt64(blockSize)
        let p = UInt64(parallelism)
        // OpenSSL's default limit is 32 MiB. This is what RFC 7914 needs, and a little more.
        let memory = 128 * r * (n + p + 2) + 4096
        return try SecretBytes(count: count) {
            (target: inout MutableSpan<UInt8>) throws(CryptoFailure) in
            let status = unsafe passphrase.withUnsafeBytes { passphrase in
                unsafe salt.withUnsafeBytes { salt in
                    unsafe target.withUnsafeMutableBytes { target in
                        unsafe signet_openssl_scrypt(
                            passphrase.baseAddress, passphrase.count, salt.baseAddress,
                            salt.count, n, r, p, memory, target.baseAddress, target.count)
                    }
                }
            }
            guard status == 1 else { throw CryptoFailure.library("scrypt") }
        }
    }

    private static func require(
        _ value: Int, in range: ClosedRange<Int>, named name: String
    ) throws(CryptoFailure) {
        guard range.contains(value) else {
            throw CryptoFailure(
                operation: "scrypt",
                reason:
                    "found \(name) \(value), expected \(range.lowerBound) to \(range.upperBound)")
        }
    }
}
