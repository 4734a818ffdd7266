#if Tool
import SignetBase
import SignetClient
import SignetCrypto
import SignetJSON
import SignetPinning
import SignetSigning
import SignetSystem

/// The things that a user trusts with a folder: the project file's content, without the members
/// that commands change, the keys of its key set, and the files by which a command trusts others.
struct ProjectTrust: Equatable {
    let content: JSONObject
    /// The thumbprints (RFC 7638) of the keys, sorted; empty if they can't be read.
    let keys: [String]
    /// By the member that names the file: a digest of the CAs, of the signing scheme and of the CAs
    /// of the policy's rules, and the identity of the passphrase's file, of which nothing may be
    /// written down.
    let files: JSONObject
    /// Whether the keys are a shared set that wasn't opened. They are compared when it is.
    private(set) var isSealed = false

    /// Reads the present state of a project.
    ///
    /// - Parameter identity: Opens a shared key set.
    init(_ project: ProjectFile, identity: KeySource? = nil) {
        var files = JSONObject()
        files["caFile"] = project.caFile.flatMap(Self.digest(ofFile:))
        files["scheme"] = project.scheme.flatMap {
            SigningScheme.isFile($0) ? Self.digest(ofFile: $0) : nil
        }
        files["policy"] = project.policy.flatMap(Self.digest(ofAuthoritiesIn:))
        files["passphrase"] = project.passphrase.flatMap { KeySource($0).filePath }
            .flatMap(Folder.identity(ofFile:)).map(JSONValue.string)
        self.init(content: project.content, keys: project.keys, files: files, identity: identity)
    }

    private init(
        content: JSONObject, keys: String?, files: JSONObject, identity: KeySource? = nil
    ) {
        self.content = content
        self.files = files
        do {
            let set = try keys.map { try KeySource($0).load(identity: identity) }
            self.keys = set?.keys.compactMap(\.thumbprint).sorted() ?? []
        } catch {
            self.keys = []
            isSealed = (error as? KeyError)?.code == .missingIdentity
        }
    }

    /// Returns the same content with the keys that a key file has now.
    func with(keysOf file: String) -> ProjectTrust {
        ProjectTrust(content: content, keys: file, files: files)
    }

    private static func digest(ofFile path: String) -> JSONValue? {
        guard let bytes = try? InputFile.read(path, limit: 16 << 20),
            let digest = try? Digest.of(bytes.span)
        else { return nil }
        return .string(Base64.encode(digest, as: .url))
    }

    /// A digest of the CAs that a policy's rules trust; nil if there are none. The pins aren't part
    /// of it: commands change them, and a pin never takes the place of the check by a CA.
    private static func digest(ofAuthoritiesIn path: String) -> JSONValue? {
        let lines = (try? PinPolicy(file: path))?.rules.compactMap { rule in
            rule.authorities.map { authorities in
                let digest = Base64.encode(authorities.digest, as: .url)
                return "\(rule.pattern) \(authorities.mode.rawValue) \(digest)\n"
            }
        }
        guard let lines, !lines.isEmpty else { return nil }
        let text = Array(lines.sorted().joined().utf8)
        return (try? Digest.of(text.span)).map { .string(Base64.encode($0, as: .url)) }
    }

    /// Reads an entry of the list.
    init?(_ entry: JSONValue) {
        guard let content = entry["project"]?.object, let keys = entry["keys"]?.array,
            let files = entry["files"]?.object,
            let stored = entry["sha256"]?.string,
            let digest = Self.digest(of: content), sameBytes(stored, digest)
        else { return nil }
        self.content = content
        self.keys = keys.compactMap(\.string)
        self.files = files
    }

    /// The entry, or nil if the content has no canonical form.
    var entry: JSONValue? {
        Self.digest(of: content).map {
            [
                "sha256": .string($0), "keys": .array(keys.map(JSONValue.string)),
                "files": .object(files), "project": .object(content),
            ]
        }
    }

    /// SHA-256 of the canonical form (RFC 8785), in base64url.
    private static func digest(of content: JSONObject) -> String? {
        guard let text = try? JSONValue.object(content).canonicalized(),
            let digest = try? Digest.of(text.span)
        else { return nil }
        return Base64.encode(digest, as: .url)
    }

    /// Returns whether nothing changed since the user trusted it.
    func equals(_ old: ProjectTrust) -> Bool {
        content == old.content && files == old.files && (isSealed || keys == old.keys)
    }

    /// Returns whether nothing changed since the user trusted it but that there are no keys.
    func lacksOnlyKeys(of old: ProjectTrust) -> Bool {
        content == old.content && files == old.files && keys.isEmpty
    }

