#if Tool
import ArgumentParser
import SignetBase
import SignetClient
import SignetCrypto
import SignetPinning
import SignetSystem

/// Which project file fills in the options that were not given.
struct ProjectOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The project file, or its folder; without it SIGNET_PROJECT, else the signet.json of "
                + "this folder or of a parent. \"none\" ignores it.", valueName: "FILE|none"),
        completion: .file())
    var project: String?

    /// Reads the project file that was named or found; empty without one.
    ///
    /// - Throws: `malformed-input`, `unreadable-file`, and for a file that was named
    ///   `project-file-permissions`.
    func load() throws -> Project {
        if let path = try project ?? Project.variable("SIGNET_PROJECT") {
            return try Project(named: path)
        }
        guard let path = try Self.found() else { return Project() }
        return try Project.found(path)
    }

    /// The file of the current folder, or of the nearest parent up to the top of the git work tree
    /// or the home folder, whichever comes first. Outside both, only the current folder counts.
    static func found() throws(ToolError) -> String? {
        guard let current = Folder.current() else { return nil }
        let home = try UserFolder.home.flatMap(Folder.resolved)
        var paths: [String] = []
        var folder = current.utf8[...]
        var up = ""
        while true {
            paths.append(up + "signet.json")
            let isHome = home.map { $0.utf8.elementsEqual(folder) } ?? false
            if isHome || Folder.exists(up + ".git") {
                return paths.first(where: Folder.exists)
            }
            guard let slash = folder.lastIndex(of: ASCII.slash), folder.count > 1 else { break }
            folder = slash == folder.startIndex ? folder[...slash] : folder[..<slash]
            up += "../"
        }
        return paths.first.flatMap { Folder.exists($0) ? $0 : nil }
    }
}

/// The values for required options: the environment, then the project file.
struct Project {
    /// The members of the file; all empty if there is no file.
    let file: ProjectFile
    /// The path of the file, or nil.
    let path: String?
    /// Whether the file was found, not named.
    let isFound: Bool
    /// Whether the file was named, or found in a folder that the user trusts.
    let isTrusted: Bool
    /// Why a file that was found isn't used, and what to do; nil if it is used.
    let leftOut: String?
    /// The thumbprints of the keys that the user trusts in a file that was found.
    let trustedKeys: [String]?
    /// The state that the user trusted of a file that was found, if another one is there now.
    private let trustedBefore: ProjectTrust?

    /// A project without a file.
    init() { self.init(ProjectFile(), path: nil, isTrusted: false) }

    private init(
        _ file: ProjectFile, path: String?, isFound: Bool = true, isTrusted: Bool,
        leftOut: String? = nil, trustedKeys: [String]? = nil, trustedBefore: ProjectTrust? = nil
    ) {
        self.file = file
        self.path = path
        self.isFound = isFound
        self.isTrusted = isTrusted
        self.leftOut = leftOut
        self.trustedKeys = trustedKeys
        self.trustedBefore = trustedBefore
    }

    /// Reads a file that the user named, or the `signet.json` of a folder. With `none`, reads
    /// nothing.
    init(named path: String) throws {
        guard path != "none" else {
            self.init()
            return
        }
        let inFolder = path + (path.endsWithBytes(of: "/") ? "" : "/") + "signet.json"
        let path = Folder.exists(inFolder) ? inFolder : path
        self.init(
            try ProjectFile(file: path), path: path, isFound: false, isTrusted: true)
    }

    /// Reads a file that was found, which may have come with somebody else's files.
    static func found(_ path: String) throws -> Project {
        let file: ProjectFile
        do {
            file = try ProjectFile(file: path, isFound: true)
        } catch {
            guard error.code == .projectFilePermissions else { throw error }
            return leavingOut("\(error.message); name it with --project if you trust it")
        }
        let trust = try trust(of: path)
        let isTrusted = trust.map { ProjectTrust(file).equals($0) } ?? false
        return Project(
            isTrusted ? file : readOnly(file), path: path, isTrusted: isTrusted,
            trustedKeys: isTrusted ? trust?.keys : nil, trustedBefore: isTrusted ? nil : trust)
    }

    /// The project for a command that runs, writes, signs, verifies or connects by what it names:
    /// without a file if that was found in a folder that the user doesn't trust.
    var acting: Project {
        guard let path, !isTrusted else { return self }
        return Self.leavingOut(untrusted(path))
    }

    private func untrusted(_ path: String) -> String {
        if let trustedBefore, ProjectTrust(file).lacksOnlyKeys(of: trustedBefore),
            let keys = file.keys.flatMap({ KeySource($0).filePath }), !Folder.exists(keys)
        {
            return
                "\(printable(keys)), the key set of \(path), doesn't exist; restore it from a copy. "
                + "Without a copy the dump stays closed: make a key with signet keys new --type vault, "
                + "run signet project trust, and seal new values with signet vault seal --replace"
        }
        return trustedBefore != nil
            ? "\(path) or its keys changed since you trusted its folder; look at signet project "
                + "show, then run signet project trust, or name it with --project"
            : "\(path) was found but its folder isn't trusted; look at it, then run signet project "
                + "trust, or name it with --project"
    }

    /// Refuses to leave out what the file names for a call, if its folder isn't trusted: a call
    /// that should be signed would be sent without a signature.
    ///
    /// - Parameter members: The members that no option replaces.
    func requireTrust(for members: [String]) throws(ToolError) {
        guard let path, !isTrusted,
            let member = members.first(where: { file.content[$0] != nil })
        else { return }
        throw .usage("the \"\(member)\" of signet.json isn't used: \(untrusted(path))")
    }

