#if Tool
import ArgumentParser

/// `pins schema`: the form of a pin policy.
struct PinsSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema (2020-12) of a pin policy.",
        discussion: """
            For editors. signet pins lint also finds duplicate hosts and dates that do not exist.
            """,
        examples: ["signet pins schema > policy.schema.json"])

    @OptionGroup var common: CommonOptions

    func run() throws { try common.terminal.result(documentSchema: DocumentSchemas.pinPolicy) }
}
#endif
