#if Storage
import SignetCrypto
import SignetSystem

/// Protects the bytes of a store: by digests, which find damage, or by encryption with a vault's
/// key (AES-256-GCM).
///
/// A digest protects from damage, not from another program of the same user.
struct StoreSeal: Sendable {
    /// The keys of a sealed store.
    private final class Keys: Sendable {
        let content: SecretBytes
        let names: HMACKey

        init(root: Span<UInt8>, salt: [UInt8]) throws(CryptoFailure) {
            let extracted = try HKDF.extract(salt: salt.span, inputKey: root)
            let derived = try HKDF.expand(
                pseudorandomKey: extracted.bytes, info: Array("signet-store-1 names".utf8).span,
                count: 32)
            names = try HMACKey(.sha256, key: derived.bytes)
            content = try HKDF.expand(
                pseudorandomKey: extracted.bytes, info: Array("signet-store-1 content".utf8).span,
                count: 32)
        }

        func seal(_ text: inout [UInt8], nonce: [UInt8], in context: [UInt8]) -> [UInt8]? {
            try? Self.seal(&text, with: content, nonce: nonce, in: context)
        }

        func open(_ protected: [UInt8], in context: [UInt8]) -> [UInt8]? {
            try? Self.open(protected, with: content, in: context)
        }

        private static func seal(
            _ text: inout [UInt8], with key: borrowing SecretBytes, nonce: [UInt8],
            in context: [UInt8]
        ) throws(CryptoFailure) -> [UInt8] {
            try AESGCM.seal(
                inPlace: &text, key: key.bytes, nonce: nonce.span, authenticating: context.span)
        }

        private static func open(
            _ protected: [UInt8], with key: borrowing SecretBytes, in context: [UInt8]
        ) throws(CryptoFailure) -> [UInt8] {
            let end = protected.count - AESGCM.tagByteCount
            let nonce = Array(protected[..<AESGCM.nonceByteCount])
            let text = Array(protected[AESGCM.nonceByteCount..<end])
            let tag = Array(protected[end...])
            return try AESGCM.open(
                ciphertext: text.span, tag: tag.span, key: key.bytes, nonce: nonce.span,
                authenticating: context.span)
        }
    }

    private let keys: Keys?

    /// Creates the seal of a store.
    ///
    /// - Parameters:
    ///   - key: A vault's key; nil protects by digests.
    ///   - salt: The store's random salt.
    init(_ key: CryptoKey?, salt: [UInt8]) throws(StorageError) {
        guard let key else {
            keys = nil
            return
        }
        do throws(KeyError) {
            keys = try key.withVaultRoot { (root) throws(KeyError) in
                // Nil if OpenSSL fails.
                try? Keys(root: root, salt: salt)
            }
        } catch {
            throw StorageError(.wrongCacheKey, error.message)
        }
        guard keys != nil else {
            throw StorageError(.wrongCacheKey, "no key can be derived from the vault's key")
        }
    }

    var isSealing: Bool { keys != nil }

    /// The text by which a store tells the key that it was sealed with.
    var mark: [UInt8] { name("signet", as: "mark") }

    /// The bytes that protection adds.
    var overhead: Int {
        isSealing ? AESGCM.nonceByteCount + AESGCM.tagByteCount : Self.digestByteCount
    }

    private static let digestByteCount = 16

    /// Returns a text's 16 bytes for look-ups. In a sealed store they don't reveal the text.
    func name(_ text: String, as label: String) -> [UInt8] {
        let bytes = Array("\(label)\0\(text)".utf8)
        let digest = keys.map { try? $0.names.tag(of: bytes) } ?? (try? Digest.of(bytes))
        return Array((digest ?? [UInt8](repeating: 0, count: 16)).prefix(16))
    }

    /// Returns the protected form of bytes; nil if OpenSSL fails.
    ///
    /// - Parameter context: The place of the bytes. They can't be read at another one.
    func protect(_ bytes: [UInt8], in context: [UInt8]) -> [UInt8]? {
        guard let keys else {
            return digest(of: bytes[...], in: context).map { bytes + $0 }
        }
        guard let nonce = try? RandomBytes.bytes(AESGCM.nonceByteCount) else { return nil }
        var text = bytes
        guard let tag = keys.seal(&text, nonce: nonce, in: context) else { return nil }
        return nonce + text + tag
    }

    /// Returns the bytes of a protected form; nil if it is damaged, or was made for another place
    /// or with another key.
    func open(_ protected: [UInt8], in context: [UInt8]) -> [UInt8]? {
        guard protected.count >= overhead else { return nil }
        guard let keys else {
            let bytes = protected.dropLast(Self.digestByteCount)
            guard let digest = digest(of: bytes, in: context),
                digest.elementsEqual(protected.suffix(Self.digestByteCount))
            else { return nil }
            return Array(bytes)
        }
        return keys.open(protected, in: context)
    }

    private func digest(of bytes: ArraySlice<UInt8>, in context: [UInt8]) -> ArraySlice<UInt8>? {
        guard var digest = try? IncrementalDigest(),
            (try? digest.update(context.span)) != nil, (try? digest.update(bytes.span)) != nil
        else { return nil }
        return (try? digest.finish())?.prefix(Self.digestByteCount)
    }
}
#endif
