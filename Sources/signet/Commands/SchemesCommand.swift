import ArgumentParser
import SignetJSON
import SignetSigning

/// `signet schemes`: the ways to sign.
struct SchemesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schemes", abstract: "The ways to sign.",
        subcommands: [SchemesListCommand.self], defaultSubcommand: SchemesListCommand.self)
}

/// `signet schemes list`: their names.
struct SchemesListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the names that --scheme takes.")

    @OptionGroup var common: CommonOptions

    func run() throws {
        let names = SigningScheme.all.map(\.name)
        try common.terminal.result(
            ["schemes": .array(names.map(JSONValue.string))], lines: names)
    }
}
