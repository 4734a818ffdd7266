#if Tool
import ArgumentParser

/// Everything about the configuration and its sealed dump.
struct VaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vault",
        abstract: "Merge, seal and open the configuration.",
        discussion: """
            A signet.json in this folder or a parent fills in missing options; see signet project.
            """,
        examples: [
            "signet vault init config.yaml --out . --app-id com.example.shop \\",
            "  --app-version 1.0.0 --keys keys",
            "signet vault inspect shop.dump",
            "signet vault open shop.dump -k keys \\",
            "  --app-id com.example.shop --app-version 1.4.2",
        ],
        subcommands: [
            VaultInitCommand.self, VaultSchemaCommand.self, VaultListCommand.self,
            VaultExportCommand.self,
            VaultPublicCommand.self, VaultSealCommand.self, VaultOpenCommand.self,
            VaultInspectCommand.self, VaultRebindCommand.self, VaultExportKeyCommand.self,
            VaultRekeyCommand.self,
            VaultGetCommand.self,
            VaultSetCommand.self,
            VaultUnsetCommand.self,
            VaultEditCommand.self,
            VaultDiffCommand.self,
            VaultMergeCommand.self,
        ])
}
#endif
