import CSignetOpenSSL
import SignetSystem

/// AES in Galois/Counter Mode (NIST SP 800-38D), with 12-byte nonces and 16-byte tags.
///
/// OpenSSL would accept shorter tags and nonces of other lengths; both are refused before the call.
package enum AESGCM {
    /// A size of keys, in bytes.
    package enum KeySize: Int, Sendable { case bits128 = 16, bits256 = 32 }

    /// The size of the keys of dumps and shared key sets.
    package static let keyByteCount = KeySize.bits256.rawValue
    package static let nonceByteCount = 12
    package static let tagByteCount = 16

    private static let sealing = "AES-GCM seal"

    /// Encrypts in place: `text` holds the plaintext before the call and the ciphertext after it.
    /// Never use a nonce twice with one key.
    ///
    /// - Returns: The tag.
    /// - Throws: `CryptoFailure` if a size is wrong or OpenSSL fails. Then `text` is wiped.
    package static func seal(
        inPlace text: inout [UInt8], key: Span<UInt8>, size: KeySize = .bits256,
        nonce: Span<UInt8>, authenticating associated: Span<UInt8>
    ) throws(CryptoFailure) -> [UInt8] {
        do throws(CryptoFailure) {
            let cipher = unsafe try requireCipher(
                for: sealing, text: text.span, key: key, size: size, nonce: nonce,
                associated: associated)
            guard let context = unsafe EVP_CIPHER_CTX_new() else {
                throw CryptoFailure.library(sealing)
            }
            defer { unsafe EVP_CIPHER_CTX_free(context) }
            var tag = [UInt8](repeating: 0, count: tagByteCount)
            let status = unsafe text.withUnsafeMutableBytes { text in
                unsafe tag.withUnsafeMutableBytes { tag in
                    unsafe key.withUnsafeBytes { key in
                        unsafe nonce.withUnsafeBytes { nonce in
                            unsafe associated.withUnsafeBytes { associated in
                                unsafe signet_openssl_gcm_seal(
                                    context, cipher, key.baseAddress, nonce.baseAddress,
                                    associated.baseAddress, Int32(associated.count),
                                    text.baseAddress, Int32(text.count), tag.baseAddress)
                            }
                        }
                    }
                }
            }
            guard status == 1 else { throw CryptoFailure.library(sealing) }
            return tag
        } catch {
            wipe(&text)
            throw error
        }
    }

    /// Decrypts a ciphertext if its tag matches.
    ///
    /// - Throws: `CryptoFailure`; `isAuthenticationFailure` is true if the tag does not match. The
    ///   text that OpenSSL decrypted before it checked the tag is wiped.
    package static func open(
        ciphertext: Span<UInt8>, tag: Span<UInt8>, key: Span<UInt8>, size: KeySize = .bits256,
        nonce: Span<UInt8>, authenticating associated: Span<UInt8>
    ) throws(CryptoFailure) -> [UInt8] {
        let operation = "AES-GCM open"
        let cipher = unsafe try requireCipher(
            for: operation, text: ciphertext, key: key, size: size, nonce: nonce,
            associated: associated)
        guard tag.count == tagByteCount else {
            throw CryptoFailure(
                operation: operation, reason: "found a tag of \(tag.count) bytes, expected 16")
        }
        guard let context = unsafe EVP_CIPHER_CTX_new() else {
            throw CryptoFailure.library(operation)
        }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let count = ciphertext.count
        var status: Int32 = -1
        let plaintext = unsafe [UInt8](unsafeUninitializedCapacity: count) { target, written in
            status = unsafe ciphertext.withUnsafeBytes { ciphertext in
                unsafe key.withUnsafeBytes { key in
                    unsafe nonce.withUnsafeBytes { nonce in
                        unsafe tag.withUnsafeBytes { tag in
                            unsafe associated.withUnsafeBytes { associated in
                                unsafe signet_openssl_gcm_open(
                                    context, cipher, key.baseAddress, nonce.baseAddress,
                                    associated.baseAddress, Int32(associated.count),
                                    ciphertext.baseAddress, Int32(count), tag.baseAddress,
                                    target.baseAddress)
                            }
                        }
                    }
                }
            }
            written = status == 1 ? count : 0
            if status != 1 { unsafe zeroize(UnsafeMutableRawBufferPointer(target)) }
        }
        guard status != 0 else {
            signet_openssl_forget_errors()
            throw CryptoFailure(
                operation: operation, reason: "the tag does not match",
                isAuthenticationFailure: true)
        }
        guard status == 1 else { throw CryptoFailure.library(operation) }
        return plaintext
    }

    /// Checks every size and returns the cipher.
    private static func requireCipher(
        for operation: String, text: Span<UInt8>, key: Span<UInt8>, size: KeySize,
        nonce: Span<UInt8>, associated: Span<UInt8>
    ) throws(CryptoFailure) -> OpaquePointer {
        guard key.count == size.rawValue else {
            throw CryptoFailure(
                operation: operation,
                reason: "found a key of \(key.count) bytes, expected \(size.rawValue)")
        }
        guard nonce.count == nonceByteCount else {
            throw CryptoFailure(
                operation: operation, reason: "found a nonce of \(nonce.count) bytes, expected 12")
        }
        guard text.count <= Int32.max, associated.count <= Int32.max else {
            throw CryptoFailure(
                operation: operation, reason: "found 2 GiB or more, expected less in one call")
        }
        let algorithms = Algorithms.shared
        let known = unsafe size == .bits256 ? algorithms.aes256GCM : algorithms.aes128GCM
        guard let cipher = unsafe known else {
            throw CryptoFailure(
                operation: operation,
                reason: "OpenSSL does not provide AES-\(8 * size.rawValue)-GCM")
        }
        return unsafe cipher
    }
}
