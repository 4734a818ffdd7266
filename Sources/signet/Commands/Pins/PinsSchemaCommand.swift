import ArgumentParser

/// `pins schema`: the form of a pin policy.
struct PinsSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema (2020-12) of a pin policy.",
        discussion: """
            For editors. Whether a host is there twice and whether a date exists, signet pins lint \
            tells.

            Example: signet pins schema > policy.schema.json
            """)

    @OptionGroup var common: CommonOptions

    func run() throws { try common.terminal.result(documentSchema: DocumentSchemas.pinPolicy) }
}
