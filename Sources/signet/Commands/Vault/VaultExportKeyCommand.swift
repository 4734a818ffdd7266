#if Tool
import ArgumentParser
import SignetJSON
import SignetVault

/// `vault export-key`: one dump's content key, for other JOSE tools.
struct VaultExportKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export-key",
        abstract: "Print this one dump's content key as a JWK (a secret); never the root.",
        discussion: "Versions are checked if they are given.",
        examples: [
            "signet vault export-key shop.dump -k keys > content-key"
        ])

    @Argument(
        help: ArgumentHelp(
            "The dump; - is standard input, the default without a project.", valueName: "FILE"),
        completion: .file())
    var file: String?

    @OptionGroup var key: VaultKeyOptions

    @Option(help: ArgumentHelp("The app that the dump must be of.", valueName: "ID"))
    var appID: String?

    @Option(help: ArgumentHelp("The app version that it must be of.", valueName: "V"))
    var appVersion: String?

    @Option(help: ArgumentHelp("The system version that it must be of.", valueName: "V"))
    var systemVersion: String?

    @OptionGroup var project: ProjectOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let project = try project.load()
        _ = try key.source(project)
        let path = file ?? project.dumpFile
        common.terminal.awaitInput("a sealed dump", from: path)
        let dump = try SealedDump(contentsOf: path)
        let found = dump.binding
        let wanted = VersionBinding(
            app: .init(id: appID ?? found.app.id, version: appVersion ?? found.app.version),
            system: .init(
                id: found.system.id, version: systemVersion ?? found.system.version))
        let jwk = try dump.exportKey(
            with: try key.load(project, notingOn: common.terminal), for: wanted)
        try common.terminal.result(jwk, lines: [JSONValue.object(jwk).text])
    }
}
#endif
