import ArgumentParser
import SignetCrypto
import SignetJSON
import SignetVault

/// Everything about the configuration and its sealed dump.
struct VaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vault",
        abstract: "Merge, seal and open the configuration.",
        subcommands: [
            VaultPublicCommand.self, VaultSealCommand.self, VaultOpenCommand.self,
            VaultInspectCommand.self, VaultRebindCommand.self, VaultExportKeyCommand.self,
            VaultRekeyCommand.self,
            VaultGetCommand.self,
            VaultSetCommand.self,
            VaultEditCommand.self,
            VaultDiffCommand.self,
            VaultMergeCommand.self,
        ])
}

/// The schema and the three inputs.
struct VaultInputOptions: ParsableArguments {
    @Option(help: ArgumentHelp("What may be set, by whom and to what.", valueName: "FILE"))
    var schema: String

    @Option(help: ArgumentHelp("The built-in values, a flat JSON object.", valueName: "FILE"))
    var defaults: String

    @Option(
        help: ArgumentHelp("A value given at launch; may be repeated.", valueName: "KEY=VALUE"))
    var launch: [String] = []

    @Option(help: ArgumentHelp("The fetched values, a flat JSON object.", valueName: "FILE"))
    var fetched: String?

    /// Merges the inputs.
    func merged() throws(VaultError) -> GlobalConfiguration {
        try GlobalConfiguration(
            schema: Schema(contentsOf: schema), defaults: .file(defaults), launch: .texts(launch),
            fetched: fetched.map(ConfigurationInput.file) ?? .none)
    }
}

/// Where the root comes from: a key set or a passphrase, exactly one of the two.
struct VaultKeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The key set: a file, env:NAME, fd:N, credential:NAME or command:LINE.",
            valueName: "SOURCE"))
    var keys: String?

    @Option(
        help: ArgumentHelp(
            "A passphrase in place of keys: as --keys, or prompt to be asked on the terminal.",
            valueName: "SOURCE"))
    var passphrase: String?

    func validate() throws {
        guard (keys == nil) != (passphrase == nil) else {
            throw ValidationError("wanted one of --keys SOURCE and --passphrase SOURCE")
        }
    }

    /// Loads the set, or the passphrase.
    ///
    /// - Parameter twice: Whether a passphrase that a person types is asked for twice.
    func load(askingTwice twice: Bool = false) throws -> VaultKeys {
        if let passphrase {
            let option = PassphraseOption(text: passphrase)
            return .passphrase(try option.load(askingTwice: twice))
        }
        return .keys(try KeySource(keys ?? "").load())
    }
}

/// The highest sequence seen, and what becomes of an older dump.
struct VaultStateOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where the highest sequence seen is kept; an older dump is then refused.",
            valueName: "FILE"))
    var state: String?

    @Flag(help: "Let a dump with a lower sequence than one that was seen pass, and say so.")
    var acceptRollback = false

    func validate() throws {
        guard !acceptRollback || state != nil else {
            throw ValidationError("--accept-rollback needs --state FILE")
        }
    }

    /// The dump's file with its state file.
    func dump(_ path: String?) -> DumpFile {
        DumpFile(path ?? "-", state: state, rollback: acceptRollback ? .report : .refuse)
    }

    /// Says on standard error what a person should know.
    func note(_ opened: OpenedDump, _ terminal: Terminal) {
        guard let check = opened.rollback, let state else { return }
        if check.isRolledBack {
            terminal.note(
                "the dump has sequence \(check.sequence), and \(check.highestSeen ?? 0) was seen "
                    + "before: an older dump was put back (accepted)")
        } else if check.isFirstUse {
            terminal.note(
                "\(state) knew nothing of this app: its first use, or somebody took it away")
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

/// What a dump is bound to.
struct VaultBindingOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The app, such as com.example.shop.", valueName: "ID"))
    var appID: String

    @Option(help: ArgumentHelp("The app's version.", valueName: "V"))
    var appVersion: String

    @Option(help: ArgumentHelp("The network system's version.", valueName: "V"))
    var systemVersion: String = SignetVersion.current

    /// The binding.
    var binding: VersionBinding {
        VersionBinding(app: appID, version: appVersion, systemVersion: systemVersion)
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
