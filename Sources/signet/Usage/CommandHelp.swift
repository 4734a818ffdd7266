#if Tool
import ArgumentParser

extension CommandConfiguration {
    /// Creates the configuration of a command whose help ends with examples.
    ///
    /// - Parameters:
    ///   - commandName: The name on the command line.
    ///   - abstract: One sentence.
    ///   - discussion: Paragraphs after the abstract.
    ///   - examples: Lines for a shell, each of at most 76 characters. A test runs every line that
    ///     begins with `signet`, in a folder with the files of `HelpExampleTests`.
    ///   - subcommands: The commands of a group.
    ///   - defaultSubcommand: The command that runs if none is named.
    init(
        commandName: String, abstract: String, discussion: String = "", examples: [String],
        version: String = "", shouldDisplay: Bool = true,
        subcommands: [any ParsableCommand.Type] = [],
        defaultSubcommand: (any ParsableCommand.Type)? = nil
    ) {
        let shown = examples.map { "  \($0)" }.joined(separator: "\n")
        self.init(
            commandName: commandName, abstract: abstract,
            discussion: (discussion.isEmpty ? "" : discussion + "\n\n")
                + (examples.count == 1 ? "EXAMPLE:" : "EXAMPLES:") + "\n" + shown,
            version: version, shouldDisplay: shouldDisplay, subcommands: subcommands,
            defaultSubcommand: defaultSubcommand)
    }
}
#endif
