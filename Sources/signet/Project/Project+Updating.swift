internal import SignetBase
import SignetClient
import SignetCrypto
import SignetJSON
internal import SignetSystem
import SignetVault

extension Project {
    /// Writes the version and the key of the project's dump into the project file, after a command
    /// has changed them, and carries the user's trust in a file that was found on.
    ///
    /// - Parameters:
    ///   - opened: The dump as it is now.
    ///   - keys: The source of the new key set, if it changed.
    ///   - passphrase: The source of the passphrase that took the place of the keys.
    func update(
        with opened: OpenedDump, keys: String? = nil, passphrase: String? = nil
    ) throws {
        guard let path else { return }
        var lock = try FileLock(guarding: path)
        let bytes = try PrivateFile.readTrusted(path, limit: 1 << 20)
        guard let old = try JSONValue(parsing: bytes).object else { return }
        var object = old
        if var app = object["app"]?.object {
            app["version"] = .string(opened.binding.app.version)
            object["app"] = .object(app)
        }
        if var system = object["system"]?.object {
            system["version"] = .string(opened.binding.system.version)
            object["system"] = .object(system)
        }
        if object["keyID"] != nil {
            object["keyID"] = passphrase == nil ? .string(opened.keyID) : nil
        }
        if let keys {
            object["keys"] = NewFiles([], in: InputFile.folder(of: path)).relative(keys)
                .map(JSONValue.string)
            object["passphrase"] = nil
        } else if passphrase != nil {
            object["keys"] = nil
        }
        if object != old {
            try lock.write(JSONValue.object(object).serialized(.pretty) + [0x0A], mode: 0o644)
        }
        // The roots may have changed too: `rekey` and `rebind --ratchet` change the key set.
        guard isFound, isTrusted, let folder = Self.folder(of: path) else { return }
        try TrustList.set(
            ProjectTrust(try SelfCheckProject(file: path, isFound: true)), for: folder)
    }
}
