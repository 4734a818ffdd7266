import ArgumentParser
internal import SignetBase
import SignetCrypto
import SignetJSON
internal import SignetSystem
import SignetVault

/// `signet exec`: a command with the values of a sealed dump in its environment.
struct ExecCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec", abstract: "Run a command with the configuration in its environment.",
        discussion: """
            The command replaces signet (execve): its exit status is the command's own, 126 if it \
            cannot run, 127 if it is not found. No value is written to disk. A variable has the \
            key's name in capitals, with _ for dots, after the prefix: orders.host is ORDERS_HOST. \
            Texts are passed unchanged, other values as JSON. Two keys with one name, a zero byte, \
            and names that the loader or the shell reads (PATH, IFS, LD_…) are refused. The \
            variable that env:NAME names as the source of keys is removed.
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

    @Option(help: ArgumentHelp("A key to give, and no other; may be repeated.", valueName: "KEY"))
    var only: [String] = []

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
        let project = try reading.project.load()
        let contents = DumpContents(
            try reading.open(
                project.dump(dump, as: "--dump FILE"), in: project, on: common.terminal))
        let variables = try EnvironmentVariables(chosen(contents), prefix: prefix)
        let source = try reading.key.source(project).text
        let failure = ProcessImage.replace(
            lastArguments: command.count, adding: variables.entries,
            removing: source.hasPrefix("env:") ? [String(source.dropFirst(4))] : [])
        var refusal = ToolError(
            .usage(failure.isNotFound ? "command-not-found" : "command-not-executable"),
            "cannot run \(printable(program)): \(failure.reason)")
        refusal.status = failure.isNotFound ? .notFound : .notExecutable
        throw refusal
    }

    /// The values of the keys that were asked for.
    private func chosen(_ contents: DumpContents) throws(ToolError) -> JSONObject {
        guard !only.isEmpty else { return contents.values }
        var values = JSONObject()
        for name in only {
            guard let entry = contents[name] else {
                throw ToolError(
                    .noValue, "the dump has no value for \(quoted(name))")
            }
            values[name] = entry.value
        }
        return values
    }
}
