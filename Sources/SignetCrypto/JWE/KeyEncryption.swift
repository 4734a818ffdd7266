import CSignetOpenSSL
import SignetJSON
import SignetSystem

/// Encrypts the key of a JWE's content for a recipient (RFC 7518, sections 4.3 and 4.6), and
/// decrypts it.
struct KeyEncryption {
    /// A content key that was encrypted for one recipient.
    struct Encrypted {
        let bytes: [UInt8]
        /// `epk`, the public half of the pair that was made for this recipient; nil for RSA.
        let ephemeral: JSONObject?
    }

    private static let agreement = "ECDH-ES+A256KW"

    /// Encrypts a content key of 32 bytes.
    ///
    /// - Parameter recipient: A key that `CryptoKey.encryptionKey` returns for this key.
    static func encrypt(
        _ content: Span<UInt8>, for recipient: CryptoKey
    ) throws(KeyError) -> Encrypted {
        let key = try recipient.encryptionKey()
        guard key.family != .rsa else {
            return Encrypted(bytes: try oaep(key, encrypts: true, content), ephemeral: nil)
        }
        let text = try KeyFile.generate(recipient.kind, id: "ephemeral", use: "enc")
        let set = try KeySet(parsing: KeyFile.newSet(of: text).bytes, source: "ephemeral")
        guard let own = set.keys.first, let half = own.publicHalf else {
            throw KeyError(.cryptoFailed, "found no ephemeral key")
        }
        let wrapping = try agreedKey(of: own.encryptionKey(), with: key)
        let names = ["kty", "crv", "x", "y"]
        let public_ = names.compactMap { name in half[name].map { (name: name, value: $0) } }
        return Encrypted(
            bytes: try wrap(content, by: wrapping, wraps: true), ephemeral: JSONObject(public_))
    }

    /// Decrypts a content key of 32 bytes.
    ///
    /// - Throws: `KeyError` with `malformedKeys` for an `epk` that isn't a public key of the
    ///   identity's curve, and with `tampered`.
    static func decrypt(
        _ encrypted: Encrypted, by identity: CryptoKey
    ) throws(KeyError) -> SecretBytes {
        let key = try identity.encryptionKey()
        guard key.family != .rsa else {
            var content = try oaep(key, encrypts: false, encrypted.bytes.span)
            defer { wipe(&content) }
            guard content.count == AES256GCM.keyByteCount else { throw tampered }
            return SecretBytes(copying: content.span)
        }
        guard let ephemeral = encrypted.ephemeral else {
            throw KeyParts.malformed("missing \"epk\", expected a public key of \(identity.kind)")
        }
        guard encrypted.bytes.count == AES256GCM.keyByteCount + 8 else { throw tampered }
        let peer = try publicKey(ephemeral, family: key.family)
        let wrapping: SecretBytes
        do {
            wrapping = try agreedKey(of: key, with: peer)
        } catch {
            throw tampered
        }
        var content = try wrap(encrypted.bytes.span, by: wrapping, wraps: false)
        defer { wipe(&content) }
        return SecretBytes(copying: content.span)
    }

    /// Every failure of an encrypted key, without a hint at its reason.
    static var tampered: KeyError {
        KeyError(
            .tampered,
            "the shared key set does not open with this identity: it was changed, or sealed for "
                + "another key under this one's name")
    }

    /// Reads `epk`, whose numbers must be a point of the curve.
    private static func publicKey(
        _ ephemeral: JSONObject, family: SignatureKey.Family
    ) throws(KeyError) -> SignatureKey {
        let curve =
            switch family {
            case .x25519: "X25519"
            case .p256: "P-256"
            default: "P-384"
            }
        let names = ["kty", "crv"] + family.members.dropLast()
        var numbers: [UInt8] = []
        var counts: [Int] = []
        for name in family.members.dropLast() {
            let number = ephemeral[name]?.string.flatMap { Base64.decode($0, from: .url) } ?? []
            counts.append(number.count)
            numbers += number
        }
        guard Set(ephemeral.memberNames) == Set(names),
            ephemeral["kty"] == .string(family == .x25519 ? "OKP" : "EC"),
            ephemeral["crv"] == .string(curve)
        else {
            throw KeyParts.malformed("\"epk\" isn't a public key of \(curve) and nothing else")
        }
        do throws(CryptoFailure) {
            return try SignatureKey(
                family, numbers: SecretBytes(copying: numbers.span), counts: counts + [0])
        } catch {
            throw KeyParts.malformed("\"epk\" isn't a point of \(curve)")
        }
    }

    /// Returns the key that two sides agree on, by the Concat KDF (RFC 7518, section 4.6.2) without
    /// `apu` and `apv`.
    private static func agreedKey(
        of own: SignatureKey, with peer: SignatureKey
    ) throws(KeyError) -> SecretBytes {
        let count = own.family.size ?? 0
        let name = Array(agreement.utf8)
        // AlgorithmID, and PartyUInfo, PartyVInfo and SuppPubInfo: nothing, nothing and 256 bits.
        let info = [0, 0, 0, UInt8(name.count)] + name + [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]
        do throws(CryptoFailure) {
            let input = try SecretBytes(count: 4 + count + info.count) {
                (target) throws(CryptoFailure) in
                let status = unsafe target.withUnsafeMutableBytes { target in
                    guard let base = target.baseAddress else { return Int32(0) }
                    return unsafe signet_openssl_agree(own.key, peer.key, base + 4, count)
                }
                guard status == 1, (4..<4 + count).contains(where: { target[$0] != 0 }) else {
                    throw CryptoFailure.library("key agreement")
                }
                target[3] = 1
                for index in info.indices { target[4 + count + index] = info[index] }
            }
            var key = try Digest.of(input.bytes)
            defer { wipe(&key) }
            return SecretBytes(copying: key.span)
        } catch {
            throw KeyError(error)
        }
    }

    private static func wrap(
        _ source: Span<UInt8>, by key: borrowing SecretBytes, wraps: Bool
    ) throws(KeyError) -> [UInt8] {
        var target = [UInt8](repeating: 0, count: AES256GCM.keyByteCount + (wraps ? 8 : 0))
        let status = unsafe key.bytes.withUnsafeBytes { key in
            unsafe source.withUnsafeBytes { source in
                unsafe target.withUnsafeMutableBytes { target in
                    unsafe signet_openssl_wrap(
                        key.baseAddress, wraps ? 1 : 0, source.baseAddress, target.baseAddress)
                }
            }
        }
        guard status == 1 else {
            signet_openssl_forget_errors()
            wipe(&target)
            throw wraps ? KeyError(CryptoFailure.library("key wrap")) : tampered
        }
        return target
    }

    private static func oaep(
        _ key: SignatureKey, encrypts: Bool, _ source: Span<UInt8>
    ) throws(KeyError) -> [UInt8] {
        var target = [UInt8](repeating: 0, count: key.signatureByteCount)
        var count = target.count
        let status = unsafe source.withUnsafeBytes { source in
            unsafe target.withUnsafeMutableBytes { target in
                unsafe signet_openssl_rsa_oaep(
                    key.key, encrypts ? 1 : 0, source.baseAddress, source.count,
                    target.baseAddress, &count)
            }
        }
        defer { wipe(&target) }
        guard status == 1 else {
            signet_openssl_forget_errors()
            throw encrypts ? KeyError(CryptoFailure.library("RSA-OAEP")) : tampered
        }
        return Array(target.prefix(count))
    }
}
