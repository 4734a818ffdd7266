#if Tool
import ArgumentParser

/// `signet keys`: making, importing and listing keys, and giving away their public halves.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract:
            "Make, import, list, share, revoke and remove keys, and print their public halves.",
        examples: [
            "signet keys new --type ed25519 --id shop-2026 --out shop-keys",
            "signet keys list keys",
        ],
        subcommands: [
            KeysNewCommand.self, KeysImportCommand.self, KeysListCommand.self,
            KeysPublicCommand.self, KeysShareCommand.self, KeysRevokeCommand.self,
            KeysRemoveCommand.self,
        ])
}
#endif
