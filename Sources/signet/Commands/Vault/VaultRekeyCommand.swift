#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetVault

/// `vault rekey`: a dump under another root.
struct VaultRekeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey", abstract: "Seal a dump under another root.",
        discussion: """
            To another key set (--to-keys), another key of the same set (--to-key-id alone) or a \
            passphrase (--to-passphrase); with a new salt and the next sequence, written as by \
            rebind. A dump that is already under the new root stays unchanged, so a killed run can \
            be repeated. If a project names the dump, its signet.json gets the new key.
            """,
        examples: [
            "signet vault rekey shop.dump -k keys --to-keys new-keys \\",
            "  --app-id com.example.shop --app-version 1.4.2",
        ])

    @Argument(
        help: ArgumentHelp(
            "The dump, which is replaced; optional if a project names it.", valueName: "FILE"),
        completion: .file())
    var file: String?

    @OptionGroup var key: VaultKeyOptions

    @Option(
        help: ArgumentHelp("The new key set, as --keys.", valueName: "SOURCE"), completion: .file())
    var toKeys: String?

    @Option(
        help: ArgumentHelp("The new passphrase, as --passphrase.", valueName: "SOURCE"),
        completion: .file())
    var toPassphrase: String?

    @Option(
        help: ArgumentHelp(
            "The new root's id, if its set has several; with a passphrase any name.",
            valueName: "ID"))
    var toKeyID: String?

    @Flag(
        help: """
            Open with a key that is revoked or expired, to replace it. The new key must be valid.
            """)
    var acceptEndedKey = false

    @OptionGroup var binding: VaultBindingOptions
    @OptionGroup var state: VaultStateOptions
    @OptionGroup var project: ProjectOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard toKeys == nil || toPassphrase == nil else {
            throw ValidationError("expected at most one of --to-keys and --to-passphrase")
        }
        guard toKeys != nil || toPassphrase != nil || toKeyID != nil else {
            throw ValidationError(
                "expected the new root: --to-keys SOURCE, --to-passphrase SOURCE or --to-key-id ID "
                    + "(signet keys new --type vault --append adds a root to a key set)")
        }
    }

    func run() throws {
        let project = try project.load().acting
        let binding = try binding.binding(project)
        let target = try state.dump(project.changedDump(file), in: project)
        let keys = try key.load(project, notingOn: common.terminal)
        let newKeys: VaultKeys
        if let toPassphrase {
            let option = PassphraseOption(text: toPassphrase, subject: "New passphrase")
            newKeys = .passphrase(try option.load(askingTwice: true))
        } else if let toKeys {
            newKeys = .keys(try key.identity.load(toKeys, notingOn: common.terminal))
        } else {
            newKeys = keys
        }
        let before = try SealedDump(contentsOf: target.path)
        let opened = try target.rekey(
            with: keys, to: newKeys, keyID: toKeyID, for: binding,
            acceptingEndedKey: acceptEndedKey)
        state.note(opened, on: common.terminal, of: target)
        let isChanged = opened.dump != before
        if file == nil {
            try project.update(
                with: opened, keys: toKeys, passphrase: toPassphrase, notingOn: common.terminal)
        }
        var object = DumpReport.object(opened, file: target.path)
        object["changed"] = .bool(isChanged)
        let root = opened.dump.isPassphraseSealed ? "a passphrase, as key" : "key"
        try common.terminal.result(
            object,
            lines: [
                "\(target) is \(isChanged ? "now" : "already") under \(root) "
                    + "\(printable(opened.keyID)) (sequence \(opened.sequence))"
            ])
    }
}
#endif
