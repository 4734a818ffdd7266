import SignetBase
public import SignetCrypto
public import SignetJSON

extension SealedDump {
    /// Opens the dump for the running versions.
    ///
    /// Checks, in this order: the app, the network system and their versions; the key; the
    /// commitment, in constant time; the tag; and that the plaintext agrees with the header.
    ///
    /// - Parameters:
    ///   - keys: The key set with the root that the header names, or the passphrase.
    ///   - binding: The running app and network system.
    ///   - olderAppVersions: Older versions of the app whose dumps may be read. A newer version is
    ///     never accepted.
    ///   - olderSystemVersions: Older versions of the network system whose dumps may be read.
    ///   - now: The time for the key's dates, in Unix seconds; nil is the current time.
    /// - Returns: The dump's content, authenticated.
    /// - Throws: `wrong-app`, `wrong-system`, `newer-version`, `older-version`, `other-version`
    ///   (naming both versions), `unknown-key`, `key-revoked`, `key-expired`, `key-not-yet-valid`,
    ///   `wrong-key`, `tampered`; `wrong-key-use` if the key isn't a vault root.
    public func open(
        with keys: VaultKeys, for binding: VersionBinding,
        accepting olderAppVersions: [String] = [], system olderSystemVersions: [String] = [],
        now: Int64? = nil
    ) throws(VaultError) -> OpenedDump {
        try requireBinding(to: binding, accepting: olderAppVersions, system: olderSystemVersions)
        return try open(with: keys, isExactVersion: self.binding == binding, now: now)
    }

    /// Opens the dump with a key set, as ``open(with:for:accepting:system:now:)`` does with
    /// ``VaultKeys/keys(_:)``.
    public func open(
        with keys: KeySet, for binding: VersionBinding, accepting olderAppVersions: [String] = [],
        now: Int64? = nil
    ) throws(VaultError) -> OpenedDump {
        try open(with: .keys(keys), for: binding, accepting: olderAppVersions, now: now)
    }

    /// Returns this dump's content key as a JWK (RFC 7517) for other JOSE tools: `kty`, `k`, `kid`
    /// and `"alg":"A256GCM"`. The root and the keys of other dumps can't be derived from it.
    ///
    /// - Returns: A secret. Print it only if the user asked for it.
    /// - Throws: As `open`, but the versions are checked only if `binding` isn't nil.
    public func exportKey(
        with keys: VaultKeys, for binding: VersionBinding? = nil, now: Int64? = nil
    ) throws(VaultError) -> JSONObject {
        if let binding { try requireBinding(to: binding) }
        let derived = try derivedKeys(with: keys, now: now)
        _ = try plaintext(derived)
        let contentKey = derived.material.bytes.extracting(DumpKeys.contentKey)
        return [
            "kty": "oct", "k": .string(Base64.encode(contentKey, as: .url)), "kid": .string(kid),
            "alg": "A256GCM",
        ]
    }

    /// Returns this dump's content key, as `exportKey` does with ``VaultKeys/keys(_:)``.
    public func exportKey(
        with keys: KeySet, for binding: VersionBinding? = nil, now: Int64? = nil
    ) throws(VaultError) -> JSONObject {
        try exportKey(with: .keys(keys), for: binding, now: now)
    }

    /// Opens the dump regardless of its version.
    ///
    /// - Parameter acceptingEndedKey: Whether the key may be revoked or expired.
    func open(
        with keys: VaultKeys, isExactVersion: Bool = false, acceptingEndedKey: Bool = false,
        now: Int64?
    ) throws(VaultError) -> OpenedDump {
        let keys = try derivedKeys(with: keys, acceptingEndedKey: acceptingEndedKey, now: now)
        return OpenedDump(dump: self, isExactVersion: isExactVersion, content: try plaintext(keys))
    }

    // MARK: - Before cryptography

    func requireBinding(
        to running: VersionBinding, accepting olderApp: [String] = [],
        system olderSystem: [String] = []
    ) throws(VaultError) {
        try running.requireUsable()
        guard sameBytes(binding.app.id, running.app.id) else {
            throw VaultError(
                .wrongApp,
                "the dump is of app \(quoted(binding.app.id)), expected \(quoted(running.app.id))")
        }
        guard sameBytes(binding.system.id, running.system.id) else {
            throw VaultError(
                .wrongSystem,
                "the dump is of network system \(quoted(binding.system.id)), "
                    + "expected \(quoted(running.system.id))")
        }
        try Self.require("app version", of: binding.app, toMatch: running.app, accepting: olderApp)
        try Self.require(
            "system version", of: binding.system, toMatch: running.system, accepting: olderSystem)
    }

    private static func require(
        _ kind: String, of dump: VersionBinding.Identity, toMatch running: VersionBinding.Identity,
        accepting older: [String]
    ) throws(VaultError) {
        let (found, running) = (dump.version, running.version)
        let order = VersionOrder.of(found, against: running)
        if order == .same { return }
        let both = "the dump is of \(kind) \(quoted(found)), expected \(quoted(running))"
        if order == .newer {
            throw VaultError(.newerVersion, "\(both); a newer one is never opened")
        }
        if older.contains(where: { sameBytes($0, found) }) { return }
        throw VaultError(order == .older ? .olderVersion : .otherVersion, both)
    }

    // MARK: - Cryptography

    private func derivedKeys(
        with keys: VaultKeys, acceptingEndedKey: Bool = false, now: Int64?
    ) throws(VaultError) -> DumpKeys {
        let root = try keys.root(of: self)
        try root.requireUsable(at: now ?? UnixTime.now(), evenIfEnded: acceptingEndedKey)
        let derived = try root.keys(salt: header.salt, info: header.info)
        guard derived.match(header.commitment) else {
            throw VaultError(
                .wrongKey,
                root.scheme == .passphrase
                    ? "the passphrase does not open this dump, or the dump's header was changed"
                    : "key \(quoted(keyID)) does not open this dump: another key has this id, "
                        + "or the dump's header was changed")
        }
        return derived
    }

    private func plaintext(_ keys: borrowing DumpKeys) throws(VaultError) -> DumpPlaintext {
        // The nonce is derived too. A changed nonce is the same error as any other change.
        guard
            constantTimeEqual(
                keys.material.bytes.extracting(DumpKeys.nonce), content.nonce.span)
        else { throw Self.tampered }
        return try plaintext(contentKey: keys.material.bytes.extracting(DumpKeys.contentKey))
    }
}

extension VaultError {
    init(_ failure: CryptoFailure) { self.init(.cryptoFailed, failure.message) }

    /// Creates the error of this module for an error of a key or a key file.
    package init(_ error: KeyError) {
        let code: Code =
            switch error.code {
            case .unreadableKeys: .unreadableFile
            case .unwritableKeys: .unwritableFile
            case .keyExists: .malformedInput
            case .invalidKeyID, .fileExists, .noTerminal: .malformedKeys
            default: error.code  // has the same name in both modules
            }
        self.init(code, error.message)
    }
}
