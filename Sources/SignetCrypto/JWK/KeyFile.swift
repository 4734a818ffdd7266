import SignetBase
import SignetSystem

/// Creates key files and adds keys to them: JWK Sets with mode 0600, written atomically.
package enum KeyFile {
    /// Generates a key and writes it to a file.
    ///
    /// - Parameters:
    ///   - kind: The kind of key.
    ///   - id: The new `kid`.
    ///   - use: `sig` or `enc`; nil takes the default of the kind.
    ///   - algorithm: `alg`; nil takes the default of the kind and use, such as `HS256` for HMAC,
    ///     `PS512` for RSA and `A256KW` for `aes`.
    ///   - path: The file. Links are followed if `append` is true.
    ///   - append: Whether to append the key to an existing set, whose other bytes stay. A missing
    ///     file is created.
    /// - Throws: `KeyError` with `wrongKeyUse`, `fileExists`, `keyExists`, `invalidKeyID`,
    ///   `keyFilePermissions`, `malformedKeys`, `unreadableKeys`, `unwritableKeys` or `fileBusy`.
    ///   The file is then unchanged.
    package static func add(
        _ kind: CryptoKey.Kind, id: String, use: String? = nil, algorithm: String? = nil,
        to path: String, append: Bool
    ) throws(KeyError) {
        try requireUsable(id)
        try requireAgreement(of: kind, use: use, algorithm: algorithm)
        // Checked before the slow generation of an RSA key; `createNew` checks it again.
        guard append || !Folder.exists(path) else { throw fileExists(path) }
        let key = try generate(kind, id: id, use: use, algorithm: algorithm)
        try add(key, id: id, to: path, append: append)
    }

    /// Checks that a new key of a kind can have a use and an algorithm.
    ///
    /// - Throws: `KeyError` with `wrongKeyUse`.
    package static func requireAgreement(
        of kind: CryptoKey.Kind, use: String?, algorithm: String?
    ) throws(KeyError) {
        guard use != "enc" || kind.defaultUse == "enc" || kind.encryptionAlgorithm != nil,
            use != "sig" || kind.defaultUse == "sig"
        else {
            throw KeyError(
                .wrongKeyUse, "found --use \(use ?? ""), which a key of type \(kind) doesn't have")
        }
        let known = kind.algorithms(use: use ?? kind.defaultUse)
        if let algorithm, !known.contains(algorithm) {
            throw KeyError(
                .wrongKeyUse,
                "found --alg \(printable(algorithm)), expected "
                    + (known.isEmpty ? "none" : known.joined(separator: " or "))
                    + " for a key of type \(kind) and use \(use ?? kind.defaultUse)")
        }
    }

    /// Writes an imported key to a file, as ``add(_:id:to:append:)`` writes a new one.
    package static func add(
        _ imported: ImportedKey, to path: String, append: Bool
    ) throws(KeyError) {
        try add(imported.text, id: imported.id, to: path, append: append)
    }

    private static func add(
        _ key: NewKeyText, id: String, to path: String, append: Bool
    ) throws(KeyError) {
        guard append else { return try create(path, with: key) }
        // Tries twice, because another process may create the file after the lock found none.
        for isLast in [false, true] {
            var lock = try Self.lock(path)
            guard lock.hasNoFile else {
                return try self.append(key, id: id, to: path, through: &lock)
            }
            do throws(KeyError) {
                return try create(path, with: key)
            } catch {
                if isLast || error.code != .fileExists { throw error }
            }
        }
    }

    /// Generates a key as a JWK, which contains its secret.
    static func generate(
        _ kind: CryptoKey.Kind, id: String, use: String? = nil, algorithm: String? = nil
    ) throws(KeyError) -> NewKeyText {
        let key = NewKeyText(id: id)
        let use = use ?? kind.defaultUse
        let algorithm = algorithm ?? kind.algorithms(use: use).first
        key.set("use", to: use)
        if kind.isSecret {
            key.set("kty", to: "oct")
            if let algorithm { key.set("alg", to: algorithm) }
            let count = CryptoKey.Kind.sealingByteCount(algorithm: algorithm) ?? 32
            key.set("k", to: try random(count))
        } else {
            let pair = try KeyPair(generating: kind)
            try pair.write(to: key, algorithm: algorithm ?? "", isPrivate: true)
        }
        key.end()
        return key
    }

    private static func random(_ count: Int) throws(KeyError) -> SecretBytes {
        do throws(CryptoFailure) {
            return try RandomBytes.secret(count)
        } catch {
            throw KeyError(error)
        }
    }

    static func requireUsable(_ id: String) throws(KeyError) {
        let isPlain = id.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard !id.isEmpty, isPlain else {
            throw KeyError(
                .invalidKeyID, "the id \"\(printable(id))\" is empty or contains control characters"
            )
        }
    }

    private static func create(_ path: String, with key: NewKeyText) throws(KeyError) {
        let text = try newSet(of: key)
        do throws(FileFailure) {
            try PrivateFile.createNew(text.bytes, at: path)
        } catch {
            if error.kind == .alreadyExists { throw fileExists(path) }
            throw unwritable(error)
        }
    }

    /// Returns the text of a set with one key.
    static func newSet(of key: NewKeyText) throws(KeyError) -> KeyFileText {
        let text = KeyFileText(Array("{\n  \"keys\": []\n}\n".utf8))
        try text.append(key)
        return text
    }

    /// Waits for a key file's lock.
    static func lock(_ path: String) throws(KeyError) -> FileLock {
        do throws(FileFailure) {
            return try FileLock(guarding: path)
        } catch {
            throw unwritable(error)
        }
    }

    /// Replaces the locked file's contents, unless they are too long to be read again.
    static func replaceContents(
        of lock: inout FileLock, with bytes: [UInt8], wipingOld: Bool = false
    ) throws(KeyError) {
        guard bytes.count <= KeySet.maximumByteCount else {
            throw KeyError(
                .unwritableKeys,
                "\(printable(lock.path)) would have \(bytes.count) bytes, expected at most "
                    + "\(KeySet.maximumByteCount)")
        }
        do throws(FileFailure) {
            try lock.write(bytes, wipingOld: wipingOld)
        } catch {
            throw unwritable(error)
        }
    }

    private static func unwritable(_ failure: FileFailure) -> KeyError {
        KeyError(failure.kind == .busy ? .fileBusy : .unwritableKeys, failure.message)
    }

    private static func append(
        _ key: NewKeyText, id: String, to path: String, through lock: inout FileLock
    ) throws(KeyError) {
        let (set, text) = try KeySource.file(path).loadChangeable()
        guard set[id] == nil else {
            throw KeyError(
                .keyExists, "\(printable(path)) already has a key with the id \"\(printable(id))\"")
        }
        try text.append(key)
        // A set of public keys without names can't get a private key.
        _ = try KeySet(parsing: text.bytes, source: path)
        try replaceContents(of: &lock, with: text.bytes)
    }

    private static func fileExists(_ path: String) -> KeyError {
        KeyError(.fileExists, "\(printable(path)) already exists; --append adds a key to it")
    }
}
