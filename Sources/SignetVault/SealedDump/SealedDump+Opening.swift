internal import SignetBase
public import SignetCrypto
public import SignetJSON

extension SealedDump {
    /// Opens the dump for the versions that run.
    ///
    /// Checked in this order: app, system and versions; the key; the commitment, in constant time;
    /// the tag; and that the inside agrees with the name.
    ///
    /// - Parameters:
    ///   - keys: The set that holds the root under the id that the dump names, or the passphrase.
    ///   - binding: The app and the network system that run.
    ///   - olderAppVersions: Older versions of the app whose dumps may be read; never a newer one.
    ///   - olderSystemVersions: The same of the network system.
    ///   - now: Unix seconds for the key's dates; nil is the clock's.
    /// - Returns: The inside, proved whole.
    /// - Throws: `wrong-app`, `wrong-system`, `newer-version`, `older-version`, `other-version` (naming both
    ///   versions), `unknown-key`, `key-revoked`, `key-expired`, `key-not-yet-valid`, `wrong-key`, `tampered`;
    ///   `wrong-key-use` for a key that is no vault root.
    public func open(
        with keys: VaultKeys, for binding: VersionBinding,
        accepting olderAppVersions: [String] = [], system olderSystemVersions: [String] = [],
        now: Int64? = nil
    ) throws(VaultError) -> OpenedDump {
        try requireBinding(to: binding, accepting: olderAppVersions, olderSystemVersions)
        return try open(with: keys, isExactVersion: self.binding == binding, now: now)
    }

    /// Opens the dump with a key set, as `open` with `VaultKeys.keys`.
    public func open(
        with keys: KeySet, for binding: VersionBinding, accepting olderAppVersions: [String] = [],
        now: Int64? = nil
    ) throws(VaultError) -> OpenedDump {
        try open(with: .keys(keys), for: binding, accepting: olderAppVersions, now: now)
    }

    /// This dump's content key as a JWK (RFC 7517), with which other JOSE tools open it: `kty`, `k`,
    /// `kid` and `"alg":"A256GCM"`. The root cannot be had from it, nor any other dump's key.
    ///
    /// - Returns: A secret; print it only where it was asked for.
    /// - Throws: As `open`, but the versions are checked only where a binding is given.
    public func exportKey(
        with keys: VaultKeys, for binding: VersionBinding? = nil, now: Int64? = nil
    ) throws(VaultError) -> JSONObject {
        if let binding { try requireBinding(to: binding) }
        let derived = try derivedKeys(with: keys, now: now)
        _ = try plaintext(derived)
        let contentKey = derived.material.bytes.extracting(DumpKeys.contentKey)
        return [
            "kty": "oct", "k": .string(Base64.encode(contentKey, .url)), "kid": .string(kid),
            "alg": "A256GCM",
        ]
    }

    /// This dump's content key, as `exportKey` with `VaultKeys.keys`.
    public func exportKey(
        with keys: KeySet, for binding: VersionBinding? = nil, now: Int64? = nil
    ) throws(VaultError) -> JSONObject {
        try exportKey(with: .keys(keys), for: binding, now: now)
    }

    /// Opens the dump whatever version it is of.
    ///
    /// - Parameter acceptingEndedKey: Whether a key may be revoked or expired.
    func open(
        with keys: VaultKeys, isExactVersion: Bool = false, acceptingEndedKey: Bool = false,
        now: Int64?
    ) throws(VaultError) -> OpenedDump {
        let keys = try derivedKeys(with: keys, acceptingEndedKey: acceptingEndedKey, now: now)
        return OpenedDump(
            dump: self, isExactVersion: isExactVersion, inside: try plaintext(keys))
    }

    // MARK: - Before cryptography

