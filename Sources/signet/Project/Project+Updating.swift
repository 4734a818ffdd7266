#if Tool
import SignetBase
import SignetClient
import SignetCrypto
import SignetJSON
import SignetSystem
import SignetVault

extension Project {
    /// Writes the version and the key of the project's dump into the project file, after a command
    /// has changed them, and carries the user's trust in a file that was found on.
    ///
    /// - Parameters:
    ///   - opened: The dump as it is now.
    ///   - keys: The source of the new key set, if it changed.
    ///   - passphrase: The source of the passphrase that took the place of the keys.
    ///   - terminal: Gets a note if the file names no source any more that opens the dump, or if
    ///     somebody else has changed the file since it was read.
    func update(
        with opened: OpenedDump, keys: String? = nil, passphrase: String? = nil,
        notingOn terminal: Terminal
    ) throws {
        guard let path else { return }
        var lock = try FileLock(guarding: path)
        let bytes = try PrivateFile.readTrusted(path, limit: 1 << 20)
        guard let old = try JSONValue(parsing: bytes).object,
            try ProjectFile(file: path, isFound: isFound).content == file.content
        else {
            terminal.note(
                "\(path) was changed while this command ran, so it was not brought up to date; "
                    + "signet project show says what changed")
            return
        }
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
        if keys != nil || passphrase != nil {
            let files = NewFiles([], in: InputFile.folder(of: path))
            object["keys"] = keys.flatMap(files.relative).map(JSONValue.string)
            object["passphrase"] = nil
            if object["keys"] == nil {
                terminal.note(
                    "\(path) names no source of the new root: give it with "
                        + (keys == nil ? "--passphrase" : "--keys"))
            } else if object["keys"] != old["keys"] {
                terminal.note("\(path) names the new key set now")
            }
        }
        if object != old {
            try lock.write(JSONValue.object(object).serialized(.pretty) + [0x0A], mode: 0o644)
        }
        // The keys may have changed too: `rekey` and `rebind --ratchet` change the key set.
        guard isFound, isTrusted, let folder = Self.folder(of: path) else { return }
        try TrustList.set(
            ProjectTrust(try ProjectFile(file: path, isFound: true)), for: folder)
    }
}
#endif
