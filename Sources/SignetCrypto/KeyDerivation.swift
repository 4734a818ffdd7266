internal import CSignetOpenSSL
internal import SignetSystem

/// HKDF with SHA-256 (RFC 5869).
package enum HKDF {
    private static let digestCount = 32

    /// Turns key material of any shape into 32 even bytes (section 2.2). An empty salt is 32 zeros.
    package static func extract(
        salt: Span<UInt8>, inputKey: Span<UInt8>
    ) throws(CryptoFailure) -> SecretBytes {
        try SecretBytes(count: digestCount) {
            (target: inout MutableSpan<UInt8>) throws(CryptoFailure) in
            try HMAC.write(to: &target, key: salt, .sha256, inputKey)
        }
    }

    /// Makes `count` bytes, at most 8160, from a pseudorandom key of 32 bytes or more (section 2.3).
    package static func expand(
        pseudorandomKey: Span<UInt8>, info: Span<UInt8>, count: Int
    ) throws(CryptoFailure) -> SecretBytes {
        guard (0...255 * digestCount).contains(count) else {
            throw CryptoFailure(
                operation: "HKDF expand",
                reason: "\(count) bytes asked for, at most \(255 * digestCount)")
        }
        guard pseudorandomKey.count >= digestCount else {
            throw CryptoFailure(
                operation: "HKDF expand",
                reason: "a key of \(pseudorandomKey.count) bytes, at least \(digestCount)")
        }
        return try SecretBytes(count: count) {
            (target: inout MutableSpan<UInt8>) throws(CryptoFailure) in
            try HMAC.expand(to: &target, key: pseudorandomKey, info: info)
        }
    }
}

/// The passphrase function scrypt (RFC 7914).
package enum Scrypt {
    /// Derives `count` bytes.
    ///
    /// - Parameters:
    ///   - passphrase: Bytes as given; not normalised, not trimmed.
    ///   - salt: Random bytes of this use; of any length.
    ///   - logCost: Base-2 logarithm of *N*, in 1...22; 17 with a block size of 8 is 128 MiB.
    ///   - blockSize: *r*, in 1...32.
    ///   - parallelism: *p*, in 1...64.
    ///   - count: In 1...1024.
    /// - Returns: `count` bytes.
    /// - Throws: `CryptoFailure` for a value out of range before any work is done.
    package static func derive(
        passphrase: Span<UInt8>, salt: Span<UInt8>, logCost: Int, blockSize: Int = 8,
        parallelism: Int = 1, count: Int = 32
    ) throws(CryptoFailure) -> SecretBytes {
        try demand("log2 N", logCost, in: 1...22)
        try demand("r", blockSize, in: 1...32)
        try demand("p", parallelism, in: 1...64)
        try demand("the byte count", count, in: 1...1024)
        guard logCost < 16 * blockSize else {
            throw CryptoFailure(
                operation: "scrypt", reason: "N must be below 2^(16 r) (RFC 7914, section 6)")
        }
        let n = UInt64(1) << UInt64(logCost)
        let r = UInt64(blockSize)
        let p = UInt64(parallelism)
        // OpenSSL's own default stops at 32 MiB; this is what RFC 7914 needs and a little more.
        let memory = 128 * r * (n + p + 2) + 4096
        return try SecretBytes(count: count) {
            (target: inout MutableSpan<UInt8>) throws(CryptoFailure) in
            let status = unsafe passphrase.withUnsafeBytes { passphrase in
                unsafe salt.withUnsafeBytes { salt in
                    unsafe target.withUnsafeMutableBytes { target in
                        unsafe copenssl_scrypt(
                            passphrase.baseAddress, passphrase.count, salt.baseAddress,
                            salt.count, n, r, p, memory, target.baseAddress, target.count)
                    }
                }
            }
            guard status == 1 else { throw CryptoFailure.library("scrypt") }
        }
    }

    private static func demand(
        _ name: String, _ value: Int, in range: ClosedRange<Int>
    ) throws(CryptoFailure) {
        guard range.contains(value) else {
            throw CryptoFailure(
                operation: "scrypt",
                reason: "\(name) is \(value), wanted \(range.lowerBound)...\(range.upperBound)")
        }
    }
}
