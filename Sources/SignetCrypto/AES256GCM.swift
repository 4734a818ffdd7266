internal import CSignetOpenSSL
internal import SignetSystem

/// AES-256 in Galois/Counter Mode (NIST SP 800-38D), with nonces of exactly 12 bytes and tags of
/// exactly 16.
///
/// OpenSSL takes tags of any length from 1 and nonces of many; both are refused here, before it
/// sees them.
package enum AES256GCM {
    package static let keyByteCount = 32
    package static let nonceByteCount = 12
    package static let tagByteCount = 16

    /// Encrypts. A nonce must never be used twice under one key.
    package static func seal(
        _ plaintext: Span<UInt8>, key: Span<UInt8>, nonce: Span<UInt8>,
        authenticating associated: Span<UInt8>
    ) throws(CryptoFailure) -> (ciphertext: [UInt8], tag: [UInt8]) {
        let operation = "AES-256-GCM seal"
        let cipher = unsafe try demand(operation, plaintext, key, nonce, associated)
        let context = unsafe try newContext(operation)
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        var status: Int32 = 0
        var tag = [UInt8](repeating: 0, count: tagByteCount)
        let count = plaintext.count
        let ciphertext = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            status = unsafe tag.withUnsafeMutableBytes { tag in
                unsafe plaintext.withUnsafeBytes { plaintext in
                    unsafe key.withUnsafeBytes { key in
                        unsafe nonce.withUnsafeBytes { nonce in
                            unsafe associated.withUnsafeBytes { associated in
                                unsafe copenssl_gcm_seal(
                                    context, cipher, key.baseAddress, nonce.baseAddress,
                                    associated.baseAddress, Int32(associated.count),
                                    plaintext.baseAddress, Int32(count), buffer.baseAddress,
                                    tag.baseAddress)
                            }
                        }
                    }
                }
            }
            written = status == 1 ? count : 0
        }
        guard status == 1 else { throw CryptoFailure.library(operation) }
        return (ciphertext, tag)
    }

    /// Encrypts in place: `text` is the plaintext before, and the ciphertext after. A nonce must never
    /// be used twice under one key.
    ///
    /// - Returns: The tag.
    /// - Throws: `CryptoFailure`; what `text` held is wiped.
    package static func seal(
        inPlace text: inout [UInt8], key: Span<UInt8>, nonce: Span<UInt8>,
        authenticating associated: Span<UInt8>
    ) throws(CryptoFailure) -> [UInt8] {
        let operation = "AES-256-GCM seal"
        let cipher = unsafe try demand(operation, text.span, key, nonce, associated)
        let context = unsafe try newContext(operation)
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        var tag = [UInt8](repeating: 0, count: tagByteCount)
        let status = unsafe tag.withUnsafeMutableBytes { tag in
            unsafe text.withUnsafeMutableBytes { text in
                unsafe key.withUnsafeBytes { key in
                    unsafe nonce.withUnsafeBytes { nonce in
                        unsafe associated.withUnsafeBytes { associated in
                            unsafe copenssl_gcm_seal(
                                context, cipher, key.baseAddress, nonce.baseAddress,
                                associated.baseAddress, Int32(associated.count),
                                text.baseAddress, Int32(text.count), text.baseAddress,
                                tag.baseAddress)
                        }
                    }
                }
            }
        }
        guard status == 1 else {
            wipe(&text)
            throw CryptoFailure.library(operation)
        }
        return tag
    }

    /// Decrypts, after the tag has been found to hold.
    ///
    /// - Throws: `CryptoFailure`; with `isAuthenticationFailure` where the tag does not hold. What
    ///   OpenSSL had decrypted by then is wiped.
    package static func open(
        ciphertext: Span<UInt8>, tag: Span<UInt8>, key: Span<UInt8>, nonce: Span<UInt8>,
        authenticating associated: Span<UInt8>
    ) throws(CryptoFailure) -> [UInt8] {
        let count = ciphertext.count
        var result: Result<Void, CryptoFailure> = .success(())
        let plaintext = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            do throws(CryptoFailure) {
                unsafe try open(
                    ciphertext, tag, key, nonce, associated,
                    into: UnsafeMutableRawBufferPointer(buffer).prefix(count))
                written = count
            } catch {
                result = .failure(error)
                written = 0
            }
        }
        try result.get()
        return plaintext
    }

    /// The same as `open`, for a plaintext that is itself a key.
    package static func openSecret(
        ciphertext: Span<UInt8>, tag: Span<UInt8>, key: Span<UInt8>, nonce: Span<UInt8>,
        authenticating associated: Span<UInt8>
    ) throws(CryptoFailure) -> SecretBytes {
        try SecretBytes(count: ciphertext.count) {
            (target: inout MutableSpan<UInt8>) throws(CryptoFailure) in
            try unsafe target.withUnsafeMutableBytes { (buffer) throws(CryptoFailure) in
                unsafe try open(ciphertext, tag, key, nonce, associated, into: buffer[...])
            }
        }
    }

    private static func open(
        _ ciphertext: Span<UInt8>, _ tag: Span<UInt8>, _ key: Span<UInt8>, _ nonce: Span<UInt8>,
        _ associated: Span<UInt8>, into slice: Slice<UnsafeMutableRawBufferPointer>
    ) throws(CryptoFailure) {
        let operation = "AES-256-GCM open"
        let target = unsafe UnsafeMutableRawBufferPointer(rebasing: slice)
        let cipher = unsafe try demand(operation, ciphertext, key, nonce, associated)
        guard tag.count == tagByteCount else {
            throw CryptoFailure(
                operation: operation, reason: "a tag of \(tag.count) bytes, wanted 16")
        }
        let context = unsafe try newContext(operation)
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let status = unsafe ciphertext.withUnsafeBytes { ciphertext in
            unsafe key.withUnsafeBytes { key in
                unsafe nonce.withUnsafeBytes { nonce in
                    unsafe tag.withUnsafeBytes { tag in
                        unsafe associated.withUnsafeBytes { associated in
                            unsafe copenssl_gcm_open(
                                context, cipher, key.baseAddress, nonce.baseAddress,
                                associated.baseAddress, Int32(associated.count),
                                ciphertext.baseAddress, Int32(ciphertext.count),
                                tag.baseAddress, target.baseAddress)
                        }
                    }
                }
            }
        }
        guard status == 1 else {
            unsafe zeroize(target)
            guard status == 0 else { throw CryptoFailure.library(operation) }
            copenssl_forget_errors()
            throw CryptoFailure(
                operation: operation, reason: "the tag does not hold",
                isAuthenticationFailure: true)
        }
    }

    private static func newContext(_ operation: String) throws(CryptoFailure) -> OpaquePointer {
        guard let context = unsafe EVP_CIPHER_CTX_new() else {
            throw CryptoFailure.library(operation)
        }
        return unsafe context
    }

    /// Checks every size, and gives the cipher.
    private static func demand(
        _ operation: String, _ text: Span<UInt8>, _ key: Span<UInt8>, _ nonce: Span<UInt8>,
        _ associated: Span<UInt8>
    ) throws(CryptoFailure) -> OpaquePointer {
        guard key.count == keyByteCount else {
            throw CryptoFailure(
                operation: operation, reason: "a key of \(key.count) bytes, wanted 32")
        }
        guard nonce.count == nonceByteCount else {
            throw CryptoFailure(
                operation: operation, reason: "a nonce of \(nonce.count) bytes, wanted 12")
        }
        guard text.count <= Int32.max, associated.count <= Int32.max else {
            throw CryptoFailure(operation: operation, reason: "more than 2 GiB at once")
        }
        guard let cipher = unsafe Algorithms.shared.aes256GCM else {
            throw CryptoFailure(operation: operation, reason: "OpenSSL offers no AES-256-GCM")
        }
        return unsafe cipher
    }
}
