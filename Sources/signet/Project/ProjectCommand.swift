import ArgumentParser

/// `signet project`: the project file.
struct ProjectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "project", abstract: "The project file, signet.json.",
        discussion: """
            A signet.json in this folder or a parent fills in the options --app-id, --app-version, \
            --keys, --key-id, --schema, --defaults, --state and the dump if they are missing. An \
            option wins, then SIGNET_APP_ID, SIGNET_APP_VERSION and SIGNET_KEYS, then the file. \
            --project FILE or SIGNET_PROJECT names another file, --project none ignores it.
            """,
        examples: ["signet project schema > signet.schema.json"],
        subcommands: [ProjectSchemaCommand.self])
}

/// `project schema`: the form of the project file.
struct ProjectSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema (2020-12) of signet.json.",
        examples: ["signet project schema > signet.schema.json"])

    @OptionGroup var common: CommonOptions

    func run() throws { try common.terminal.result(documentSchema: DocumentSchemas.project) }
}
