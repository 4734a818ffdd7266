#if Tool
import ArgumentParser
import SignetJSON

/// `signet completions`: a script by which a shell completes commands, options and values.
struct CompletionsCommand: ParsableCommand {
    /// A shell that completion scripts are written for.
    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash, zsh, fish
    }

    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print the completion script of a shell.",
        discussion: """
            The script completes commands, options, files and known values. make install writes it \
            to the shell's folder of completions.
            """,
        examples: [
            "signet completions bash > signet.bash",
            "signet completions zsh > _signet",
            "signet completions fish > signet.fish",
        ])

    @Argument(help: ArgumentHelp("The shell.", valueName: "SHELL"))
    var shell: Shell

    @OptionGroup var common: CommonOptions

    func run() throws {
        let kind: CompletionShell =
            switch shell {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        let script = SignetCommand.completionScript(for: kind) + "\n"
        try common.terminal.result(
            ["shell": .string(shell.rawValue), "script": .string(script)],
            text: Array(script.utf8))
    }
}
#endif
