import ArgumentParser
import SignetClient
internal import SignetSystem

/// Which project file fills in the options that were not given.
struct ProjectOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The project file; without it SIGNET_PROJECT, else the signet.json of this folder or of "
                + "a parent. \"none\" ignores it.", valueName: "FILE|none"), completion: .file())
    var project: String?

    /// Reads the project file that was named or found; empty without one.
    ///
    /// - Throws: `malformed-input`, `unreadable-file`, `project-file-permissions`.
    func load() throws -> Project {
        try Project(file: project ?? Project.variable("SIGNET_PROJECT") ?? Self.found())
    }

    /// Reads the project file only if the option names it. A file that was found may have come with
    /// somebody else's repository, and must not choose keys, pins or schemes.
    func loadNamed() throws -> Project { try Project(file: project) }

    /// The file of the current folder or the nearest parent that has one.
    private static func found() -> String? {
        var path = "signet.json"
        let depth = Folder.current()?.split(separator: "/").count ?? 0
        for _ in 0...depth {
            if Folder.exists(path) { return path }
            path = "../" + path
        }
        return nil
    }
}

/// The values for required options: the environment, then the project file.
struct Project {
    /// The members of the file; all empty if there is no file.
    let file: SelfCheckProject

    /// Reads a file. With nil or `none`, reads nothing.
    init(file path: String?) throws {
        let path = path == "none" ? nil : path
        file = try path.map { try SelfCheckProject(file: $0) } ?? SelfCheckProject()
    }

    /// The members that commands take as they are.
    var dumpFile: String? { file.dump }
    var schemaFile: String? { file.schema }
    var stateFile: String? { file.state }
    var keyID: String? { file.keyID }
    var passphrase: String? { file.passphrase }
    var systemVersion: String? { file.systemVersion }
    var keySource: String? { file.keys }
    var policy: String? { file.policy }
    var scheme: String? { file.scheme }
    /// Whether the environment or the file names a key set.
    var namesKeys: Bool { keys(nil) != nil }

    /// The value of an environment variable, or nil if it is not set or empty.
    static func variable(_ name: String) -> String? {
        Environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the app's id.
    func appID(_ given: String?) throws(ToolError) -> String {
        try Self.required(
            given ?? Self.variable("SIGNET_APP_ID") ?? file.appID, option: "--app-id ID",
            variable: "SIGNET_APP_ID", member: "app")
    }

    /// Returns the app's version.
    func appVersion(_ given: String?) throws(ToolError) -> String {
        try Self.required(
            given ?? Self.variable("SIGNET_APP_VERSION") ?? file.appVersion,
            option: "--app-version V",
            variable: "SIGNET_APP_VERSION", member: "app")
    }

    /// Returns the source of the keys, or nil if nothing names one.
    func keys(_ given: String?) -> String? {
        given ?? Self.variable("SIGNET_KEYS") ?? file.keys
    }

    /// Returns the configuration's schema.
    func schema(_ given: String?) throws(ToolError) -> String {
        try Self.required(given ?? file.schema, option: "--schema FILE", member: "schema")
    }

    /// Returns the file of the defaults.
    func defaults(_ given: String?) throws(ToolError) -> String {
        try Self.required(given ?? file.defaults, option: "--defaults FILE", member: "defaults")
    }

    /// Returns the sealed dump, which a command changes.
    func changedDump(_ given: String?, as option: String = "FILE") throws(ToolError) -> String {
        try ToolError.file(dump(given, as: option), subject: "a dump")
    }

    /// Returns the sealed dump.
    func dump(_ given: String?, as option: String = "FILE") throws(ToolError) -> String {
        try Self.required(given ?? file.dump, option: option, member: "dump")
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
        var keys = SelfCheckProject()
        keys.keys = file.keys
        keys.passphrase = file.passphrase
        return Project(file: keys)
    }

    private init(file: SelfCheckProject) { self.file = file }

    /// Returns a required value, or throws the error that names everything that can give it.
    static func required(
        _ value: String?, option: String, variable: String? = nil, member: String
    ) throws(ToolError) -> String {
        if let value { return value }
        let other = variable.map { ", set \($0)" } ?? ""
        throw .usage(
            "missing \(option): give it\(other), or name it in a signet.json (member \"\(member)\")"
        )
    }
}
