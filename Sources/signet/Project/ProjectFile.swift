#if Tool
import SignetBase
import SignetCrypto
import SignetJSON
import SignetSystem

/// The project file: where a program's own files are.
///
/// The file is a JSON object; every member may be left out, and paths are relative to the file's
/// folder:
///
///     {"app":{"id":"com.example.shop","version":"1.4.2"},"system":{"version":"0.1.0"},
///      "keys":"keys","keyID":"vault-2026","schema":"schema.json","defaults":"defaults.json",
///      "dump":"shop.dump","state":"dump-state","lastGood":"fetched.dump",
///      "policy":"policy.json","scheme":"rfc9421","caFile":"ca.pem",
///      "connectTo":["api.example.com:443:127.0.0.1:8443"]}
///
/// It names the sources of secrets and holds none. It may not name a `command:` or an `fd:` source,
/// and a file that another user owns or may write is refused.
struct ProjectFile: Sendable, Hashable {
    /// The configuration's schema.
    var schema: String?
    /// The built-in defaults, checked against the schema.
    var defaults: String?
    /// The sealed dump.
    var dump: String?
    /// The key set's source, as `--keys` takes it.
    var keys: String?
    /// The source of the private key that opens a shared key set. The file doesn't name it.
    var identity: KeySource?
    /// The id of the key that seals, as `--key-id` takes it.
    var keyID: String?
    /// The source of the passphrase that opens the dump instead of the key set.
    var passphrase: String?
    /// The file of the highest sequences seen, by which the check recognises an older dump that was
    /// put back.
    var state: String?
    /// The sealed dump of the last good fetched values.
    var lastGood: String?
    /// The app's id, to which the dump is bound.
    var appID: String?
    /// The running app's version.
    var appVersion: String?
    /// The running network system's version; nil is this one's own.
    var systemVersion: String?
    /// The pin policy.
    var policy: String?
    /// The signing scheme, as `--scheme` takes it: a built-in name, or a document's path.
    var scheme: String?
    /// A PEM file of the CAs that are trusted in place of the system's.
    var caFile: String?
    /// Other addresses for hosts, each as `HOST:PORT:ADDRESS:PORT`.
    var connectTo: [String] = []

    /// Whether the files that the project names may name others, such as a policy's CAs.
    var namesAnyFile = true

    /// The members of the file without `app.version` and `keyID`, which the tool's commands change.
    private(set) var content = JSONObject()

    /// The members that a project file may have.
    static let members = [
        "app", "system", "systemVersion", "keys", "keyID", "passphrase", "schema", "defaults",
        "dump", "state", "lastGood", "policy", "scheme", "caFile", "connectTo",
    ]

    /// An empty project: only the program itself is checked.
    init() {}

    /// Reads a project file.
    ///
    /// - Throws: `ToolError` that names the file: with code `malformed-input`, also naming the
    ///   member; `unreadable-file`; `project-file-permissions` if the file belongs to another user
    ///   (root excepted), or others than its owner may write it.
    init(file: String) throws(ToolError) { try self.init(file: file, isFound: false) }

    /// Reads a project file that was named, or one that was found and may have come with somebody
    /// else's files. The latter may name no `env:` source, and all its paths but that of the keys
    /// lie in its folder or below, without links.
    ///
    /// - Throws: As `init(file:)`.
    init(file: String, isFound: Bool) throws(ToolError) {
        let bytes: [UInt8]
        do {
            bytes = try PrivateFile.readTrusted(file, limit: 1 << 20)
        } catch {
            throw ToolError(
                error.kind == .permissions ? .projectFilePermissions : .unreadableFile,
                error.message)
        }
        do throws(Invalid) {
            try self.init(parsing: bytes, folder: Self.folder(of: file), isFound: isFound)
        } catch {
            throw ToolError(.malformedInput, "\(file): \(error.problem)")
        }
    }

    private static func folder(of file: String) -> String {
        file.lastIndex(of: "/").map { String(file[...$0]) } ?? ""
    }

    /// The reason that a file is refused.
    private struct Invalid: Error {
        let problem: String
    }

