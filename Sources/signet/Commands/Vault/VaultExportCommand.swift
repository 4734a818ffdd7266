#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetVault

/// `vault export`: the values of a sealed dump for other programs.
struct VaultExportCommand: ParsableCommand {
    /// The form of the output.
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case json
        case nestedJSON = "nested-json"
        case yaml
        case env, docker, systemd, kubernetes

        /// Whether it has variables, which can have a prefix.
        var hasVariables: Bool { [.env, .docker, .systemd, .kubernetes].contains(self) }
    }

    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Print the values of a sealed dump, without the envelope.",
        discussion: """
            --public prints the public values and needs a schema; --show-secrets prints all, in \
            the clear. nested-json and yaml make an object of each part of a name before a dot. \
            The others have variables with the names that exec uses: env writes NAME='value' lines \
            for sh, docker a file for docker run --env-file, systemd one for EnvironmentFile=, and \
            kubernetes the manifest of a Secret, for kubectl apply and envFrom. A value that the \
            format can't hold is refused, and its key named. In env and systemd, numbers and booleans \
            have no quotes, and the line before a list or map is "# json". In docker, "# text" is \
            before a text that looks like a number or a boolean; a Secret has the annotations \
            signet/json and signet/text instead. vault init reads each value as it was. With --json, the output of all but json and \
            nested-json is the member "text".
            """,
        examples: [
            "signet vault export shop.dump --format yaml --public --schema schema.json \\",
            "  --keys keys --app-id com.example.shop --app-version 1.4.2",
            "signet vault export shop.dump --format kubernetes --show-secrets \\",
            "  --keys keys --app-id com.example.shop --app-version 1.4.2 > secret.yaml",
        ])

    @Argument(
        help: ArgumentHelp(
            "The dump; - is standard input, the default without a project.", valueName: "FILE"),
        completion: .file())
    var file: String?

    @Option(help: "json, nested-json, yaml, env, docker, systemd or kubernetes.")
    var format: Format = .json

    @Flag(name: .customLong("public"), help: "Print the values of public keys.")
    var isPublic = false

    @Option(
        help: ArgumentHelp("The prefix of each variable's name.", valueName: "P"))
    var prefix: String = ""

    @Option(
        help: ArgumentHelp(
            "The name of the Secret (kubernetes); without it the app's id.", valueName: "NAME"))
    var name: String?

    @Option(
        help: ArgumentHelp(
            "A key to print, and no other, or with a final dot all keys below it; may be repeated.",
            valueName: "KEY|KEY."), completion: KeyCompletion.keys)
    var only: [String] = []

    @OptionGroup var disclosure: VaultDisclosureOptions
    @OptionGroup var reading: VaultReadOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard isPublic != disclosure.showSecrets else {
            throw ValidationError(
                "expected one of --public and --show-secrets, found \(isPublic ? "both" : "none")")
        }
        guard prefix.isEmpty || format.hasVariables else {
            throw ValidationError("--prefix is for --format env, docker, systemd and kubernetes")
        }
        guard name == nil || format == .kubernetes else {
            throw ValidationError("--name is for --format kubernetes")
        }
    }

    func run() throws {
        let project = try reading.project.load()
        let disclosure = try disclosure.load(project)
        guard !isPublic || disclosure.schema != nil else {
            throw ToolError.usage("--public needs --schema FILE, which says what is public")
        }
        let opened = try reading.open(file, in: project, on: common.terminal)
        let contents = DumpContents(opened)
        let chosen =
            only.isEmpty ? contents.values : try KeySelection(words: only).values(in: contents)
        let values = JSONObject(
            chosen.filter { disclosure.allows($0.name, value: $0.value) }
                .map { ($0.name, $0.value) })
        let withheld = chosen.memberNames.count { name in
            values[name] == nil && disclosure.schema?.rule(named: name)?.isPublic == true
        }
        if withheld > 0 {
            common.terminal.note(
                "left out \(withheld) values of public keys that the schema refuses")
        }
        switch format {
        case .json:
            try common.terminal.result(
                values, text: JSONValue.object(values).serialized(.pretty) + [0x0A])
        case .nestedJSON:
            let nested = try Self.nested(values)
            try common.terminal.result(
                nested, text: JSONValue.object(nested).serialized(.pretty) + [0x0A])
        case .yaml: try tell(YAMLWriter.text(of: Self.nested(values)))
        case .env, .docker, .systemd, .kubernetes:
            let variables = try EnvironmentVariables(
                values, prefix: prefix, allowing: KeySelection(words: only))
            switch format {
            case .docker: try tell(variables.dockerText)
            case .systemd: try tell(variables.systemdText)
            case .kubernetes:
                try tell(variables.secretManifest(named: name ?? opened.binding.app.id))
            default: try tell(variables.shellText)
            }
        }
    }

    /// Nests the members of a flat object.
    ///
    /// - Throws: `name-collision` if a name is also the start of another one.
    private static func nested(_ flat: JSONObject) throws(ToolError) -> JSONObject {
        var root = NestedMembers()
        for (name, value) in flat where !root.insert(value, named: name) {
            throw ToolError(
                .nameCollision,
                "\(quoted(name)) and another key cannot both be nested, because one would be a "
                    + "value and an object; --format json keeps names whole")
        }
        return root.object
    }

    private func tell(_ text: String) throws(ToolError) {
        try common.terminal.result(["text": .string(text)], text: Array(text.utf8))
    }
}
#endif
