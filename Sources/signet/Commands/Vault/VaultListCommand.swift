#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetVault

/// `vault list`: the keys of a sealed dump, without secrets.
struct VaultListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the keys of a sealed dump, and its public values.",
        discussion: """
            Each key with its type, visibility and origin, and the value of public keys; no secret. \
            The origin "dump" is of values that vault init, set or edit made in the dump itself. \
            Without a schema every key is secret, and its type is that of its JSON value. Keys of the \
            schema without a value have the origin "-".
            """,
        examples: [
            "signet vault list shop.dump --schema schema.json --keys keys \\",
            "  --app-id com.example.shop --app-version 1.4.2",
        ])

    @Argument(
        help: ArgumentHelp(
            "The dump; - is standard input, the default without a project.", valueName: "FILE"),
        completion: .file())
    var file: String?

    @Option(
        help: ArgumentHelp(
            "The schema, which says which keys are public; without it every key is secret.",
            valueName: "FILE"),
        completion: .file())
    var schema: String?

    @OptionGroup var reading: VaultReadOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let project = try reading.project.load()
        let schema = try (schema ?? project.schemaFile).map { try Schema(contentsOf: $0) }
        let disclosure = VaultDisclosure(schema: schema, showsSecrets: false)
        let contents = DumpContents(try reading.open(file, in: project, on: common.terminal))
        let unset = contents.namesWithoutValue(of: schema?.keys ?? [])
        let clear = file == nil ? project.clearSecrets(by: schema) : nil
        var table = Table("KEY", "TYPE", "VISIBILITY", "ORIGIN", "VALUE")
        var entries: [JSONValue] = []
        for name in contents.names + unset {
            let entry = contents[name]
            let rule = schema?.rule(named: name)
            let type = rule?.type.rawValue ?? entry.map { $0.value.typeName } ?? "-"
            let visibility = rule?.isPublic == true ? "public" : "secret"
            let isShown = entry.map { disclosure.allows(name, value: $0.value) } ?? false
            let isChanged = contents.isChanged(name)
            var object: JSONObject = [
                "key": .string(name), "type": .string(type), "visibility": .string(visibility),
                "origin": entry.map { .string($0.origin.rawValue) } ?? .null,
                "changed": .bool(isChanged),
            ]
            if isShown { object["value"] = entry?.value }
            entries.append(.object(object))
            let origin = entry.map { isChanged ? "dump" : $0.origin.rawValue } ?? "-"
            table.add([
                (name, .plain), (type, .plain), (visibility, .plain), (origin, .plain),
                (isShown ? entry?.value.text ?? "" : "-", .plain),
            ])
        }
        try common.terminal.result(
            [
                "entries": .array(entries), "withoutValue": .array(unset.map(JSONValue.string)),
                "inTheClear": .array((clear?.names ?? []).map(JSONValue.string)),
            ], lines: table.lines(colored: common.terminal.allowsColor))
        if !unset.isEmpty {
            common.terminal.note("no value: \(unset.joined(separator: ", "))")
        }
        common.terminal.note(clear)
    }
}
#endif
