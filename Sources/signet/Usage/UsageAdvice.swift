#if Tool
import ArgumentParser
import SignetBase

/// Finds the word in a command line that the parser does not know, and the one that was meant.
///
/// The parser reports missing options first. For a person, the mistyped word explains them.
struct UsageAdvice {
    private let tool: any ParsableCommand.Type

    /// Creates advice for the commands of a tool.
    init(_ tool: any ParsableCommand.Type) { self.tool = tool }

    /// Returns an error for the first unknown command, option or value, or nil if each is known.
    ///
    /// - Parameter arguments: The command line, without the program's name.
    /// - Throws: `JSONError` if the parser describes the command in an unknown form.
    func error(in arguments: [String]) throws -> ToolError? {
        var (command, path) = (tool, [tool.name])
        var rest = arguments[...]
        while !command.configuration.subcommands.isEmpty {
            guard let word = rest.popFirst(), !word.startsWithBytes(of: "-"), word != "help" else {
                return nil
            }
            guard let next = command.subcommand(named: word) else {
                return unknownCommand(word, of: command, at: path)
            }
            command = next
            path.append(word)
        }
        return error(inOptions: rest, of: try CommandTree(of: command), at: path)
            ?? versionInPlaceOfFile(rest, at: path)
    }

    /// Returns an error for `vault rebind 2.4.0`, which names the new version without its option.
    private func versionInPlaceOfFile(
        _ words: ArraySlice<String>, at path: [String]
    ) -> ToolError? {
        guard path.dropFirst().elementsEqual(["vault", "rebind"]),
            let word = words.first,
            word.wholeMatch(of: /v?[0-9]+(\.[0-9]+)*([-+][0-9A-Za-z.+-]+)?/) != nil,
            !words.contains(where: { $0.prefix { $0 != "=" } == "--to-app-version" })
        else { return nil }
        return .usage(
            "found the version \"\(word)\" in place of the dump; write "
                + "\(path.joined(separator: " ")) --to-app-version \(word)")
    }

    /// Returns an error for the first unknown name of `signet help NAME…`, or nil.
    func error(inHelp names: [String]) -> ToolError? {
        var (command, path) = (tool, [tool.name])
        for name in names where !name.startsWithBytes(of: "-") {
            guard let next = command.subcommand(named: name) else {
                return unknownCommand(name, of: command, at: path)
            }
            command = next
            path.append(name)
        }
        return nil
    }

    private func error(
        inOptions words: ArraySlice<String>, of command: CommandTree, at path: [String]
    ) -> ToolError? {
        var words = words
        while let word = words.popFirst(), word != "--" {
            guard word.startsWithBytes(of: "-"), word != "-" else {
                let positional = command.arguments.first { $0.kind == .positional }
                guard let positional, positional.followsTerminator else { continue }
                return .usage(
                    "found \"\(printable(word))\" before --; write "
                        + "\(path.joined(separator: " ")) -- \(positional.valueName)")
            }
            let isLong = word.startsWithBytes(of: "--")
            let name = isLong ? String(word.prefix { $0 != "=" }) : String(word.prefix(2))
            guard let option = command.arguments.first(where: { $0.names.contains(name) }) else {
                // A number may begin with a dash.
                guard isLong || word.dropFirst().allSatisfy(\.isLetter) else { continue }
                return unknown(
                    "option", named: name, among: command.arguments.flatMap(\.names), at: path)
            }
            guard option.kind == .option else { continue }
            var value: String?
            if word.utf8.count > name.utf8.count {
                value = String(word.dropFirst(name.count + (isLong ? 1 : 0)))
            } else if let next = words.first,
                option.takesAnyWord || !next.startsWithBytes(of: "-") || next == "-"
            {
                value = words.removeFirst()
            }
            guard let value, !option.values.isEmpty, !option.values.contains(value) else {
                continue
            }
            return .usage(
                "\(name): found \"\(printable(value))\", expected one of "
                    + option.values.joined(separator: ", ")
                    + NearestName.suggestion(for: value, among: option.values))
        }
        return nil
    }

    private func unknownCommand(
        _ word: String, of command: any ParsableCommand.Type, at path: [String]
    ) -> ToolError {
        let shown = command.configuration.subcommands.filter { $0.configuration.shouldDisplay }
        if let advice = OtherWords.advice(for: word, after: path) ?? group(of: word, in: shown) {
            return .usage("unknown command \"\(printable(word))\"; use \(advice)")
        }
        return unknown("command", named: word, among: shown.map { $0.name } + ["help"], at: path)
    }

    /// Returns the commands of that name in the groups below, such as `signet vault init`, or nil.
    private func group(of word: String, in groups: [any ParsableCommand.Type]) -> String? {
        let found = groups.filter { $0.subcommand(named: word) != nil }
        guard !found.isEmpty else { return nil }
        return found.map { "\(tool.name) \($0.name) \(word)" }.joined(separator: " or ")
    }

    private func unknown(
        _ kind: String, named word: String, among names: [String], at path: [String]
    ) -> ToolError {
        let suggestion = NearestName.suggestion(for: word, among: names)
        return .usage(
            "unknown \(kind) \"\(printable(word))\""
                + (suggestion.isEmpty
                    ? "; \(path.joined(separator: " ")) --help lists the \(kind)s" : suggestion))
    }
}

extension ParsableCommand {
    /// The word that calls the command.
    fileprivate static var name: String { configuration.commandName ?? "" }

    /// Returns the subcommand with a name, or nil.
    fileprivate static func subcommand(named name: String) -> (any ParsableCommand.Type)? {
        configuration.subcommands.first { $0.name == name }
    }
}
#endif
