import SignetBase
import SignetJSON
import SignetSystem

/// A sealed body: a JWE in compact serialization (RFC 7516, section 7.1), whose header was checked
/// before any cryptography.
///
/// Encryption to a public key proves no author: everyone who knows the key can seal a body for it.
package struct JWEMessage: Sendable {
    /// The algorithm of the key.
    package let algorithm: JWEKeyAlgorithm
    /// The algorithm of the content.
    package let encryption: JWEContentEncryption
    /// `kid`, the id of the key that opens it, or nil if it is missing.
    package let keyID: String?
    /// `cty`, the media type of the content, or nil if it is missing.
    package let contentType: String?

    private let ephemeral: JSONObject?
    private let parties: KeyEncryption.Parties
    private let encryptedKey: [UInt8]
    private let content: JWEContent

    /// The maximum size of the header's base64url text: 16 KiB, for headers with certificates.
    private static let headerLimit = 16 << 10
    /// The maximum size of an encrypted key's base64url text, that of RSA with 16384 bits.
    private static let keyLimit = 2731
    /// The maximum size of `apu` and of `apv`.
    private static let partyLimit = 1024

    /// Reads a compact string.
    ///
    /// Members of the header that don't matter for decryption are ignored, as RFC 7516 demands.
    ///
    /// - Parameters:
    ///   - bytes: The string and nothing else.
    ///   - textLimit: The maximum size of the plaintext, in bytes.
    /// - Throws: `Malformed`, also for an unknown algorithm, compressed content (`zip`) and a
    ///   critical extension (`crit`).
    package init(parsing bytes: [UInt8], textLimit: Int) throws(JWEContent.Malformed) {
        let parts = try JWEContent.parts(
            compact: bytes, headerLimit: Self.headerLimit, keyLimit: Self.keyLimit,
            textLimit: textLimit)
        let header = try JWEContent.header(decoding: parts.protected.span, maximumDepth: 8)
        guard header["crit"] == nil else {
            throw Self.malformed("found \"crit\", and no critical extension is supported")
        }
        guard header["zip"] == nil else {
            throw Self.malformed("found \"zip\": compressed content is refused")
        }
        func text(_ name: String) throws(JWEContent.Malformed) -> String? {
            guard let value = header[name] else { return nil }
            guard let text = value.string, !text.isEmpty else {
                throw Self.malformed("\"\(name)\" isn't a text, or is empty")
            }
            return text
        }
        guard let name = try text("alg"), let algorithm = JWEKeyAlgorithm(rawValue: name) else {
            throw Self.unknown("alg", in: header, JWEKeyAlgorithm.allCases.map(\.rawValue))
        }
        guard let name = try text("enc"), let encryption = JWEContentEncryption(rawValue: name)
        else {
            throw Self.unknown("enc", in: header, JWEContentEncryption.allCases.map(\.rawValue))
        }
        self.algorithm = algorithm
        self.encryption = encryption
        keyID = try text("kid")
        contentType = try text("cty")
        ephemeral = header["epk"]?.object
        guard algorithm.isAgreement == (ephemeral != nil), ephemeral != nil || header["epk"] == nil
        else {
            throw Self.malformed(
                algorithm.isAgreement
                    ? "\"epk\" isn't a JWK" : "found \"epk\" with \(algorithm.rawValue)")
        }
        func party(_ name: String) throws(JWEContent.Malformed) -> [UInt8] {
            guard header[name] != nil else { return [] }
            let encoded = header[name]?.string.map { Array($0.utf8) } ?? []
            guard algorithm.isAgreement, let bytes = Base64.decode(encoded.span, from: .url),
                !bytes.isEmpty, bytes.count <= Self.partyLimit
            else { throw Self.malformed("\"\(name)\" isn't base64url of 1 to 1024 bytes") }
            return bytes
        }
        parties = KeyEncryption.Parties(own: try party("apu"), other: try party("apv"))
        let count = parts.encryptedKey.count
        let expected: Int? =
            switch algorithm {
            case .direct, .ecdhES: 0
            case .a128KW, .a256KW, .ecdhESA256KW: encryption.keySize.rawValue + 8
            case .rsaOAEP256: nil
            }
        guard expected == nil ? count > 0 : count == expected else {
            throw Self.malformed(
                "found an encrypted key of \(count) bytes, expected "
                    + (expected.map { "\($0)" } ?? "one or more"))
        }
        encryptedKey = parts.encryptedKey
        content = try JWEContent(
            protected: parts.protected, nonce: parts.nonce, ciphertext: parts.ciphertext,
            tag: parts.tag)
    }

    /// Seals a body.
    ///
    /// - Parameters:
    ///   - text: The plaintext.
    ///   - key: The recipient's public key, or the shared secret.
    ///   - contentType: The media type of the plaintext, for `cty`.
    /// - Returns: The compact string.
    /// - Throws: `KeyError` with `wrongKeyUse` or `cryptoFailed`.
    package static func seal(
        _ text: [UInt8], for key: CryptoKey, by algorithm: JWEKeyAlgorithm,
        _ encryption: JWEContentEncryption, contentType: String? = nil
    ) throws(KeyError) -> [UInt8] {
        var header: JSONObject = [
            "alg": .string(algorithm.rawValue), "enc": .string(encryption.rawValue),
            "kid": .string(key.id),
        ]
        header["cty"] = contentType.map(JSONValue.string)
        let content = try KeyEncryption.contentKey(for: key, by: algorithm, encryption)
        header["epk"] = content.encrypted.ephemeral.map(JSONValue.object)
        do throws(CryptoFailure) {
            let sealed = try JWEContent(
                sealing: text, header: JSONValue.object(header).serialized(),
                key: content.key.bytes,
                size: encryption.keySize, nonce: RandomBytes.bytes(AESGCM.nonceByteCount))
            return sealed.compact(encryptedKey: content.encrypted.bytes)
        } catch {
            throw KeyError(error)
        }
    }

    /// Returns the plaintext.
    ///
    /// - Throws: `KeyError` with `wrongKeyUse` for a key of another type or algorithm, with
    ///   `malformedKeys` for an ephemeral key that isn't one of the key's curve, and with
    ///   `tampered` for everything that a key or a tag doesn't fit.
    package func open(with key: CryptoKey) throws(KeyError) -> [UInt8] {
        let encrypted = KeyEncryption.Encrypted(bytes: encryptedKey, ephemeral: ephemeral)
        do throws(KeyError) {
            let contentKey = try KeyEncryption.contentKey(
                of: encrypted, with: key, by: algorithm, encryption, parties: parties)
            return try content.openBody(with: contentKey.bytes, size: encryption.keySize)
        } catch {
            guard error.code == .tampered else { throw error }
            throw KeyError(
                .tampered,
                "the body does not open with the key \(key.shownID): it was changed, or sealed for "
                    + "another key under this one's id")
        }
    }

    private static func malformed(_ problem: String) -> JWEContent.Malformed {
        JWEContent.Malformed(problem: problem)
    }

    private static func unknown(
        _ name: String, in header: JSONObject, _ expected: [String]
    ) -> JWEContent.Malformed {
        let found = header[name]?.string.map { "\"\(printable($0))\"" } ?? "none"
        return malformed(
            "found \(name) \(found), expected one of \(expected.joined(separator: ", "))")
    }
}

extension JWEContent {
    fileprivate func openBody(
        with key: Span<UInt8>, size: AESGCM.KeySize
    ) throws(KeyError) -> [UInt8] {
        do throws(CryptoFailure) {
            return try open(with: key, size: size)
        } catch {
            throw error.isAuthenticationFailure ? KeyEncryption.tampered : KeyError(error)
        }
    }
}
