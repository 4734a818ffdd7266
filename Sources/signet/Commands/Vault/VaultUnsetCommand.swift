#if Tool
import ArgumentParser
import SignetVault

/// `vault unset`: values removed from a sealed dump.
struct VaultUnsetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unset", abstract: "Remove values from a sealed dump.",
        discussion: """
            The keys stay in the schema: delete their lines there if no value should be set again. \
            The dump is sealed with the next sequence, or left unchanged if none of the keys has a \
            value. A later vault seal keeps the values removed. A key that the schema requires can't \
            be removed.
            """,
        examples: [
            "signet vault unset shop.dump partner.token --schema schema.json \\",
            "  -k keys --app-id com.example.shop --app-version 1.4.2",
        ])

    @Argument(
        help: ArgumentHelp(
            "The dump, unless --dump or a project names it; then the keys.", valueName: "KEY"),
        completion: KeyCompletion.keysOrDump)
    var arguments: [String] = []

    @OptionGroup var options: VaultChangeOptions

    func run() throws {
        let (dump, names) = try options.dump(arguments)
        guard !names.isEmpty else {
            throw ToolError.usage(dump.project.leftOut ?? "nothing to remove: expected KEY")
        }
        try KeyValueArgument.requireOnce(names)
        let schema = try Schema(contentsOf: dump.schema)
        try options.change(dump, schema: schema) { contents throws(VaultError) in
            for name in names {
                // A value whose key the schema lost can be removed too.
                guard schema.rule(named: name) != nil || contents[name] != nil else {
                    throw KeySelection.unknown(name, among: schema.keys)
                }
                contents = contents.removing(name)
            }
        }
    }
}
#endif
