import ArgumentParser
import SignetJSON
import SignetSigning

/// `signet schemes`: the ways to sign.
struct SchemesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schemes", abstract: "The ways to sign.",
        subcommands: [
            SchemesListCommand.self, SchemesShowCommand.self, SchemesLintCommand.self,
            SchemesSchemaCommand.self,
        ],
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
        let document = try SigningScheme.Insecure.scheme(named: name).document
        try common.terminal.result(
            document, text: JSONValue.object(document).serialized(.pretty) + [0x0A])
    }
}

/// `schemes schema`: the language of the documents.
struct SchemesSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema (2020-12) of scheme documents.",
        discussion: """
            For editors, and for whoever makes documents. It says what may stand where; whether its \
            parts fit together, `signet schemes lint FILE` tells.
            """)

    @OptionGroup var common: CommonOptions

    func run() throws {
        let schema = SigningScheme.documentSchema
        // It is one JSON object as it stands.
        let object = try JSONValue(parsing: schema).object ?? [:]
        try common.terminal.result(object, text: schema)
    }
}

/// `schemes lint`: what is weak about a scheme.
struct SchemesLintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint", abstract: "Name what is weak about a scheme.",
        discussion: "Exit 0 when nothing is, 1 when something is, 2 for a document that is none.")

    @Argument(help: "The scheme's document, or the name of one that is built in.")
    var file: String

    @OptionGroup var common: CommonOptions

    func run() throws {
        let isBuiltIn = SigningScheme.names.contains { $0.utf8.elementsEqual(file.utf8) }
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