    /// Returns what differs from what was trusted, a line each.
    func changes(since old: ProjectTrust) -> [String] {
        var names = old.content.memberNames
        names += content.memberNames.filter { old.content[$0] == nil }
        var lines = names.filter { old.content[$0] != content[$0] }.map { name in
            let (before, now) = (
                old.content[name]?.text ?? "nothing", content[name]?.text ?? "nothing"
            )
            return "\"\(name)\": \(before) became \(now)"
        }
        lines += ["caFile", "scheme", "passphrase"].filter { old.files[$0] != files[$0] }
            .map { "the file of \"\($0)\" is another one" }
        if old.files["policy"] != files["policy"] { lines.append("the policy trusts other CAs") }
        guard !isSealed else { return lines }
        lines += keys.filter { !old.keys.contains($0) }.map { "a new key: \($0)" }
        lines += old.keys.filter { !keys.contains($0) }.map { "a key is gone: \($0)" }
        return lines
    }
}

/// The folders whose project files this user trusts, by their real paths.
struct TrustList {
    private var folders: JSONObject

    private static let limit = 16 << 20

    private static func path() throws(ToolError) -> String {
        try UserFolder.configuration() + "/trusted.json"
    }

    /// Reads the list; empty without a file or without a home folder.
    ///
    /// - Throws: `malformed-input`, or `FileFailure` if others than the user may write it.
    init() throws {
        guard let path = try? Self.path(), Folder.exists(path) else {
            self.init(folders: [:])
            return
        }
        try self.init(reading: path)
    }

    private init(reading path: String) throws {
        let bytes = try PrivateFile.read(path, limit: Self.limit, requirePrivate: true)
        guard let object = (try? JSONValue(parsing: bytes))?["folders"]?.object else {
            throw ToolError(.malformedInput, "\(path): expected {\"folders\":{…}}; remove the file")
        }
        folders = object
    }

    /// The trust in a folder, or nil.
    subscript(folder: String) -> ProjectTrust? { folders[folder].flatMap { ProjectTrust($0) } }

    /// Sets or removes what the user trusts in a folder, and writes the list.
    static func set(_ trust: ProjectTrust?, for folder: String) throws {
        try set(trust?.entry, at: folder)
    }

    private static func set(_ entry: JSONValue?, at folder: String) throws {
        let path = try path()
        try Folder.createPrivate(UserFolder.configuration())
        do {
            try write(entry, for: folder, into: FileLock(guarding: path))
        } catch let error as FileFailure where error.kind == .alreadyExists {
            // Another process has made the list in the meantime.
            try write(entry, for: folder, into: FileLock(guarding: path))
        }
    }

    /// Changes a key file, and carries the trust in the projects that take their keys from it on.
    static func carryOn<Result: ~Copyable>(
        changing keys: String, _ change: () throws -> Result
    ) throws -> Result {
        // Without a list that can be read there is no trust to carry on.
        let trusted = (try? TrustList())?.projects(withKeysIn: keys) ?? []
        let result = try change()
        for (folder, file, before) in trusted {
            let now = before.with(keysOf: file)
            if now != before { try set(now, for: folder) }
        }
        return result
    }

    /// Returns the folders whose trusted project has its keys in a file.
    private func projects(
        withKeysIn keys: String
    ) -> [(folder: String, file: String, trust: ProjectTrust)] {
        guard let keys = Folder.resolved(keys) else { return [] }
        return folders.memberNames.compactMap { folder in
            guard let trust = self[folder],
                let project = try? ProjectFile(file: folder + "/signet.json", isFound: true),
                let source = project.keys, let file = KeySource(source).filePath,
                let real = Folder.resolved(file), sameBytes(real, keys),
                ProjectTrust(project).equals(trust)
            else { return nil }
            return (folder, source, trust)
        }
    }

    /// Returns whether a shared key set had these roots before, and remembers them.
    static func knows(_ roots: [String], of file: String) -> Bool {
        let entry: JSONValue = ["shared": .array(roots.map(JSONValue.string))]
        if let list = try? TrustList(), list.folders[file] == entry { return true }
        // If the list can't be written, the command says the roots again the next time.
        try? set(entry, at: file)
        return false
    }

    private static func write(
        _ entry: JSONValue?, for folder: String, into lock: consuming FileLock
    ) throws {
        var list = TrustList(folders: [:])
        if !lock.hasNoFile { list = try TrustList(reading: lock.path) }
        list.folders[folder] = entry
        let text = JSONValue.object(["folders": .object(list.folders)]).serialized(.pretty)
        try lock.write(text + [0x0A], mode: 0o600)
    }

    private init(folders: JSONObject) { self.folders = folders }
}
#endif
