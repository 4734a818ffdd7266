import ArgumentParser
import SignetJSON
import SignetSigning

/// `signet schemes`: the ways to sign.
struct SchemesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schemes", abstract: "The ways to sign.",
        subcommands: [SchemesListCommand.self, SchemesShowCommand.self],
        defaultSubcommand: SchemesListCommand.self)
}

/// `signet schemes list`: their names.
struct SchemesListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the names that --scheme takes.")

    @OptionGroup var common: CommonOptions

    func run() throws {
        let names = SigningScheme.names
        try common.terminal.result(
            ["schemes": .array(names.map(JSONValue.string))], lines: names)
    }
}

/// `schemes show`: a scheme's document.
struct SchemesShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print a scheme as the document that --scheme FILE takes.")

    @Argument(help: "The scheme's name.")
    var name: String

    @OptionGroup var common: CommonOptions

    func run() throws {
        let document = try SigningScheme.insecure.scheme(named: name).document
        try common.terminal.result(
            document, text: JSONValue.object(document).serialized(.pretty) + [0x0A])
    }
}
