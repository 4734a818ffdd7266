import SignetBase
import SignetSystem

extension KeySource {
    /// Reads the keys, also of a shared key set, which an identity opens.
    ///
    /// - Parameter identity: A private key for encryption: a PEM, a JWK, or a JWK Set with one key
    ///   for encryption. It is read only if the set is shared; nil refuses shared sets.
    /// - Throws: `KeyError` as ``load()``, and with `missingIdentity`, `notARecipient`,
    ///   `wrongKeyUse` or `tampered` for a shared set.
    public func load(identity: KeySource?) throws(KeyError) -> KeySet {
        try loadText(identity: identity).set
    }

    /// Reads a key file to change it.
    ///
    /// - Throws: `KeyError` as ``load()``, and with `malformedKeys` for a shared set.
    func loadChangeable() throws(KeyError) -> (set: KeySet, text: KeyFileText) {
        do throws(KeyError) {
            return try loadText()
        } catch {
            guard error.code == .missingIdentity else { throw error }
            throw KeyParts.malformed(
                "\(description) is a shared key set; change the key file that it was sealed from, and "
                    + "share that again")
        }
    }

    /// Reads a shared set without opening it.
    package func loadShared() throws(KeyError) -> SharedKeySet {
        let bytes = try read(limit: KeySet.maximumByteCount).bytes
        guard SharedKeySet.isShared(bytes) else {
            throw KeyParts.malformed(
                "\(description): found keys that aren't shared, expected a shared key set")
        }
        return try naming { () throws(KeyError) in try SharedKeySet(parsing: bytes) }
    }

    /// Opens the text of a shared set. Returns nil for bytes that aren't one.
    func openIfShared(
        _ bytes: [UInt8], with identity: KeySource?
    ) throws(KeyError) -> KeyFileText? {
        guard SharedKeySet.isShared(bytes) else { return nil }
        let shared = try naming { () throws(KeyError) in try SharedKeySet(parsing: bytes) }
        guard let identity else {
            throw KeyError(
                .missingIdentity,
                "\(description) is a shared key set; give your private key with --identity SOURCE, "
                    + "SIGNET_IDENTITY or ~/.config/signet/identity; \(Self.lostIdentity)")
        }
        let key: CryptoKey
        do throws(KeyError) {
            key = try identity.loadIdentity()
        } catch {
            guard error.code == .unreadableKeys else { throw error }
            throw KeyError(
                .missingIdentity,
                "\(error.message), expected your private key; \(Self.lostIdentity)")
        }
        return try naming { () throws(KeyError) in KeyFileText(try shared.open(with: key)) }
    }

    private static let lostIdentity =
        "if it is lost, make another (signet keys new --type x25519), and ask a person who can open "
        + "the set to add its public half (signet keys share --add)"

    /// Reads the private key that opens shared key sets.
    ///
    /// - Throws: `KeyError` with `malformedKeys`, `keyFilePermissions` or `wrongKeyUse`.
    package func loadIdentity() throws(KeyError) -> CryptoKey {
        var (bytes, refusal) = try read(limit: KeySet.maximumByteCount)
        defer { wipe(&bytes) }
        let key = try naming { () throws(KeyError) in try Self.encryptionKey(in: bytes) }
        guard key.isPrivate else {
            throw KeyError(
                .wrongKeyUse, "\(description): found a public key, expected your private key")
        }
        if let refusal { throw KeyError(.keyFilePermissions, refusal.message) }
        return key
    }

    /// Reads the public key of somebody who gets a shared key set: a PEM, a certificate, a JWK or a
    /// JWK Set with one key for encryption.
    ///
    /// - Throws: `KeyError` with `malformedKeys` or `wrongKeyUse`.
    package func loadRecipient() throws(KeyError) -> CryptoKey {
        var bytes = try read(limit: KeySet.maximumByteCount).bytes
        defer { wipe(&bytes) }
        return try naming { () throws(KeyError) in try Self.encryptionKey(in: bytes) }
    }

    private static func encryptionKey(in bytes: [UInt8]) throws(KeyError) -> CryptoKey {
        let header = ForeignKey.Header(id: "recipient", algorithm: nil, use: "enc")
        let foreign: ForeignKey
        switch ImportedKey.Form.recognized(in: bytes) {
        case .encoded(.pem):
            var text = PEM.undisguised(bytes)
            defer { wipe(&text) }
            foreign = try ForeignKey(pem: text, with: header)
        case .jwk:
            var text = try RepairedJWK.text(of: bytes).text
            defer { wipe(&text) }
            foreign = try ForeignKey(jwk: text, kind: nil, with: header)
        default:
            throw KeyParts.malformed("expected a key in PEM, a JWK or a JWK Set")
        }
        let set = try KeyFile.newSet(of: foreign.text)
        let key = try KeySet(parsing: set.bytes, source: "the key").key(id: "recipient")
        _ = try key.encryptionKey()
        return key
    }

    private func naming<Result>(
        _ work: () throws(KeyError) -> Result
    ) throws(KeyError) -> Result {
        do throws(KeyError) {
            return try work()
        } catch {
            throw KeyError(error.code, "\(description): \(error.message)")
        }
    }
}

extension SharedKeySet {
    /// Seals the keys of a source for recipients.
    ///
    /// - Parameter identity: Opens the source if it is shared itself.
    package static func sealing(
        _ source: KeySource, identity: KeySource?, for recipients: [CryptoKey]
    ) throws(KeyError) -> SharedKeySet {
        let text = try source.loadText(identity: identity).text
        return try sealing(text.bytes, for: recipients)
    }
}
