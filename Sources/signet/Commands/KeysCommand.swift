import ArgumentParser

/// `signet keys`: making keys and giving away their public halves.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Make keys, and print their public halves.",
        subcommands: [KeysNewCommand.self, KeysPublicCommand.self])
}