    func requireBinding(
        to running: VersionBinding, accepting olderApp: [String] = [], _ olderSystem: [String] = []
    ) throws(VaultError) {
        try running.requireUsable()
        guard sameBytes(binding.app.id, running.app.id) else {
            throw VaultError(
                .wrongApp,
                "the dump is of app \(quoted(binding.app.id)), wanted \(quoted(running.app.id))")
        }
        guard sameBytes(binding.system.id, running.system.id) else {
            throw VaultError(
                .wrongSystem,
                "the dump is of network system \(quoted(binding.system.id)), "
                    + "wanted \(quoted(running.system.id))")
        }
        try Self.requireVersion(
            binding.app.version, running.app.version, "app version", accepting: olderApp)
        try Self.requireVersion(
            binding.system.version, running.system.version, "system version",
            accepting: olderSystem)
    }

    private static func requireVersion(
        _ found: String, _ running: String, _ what: String, accepting older: [String]
    ) throws(VaultError) {
        if sameBytes(found, running) { return }
        let both = "the dump is of \(what) \(quoted(found)), wanted \(quoted(running))"
        switch VersionOrder.of(found, against: running) {
        case .same: return
        case .newer: throw VaultError(.newerVersion, "\(both); a newer one is never opened")
        case .older, .unordered:
            if older.contains(where: { sameBytes($0, found) }) { return }
        }
        throw VaultError(
            VersionOrder.of(found, against: running) == .older ? .olderVersion : .otherVersion, both
        )
    }

    // MARK: - Cryptography

    private func derivedKeys(
        with keys: VaultKeys, acceptingEndedKey: Bool = false, now: Int64?
    ) throws(VaultError) -> DumpKeys {
        let root = try keys.root(named: keyID, name.scheme)
        try root.requireUsable(at: now ?? UnixTime.now(), evenIfEnded: acceptingEndedKey)
        let derived = try root.keys(salt: name.salt, info: name.info)
        guard derived.fit(name.commitment) else {
            throw VaultError(
                .wrongKey,
                root.scheme == .passphrase
                    ? "the passphrase does not open this dump, or the dump's name was changed"
                    : "key \(quoted(keyID)) does not open this dump: another key of this id, "
                        + "or the dump's name was changed")
        }
        return derived
    }

    private func plaintext(_ keys: borrowing DumpKeys) throws(VaultError) -> DumpPlaintext {
        let bytes: [UInt8]
        do throws(CryptoFailure) {
            // The nonce is derived too; one that was changed is told like any other change.
            guard constantTimeEqual(keys.material.bytes.extracting(DumpKeys.nonce), nonce.span)
            else {
                throw CryptoFailure(operation: "nonce", reason: "", isAuthenticationFailure: true)
            }
            bytes = try AES256GCM.open(
                ciphertext: ciphertext.span, tag: tag.span,
                key: keys.material.bytes.extracting(DumpKeys.contentKey), nonce: nonce.span,
                authenticating: header.span)
        } catch {
            guard error.isAuthenticationFailure else { throw VaultError(error) }
            throw VaultError(.tampered, "the dump was changed after it was sealed")
        }
        return try DumpPlaintext(parsing: bytes, expecting: binding)
    }
}

extension VaultError {
    /// - Throws: `key-revoked`, `key-expired`, `key-not-yet-valid`.
    static func requireUsable(_ key: Key, at now: Int64) throws(VaultError) {
        do {
            try key.requireUsable(at: now)
        } catch {
            throw VaultError(error)
        }
    }

    /// The same failure as this module tells it.
    package init(_ error: KeyError) {
        let code: Code
        switch error.code.name {
        case "unknown-key": code = .unknownKey
        case "key-revoked": code = .keyRevoked
        case "key-expired": code = .keyExpired
        case "key-not-yet-valid": code = .keyNotYetValid
        case "key-file-permissions": code = .keyFilePermissions
        case "wrong-key-use": code = .wrongKeyUse
        case "crypto-failure": code = .cryptoFailure
        case "unreadable-keys": code = .unreadableFile
        case "unwritable-keys": code = .unwritableFile
        case "file-busy": code = .fileBusy
        case "key-exists": code = .malformedInput
        default: code = .malformedKeys
        }
        self.init(code, error.message)
    }
}
