#if Tool
import ArgumentParser
import SignetBase
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
            and the values that vault init, set or edit made there are kept and named. If another \
            value of the dump would be lost, because this run does not give it, nothing is sealed \
            (would-lose-values). A dump that does not open is not replaced either. --replace turns \
            these rules off, and names what it drops.

            A value in the project's defaults whose key the schema calls secret, because a guess of \
            vault init was corrected, is moved out of that file into the dump, and named. With \
            --defaults or --out it is named alone.
            """,
        examples: [
            "signet vault seal --schema schema.json --defaults defaults.json -k keys \\",
            "  --app-id com.example.shop --app-version 1.4.2 -o shop.dump",
        ])

    @OptionGroup var inputs: VaultInputOptions
    @OptionGroup var key: VaultKeyOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The root's id in the key set, if it has several; with a passphrase any name.",
            valueName: "ID"))
    var keyID: String?

    @OptionGroup var binding: VaultBindingOptions

    @Option(
        name: [.customShort("o"), .long],
        help: ArgumentHelp("The dump to write.", valueName: "FILE"), completion: .file())
    var out: String?

    @Flag(
        help: """
            Drop the dump's own changes and the values that this run does not give, and replace \
            even a dump that does not open.
            """)
    var replace = false

    @OptionGroup var state: VaultStateOptions
    @OptionGroup var project: ProjectOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let project = try project.load().acting
        let (configuration, clear) = try inputs.merged(project)
        let binding = try binding.binding(project)
        let file = try state.dump(project.changedDump(out, as: "--out FILE"), in: project)
        let source = try key.source(project)
        let moved = inputs.defaults == nil && out == nil ? clear?.names ?? [] : []
        var given = DumpContents(configuration)
        // Marked, so that a later seal, which doesn't find them among the defaults, keeps them.
        given.markChanged(moved.filter { given[$0]?.origin == .defaults })
        let sealed = try file.seal(
            given, of: configuration.schema,
            with: try key.load(project, askingTwice: true, notingOn: common.terminal),
            keyID: keyID ?? (source.isPassphrase ? nil : project.keyID), for: binding,
            keepingChanges: !replace)
        state.note(sealed, on: common.terminal, of: file)
        if !moved.isEmpty { try clear?.remove() }
        let dump = sealed.dump
        let sequence = sealed.sequence
        let bound = dump.binding
        let replacement = sealed.replacement
        let contents = DumpContents(sealed)
        let unset = contents.namesWithoutValue(of: configuration.schema.keys)
        let kept = sealed.changed.filter { name in
            !moved.contains { sameBytes($0, name) } || contents[name]?.value != given[name]?.value
        }
        var object: JSONObject = [
            "out": .string(file.path), "sequence": .number(JSONNumber(sequence)),
            "kept": .array(kept.map(JSONValue.string)),
            "moved": .array(moved.map(JSONValue.string)),
            "inTheClear": .array((moved.isEmpty ? clear?.names ?? [] : []).map(JSONValue.string)),
            "ignored": .array((replacement?.ignored ?? []).map(JSONValue.string)),
            "dropped": replacement?.dropped.map { .array($0.map(JSONValue.string)) } ?? .null,
            "withoutValue": .array(unset.map(JSONValue.string)),
        ]
        for (name, value) in dump.inspection { object[name] = value }
        for (name, value) in VaultStateOptions.object(sealed) { object[name] = value }
        var lines = [
            "sealed \(contents.count) values for \(printable(bound.app.id)) "
                + "\(printable(bound.app.version)) into \(file) "
                + "(\(dump.bytes.count) bytes, sequence \(sequence))"
        ]
        func add(_ words: String, _ names: [String]) {
            guard !names.isEmpty else { return }
            lines.append("\(words): \(names.map { printable($0) }.joined(separator: ", "))")
        }
        add("moved out of \(printable(clear?.path ?? "")), where they were in the clear", moved)
        add("kept the changes that were made in the dump", kept)
        add(
            "ignored the given values, because the dump's changes were kept",
            replacement?.ignored ?? [])
        add("dropped", replacement?.dropped ?? [])
        if replacement?.dropped == nil {
            lines.append("the old dump did not open, so its keys cannot be named")
        }
        add("no value", unset)
        try common.terminal.result(object, lines: lines)
        guard let clear else { return }
        common.terminal.note(
            moved.isEmpty
                ? "\(clear); signet vault set --origin launch KEY@SOURCE puts one into the dump, then "
                    + "remove it from the file"
                : "if others may have read \(printable(clear.path)) (a commit, a copy), replace the "
                    + "values that were moved")
    }
}
#endif
