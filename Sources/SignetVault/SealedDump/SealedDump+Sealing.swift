import SignetBase
public import SignetCrypto
import SignetJSON

extension GlobalConfiguration {
    /// Seals the whole configuration for an app's version and the network system's version.
    ///
    /// - Parameters:
    ///   - key: A vault root: `oct`, use `enc`, 32 bytes; usable at `now`.
    ///   - binding: The app and versions that can open the dump.
    ///   - sequence: 1 for the first dump, and one more for each dump that replaces another.
    ///   - now: The time for the key's dates and `sealedAt`, in Unix seconds; nil is the current
    ///     time.
    /// - Returns: The dump, which is not written anywhere yet.
    /// - Throws: `missing-value` if a key that the schema requires has no value;
    ///   `malformed-input` if an id or version is invalid or the plaintext is larger than 16 MiB;
    ///   `key-revoked`, `key-expired`, `key-not-yet-valid`; `wrong-key-use` if the key isn't a
    ///   vault root.
    public func seal(
        with key: CryptoKey, for binding: VersionBinding, sequence: Int64 = 1, now: Int64? = nil
    ) throws(VaultError) -> SealedDump {
        try requireValues()
        return try SealedDump(
            tail: sealedTail, sequence: sequence, with: .key(key), for: binding,
            now: now ?? UnixTime.now(), salt: SealedDump.newSalt())
    }

    /// Seals the whole configuration under a root of a key set or a passphrase.
    ///
    /// - Parameters:
    ///   - keys: The key set or passphrase.
    ///   - keyID: The root's id; nil is the set's only root. A passphrase accepts any id; nil is
    ///     `passphrase`.
    ///   - binding: The app and versions that can open the dump.
    ///   - sequence: 1 for the first dump, and one more for each dump that replaces another.
    ///   - now: The time for the key's dates and `sealedAt`, in Unix seconds; nil is the current
    ///     time.
    /// - Returns: The dump, which is not written anywhere yet.
    /// - Throws: `unknown-key`, `weak-passphrase`, and as `seal(with:for:sequence:now:)`.
    public func seal(
        with keys: VaultKeys, keyID: String? = nil, for binding: VersionBinding,
        sequence: Int64 = 1, now: Int64? = nil
    ) throws(VaultError) -> SealedDump {
        try requireValues()
        let now = now ?? UnixTime.now()
        return try SealedDump(
            tail: sealedTail, sequence: sequence, with: keys.root(sealingAs: keyID, at: now),
            for: binding, now: now, salt: SealedDump.newSalt())
    }

    /// Looks up the required keys alone. Contents of the dump would be a copy of all values, which
    /// costs a tenth of a seal of 1 KiB (the row `dump-seal-1k`).
    private func requireValues() throws(VaultError) {
        try schema.requireValues(in: "the configuration") { value(named: $0) != nil }
    }
}

extension SealedDump {
    /// Returns a random salt for one dump. The dump's content key and nonce are derived from the
    /// root and this salt.
    static func newSalt() throws(VaultError) -> [UInt8] {
        try VaultError.converting(crypto: try RandomBytes.bytes(DumpHeader.saltByteCount))
    }

    /// Seals values and origins.
    ///
    /// - Parameters:
    ///   - tail: `"values":{…},"origins":{…}}`, the end of the plaintext.
    ///   - sequence: From 1 on.
    ///   - root: The secret that the keys are derived from.
    ///   - binding: The app and versions that can open the dump.
    ///   - now: The time for the key's dates and `sealedAt`, in Unix seconds.
    ///   - salt: 32 bytes that must never be used twice.
    init(
        tail: [UInt8], sequence: Int64, with root: DumpRoot, for binding: VersionBinding,
        now: Int64, salt: [UInt8]
    ) throws(VaultError) {
        try binding.requireUsable()
        guard sequence >= 1 else {
            throw VaultError(.malformedInput, "found the sequence \(sequence), expected at least 1")
        }
        let plaintext = DumpPlaintext.bytes(
            for: binding, sequence: sequence, sealedAt: UnixTime.rfc3339(now), tail: tail)
        try self.init(sealing: consume plaintext, with: root, for: binding, now: now, salt: salt)
    }

    /// Seals bytes, which must be a dump's plaintext for the same binding.
    init(
        sealing plaintext: consuming [UInt8], with root: DumpRoot, for binding: VersionBinding,
        now: Int64, salt: [UInt8]
    ) throws(VaultError) {
        guard plaintext.count <= Self.plaintextLimit else {
            throw VaultError(
                .malformedInput,
                "found a configuration of \(plaintext.count) bytes, expected at most 16 MiB")
        }
        if let problem = VersionBinding.problem(with: root.id) {
            throw VaultError(.malformedKeys, "the key's id \(problem)")
        }
        try root.requireSealing(at: now)
        let keys = try root.keys(
            salt: salt, info: DumpHeader.info(keyID: root.id, binding: binding))
        let header = DumpHeader(
            root.scheme, keyID: root.id, salt: salt,
            commitment: keys.material.bytes.extracting(DumpKeys.commitment), binding: binding)
        let content: JWEContent
        do {
            content = try JWEContent(
                sealing: consume plaintext, header: Self.json(of: header),
                key: keys.material.bytes.extracting(DumpKeys.contentKey),
                nonce: DumpKeys.nonce.map { keys.material.bytes[$0] })
        } catch {
            throw VaultError(error)
        }
        self.init(bytes: content.compact, header: header, content: content)
    }
}
