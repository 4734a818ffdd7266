import ArgumentParser

/// `signet keys`: making and listing keys, and giving away their public halves.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Make keys, list them, and print their public halves.",
        subcommands: [KeysNewCommand.self, KeysListCommand.self, KeysPublicCommand.self])
}
