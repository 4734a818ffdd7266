internal import SignetBase
public import SignetCrypto
import SignetJSON

extension GlobalConfiguration {
    /// Seals the whole configuration to an app's version and the network system's.
    ///
    /// - Parameters:
    ///   - key: A vault root: `oct`, use `enc`, 32 bytes; usable at `now`.
    ///   - binding: What opens the dump again.
    ///   - sequence: 1 for the first dump, and one more for each that replaces another.
    ///   - now: Unix seconds for the key's dates and `sealedAt`; nil is the clock's.
    /// - Returns: The dump, not yet written anywhere.
    /// - Throws: `malformed-input` where an id or version is unusable or the plaintext is larger than
    ///   16 MiB; `key-revoked`, `key-expired`, `key-not-yet-valid`; `wrong-key-use` for a key that is no vault
    ///   root.
    public func seal(
        with key: Key, for binding: VersionBinding, sequence: Int64 = 1, now: Int64? = nil
    ) throws(VaultError) -> SealedDump {
        try seal(
            with: key, for: binding, sequence: sequence, now: now ?? UnixTime.now(),
            salt: SealedDump.newSalt())
    }

    /// Seals the whole configuration under a root of a key set, or a passphrase.
    ///
    /// - Parameters:
    ///   - keys: What seals it.
    ///   - keyID: The root's id; nil is the set's only root. A passphrase takes any id, and without
    ///     one `passphrase`.
    ///   - binding: What opens the dump again.
    ///   - sequence: 1 for the first dump, and one more for each that replaces another.
    ///   - now: Unix seconds for the key's dates and `sealedAt`; nil is the clock's.
    /// - Returns: The dump, not yet written anywhere.
    /// - Throws: `unknown-key`, and as `seal(with:for:sequence:now:)`.
    public func seal(
        with keys: VaultKeys, keyID: String? = nil, for binding: VersionBinding,
        sequence: Int64 = 1, now: Int64? = nil
    ) throws(VaultError) -> SealedDump {
        try SealedDump(
            tail: sealedTail, sequence: sequence, with: keys.root(sealingAs: keyID), for: binding,
            now: now ?? UnixTime.now(), salt: SealedDump.newSalt())
    }

    /// Seals with a salt that the caller chose; a salt must never come twice.
    func seal(
        with key: Key, for binding: VersionBinding, sequence: Int64, now: Int64, salt: [UInt8]
    ) throws(VaultError) -> SealedDump {
        try SealedDump(
            tail: sealedTail, sequence: sequence, with: .key(key), for: binding, now: now,
            salt: salt)
    }
}

extension SealedDump {
    /// A salt for one dump; also half of what its content key and nonce are made of.
    static func newSalt() throws(VaultError) -> [UInt8] {
        do {
            return try RandomBytes.bytes(DumpName.saltByteCount)
        } catch {
            throw VaultError(error)
        }
    }

    /// Seals values and origins.
    ///
    /// - Parameters:
    ///   - tail: `"values":{…},"origins":{…}}`, the end of the plaintext.
    ///   - sequence: From 1 on.
    ///   - root: What the keys are derived from.
    ///   - binding: What opens the dump again.
    ///   - now: Unix seconds for the key's dates and `sealedAt`.
    ///   - salt: 32 bytes that must never come twice.
    init(
        tail: [UInt8], sequence: Int64, with root: DumpRoot, for binding: VersionBinding,
        now: Int64, salt: [UInt8]
    ) throws(VaultError) {
        try binding.requireUsable()
        guard sequence >= 1 else {
            throw VaultError(.malformedInput, "a sequence of \(sequence); it starts at 1")
        }
        let plaintext = DumpPlaintext.bytes(
            binding, sequence: sequence, sealedAt: UnixTime.rfc3339(now), tail: tail)
        try self.init(sealing: consume plaintext, with: root, for: binding, now: now, salt: salt)
    }

    /// Seals bytes that must be a dump's plaintext for the same binding.
    init(
        sealing plaintext: consuming [UInt8], with root: DumpRoot, for binding: VersionBinding,
        now: Int64,
        salt: [UInt8]
    ) throws(VaultError) {
        guard plaintext.count <= Self.plaintextLimit else {
            throw VaultError(
                .malformedInput,
                "a configuration of \(plaintext.count) bytes; a dump holds at most 16 MiB")
        }
        if let problem = VersionBinding.problem(with: root.id) {
            throw VaultError(.malformedKeys, "the key's id \(problem)")
        }
        try root.requireSealing(at: now)
        let keys = try root.keys(
            salt: salt, info: DumpName.info(keyID: root.id, binding: binding))
        let name = DumpName(
            root.scheme, keyID: root.id, salt: salt,
            commitment: keys.material.bytes.extracting(DumpKeys.commitment), binding: binding)
        let header = Base64.encodeBytes(Self.headerJSON(name).span, .url)
        var ciphertext = consume plaintext
        let tag: [UInt8]
        do {
            tag = try AES256GCM.seal(
                inPlace: &ciphertext, key: keys.material.bytes.extracting(DumpKeys.contentKey),
                nonce: keys.material.bytes.extracting(DumpKeys.nonce),
                authenticating: header.span)
        } catch {
            throw VaultError(error)
        }
        let nonce = DumpKeys.nonce.map { keys.material.bytes[$0] }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(
            header.count + Base64.encodedCount(ciphertext.count, .url) + 48)
        bytes.append(contentsOf: header)
        bytes.append(contentsOf: "..".utf8)
        Base64.append(nonce.span, .url, to: &bytes)
        bytes.append(UInt8(ascii: "."))
        Base64.append(ciphertext.span, .url, to: &bytes)
        bytes.append(UInt8(ascii: "."))
        Base64.append(tag.span, .url, to: &bytes)
        self.init(
            bytes: bytes, name: name, header: header, nonce: nonce,
            ciphertext: ciphertext, tag: tag)
    }
}
