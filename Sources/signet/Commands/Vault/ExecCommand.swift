#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetSystem
import SignetVault

/// `signet exec`: a command with the values of a sealed dump in its environment.
struct ExecCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec", abstract: "Run a command with the configuration in its environment.",
        discussion: """
            The command replaces signet (execve): its exit status is the command's own, 126 if it \
            cannot run, 127 if it is not found. No value is written to disk. A variable has the \
            key's name in capitals, with _ for dots, after the prefix: orders.host is ORDERS_HOST. \
            Texts are passed unchanged, other values as JSON. Two keys with one name and a zero \
            byte are refused. So are names that the loader, the shell and usual interpreters read \
            (PATH, LD_…, NODE_OPTIONS, PYTHONPATH …), unless --only names that key itself. The \
            variable that env:NAME names as the source of keys or of the identity is removed.

            With --file KEY the variable has the path of a file in memory with the value, sealed \
            against changes and readable for this user alone, as long as the command runs.
            """,
        examples: [
            "signet exec --dump shop.dump --keys keys --app-id com.example.shop \\",
            "  --app-version 1.4.2 --prefix SHOP_ -- /usr/bin/shop --port 8080",
        ])

    @Option(
        help: ArgumentHelp(
            "The dump; - is standard input; optional if a project names it.", valueName: "FILE"),
        completion: .file())
    var dump: String?

    @Option(help: ArgumentHelp("The prefix of each variable's name.", valueName: "P"))
    var prefix: String = ""

    @Option(
        help: ArgumentHelp(
            "A key to give, and no other, or with a final dot all keys below it; may be repeated.",
            valueName: "KEY|KEY."), completion: KeyCompletion.keys)
    var only: [String] = []

    @Option(
        help: ArgumentHelp(
            "A key whose value the command gets as a file; may be repeated.", valueName: "KEY"),
        completion: KeyCompletion.keys)
    var file: [String] = []

    @OptionGroup var reading: VaultReadOptions
    @OptionGroup var common: CommonOptions

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("The command and its arguments.", valueName: "COMMAND"))
    var command: [String] = []

    func run() throws {
        guard let program = command.first else {
            throw ToolError.usage("missing COMMAND: give it after --, as in signet exec -- env")
        }
        let project = try reading.project.load().acting
        let contents = DumpContents(
            try reading.open(
                project.dump(dump, as: "--dump FILE"), in: project, on: common.terminal))
        let variables = try variables(of: contents)
        let sources = [
            KeySource(try reading.key.source(project).text), try reading.key.identity.source,
        ]
        let failure = ProcessImage.replace(
            lastArguments: command.count, adding: variables,
            removing: sources.compactMap { $0?.variable })
        var refusal = ToolError(
            .usage(failure.isNotFound ? "command-not-found" : "command-not-executable"),
            "cannot run \(printable(program)): \(failure.reason)")
        refusal.status = failure.isNotFound ? .notFound : .notExecutable
        throw refusal
    }

    /// Returns the variables of the keys that were asked for. Those of `file` have a file's path.
    private func variables(
        of contents: DumpContents
    ) throws -> [(name: String, value: String)] {
        let files = try KeySelection(words: file).entries(in: contents)
        let selection = KeySelection(words: only.isEmpty ? [] : only + files.map(\.name))
        let chosen = only.isEmpty ? contents.values : try selection.values(in: contents)
        let variables = try EnvironmentVariables(chosen, prefix: prefix, allowing: selection)
        let paths = Set(files.map { ByteName($0.name) })
        return try variables.entries.map { entry in
            guard paths.contains(ByteName(entry.key)) else { return (entry.name, entry.text) }
            return (entry.name, try ProcessImage.inheritedFile(Array(entry.text.utf8).span))
        }
    }
}
#endif
