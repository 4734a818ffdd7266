#if Tool
import ArgumentParser
import SignetBase
import SignetJSON
import SignetSigning

/// `signet schemes`: the built-in signing schemes, and documents of others.
struct SchemesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schemes", abstract: "List, show and check signing schemes.",
        examples: ["signet schemes list", "signet schemes show github > partner.json"],
        subcommands: [
            SchemesListCommand.self, SchemesShowCommand.self, SchemesLintCommand.self,
            SchemesSchemaCommand.self,
        ],
        defaultSubcommand: SchemesListCommand.self)
}

/// `signet schemes list`: the names of the built-in schemes.
struct SchemesListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the names that --scheme takes.",
        discussion: "On a terminal with a description each; a pipe gets the names alone.",
        examples: ["signet schemes list"])

    @OptionGroup var common: CommonOptions

    func run() throws {
        let names = SigningScheme.names
        let terminal = common.terminal
        var lines = names
        if terminal.isForPeople {
            var table = Table("SCHEME", "DESCRIPTION")
            for name in names {
                let document = try SigningScheme.Insecure.scheme(named: name).document
                table.add([(name, .plain), (document["about"]?.string ?? "-", .plain)])
            }
            lines = table.lines(colored: terminal.allowsColor)
        }
        try terminal.result(["schemes": .array(names.map(JSONValue.string))], lines: lines)
    }
}

/// `schemes show`: a scheme's document.
struct SchemesShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print a scheme as the document that --scheme FILE takes.",
        examples: ["signet schemes show github > partner.json"])

    @Argument(help: "The scheme's name.", completion: .list(SigningScheme.names))
    var name: String

    @OptionGroup var common: CommonOptions

    func run() throws {
        let document = try SigningScheme.Insecure.scheme(named: name).document
        try common.terminal.result(
            document, text: JSONValue.object(document).serialized(.pretty) + [0x0A])
    }
}

/// `schemes schema`: the JSON Schema of the documents.
struct SchemesSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema (2020-12) of scheme documents.",
        discussion: """
            Editors complete and check documents with it. signet schemes lint FILE also checks \
            rules that concern several members.
            """,
        examples: ["signet schemes schema > scheme.schema.json"])

    @OptionGroup var common: CommonOptions

    func run() throws {
        let schema = SigningScheme.documentSchema
        // The schema is itself one JSON object.
        let object = try JSONValue(parsing: schema).object ?? [:]
        try common.terminal.result(object, text: schema)
    }
}

/// `schemes lint`: the weaknesses of a scheme.
struct SchemesLintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint", abstract: "List the weaknesses of a scheme.",
        discussion: "Exit 0 without findings, 1 with findings, 2 for a malformed document.",
        examples: ["signet schemes lint rfc9421"])

    @Argument(
        help: "The scheme's document, or the name of one that is built in.", completion: .file())
    var file: String

    @OptionGroup var common: CommonOptions

    func run() throws {
        let isBuiltIn = SigningScheme.names.contains { sameBytes($0, file) }
        let scheme =
            isBuiltIn
            ? try SigningScheme.Insecure.scheme(named: file)
            : try SigningScheme(file: file, insecure: true)
        let findings = scheme.findings
        try common.terminal.result(
            [
                "findings": .array(
                    findings.map {
                        ["code": .string($0.code.name), "message": .string($0.message)]
                    })
            ],
            lines: findings.map { "\($0.code.name): \($0.message)" })
        if !findings.isEmpty { throw ExitStatus.refused }
    }
}
#endif
