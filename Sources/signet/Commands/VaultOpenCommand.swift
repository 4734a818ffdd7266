import ArgumentParser
import SignetJSON
import SignetVault

/// `vault open`: the configuration of a sealed dump.
struct VaultOpenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Print the configuration of a sealed dump, secrets too.",
        discussion: "With --json the whole inside: versions, sequence, time, values and origins.")

    @Argument(help: ArgumentHelp("The dump; - or none is standard input.", valueName: "FILE"))
    var file: String?

    @OptionGroup var key: VaultKeyOptions
    @OptionGroup var binding: VaultBindingOptions

    @Option(
        help: ArgumentHelp(
            "An older version whose dumps may be read; may be repeated.", valueName: "V"))
    var acceptAppVersion: [String] = []

    @OptionGroup var common: CommonOptions

    func run() throws {
        let dump = try SealedDump(contentsOf: file)
        let opened = try dump.open(
            with: try key.load(), for: binding.binding, accepting: acceptAppVersion)
        try common.terminal.result(
            opened.plaintext, text: JSONValue.object(opened.values).serialized(.pretty) + [0x0A])
    }
}
