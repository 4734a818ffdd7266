#if Tool
import ArgumentParser

/// `vault schema`: the form of a configuration's schema.
struct VaultSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema (2020-12) of a configuration's schema.",
        discussion: """
            For editors. It checks each rule alone. signet vault public also checks that a minimum \
            is below its maximum, and that a listed value passes the rest of its rule.
            """,
        examples: ["signet vault schema > vault.schema.json"])

    @OptionGroup var common: CommonOptions

    func run() throws { try common.terminal.result(documentSchema: DocumentSchemas.configuration) }
}
#endif
