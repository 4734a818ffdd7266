internal import SignetJSON

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Key files as the tool makes them: a JWK Set, mode 0600, written whole or not at all.
package enum KeyFile {
    /// Makes a key and puts it into a file.
    ///
    /// - Parameters:
    ///   - kind: What the key is for. HMAC keys get `HS256`, RSA keys `PS512`.
    ///   - id: The new `kid`.
    ///   - path: The file; links are followed when it is appended to.
    ///   - append: Whether a set that is there gets the key as its last; its other members stay as
    ///     they are. Without a file, one is made.
    /// - Throws: `KeyError` with `fileExists`, `keyExists`, `invalidID`, `keyFilePermissions`,
    ///   `malformedKeys`, `unreadable`, `unwritable` or `fileBusy`; then the file is as it was.
    package static func add(
        _ kind: Key.Kind, id: String, to path: String, append: Bool
    ) throws(KeyError) {
        try demandUsable(id)
        guard append else {
            // Said before a key is made, which takes its time for RSA; `createNew` makes sure.
            guard !isThere(path) else { throw fileExists(path) }
            let key = try generate(kind, id: id)
            return try create(path, key)
        }
        let key = try generate(kind, id: id)
        // Twice at most: made by another process between the look and the writing.
        for isLast in [false, true] {
            var lock: FileLock
            do throws(FileFailure) {
                lock = try FileLock(guarding: path)
            } catch {
                throw unwritable(error)
            }
            guard lock.hasNoFile else { return try self.append(key, id: id, to: &lock, path) }
            do throws(KeyError) {
                return try create(path, key)
            } catch {
                if isLast || error.code != .fileExists { throw error }
            }
        }
    }

    /// A new key as a JWK. It holds secrets: whoever gets it puts it into a private file.
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
        default: throw KeyError(code: .wrongUse, message: "keys of kind \(kind) cannot be made")
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
            throw KeyError(code: .cryptography, message: error.description)
        }
    }

    private static func demandUsable(_ id: String) throws(KeyError) {
        let isPlain = id.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard !id.isEmpty, isPlain else {
            throw KeyError(
                code: .invalidID,
                message: "the id \"\(printable(id))\" is empty or holds control characters")
        }
    }

    /// Whether anything is there, a broken link too.
    private static func isThere(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    private static func create(_ path: String, _ key: JSONObject) throws(KeyError) {
        var bytes = file(["keys": [.object(key)]])
        defer { wipe(&bytes) }
        do throws(FileFailure) {
            try PrivateFile.createNew(bytes, path)
        } catch {
            if error.kind == .alreadyExists { throw fileExists(path) }
            throw unwritable(error)
        }
    }

    static func unwritable(_ failure: FileFailure) -> KeyError {
        KeyError(code: failure.kind == .busy ? .fileBusy : .unwritable, message: failure.message)
    }

    private static func append(
        _ key: JSONObject, id: String, to lock: inout FileLock, _ path: String
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
                message: "\(printable(path)) has a key of the id \"\(printable(id))\" already")
        }
        guard var object = try? JSONValue(parsing: old, maximumDepth: 64).object else {
            throw KeyError(code: .malformedKeys, message: "wanted a JWK Set")
        }
        object["keys"] = .array((object["keys"]?.array ?? []) + [.object(key)])
        var bytes = file(object)
        defer { wipe(&bytes) }
        guard bytes.count <= KeySet.maximumByteCount else {
            throw KeyError(
                code: .unwritable,
                message: "\(printable(path)) would hold more than \(KeySet.maximumByteCount) bytes")
        }
        do throws(FileFailure) {
            try lock.write(bytes)
        } catch {
            throw unwritable(error)
        }
    }

    private static func file(_ set: JSONObject) -> [UInt8] {
        var bytes = JSONValue.object(set).serialized(.pretty)
        if bytes.last != UInt8(ascii: "\n") { bytes.append(UInt8(ascii: "\n")) }
        return bytes
    }

    private static func fileExists(_ path: String) -> KeyError {
        KeyError(
            code: .fileExists,
            message: "\(printable(path)) is there already; --append adds a key to it")
    }
}
