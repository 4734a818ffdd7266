import ArgumentParser
import SignetJSON
import SignetVault

/// `vault open`: the configuration of a sealed dump.
struct VaultOpenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Print the configuration of a sealed dump, secrets too.",
        discussion: """
            With --json the whole inside: versions, sequence, time, values and origins; with --state \
            also "rollback". Dumps of older versions on a list are read, and never changed.
            """,
        examples: [
            "signet vault open shop.dump -k keys \\",
            "  --app-id com.example.shop --app-version 1.4.2",
        ])

    @Argument(help: ArgumentHelp("The dump; - or none is standard input.", valueName: "FILE"))
    var file: String?

    @OptionGroup var key: VaultKeyOptions
    @OptionGroup var binding: VaultBindingOptions

    @OptionGroup var older: VaultOlderVersionOptions

    @OptionGroup var state: VaultStateOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let opened = try state.dump(file).open(
            with: try key.load(), for: binding.binding, accepting: older.acceptAppVersion,
            system: older.acceptSystemVersion)
        state.note(opened, common.terminal)
        var inside = opened.plaintext
        for (name, value) in VaultStateOptions.object(opened) { inside[name] = value }
        try common.terminal.result(
            inside, text: JSONValue.object(opened.values).serialized(.pretty) + [0x0A])
    }
}
