#if Tool
import ArgumentParser
import SignetCrypto
import SignetJSON
import SignetVault

/// The schema and the three inputs.
struct VaultInputOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The schema of the configuration.", valueName: "FILE"),
        completion: .file())
    var schema: String?

    @Option(
        help: ArgumentHelp(
            "The built-in values, a JSON object KEY:VALUE; nested objects are flattened with dots.",
            valueName: "FILE"), completion: .file())
    var defaults: String?

    @Option(
        help: ArgumentHelp(
            "A value given at launch; may be repeated. A secret is KEY@SOURCE, where SOURCE is a "
                + "file, - for standard input, env:NAME, fd:N, credential:NAME or command:LINE.",
            valueName: "KEY=VALUE|KEY@SOURCE"))
    var launch: [String] = []

    @Option(
        help: ArgumentHelp("The fetched values, a flat JSON object.", valueName: "FILE"),
        completion: .file())
    var fetched: String?

    /// Merges the inputs.
    ///
    /// - Returns: The configuration, and the secrets that the defaults have in the clear, or nil.
    func merged(
        _ project: Project
    ) throws -> (configuration: GlobalConfiguration, clear: ClearSecrets?) {
        let schema = try Schema(contentsOf: project.schema(schema))
        let defaults = try project.defaults(defaults)
        // Read first: what another process changes afterwards isn't removed.
        let clear = ClearSecrets(in: defaults, schema: schema)
        let configuration = try GlobalConfiguration.merging(
            schema: schema, defaults: defaults, launch: launch, fetched: fetched)
        return (configuration, clear)
    }
}

extension GlobalConfiguration {
    /// Merges the files and launch values that a command was given.
    static func merging(
        schema: Schema, defaults: String, launch: [String], fetched: String?
    ) throws -> GlobalConfiguration {
        try GlobalConfiguration(
            schema: schema, defaults: .file(defaults),
            launch: KeyValueArgument.launch(launch, schema: schema),
            fetched: fetched.map(ConfigurationInput.file) ?? .none)
    }
}

/// The source of the root: a key set or a passphrase, exactly one of the two.
struct VaultKeyOptions: ParsableArguments {
    @Option(
        name: [.customShort("k"), .long],
        help: ArgumentHelp(
            "The key set: a file, env:NAME, fd:N, credential:NAME or command:LINE.",
            valueName: "SOURCE"), completion: .file())
    var keys: String?

    @OptionGroup var identity: IdentityOptions

    @Option(
        help: ArgumentHelp(
            "A passphrase in place of keys: as --keys, or prompt to be asked on the terminal.",
            valueName: "SOURCE"), completion: .file())
    var passphrase: String?

    func validate() throws {
        guard keys == nil || passphrase == nil else {
            throw ValidationError(
                "expected one of --keys SOURCE and --passphrase SOURCE, found both")
        }
    }

    /// Returns the source of the key set or of the passphrase: the option's, else the project's.
    func source(_ project: Project) throws(ToolError) -> (text: String, isPassphrase: Bool) {
        if let passphrase { return (passphrase, true) }
        if keys == nil, try !project.namesKeys, let passphrase = project.passphrase {
            return (passphrase, true)
        }
        let keys = try project.required(
            project.keys(keys), option: "one of --keys SOURCE and --passphrase SOURCE",
            variable: "SIGNET_KEYS",
            member: "keys")
        return (keys, false)
    }

    /// Loads the set, or the passphrase.
    ///
    /// - Parameters:
    ///   - twice: Whether a passphrase that a person types is asked for twice.
    ///   - terminal: Where the roots of a shared key set are shown.
    func load(
        _ project: Project, askingTwice twice: Bool = false, notingOn terminal: Terminal
    ) throws -> VaultKeys {
        let source = try source(project)
        guard source.isPassphrase else {
            return .keys(try identity.load(source.text, of: project, notingOn: terminal))
        }
        return .passphrase(try PassphraseOption(text: source.text).load(askingTwice: twice))
    }
}

/// The file with the highest sequence seen, and whether an older dump is accepted.
struct VaultStateOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The file with the highest sequence seen; an older dump is refused.",
            valueName: "FILE"), completion: .file())
    var state: String?

    @Flag(help: "Accept a dump with a lower sequence than the highest one seen, with a note.")
    var acceptRollback = false

    func validate() throws { try ToolError.requireFile(state, subject: "the state") }

    /// Returns the dump's file with its state file.
    ///
    /// - Parameter path: The dump; nil is standard input.
    func dump(_ path: String?, in project: Project) throws(ToolError) -> DumpFile {
        let state = state ?? project.stateFile
        guard !acceptRollback || state != nil else {
            throw .usage("--accept-rollback needs --state FILE")
        }
        return DumpFile(path ?? "-", state: state, rollback: acceptRollback ? .report : .refuse)
    }

    /// Writes a note to standard error if the dump is older than one seen before, or if the state
    /// file has no sequence for its app.
    func note(_ opened: OpenedDump, on terminal: Terminal, of file: DumpFile) {
        guard let check = opened.rollback, let state = file.state else { return }
        if check.isRolledBack {
            terminal.note(
                "found a dump with sequence \(check.sequence), older than sequence "
                    + "\(check.highestSeen ?? 0) that was seen before; accepted because of "
                    + "--accept-rollback")
        } else if check.isFirstUse {
            terminal.note(
                "\(state) had no sequence for this app: this is its first use, or somebody removed "
                    + "the file")
        }
    }

    /// The member `rollback` of a result, or nothing.
    static func object(_ opened: OpenedDump) -> JSONObject {
        guard let check = opened.rollback else { return [:] }
        return [
            "rollback": [
                "sequence": .number(JSONNumber(check.sequence)),
                "highestSeen": check.highestSeen.map { .number(JSONNumber($0)) } ?? .null,
                "firstUse": .bool(check.isFirstUse), "rolledBack": .bool(check.isRolledBack),
            ]
        ]
    }
}

/// The app and the versions that a dump is bound to.
struct VaultBindingOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The app, such as com.example.shop.", valueName: "ID"))
    var appID: String?

    @Option(help: ArgumentHelp("The app's version.", valueName: "V"))
    var appVersion: String?

    @Option(
        help: ArgumentHelp(
            "The network system's version (\(SignetVersion.current)).", valueName: "V"))
    var systemVersion: String?

    /// The binding.
    func binding(_ project: Project) throws(ToolError) -> VersionBinding {
        VersionBinding(
            app: try project.appID(appID), version: try project.appVersion(appVersion),
            systemVersion: systemVersion ?? project.systemVersion ?? SignetVersion.current)
    }
}

/// The older versions whose dumps may be read too.
struct VaultOlderVersionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An older version whose dumps may be read; may be repeated.", valueName: "V"))
    var acceptAppVersion: [String] = []

    @Option(
        help: ArgumentHelp(
            "An older version of the network system; may be repeated.", valueName: "V"))
    var acceptSystemVersion: [String] = []
}
#endif
