#if Tool
import SignetBase

/// A command's manual page in the language of man(7).
struct ManualPage {
    /// The name without the section, such as `signet-vault-seal`.
    let name: String
    /// The whole page.
    let text: String

    /// Writes the page of a command.
    init(of command: CommandTree) {
        name = (command.parents + [command.name]).joined(separator: "-")
        var lines = [
            "." + #"\" Written by signet manual."#,
            ".TH \(Self.quoted(name.uppercased())) 1 \"\" "
                + Self.quoted("signet \(VersionReport.tool)") + " \"Signet manual\"",
            ".SH NAME", "\(Self.escaped(name)) \\- \(Self.escaped(Self.summary(of: command)))",
            ".SH SYNOPSIS", Self.escaped(Self.synopsis(of: command)),
        ]
        lines += Self.description(of: command)
        let commands = command.commands.filter { !$0.isHidden }
        if !commands.isEmpty {
            lines.append(".SH COMMANDS")
            for command in commands {
                lines += [".TP", ".B \(Self.escaped(command.name))"]
                lines.append(Self.escaped(command.abstract))
            }
        }
        let arguments = command.arguments.filter { !$0.isHidden }
        for (title, kinds) in [("ARGUMENTS", [.positional]), ("OPTIONS", [.option, .flag])]
            as [(String, [CommandTree.Argument.Kind])]
        {
            let shown = arguments.filter { kinds.contains($0.kind) }
            guard !shown.isEmpty else { continue }
            lines.append(".SH \(title)")
            for argument in shown { lines += Self.paragraph(of: argument) }
        }
        lines += [".SH EXIT STATUS"]
        for (status, meaning) in [
            ("0", "The work is done."), ("1", "The check failed, or the server sent an error."),
            ("2", "Wrong usage, or a file that is malformed or cannot be read or written."),
            ("3", "The network gave no response that can be used."),
        ] {
            lines += [".TP", ".B \(status)", meaning]
        }
        lines += Self.related(to: command, commands)
        text = lines.joined(separator: "\n") + "\n"
    }

    private static func summary(of command: CommandTree) -> String {
        let text = command.abstract
        return text.endsWithBytes(of: ".") ? String(text.dropLast()) : text
    }

    private static func synopsis(of command: CommandTree) -> String {
        if command.commands.contains(where: { !$0.isHidden }) {
            return "\(command.words) COMMAND"
        }
        var words = [command.words]
        let arguments = command.arguments.filter { !$0.isHidden }
        for option in arguments where option.kind == .option && !option.isOptional {
            words.append("\(option.names.last ?? "") \(option.valueName.uppercased())")
        }
        words.append("[OPTION]...")
        for argument in arguments where argument.kind == .positional {
            let name = argument.valueName.uppercased() + (argument.isRepeating ? "..." : "")
            words.append(argument.isOptional ? "[\(name)]" : name)
        }
        return words.joined(separator: " ")
    }

    /// The discussion, with its examples as a section of their own.
    private static func description(of command: CommandTree) -> [String] {
        var lines = [".SH DESCRIPTION", escaped(command.abstract)]
        var isExample = false
        for line in command.discussion.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "EXAMPLE:" || line == "EXAMPLES:" {
                lines += [".SH EXAMPLES", ".nf"]
                isExample = true
            } else if line.isEmpty {
                lines.append(isExample ? "" : ".PP")
            } else {
                lines.append(escaped(isExample ? String(line.drop { $0 == " " }) : String(line)))
            }
        }
        if isExample { lines.append(".fi") }
        // The checks of man(1) refuse a paragraph without text.
        lines.removeAll { $0.isEmpty }
        return zip(lines, lines.dropFirst() + [""]).filter { line, next in
            line != ".PP" || !(next.isEmpty || next.startsWithBytes(of: ".SH"))
        }.map(\.0)
    }

    private static func paragraph(of argument: CommandTree.Argument) -> [String] {
        var text = argument.abstract
        if !argument.values.isEmpty {
            text += " Values: \(argument.values.joined(separator: ", "))."
        }
        if let value = argument.defaultValue { text += " Default: \(value)." }
        let shown =
            argument.kind == .positional ? argument.valueName.uppercased() : argument.usage
        return [".TP", ".B \(escaped(shown))", escaped(text.isEmpty ? "See above." : text)]
    }

    private static func related(to command: CommandTree, _ commands: [CommandTree]) -> [String] {
        var pages = command.parents.indices.map {
            command.parents[...$0].joined(separator: "-")
        }
        pages += commands.map { ($0.parents + [$0.name]).joined(separator: "-") }
        guard !pages.isEmpty else { return [] }
        return [".SH SEE ALSO", pages.map { "\(escaped($0))(1)" }.joined(separator: ",\n")]
    }

    /// Escapes what the language would take for a request or another character.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\e"
            case "-": escaped += "\\-"
            case "'": escaped += "\\(aq"
            case "`": escaped += "\\(ga"
            case "^": escaped += "\\(ha"
            case "~": escaped += "\\(ti"
            default: escaped.append(character)
            }
        }
        return escaped.startsWithBytes(of: ".") ? "\\&" + escaped : escaped
    }

    private static func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }
}

extension CommandTree.Argument {
    /// The names and the value, such as `-o, --out FILE`.
    fileprivate var usage: String {
        let names = names.joined(separator: ", ")
        return kind == .option ? "\(names) \(valueName.uppercased())" : names
    }
}
#endif