    /// Refuses to reach the hosts of a file that was found, unless its folder is trusted.
    func requireTrustForHosts() throws(ToolError) {
        guard let path, !isTrusted else { return }
        throw .usage(
            "the hosts can't be checked: \(untrusted(path)); --offline checks the files alone")
    }

    private static func leavingOut(_ reason: String) -> Project {
        Project(ProjectFile(), path: nil, isTrusted: false, leftOut: reason)
    }

    /// Returns a file without the members that a command would write or connect by.
    private static func readOnly(_ file: ProjectFile) -> ProjectFile {
        var file = file
        file.state = nil
        file.caFile = nil
        file.connectTo = []
        file.namesAnyFile = false
        return file
    }

    /// Returns what the user trusts in the folder of a project file, or nil.
    static func trust(of path: String) throws -> ProjectTrust? {
        try folder(of: path).flatMap { try TrustList()[$0] }
    }

    /// Returns the real path of a project file's folder, or nil if it was removed.
    static func folder(of path: String) -> String? {
        Folder.resolved(InputFile.folder(of: path))
    }

    /// The members that commands take as they are.
    var dumpFile: String? { file.dump }
    var schemaFile: String? { file.schema }
    var defaultsFile: String? { file.defaults }
    var stateFile: String? { file.state }
    var keyID: String? { file.keyID }
    var passphrase: String? { file.passphrase }
    var systemVersion: String? { file.systemVersion }
    var keySource: String? { file.keys }
    var scheme: String? { file.scheme }
    /// Whether the environment or the file names a key set.
    var namesKeys: Bool { get throws(ToolError) { try keys(nil) != nil } }

    /// The value of an environment variable, or nil if it is not set or empty.
    ///
    /// - Throws: wrong usage if the value isn't UTF-8.
    static func variable(_ name: String) throws(ToolError) -> String? {
        do throws(FileFailure) {
            return try Environment[name].flatMap { $0.isEmpty ? nil : $0 }
        } catch {
            throw .usage(error.message)
        }
    }

    /// Returns the app's id.
    func appID(_ given: String?) throws(ToolError) -> String {
        try required(
            chosen(given, variable: "SIGNET_APP_ID", member: file.appID), option: "--app-id ID",
            variable: "SIGNET_APP_ID", member: "app")
    }

    /// Returns the app's version.
    func appVersion(_ given: String?) throws(ToolError) -> String {
        try required(
            chosen(given, variable: "SIGNET_APP_VERSION", member: file.appVersion),
            option: "--app-version V",
            variable: "SIGNET_APP_VERSION", member: "app")
    }

    /// Returns the source of the keys, or nil if nothing names one.
    func keys(_ given: String?) throws(ToolError) -> String? {
        try chosen(given, variable: "SIGNET_KEYS", member: file.keys)
    }

    private func chosen(
        _ given: String?, variable: String, member: String?
    ) throws(ToolError) -> String? {
        if let given { return given }
        return try Self.variable(variable) ?? member
    }

    /// Returns the configuration's schema.
    func schema(_ given: String?) throws(ToolError) -> String {
        try required(given ?? file.schema, option: "--schema FILE", member: "schema")
    }

    /// Returns the file of the defaults.
    func defaults(_ given: String?) throws(ToolError) -> String {
        try required(given ?? file.defaults, option: "--defaults FILE", member: "defaults")
    }

    /// Returns the sealed dump, which a command changes.
    func changedDump(_ given: String?, as option: String = "FILE") throws(ToolError) -> String {
        try ToolError.file(dump(given, as: option), subject: "a dump")
    }

    /// Returns the sealed dump.
    func dump(_ given: String?, as option: String = "FILE") throws(ToolError) -> String {
        try required(given ?? file.dump, option: option, member: "dump")
    }

    /// Returns the sealed dump and the other arguments: the dump is an option's, else the
    /// project's, else the first argument.
    func dump(
        _ given: String?, before arguments: [String]
    ) throws(ToolError) -> (path: String, rest: [String]) {
        if let path = given ?? file.dump { return (path, arguments) }
        return (try dump(arguments.first), Array(arguments.dropFirst()))
    }

    /// The same without what is about one version: the keys alone.
    var keysAlone: Project {
        var keys = ProjectFile()
        keys.keys = file.keys
        keys.passphrase = file.passphrase
        return Project(
            keys, path: path, isFound: isFound, isTrusted: isTrusted, leftOut: leftOut,
            trustedKeys: trustedKeys)
    }

    /// Reads a pin policy: the given one, else the project's; nil without one. The policy of a file
    /// that was found needs no trust unless it has CAs of its own: it can only refuse more.
    func pinPolicy(_ given: String?) throws -> PinPolicy? {
        guard let path = given ?? file.policy else { return nil }
        guard given == nil, !isTrusted else { return try PinPolicy(file: path) }
        let bytes = try InputFile.read(path, limit: 16 << 20)
        do throws(PinError) {
            // Without a folder, the files of CAs are not opened: they could be any files.
            return try PinPolicy(parsing: bytes)
        } catch {
            throw ToolError(
                error.code,
                "\(printable(path)): \(error.message) (CA files are not read, because the folder of "
                    + "the signet.json isn't trusted: look at it, then run signet project trust, or "
                    + "give --policy FILE)")
        }
    }

    /// Returns a required value, or throws the error that names everything that can give it.
    func required(
        _ value: String?, option: String, variable: String? = nil, member: String
    ) throws(ToolError) -> String {
        if let value { return value }
        let other = variable.map { ", set \($0)" } ?? ""
        throw .usage(
            "missing \(option): "
                + (leftOut ?? "give it\(other), or name it in a signet.json (member \"\(member)\")")
        )
    }

    /// Says that a file which was found isn't used.
    func note(on terminal: Terminal) {
        if let leftOut { terminal.note(leftOut) }
    }
}
#endif
