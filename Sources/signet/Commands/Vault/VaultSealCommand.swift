import ArgumentParser
internal import SignetBase
import SignetCrypto
import SignetJSON
import SignetVault

/// `vault seal`: the merged configuration as a sealed dump in a file.
struct VaultSealCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seal", abstract: "Seal the merged configuration to the app's version.",
        discussion: """
            The file is written beside the old one and renamed over it, with mode 0600. Over a \
            dump of the same app that the same keys open, the sequence goes on by one.
            """,
        examples: [
            "signet vault seal --schema schema.json --defaults defaults.json -k keys \\",
            "  --app-id com.example.shop --app-version 1.4.2 -o shop.dump",
        ])

    @OptionGroup var inputs: VaultInputOptions
    @OptionGroup var key: VaultKeyOptions

    @Option(
        help: ArgumentHelp(
            "The root's id in the key set, if it has several; with a passphrase any name.",
            valueName: "ID"))
    var keyID: String?

    @OptionGroup var binding: VaultBindingOptions

    @Option(
        name: [.customShort("o"), .long],
        help: ArgumentHelp("The dump to write.", valueName: "FILE"), completion: .file())
    var out: String

    @OptionGroup var state: VaultStateOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let configuration = try inputs.merged()
        let sealed = try state.dump(out).seal(
            configuration, with: try key.load(askingTwice: true), keyID: keyID, for: binding.binding
        )
        state.note(sealed, common.terminal)
        let dump = sealed.dump
        let sequence = sealed.sequence
        let bound = dump.binding
        var object: JSONObject = ["out": .string(out), "sequence": .number(JSONNumber(sequence))]
        for (name, value) in dump.inspection { object[name] = value }
        for (name, value) in VaultStateOptions.object(sealed) { object[name] = value }
        try common.terminal.result(
            object,
            lines: [
                "sealed \(configuration.count) values for \(printable(bound.app.id)) "
                    + "\(printable(bound.app.version)) into \(printable(out)) "
                    + "(\(dump.bytes.count) bytes, sequence \(sequence))"
            ])
    }
}
