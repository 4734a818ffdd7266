#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetVault

/// `vault inspect`: the facts that a dump shows without its key.
struct VaultInspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Print the facts that a dump shows without its key.",
        examples: [
            "signet vault inspect shop.dump"
        ])

    @Argument(
        help: ArgumentHelp(
            "The dump; - is standard input, the default without a project.", valueName: "FILE"),
        completion: .file())
    var file: String?

    @OptionGroup var project: ProjectOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let path = try file ?? project.load().dumpFile
        common.terminal.awaitInput("a sealed dump", from: path)
        let dump = try SealedDump(contentsOf: path)
        let binding = dump.binding
        let root = dump.isPassphraseSealed ? "a passphrase, as key" : "key"
        try common.terminal.result(
            dump.inspection,
            lines: [
                "app       \(printable(binding.app.id)) \(printable(binding.app.version))",
                "system    \(printable(binding.system.id)) \(printable(binding.system.version))",
                "sealed    with \(root) \(printable(dump.keyID)) (JWE dir, A256GCM)",
                "inside    \(dump.plaintextByteCount) bytes that only the key opens",
            ])
        if !common.json {
            common.terminal.note("the header isn't authenticated before the dump is opened")
        }
    }
}
#endif
