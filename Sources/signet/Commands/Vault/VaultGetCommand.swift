#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetSystem
import SignetVault

/// `vault get`: single values of a sealed dump.
struct VaultGetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print values of a sealed dump.",
        discussion: """
            A string is printed unchanged, any other value as JSON, one a line in the order of the \
            keys. KEY. is every key below it, and then each line is KEY=VALUE. A key is secret unless --schema says that it is public; a secret value is \
            printed only with --show-secrets. A key without a value ends with exit 1 and no \
            output.
            """,
        examples: [
            "signet vault get shop.dump services.orders.timeout --schema schema.json \\",
            "  -k keys --app-id com.example.shop --app-version 1.4.2",
        ])

    @Argument(
        help: ArgumentHelp(
            "The dump, unless --dump or a project names it; then the keys of the values.",
            valueName: "KEY|KEY."), completion: KeyCompletion.keysOrDump)
    var arguments: [String]

    @Option(
        help: ArgumentHelp("The dump; - is standard input.", valueName: "FILE"), completion: .file()
    )
    var dump: String?

    @OptionGroup var key: VaultKeyOptions
    @OptionGroup var binding: VaultBindingOptions

    @OptionGroup var older: VaultOlderVersionOptions

    @OptionGroup var disclosure: VaultDisclosureOptions
    @OptionGroup var state: VaultStateOptions
    @OptionGroup var project: ProjectOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let project = try project.load()
        let (path, names) = try project.dump(dump, before: arguments)
        guard !names.isEmpty else {
            throw ToolError.usage(
                "missing KEY: no project file names a dump, so \(quoted(path)) is the dump")
        }
        let disclosure = try disclosure.load(project)
        common.terminal.awaitInput("a sealed dump", from: path)
        let file = try state.dump(path, in: project)
        let opened = try file.open(
            with: key.load(project, notingOn: common.terminal), for: binding.binding(project),
            accepting: older.acceptAppVersion, system: older.acceptSystemVersion)
        state.note(opened, on: common.terminal, of: file)
        let contents = DumpContents(opened)
        var values = JSONObject()
        var origins = JSONObject()
        var lines: [UInt8] = []
        let chosen = try KeySelection(words: names).entries(
            in: contents, schema: disclosure.schema)
        let isList = names.contains { contents[$0] == nil }
        for (name, entry) in chosen {
            guard disclosure.allows(name, value: entry.value) else {
                let why = disclosure.schema == nil ? ": no --schema says that it is public" : ""
                throw ToolError(
                    .secretValue,
                    "\(quoted(name)) is secret\(why); --show-secrets prints it")
            }
            values[name] = entry.value
            origins[name] = .string(entry.origin.rawValue)
            if isList { lines += Array("\(printable(name))=".utf8) }
            lines += try line(entry.value, of: name, isAlone: !isList && names.count == 1) + [0x0A]
        }
        try common.terminal.result(
            ["values": .object(values), "origins": .object(origins)], text: lines)
    }

    /// A value in the form that scripts expect.
    private func line(
        _ value: JSONValue, of name: String, isAlone: Bool
    ) throws(ToolError) -> [UInt8] {
        guard let text = value.string else { return value.serialized() }
        guard isAlone || common.json || !text.utf8.contains(0x0A) else {
            throw .usage(
                "\(quoted(name)) holds more than one line, which cannot be told from the other "
                    + "keys' lines; ask for it alone or with --json")
        }
        // Escape control characters: the value may come from a server.
        return Array(
            (StandardStreams.isTerminal(.standardOutput) ? Terminal.printable(text) : text).utf8)
    }
}

/// A configuration key's name for a message.
func quoted(_ name: String) -> String { "\"\(printable(name))\"" }
#endif
