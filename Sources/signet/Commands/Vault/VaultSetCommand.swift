import ArgumentParser
internal import SignetBase
import SignetCrypto
import SignetJSON
import SignetVault

/// `vault set`: single values of a sealed dump changed.
struct VaultSetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change values of a sealed dump.",
        discussion: """
            KEY=VALUE for a public key; KEY@SOURCE for the content of a file, - for standard \
            input, env:NAME, fd:N, credential:NAME or command:LINE; and KEY alone to be asked on \
            the terminal. KEY=- and --from KEY=SOURCE are the same as KEY@- and KEY@SOURCE. A secret value in the argument list is refused: others on \
            the machine can read it there. VALUE is text for a string, else JSON; of a file or a \
            source one final newline is dropped.

            All values are checked against the schema; then the dump is sealed with the next \
            sequence, or left unchanged if no value changes. A value keeps its origin if the \
            schema still allows it; a new value gets the origin launch, else defaults, else \
            fetched.
            """,
        examples: [
            "signet vault set shop.dump attempts.interactive=3 --schema schema.json \\",
            "  -k keys --app-id com.example.shop --app-version 1.4.2",
        ])

    @Argument(
        help: ArgumentHelp(
            "The dump, unless --dump or a project names it; then the values to set.",
            valueName: "KEY=VALUE"), completion: .file())
    var arguments: [String] = []

    @Option(
        help: ArgumentHelp("The dump, which is replaced.", valueName: "FILE"), completion: .file())
    var dump: String?

    @Option(
        help: ArgumentHelp(
            "A value from a file that only its owner may read, env:NAME, fd:N, credential:NAME or "
                + "command:LINE; may be repeated.", valueName: "KEY=SOURCE"))
    var from: [String] = []

    @Option(help: ArgumentHelp("A key whose value is removed; may be repeated.", valueName: "KEY"))
    var unset: [String] = []

    @Option(
        help: ArgumentHelp(
            "The origin that the values get: defaults, launch or fetched.", valueName: "ORIGIN"))
    var origin: String?

    @Option(
        help: ArgumentHelp("The schema of the configuration.", valueName: "FILE"),
        completion: .file())
    var schema: String?

    @OptionGroup var key: VaultKeyOptions
    @OptionGroup var binding: VaultBindingOptions
    @OptionGroup var state: VaultStateOptions
    @OptionGroup var project: ProjectOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let project = try project.load(for: .acting)
        let (path, assignments) = try project.dump(dump, before: arguments)
        guard !assignments.isEmpty || !from.isEmpty || !unset.isEmpty else {
            throw ToolError.usage(
                project.leftOut ?? "nothing to set: expected KEY=VALUE, --from or --unset")
        }
        let origin = try origin.map(Self.origin)
        let binding = try binding.binding(project)
        _ = try key.source(project)
        let file = try state.dump(project.changedDump(path), in: project)
        let schema = try Schema(contentsOf: project.schema(schema))
        let given =
            try assignments.map { try KeyValueArgument($0, schema: schema) }
            + from.map { try KeyValueArgument(from: $0, schema: schema) }
        try KeyValueArgument.requireOnce(given.map(\.name) + unset)
        try KeyValueArgument.requireOneFromStandardInput(given)
        if given.contains(where: \.readsStandardInput) {
            common.terminal.awaitInput("a value", from: "-")
        }
        let values = try given.map { ($0.name, try $0.value()) }
        var before = DumpContents()
        let opened = try file.update(with: try key.load(project), for: binding) {
            opened throws(VaultError) in
            before = DumpContents(opened)
            var contents = before
            for name in unset { contents = contents.removing(name) }
            for (name, value) in values {
                contents = contents.setting(name, to: value, as: origin, schema: schema)
            }
            guard contents != before else { return nil }
            try contents.requireAllowed(by: schema)
            return (contents.ordered(by: schema), after: 0)
        }
        state.note(opened, on: common.terminal, of: file)
        try common.terminal.tell(
            DumpDiff(from: before, to: DumpContents(opened)), of: path, opened: opened)
    }

    private static func origin(_ text: String) throws(ToolError) -> ConfigurationOrigin {
        guard let origin = ConfigurationOrigin(rawValue: text) else {
            throw .usage("--origin is \(quoted(text)), expected defaults, launch or fetched")
        }
        return origin
    }
}

extension Terminal {
    /// Tells which keys of a dump were changed by hand; never a value.
    func tell(_ diff: DumpDiff, of file: String, opened: OpenedDump) throws(ToolError) {
        try result(
            [
                "out": .string(file), "sequence": .number(JSONNumber(opened.sequence)),
                "changes": .array(
                    diff.changes.map {
                        ["key": .string($0.name), "change": .string($0.kind.rawValue)]
                    }),
            ],
            lines: diff.isEmpty
                ? [
                    "nothing to change in \(SignetBase.printable(file)) (sequence \(opened.sequence))"
                ]
                : diff.changes.map { "\($0.kind.rawValue) \(SignetBase.printable($0.name))" } + [
                    "sealed \(SignetBase.printable(file)) (sequence \(opened.sequence))"
                ])
    }
}
