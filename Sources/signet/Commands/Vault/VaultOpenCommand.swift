#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetSystem
import SignetVault

/// `vault open`: the configuration of a sealed dump.
struct VaultOpenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Print the configuration of a sealed dump, secrets too.",
        discussion: """
            With --json, prints the whole content: versions, sequence, time, values and origins; \
            with --state also "rollback". Dumps of listed older versions are read, and never \
            changed.

            --content-key opens this one dump, of any version, with the key that export-key \
            printed.
            """,
        examples: [
            "signet vault open shop.dump -k keys \\",
            "  --app-id com.example.shop --app-version 1.4.2",
        ])

    @Argument(
        help: ArgumentHelp(
            "The dump; - is standard input, the default without a project.", valueName: "FILE"),
        completion: .file())
    var file: String?

    @OptionGroup var key: VaultKeyOptions
    @OptionGroup var binding: VaultBindingOptions

    @OptionGroup var older: VaultOlderVersionOptions

    @Option(
        help: ArgumentHelp(
            "The dump's content key, as export-key prints it, in place of keys and versions.",
            valueName: "FILE"), completion: .file())
    var contentKey: String?

    @OptionGroup var state: VaultStateOptions
    @OptionGroup var project: ProjectOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard contentKey == nil || (key.keys == nil && key.passphrase == nil && state.state == nil)
        else {
            throw ValidationError("--content-key takes no --keys, --passphrase or --state")
        }
    }

    func run() throws {
        let project = try project.load()
        let path = file ?? project.dumpFile
        common.terminal.awaitInput("a sealed dump", from: path)
        let opened: OpenedDump
        if let contentKey {
            opened = try SealedDump(contentsOf: path)
                .open(withContentKey: Self.jwk(contentKey))
        } else {
            let file = try state.dump(path, in: project)
            opened = try file.open(
                with: key.load(project, notingOn: common.terminal), for: binding.binding(project),
                accepting: older.acceptAppVersion, system: older.acceptSystemVersion)
            state.note(opened, on: common.terminal, of: file)
        }
        var inside = opened.plaintext
        for (name, value) in VaultStateOptions.object(opened) { inside[name] = value }
        try common.terminal.result(
            inside, text: JSONValue.object(opened.values).serialized(.pretty) + [0x0A])
    }

    /// Reads a content key, whose file must be private as a key file.
    private static func jwk(_ file: String) throws -> JSONObject {
        let secret = try KeySource.file(file).loadSecret("content key", limit: 65_536)
        var bytes = (0..<secret.bytes.count).map { secret.bytes[$0] }
        defer { wipe(&bytes) }
        guard let jwk = try? JSONValue(parsing: bytes).object else {
            throw VaultError(.malformedKeys, "\(printable(file)): not a JSON object")
        }
        return jwk
    }
}
#endif
