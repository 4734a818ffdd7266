#if Tool
import ArgumentParser
import SignetJSON

/// A command with its options and subcommands, as the parser knows them.
struct CommandTree {
    /// An option, a flag or a positional argument.
    struct Argument {
        enum Kind: String {
            case positional, option, flag
        }

        let kind: Kind
        /// The names with their dashes, the short ones first; empty for a positional argument.
        let names: [String]
        let valueName: String
        let abstract: String
        let defaultValue: String?
        /// All values; empty if it takes others too.
        let values: [String]
        let isOptional: Bool
        let isRepeating: Bool
        let isHidden: Bool
        /// Whether it is read only after `--`.
        let followsTerminator: Bool
        /// Whether the next word is the value even if it begins with a dash.
        let takesAnyWord: Bool
    }

    let name: String
    /// The names of the commands above this one.
    let parents: [String]
    let abstract: String
    let discussion: String
    let isHidden: Bool
    let arguments: [Argument]
    let commands: [CommandTree]

    /// The words that call the command, such as `signet vault seal`.
    var words: String { (parents + [name]).joined(separator: " ") }

    /// The tree below a command.
    ///
    /// - Throws: `JSONError` if the parser describes its commands in an unknown form.
    init(of command: any ParsableCommand.Type) throws {
        let described = try JSONValue(parsing: Array(command._dumpHelp().utf8))
        self.init(described["command"] ?? .null)
    }

    private init(_ command: JSONValue) {
        name = command["commandName"]?.string ?? ""
        parents = command["superCommands"]?.array?.compactMap(\.string) ?? []
        abstract = command["abstract"]?.string ?? ""
        discussion = command["discussion"]?.string ?? ""
        isHidden = command["shouldDisplay"]?.bool == false
        arguments = command["arguments"]?.array?.compactMap(Argument.init) ?? []
        let commands = command["subcommands"]?.array?.map(CommandTree.init) ?? []
        // The parser's own command.
        self.commands = commands.filter { $0.name != "help" }
    }
}

extension CommandTree.Argument {
    fileprivate init?(_ argument: JSONValue) {
        guard let kind = argument["kind"]?.string.flatMap(Kind.init) else { return nil }
        self.kind = kind
        let names = argument["names"]?.array?.compactMap { name -> String? in
            guard let text = name["name"]?.string else { return nil }
            return (name["kind"] == "long" ? "--" : "-") + text
        }
        self.names = (names ?? []).sorted { $0.utf8.count < $1.utf8.count }
        valueName = argument["valueName"]?.string ?? ""
        abstract = argument["abstract"]?.string ?? ""
        defaultValue = argument["defaultValue"]?.string
        values = argument["allValues"]?.array?.compactMap(\.string) ?? []
        isOptional = argument["isOptional"]?.bool ?? false
        isRepeating = argument["isRepeating"]?.bool ?? false
        isHidden = argument["shouldDisplay"]?.bool == false
        followsTerminator = argument["parsingStrategy"] == "postTerminator"
        takesAnyWord = argument["parsingStrategy"] == "unconditional"
    }
}
#endif
