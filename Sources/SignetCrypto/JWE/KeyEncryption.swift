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

    /// `apu` and `apv`, which the two sides of a key agreement add to it.
    struct Parties {
        var own: [UInt8] = []
        var other: [UInt8] = []
    }

    /// Encrypts a content key of 32 bytes for a recipient of a shared key set.
    static func encrypt(
        _ content: Span<UInt8>, for recipient: CryptoKey
    ) throws(KeyError) -> Encrypted {
        try encrypt(content, with: recipient.encryptionKey(), kind: recipient.kind)
    }

    /// Encrypts a content key by RSA-OAEP-256 or ECDH-ES+A256KW, as the key's type says.
    static func encrypt(
        _ content: Span<UInt8>, with key: SignatureKey, kind: CryptoKey.Kind
    ) throws(KeyError) -> Encrypted {
        guard key.family != .rsa else {
            return Encrypted(bytes: try oaep(key, encrypts: true, content), ephemeral: nil)
        }
        let (own, half) = try ephemeral(kind)
        let wrapping = try agreedKey(
            of: own, with: key, for: JWEKeyAlgorithm.ecdhESA256KW.rawValue)
        return Encrypted(
            bytes: try wrap(content, by: wrapping.bytes, wraps: true), ephemeral: half)
    }

    /// Makes a pair for one agreement.
    ///
    /// - Returns: The pair, and its public half as a JWK without a name.
    static func ephemeral(
        _ kind: CryptoKey.Kind
    ) throws(KeyError) -> (pair: SignatureKey, half: JSONObject) {
        let text = try KeyFile.generate(kind, id: "ephemeral", use: "enc")
        let set = try KeySet(parsing: KeyFile.newSet(of: text).bytes, source: "ephemeral")
        guard let own = set.keys.first, let half = own.publicHalf else {
            throw KeyError(.cryptoFailed, "found no ephemeral key")
        }
        let names = ["kty", "crv", "x", "y"]
        let members = names.compactMap { name in half[name].map { (name: name, value: $0) } }
        return (try own.encryptionKey(), JSONObject(members))
    }

    /// Decrypts a content key of 32 bytes for a recipient of a shared key set.
    ///
    /// - Throws: `KeyError` with `malformedKeys` for an `epk` that isn't a public key of the
    ///   identity's curve, and with `tampered`.
    static func decrypt(
        _ encrypted: Encrypted, by identity: CryptoKey
    ) throws(KeyError) -> SecretBytes {
        let key = try identity.encryptionKey()
        return try contentKey(
            of: encrypted, with: key, by: key.family == .rsa ? .rsaOAEP256 : .ecdhESA256KW,
            .a256GCM)
    }

    /// Every failure of an encrypted key, without a hint at its reason.
    static var tampered: KeyError {
        KeyError(
            .tampered,
            "the shared key set does not open with this identity: it was changed, or sealed for "
                + "another key under this one's name")
    }

    /// Reads `epk`, whose numbers must be a point of the curve.
    static func publicKey(
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

    /// Returns the key that two sides agree on, by the Concat KDF (RFC 7518, section 4.6.2).
    ///
    /// - Parameters:
    ///   - name: The algorithm that the key is for.
    ///   - byteCount: The number of the key's bytes, at most 32.
    static func agreedKey(
        of own: SignatureKey, with peer: SignatureKey, for name: String,
        count byteCount: Int = AESGCM.keyByteCount, parties: Parties = Parties()
    ) throws(KeyError) -> SecretBytes {
        let count = own.family.size ?? 0
        // AlgorithmID, PartyUInfo and PartyVInfo, each after its length, and SuppPubInfo, the
        // number of bits.
        var info: [UInt8] = []
        for part in [Array(name.utf8), parties.own, parties.other] {
            info += bigEndian(part.count) + part
        }
        info += bigEndian(8 * byteCount)
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
            return SecretBytes(copying: key.span.extracting(first: byteCount))
        } catch {
            throw KeyError(error)
        }
    }

    private static func bigEndian(_ number: Int) -> [UInt8] {
        let number = UInt32(truncatingIfNeeded: number)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    /// Wraps a key of 16 or 32 bytes with AES (RFC 3394), or unwraps one.
    static func wrap(
        _ source: Span<UInt8>, by key: Span<UInt8>, wraps: Bool
    ) throws(KeyError) -> [UInt8] {
        let count = wraps ? source.count : source.count - 8
        guard count == 16 || count == 32 else { throw tampered }
        var target = [UInt8](repeating: 0, count: count + (wraps ? 8 : 0))
        let status = unsafe key.withUnsafeBytes { key in
            unsafe source.withUnsafeBytes { source in
                unsafe target.withUnsafeMutableBytes { target in
                    unsafe signet_openssl_wrap(
                        key.baseAddress, key.count, wraps ? 1 : 0, source.baseAddress,
                        target.baseAddress, Int32(count))
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

    static func oaep(
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
