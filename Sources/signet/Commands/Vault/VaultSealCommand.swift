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
            The dump is written to a new file with mode 0600, which is renamed over the old one. \
            Over a dump of the same app that the same keys open, the sequence increases by one, \
            and the values that vault set or edit changed there are kept and named. A dump that \
            does not open is not replaced, because its changes would be lost. --replace turns both \
            rules off.
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
    var out: String?

    @Flag(help: "Drop the dump's own changes, and replace even a dump that does not open.")
    var replace = false

    @OptionGroup var state: VaultStateOptions
    @OptionGroup var project: ProjectOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let project = try project.load()
        let configuration = try inputs.merged(project)
        let binding = try binding.binding(project)
        let file = try state.dump(project.dump(out, as: "--out FILE"), in: project)
        let source = try key.source(project)
        let sealed = try file.seal(
            configuration, with: try key.load(project, askingTwice: true),
            keyID: keyID ?? (source.isPassphrase ? nil : project.keyID), for: binding,
            keepingChanges: !replace)
        state.note(sealed, on: common.terminal, of: file)
        let dump = sealed.dump
        let sequence = sealed.sequence
        let bound = dump.binding
        var object: JSONObject = [
            "out": .string(file.path), "sequence": .number(JSONNumber(sequence)),
            "kept": .array(sealed.changed.map(JSONValue.string)),
        ]
        for (name, value) in dump.inspection { object[name] = value }
        for (name, value) in VaultStateOptions.object(sealed) { object[name] = value }
        let kept = sealed.changed.map { printable($0) }.joined(separator: ", ")
        try common.terminal.result(
            object,
            lines: [
                "sealed \(DumpContents(sealed).count) values for \(printable(bound.app.id)) "
                    + "\(printable(bound.app.version)) into \(file) "
                    + "(\(dump.bytes.count) bytes, sequence \(sequence))"
            ] + (kept.isEmpty ? [] : ["kept the changes that were made in the dump: \(kept)"]))
    }
}
