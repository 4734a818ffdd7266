import ArgumentParser
import SignetCrypto
import SignetJSON
import SignetVault

/// `vault rebind`: a dump brought to new versions at an upgrade.
struct VaultRebindCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebind", abstract: "Bind a dump to new versions, at an upgrade.",
        discussion: """
            Opened for the old versions, sealed for the new ones with a new salt and the next \
            sequence, written beside the old file, renamed over it and read back.
            """)

    @Argument(help: ArgumentHelp("The dump, which is replaced.", valueName: "FILE"))
    var file: String

    @OptionGroup var key: VaultKeyOptions

    @Option(help: ArgumentHelp("The app, such as com.example.shop.", valueName: "ID"))
    var appID: String

    @Option(help: ArgumentHelp("The app's version that the dump is of.", valueName: "V"))
    var fromAppVersion: String

    @Option(help: ArgumentHelp("The app's version that it shall be of.", valueName: "V"))
    var toAppVersion: String

    @Option(help: ArgumentHelp("The system's version that the dump is of.", valueName: "V"))
    var fromSystemVersion: String = SignetVersion.current

    @Option(help: ArgumentHelp("The system's version that it shall be of.", valueName: "V"))
    var toSystemVersion: String = SignetVersion.current

    @OptionGroup var state: VaultStateOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let opened = try state.dump(file).rebind(
            with: try key.load(),
            from: VersionBinding(
                app: appID, version: fromAppVersion, systemVersion: fromSystemVersion),
            to: VersionBinding(app: appID, version: toAppVersion, systemVersion: toSystemVersion))
        state.note(opened, common.terminal)
        let app = opened.binding.app
        try common.terminal.result(
            DumpReport.object(opened, file),
            lines: [
                "\(printable(file)) is now bound to \(printable(app.id)) \(printable(app.version)) "
                    + "(sequence \(opened.sequence))"
            ])
    }
}

/// What is told of a dump that was changed.
enum DumpReport {
    static func object(_ opened: OpenedDump, _ file: String) -> JSONObject {
        let app = opened.binding.app
        let system = opened.binding.system
        var object: JSONObject = [
            "out": .string(file), "sequence": .number(JSONNumber(opened.sequence)),
            "keyID": .string(opened.keyID),
            "app": ["id": .string(app.id), "version": .string(app.version)],
            "system": ["id": .string(system.id), "version": .string(system.version)],
        ]
        for (name, value) in VaultStateOptions.object(opened) { object[name] = value }
        return object
    }
}
