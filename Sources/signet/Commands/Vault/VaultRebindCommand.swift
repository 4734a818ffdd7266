#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetVault

/// `vault rebind`: a dump brought to new versions at an upgrade.
struct VaultRebindCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebind", abstract: "Bind a dump to new versions, at an upgrade.",
        discussion: """
            Opens the dump for the old versions, seals it for the new ones with a new salt and the \
            next sequence, writes it to a new file, renames that over the old one and reads it \
            back. With --ratchet, a root derived one-way from the current one replaces it, and the \
            current one is removed from the key file, so that this machine can't open dumps from \
            before the upgrade; run it again if it was killed. If a project names the dump, the \
            new version is written into its signet.json too.
            """,
        examples: [
            "signet vault rebind shop.dump -k keys --app-id com.example.shop \\",
            "  --from-app-version 1.4.2 --to-app-version 1.5.0",
        ])

    @Argument(
        help: ArgumentHelp(
            "The dump, which is replaced; optional if a project names it.", valueName: "FILE"),
        completion: .file())
    var file: String?

    @OptionGroup var key: VaultKeyOptions

    @Option(help: ArgumentHelp("The app, such as com.example.shop.", valueName: "ID"))
    var appID: String?

    @Option(
        help: ArgumentHelp(
            "The app's version that the dump must have; without it any.", valueName: "V"))
    var fromAppVersion: String?

    @Option(help: ArgumentHelp("The app's new version.", valueName: "V"))
    var toAppVersion: String

    @Option(
        help: ArgumentHelp(
            "The network system's version that the dump must have; without it any.",
            valueName: "V"))
    var fromSystemVersion: String?

    @Option(help: ArgumentHelp("The network system's new version.", valueName: "V"))
    var toSystemVersion: String = SignetVersion.current

    @Flag(help: "Seal under the next root, and forget the current one (needs --keys FILE).")
    var ratchet = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The next root's id, if not the current one's with +1, +2, ….", valueName: "ID"))
    var toKeyID: String?

    @Flag(help: "Forget the root although its other dumps can then never be opened.")
    var lockOutOthers = false

    @OptionGroup var state: VaultStateOptions
    @OptionGroup var project: ProjectOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard ratchet || (toKeyID == nil && !lockOutOthers) else {
            throw ValidationError("--to-key-id and --lock-out-others need --ratchet")
        }
    }

    /// The key file that a ratchet changes.
    private func keyFile(_ project: Project) throws(ToolError) -> String {
        let source = try key.source(project)
        guard !source.isPassphrase, let file = KeySource(source.text).filePath else {
            throw .usage("--ratchet changes the key file, so it needs --keys FILE")
        }
        return file
    }

    func run() throws {
        let project = try project.load().acting
        let appID = try project.appID(appID)
        let isProjects = file == nil
        let target = try state.dump(project.changedDump(file), in: project)
        let keyFile = ratchet ? try keyFile(project) : nil
        _ = try key.source(project)
        let found = try SealedDump(contentsOf: target.path).binding
        let old = VersionBinding(
            app: appID, version: fromAppVersion ?? found.app.version,
            systemVersion: fromSystemVersion ?? found.system.version)
        let new = VersionBinding(
            app: appID, version: toAppVersion, systemVersion: toSystemVersion)
        let isDone = !ratchet && found == new && (fromAppVersion == nil || old == new)
        let opened: OpenedDump
        var forgotten: String?
        if let keyFile {
            let done = try target.ratchet(
                keyFile: keyFile, from: old, to: new, keyID: toKeyID,
                lockingOutOthers: lockOutOthers)
            opened = done.dump
            forgotten = done.forgotten
        } else if isDone {
            opened = try target.open(
                with: try key.load(project, notingOn: common.terminal), for: new)
        } else {
            opened = try target.rebind(
                with: try key.load(project, notingOn: common.terminal), from: old, to: new)
        }
        state.note(opened, on: common.terminal, of: target)
        var object = DumpReport.object(opened, file: target.path)
        if let forgotten { object["forgottenKeyID"] = .string(forgotten) }
        let app = opened.binding.app
        var lines = [
            "\(target) is \(isDone ? "already" : "now") bound to \(printable(app.id)) \(printable(app.version)) "
                + "(sequence \(opened.sequence))"
        ]
        if let forgotten {
            lines.append(
                "key \(printable(opened.keyID)) has taken the place of \(printable(forgotten)), "
                    + "which is gone from \(printable(keyFile ?? ""))")
        }
        if isProjects { try project.update(with: opened, notingOn: common.terminal) }
        try common.terminal.result(object, lines: lines)
    }
}

/// The report of a dump that was changed.
enum DumpReport {
    static func object(_ opened: OpenedDump, file: String) -> JSONObject {
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
#endif
