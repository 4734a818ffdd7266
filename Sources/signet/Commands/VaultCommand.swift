import ArgumentParser
import SignetCrypto
import SignetVault

/// Everything about the configuration and its sealed dump.
struct VaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vault",
        abstract: "Merge, seal and open the configuration.",
        subcommands: [
            VaultPublicCommand.self, VaultSealCommand.self, VaultOpenCommand.self,
            VaultInspectCommand.self, VaultRebindCommand.self, VaultExportKeyCommand.self,
            VaultGetCommand.self,
            VaultSetCommand.self,
            VaultDiffCommand.self,
            VaultMergeCommand.self,
        ])
}

extension VaultError: CodedError {
    var codeName: String { code.name }
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