    private init(parsing bytes: [UInt8], folder: String, isFound: Bool) throws(Invalid) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw Invalid(problem: error.message)
        }
        guard let object = value.object else {
            throw Invalid(problem: "found \(value.typeName), expected an object")
        }
        func text(_ name: String) throws(Invalid) -> String? {
            try object[name].map { value throws(Invalid) in try Self.text(value, of: name) }
        }
        func path(_ name: String) throws(Invalid) -> String? {
            try text(name).map { path throws(Invalid) in
                if isFound { try Self.requireInside(path, of: folder, member: name) }
                // Not standard input, as for a command.
                if path == "-", folder.isEmpty { return "./-" }
                return try Self.path(path, in: folder)
            }
        }
        schema = try path("schema")
        defaults = try path("defaults")
        dump = try path("dump")
        state = try path("state")
        lastGood = try path("lastGood")
        policy = try path("policy")
        caFile = try path("caFile")
        keys = try text("keys").map { source throws(Invalid) in
            try Self.source(source, of: "keys", folder: folder, isFound: isFound)
        }
        passphrase = try text("passphrase").map { source throws(Invalid) in
            if isFound, let file = KeySource(source).filePath {
                try Self.requireInside(file, of: folder, member: "passphrase")
            }
            return try Self.source(source, of: "passphrase", folder: folder, isFound: isFound)
        }
        keyID = try text("keyID")
        // A path only if it looks like one: names of schemes have no slash and no dot.
        scheme = try text("scheme").map { text throws(Invalid) in
            guard text.utf8.contains(where: { $0 == ASCII.slash || $0 == ASCII.dot }) else {
                return text
            }
            return try path("scheme") ?? text
        }
        (appID, appVersion) = try Self.app(object["app"])
        systemVersion = try text("systemVersion")
        if let system = object["system"] {
            guard systemVersion == nil, let members = system.object,
                members.memberNames == ["version"], let version = members["version"]
            else { throw Invalid(problem: "\"system\": expected an object with \"version\" alone") }
            systemVersion = try Self.text(version, of: "system.version")
        }
        if let list = object["connectTo"] {
            guard let elements = list.array else {
                throw Invalid(problem: "\"connectTo\": found \(list.typeName), expected an array")
            }
            for element in elements { connectTo.append(try Self.text(element, of: "connectTo")) }
        }
        content = object
        content["keyID"] = nil
        content["app"] = appID.map { ["id": .string($0)] }
        guard object.memberNames.allSatisfy(Self.members.contains) else {
            throw Invalid(
                problem: "unknown member; expected one of \(Self.members.joined(separator: ", "))")
        }
    }

    private static func app(
        _ value: JSONValue?
    ) throws(Invalid) -> (id: String?, version: String?) {
        guard let value else { return (nil, nil) }
        guard let app = value.object, app.memberNames.sorted() == ["id", "version"],
            let id = app["id"], let version = app["version"]
        else { throw Invalid(problem: "\"app\": expected an object with \"id\" and \"version\"") }
        return (try text(id, of: "app.id"), try text(version, of: "app.version"))
    }

    private static func requireInside(
        _ path: String, of folder: String, member: String
    ) throws(Invalid) {
        // The check below finds nothing wrong with a path whose first folder doesn't exist yet.
        let parts = path.utf8.split(separator: ASCII.slash)
        guard !path.startsWithBytes(of: "~/"),
            !parts.contains(where: { $0.elementsEqual("..".utf8) })
        else {
            throw Invalid(
                problem:
                    "\"\(member)\": found a path in the home folder or with \"..\", expected one "
                    + "in the file's folder or below")
        }
        do {
            try Folder.requireInside(path, of: folder)
        } catch {
            throw Invalid(
                problem: "\"\(member)\": \(error.message); name the project file with --project if "
                    + "you trust it")
        }
    }

    /// Reads a source, and judges it by its kind after it was parsed.
    private static func source(
        _ text: String, of name: String, folder: String, isFound: Bool
    ) throws(Invalid) -> String {
        func refusal() -> Invalid {
            let expected =
                isFound ? "a file or credential:NAME" : "a file, env:NAME or credential:NAME"
            return Invalid(
                problem: "\"\(name)\": found a command, a descriptor or a variable, expected "
                    + "\(expected), because the file may come with somebody else's files; give "
                    + "the source on the command line")
        }
        guard let file = KeySource(text).filePath else {
            let kind = KeySource(text).kind
            guard kind == .credential || kind == .environment && !isFound else { throw refusal() }
            return text
        }
        let path = try path(file, in: folder)
        guard !isFound || !isDevice(path) else { throw refusal() }
        // In a folder named `command:x` the path would be a command, and without a folder commands
        // would take `-` and `prompt` for more than a file's name.
        let isName = !path.utf8.contains(ASCII.slash)
        return isName || KeySource(path).filePath == nil ? "./" + path : path
    }

    /// Whether a path is a descriptor or a device in the spelling of a file, such as `/dev/fd/3`.
    private static func isDevice(_ path: String) -> Bool {
        var path = path.utf8.contains(ASCII.slash) ? path : "./" + path
        // As many links as Linux follows.
        for _ in 0...40 {
            guard let slash = path.lastIndex(of: "/"),
                let folder = Folder.resolved(String(path[...slash]))
            else { return false }
            if ["/dev/", "/proc/", "/sys/"].contains(where: {
                (folder + "/").startsWithBytes(of: $0)
            }) {
                return true
            }
            guard let target = Folder.linkTarget(of: path) else { return false }
            path = target.startsWithBytes(of: "/") ? target : folder + "/" + target
        }
        return true
    }

    /// Returns a path of the file: `~/` is the user's home folder, and a relative path counts from
    /// the file's folder.
    private static func path(_ path: String, in folder: String) throws(Invalid) -> String {
        if path.startsWithBytes(of: "~/") {
            do throws(FileFailure) {
                if let home = try Environment["HOME"], home.startsWithBytes(of: "/") {
                    return home + path.dropFirst(1)
                }
            } catch {
                throw Invalid(problem: error.message)
            }
        }
        return path.startsWithBytes(of: "/") ? path : folder + path
    }

    private static func text(_ value: JSONValue, of name: String) throws(Invalid) -> String {
        guard let text = value.string, !text.isEmpty else {
            throw Invalid(problem: "\"\(name)\": found \(value.typeName), expected text")
        }
        return text
    }
}
#endif
