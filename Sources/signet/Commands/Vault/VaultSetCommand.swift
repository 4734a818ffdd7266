#if Tool
import ArgumentParser
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
            fetched. signet vault unset removes values.

            With --add, a key that the schema lacks is put into it, before the dump is sealed. \
            Without --type it is a string, or with KEY=VALUE of the type that VALUE looks like.
            """,
        examples: [
            "signet vault set shop.dump attempts.interactive=3 --schema schema.json \\",
            "  -k keys --app-id com.example.shop --app-version 1.4.2",
            "signet vault set --add smtp.password@env:SECRET --dump shop.dump \\",
            "  --schema schema.json -k keys --app-id com.example.shop --app-version 1.4.2",
        ])

    @Argument(
        help: ArgumentHelp(
            "The dump, unless --dump or a project names it; then the values to set.",
            valueName: "KEY=VALUE"), completion: KeyCompletion.keysOrDump)
    var arguments: [String] = []

    @Option(
        help: ArgumentHelp(
            "A value from a file that only its owner may read, env:NAME, fd:N, credential:NAME or "
                + "command:LINE; may be repeated.", valueName: "KEY=SOURCE"))
    var from: [String] = []

    @Option(
        help: ArgumentHelp(
            "The origin that the values get: defaults, launch or fetched.", valueName: "ORIGIN"))
    var origin: String?

    @Flag(
        help: "Put keys that the schema lacks into it too: secret, unless --public says otherwise.")
    var add = false

    @Flag(name: .customLong("secret"), help: "Beside --add: the new keys are secret (the default).")
    var isSecret = false

    @Flag(name: .customLong("public"), help: "Beside --add: the new keys are public.")
    var isPublic = false

    @Option(
        help: ArgumentHelp(
            "Beside --add: the type of the new keys; without it string, or guessed from VALUE.",
            valueName: "TYPE"))
    var type: ValueType?

    @OptionGroup var options: VaultChangeOptions

    func validate() throws {
        guard !isSecret || !isPublic else {
            throw ValidationError("expected one of --secret and --public, found both")
        }
        guard add || !(isSecret || isPublic || type != nil) else {
            throw ValidationError("--secret, --public and --type are for the new keys of --add")
        }
    }

    func run() throws {
        let (dump, assignments) = try options.dump(arguments)
        guard !assignments.isEmpty || !from.isEmpty else {
            throw ToolError.usage(
                dump.project.leftOut ?? "nothing to set: expected KEY=VALUE or --from")
        }
        let origin = try origin.map(Self.origin)
        var schema = try Schema(contentsOf: dump.schema)
        var added = NewKeys()
        if add {
            let path = try ToolError.file(dump.schema, subject: "the schema")
            let form = NewKeys.Form(
                isPublic: isSecret || isPublic ? isPublic : nil, type: type?.rawValue)
            added = try NewKeys(in: assignments, from: from, as: form, beside: schema)
            schema = try added.schema(in: path)
        }
        let given =
            try KeyValueArgument.parsed(assignments, schema: schema)
            + from.map { try KeyValueArgument(from: $0, schema: schema) }
        try KeyValueArgument.requireOnce(given.map(\.name))
        try KeyValueArgument.requireOneFromStandardInput(given)
        if given.contains(where: \.readsStandardInput) {
            options.common.terminal.awaitInput("a value", from: "-")
        }
        let values = try given.map { ($0.name, try $0.value()) }
        try options.change(dump, schema: schema, adding: added) { contents throws(VaultError) in
            for (name, value) in values {
                contents = contents.setting(name, to: value, as: origin, schema: schema)
            }
        }
    }

    private static func origin(_ text: String) throws(ToolError) -> ConfigurationOrigin {
        guard let origin = ConfigurationOrigin(rawValue: text) else {
            throw .usage("--origin is \(quoted(text)), expected defaults, launch or fetched")
        }
        return origin
    }
}
#endif
