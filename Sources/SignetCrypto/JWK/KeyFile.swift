internal import SignetBase
internal import SignetJSON
internal import SignetSystem

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Creates key files and adds keys to them: JWK Sets with mode 0600, written atomically.
package enum KeyFile {
    /// Generates a key and writes it to a file.
    ///
    /// - Parameters:
    ///   - kind: The kind of key. HMAC keys get the `alg` `HS256`, RSA keys `PS512`.
    ///   - id: The new `kid`.
    ///   - path: The file. Links are followed if `append` is true.
    ///   - append: Whether to append the key to an existing set, whose other members stay. A
    ///     missing file is created.
    /// - Throws: `KeyError` with `fileExists`, `keyExists`, `invalidID`, `keyFilePermissions`,
    ///   `malformedKeys`, `unreadable`, `unwritable` or `fileBusy`. The file is then unchanged.
    package static func add(
        _ kind: Key.Kind, id: String, to path: String, append: Bool
    ) throws(KeyError) {
        try requireUsable(id)
        // Checked before the slow generation of an RSA key; `createNew` checks it again.
        guard append || !exists(path) else { throw fileExists(path) }
        try add(generate(kind, id: id), id: id, to: path, append: append)
    }

    /// Writes an imported key to a file, as ``add(_:id:to:append:)`` writes a new one.
    package static func add(
        _ imported: ImportedKey, to path: String, append: Bool
    ) throws(KeyError) {
        try add(imported.jwk, id: imported.id, to: path, append: append)
    }

    private static func add(
        _ key: JSONObject, id: String, to path: String, append: Bool
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
    static func generate(_ kind: Key.Kind, id: String) throws(KeyError) -> JSONObject {
        let members: JSONObject
        switch kind {
        case .hmac:
            members = ["kty": "oct", "use": "sig", "alg": "HS256", "k": try randomText(32)]
        case .vault: members = ["kty": "oct", "use": "enc", "k": try randomText(32)]
        case .ed25519: members = try KeyPair.ed25519()
        case .p256: members = try KeyPair.p256()
        case .p384: members = try KeyPair.p384()
        case .rsa: members = try KeyPair.rsa()
        default:
            throw KeyError(code: .wrongUse, message: "keys of kind \(kind) cannot be generated")
        }
        var key: JSONObject = ["kid": .string(id)]
        if members["use"] == nil { key["use"] = "sig" }
        for (name, value) in members { key[name] = value }
        return key
    }

    private static func randomText(_ count: Int) throws(KeyError) -> JSONValue {
        do throws(CryptoFailure) {
            let secret = try RandomBytes.secret(count)
            return .string(Base64.encode(secret.bytes, as: .url))
        } catch {
            throw KeyError(error)
        }
    }

    static func requireUsable(_ id: String) throws(KeyError) {
        let isPlain = id.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard !id.isEmpty, isPlain else {
            throw KeyError(
                code: .invalidID,
                message: "the id \"\(printable(id))\" is empty or contains control characters")
        }
    }

    /// Returns whether anything exists at a path, even a broken link.
    private static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    private static func create(_ path: String, with key: JSONObject) throws(KeyError) {
        var bytes = text(of: ["keys": [.object(key)]])
        defer { wipe(&bytes) }
        do throws(FileFailure) {
            try PrivateFile.createNew(bytes, at: path)
        } catch {
            if error.kind == .alreadyExists { throw fileExists(path) }
            throw unwritable(error)
        }
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
                code: .unwritable,
                message:
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
        KeyError(code: failure.kind == .busy ? .fileBusy : .unwritable, message: failure.message)
    }

    private static func append(
        _ key: JSONObject, id: String, to path: String, through lock: inout FileLock
    ) throws(KeyError) {
        var old: [UInt8]
        let refusal: FileFailure?
        do throws(FileFailure) {
            (old, refusal) = try PrivateFile.readAllowingUnsafePermissions(
                path, limit: KeySet.maximumByteCount)
        } catch {
            throw KeyError(code: .unreadable, message: error.message)
        }
        defer { wipe(&old) }
        let set = try KeySet(parsing: old, source: path)
        if let refusal, set.isPrivate {
            throw KeyError(code: .keyFilePermissions, message: refusal.message)
        }
        guard set[id] == nil else {
            throw KeyError(
                code: .keyExists,
                message: "\(printable(path)) already has a key with the id \"\(printable(id))\"")
        }
        guard var object = try? JSONValue(parsing: old, maximumDepth: 64).object else {
            throw KeyError(code: .malformedKeys, message: "expected a JWK Set")
        }
        object["keys"] = .array((object["keys"]?.array ?? []) + [.object(key)])
        var bytes = text(of: object)
        defer { wipe(&bytes) }
        try replaceContents(of: &lock, with: bytes)
    }

    static func text(of set: JSONObject) -> [UInt8] {
        var bytes = JSONValue.object(set).serialized(.pretty)
        if bytes.last != UInt8(ascii: "\n") { bytes.append(UInt8(ascii: "\n")) }
        return bytes
    }

    private static func fileExists(_ path: String) -> KeyError {
        KeyError(
            code: .fileExists,
            message: "\(printable(path)) already exists; --append adds a key to it")
    }
}
