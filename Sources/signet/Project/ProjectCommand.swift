#if Tool
import ArgumentParser
import SignetBase
import SignetClient
import SignetCrypto
import SignetJSON
import SignetSystem

/// `signet project`: the project file, and the folders whose project files the user trusts.
struct ProjectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "project", abstract: "The project file, signet.json.",
        discussion: """
            A signet.json in this folder or a parent, up to the top of the git work tree or the \
            home folder, fills in the options --app-id, --app-version, --keys, --key-id, --schema, \
            --defaults, --state and the dump if they are missing. An option wins, then \
            SIGNET_APP_ID, SIGNET_APP_VERSION and SIGNET_KEYS, then the file. --project FILE or \
            SIGNET_PROJECT names another file, --project none ignores it.

            A file that is named is trusted. One that was found may have come with somebody else's \
            files: commands that run, write, sign, verify or connect by it need signet project \
            trust. vault init trusts what it makes.
            """,
        examples: ["signet project schema > signet.schema.json"],
        subcommands: [
            ProjectTrustCommand.self, ProjectUntrustCommand.self, ProjectShowCommand.self,
            ProjectSchemaCommand.self,
        ])
}

/// The folder that a command of `signet project` is about.
struct ProjectFolder: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The folder of the signet.json; without it, that of the one that commands find.",
            valueName: "FOLDER"), completion: .directory)
    var folder: String?

    /// Returns the path of the project file and the real path of its folder.
    func locate() throws(ToolError) -> (path: String, folder: String) {
        let path: String?
        if let folder {
            path = folder + "/signet.json"
        } else {
            path = try ProjectOptions.found()
        }
        guard let path, Folder.exists(path), let real = Project.folder(of: path) else {
            throw .usage("found no signet.json in \(printable(folder ?? "this folder or above"))")
        }
        return (path, real)
    }
}

/// A project file, what its folder has now, and what the user trusted in it before.
private struct ProjectState {
    let path: String
    let folder: String
    let now: ProjectTrust
    let before: ProjectTrust?

    init(_ folder: ProjectFolder, identity: IdentityOptions) throws {
        (path, self.folder) = try folder.locate()
        now = try ProjectTrust(
            ProjectFile(file: path, isFound: true), identity: identity.source)
        before = try TrustList()[self.folder]
    }

    /// The differences, a line each.
    var changes: [String] { before.map { now.changes(since: $0) } ?? [] }

    /// The folder, its keys and the differences.
    var object: JSONObject {
        [
            "folder": .string(folder), "keys": .array(now.keys.map(JSONValue.string)),
            "changes": .array(changes.map(JSONValue.string)),
        ]
    }
}

/// `project trust`: lets commands act by the project file of a folder.
struct ProjectTrustCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust", abstract: "Trust the project file of a folder.",
        discussion: """
            Look at the file first: commands will run programs, write files, sign and connect by \
            what it names. The trust holds for this folder, not for those below, for this content, \
            for its keys, and for the files of caFile, scheme and passphrase. vault rebind, vault rekey and keys new, import, remove \
            and revoke carry it on; another change ends it, and this command shows what changed.
            """,
        examples: ["signet project trust"])

    @OptionGroup var folder: ProjectFolder
    @OptionGroup var identity: IdentityOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let state = try ProjectState(folder, identity: identity)
        guard !state.now.isSealed else {
            throw KeyError(
                .missingIdentity,
                "the keys of \(printable(state.path)) are a shared set; give your private key with "
                    + "--identity SOURCE, so that its roots are trusted too")
        }
        try TrustList.set(state.now, for: state.folder)
        let keys = state.now.keys.map { "key: \($0)" }
        try common.terminal.result(
            state.object,
            lines: (["trusted \(state.folder)"] + (state.before == nil ? keys : state.changes))
                .map(printable))
    }
}

/// `project untrust`: takes the trust of a folder back.
struct ProjectUntrustCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "untrust", abstract: "Take the trust of a folder back.",
        examples: ["signet project untrust"])

    @OptionGroup var folder: ProjectFolder
    @OptionGroup var common: CommonOptions

    func run() throws {
        let real: String
        // The file, or the folder, may be gone.
        if let folder = folder.folder {
            real = Folder.resolved(folder) ?? folder
        } else {
            real = try folder.locate().folder
        }
        try TrustList.set(nil, for: real)
        try common.terminal.result(
            ["folder": .string(real)], lines: ["\(printable(real)) isn't trusted"])
    }
}

/// `project show`: whether the user trusts a folder, and what changed.
struct ProjectShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print the project file that is found, and its trust.",
        examples: ["signet project show"])

    @OptionGroup var folder: ProjectFolder
    @OptionGroup var identity: IdentityOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let state = try ProjectState(folder, identity: identity)
        let word =
            state.before == nil
            ? "not trusted" : state.changes.isEmpty ? "trusted" : "no longer trusted"
        var object: JSONObject = ["project": .string(state.path), "state": .string(word)]
        for (name, value) in state.object { object[name] = value }
        try common.terminal.result(
            object, lines: (["\(state.path): \(word)"] + state.changes).map(printable))
    }
}

/// `project schema`: the form of the project file.
struct ProjectSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema (2020-12) of signet.json.",
        examples: ["signet project schema > signet.schema.json"])

    @OptionGroup var common: CommonOptions

    func run() throws { try common.terminal.result(documentSchema: DocumentSchemas.project) }
}
#endif
