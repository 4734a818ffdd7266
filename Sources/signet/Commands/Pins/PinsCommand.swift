#if Tool
import ArgumentParser

/// `signet pins`: the public keys of servers, and the policies that name them.
struct PinsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pins", abstract: "Show, check, lint, convert, plan and sign public-key pins.",
        examples: [
            "signet pins show https://api.example.com",
            "signet pins check https://api.example.com --policy policy.json",
        ],
        subcommands: [
            PinsShowCommand.self, PinsCheckCommand.self, PinsLintCommand.self,
            PinsConvertCommand.self, PinsPlanCommand.self, PinsSignCommand.self,
            PinsVerifyCommand.self, PinsSchemaCommand.self,
        ])
}
#endif
