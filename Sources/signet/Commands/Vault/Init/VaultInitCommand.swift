#if Tool
import ArgumentParser
import SignetBase
import SignetClient
import SignetCrypto
import SignetJSON
import SignetSystem
import SignetVault

/// `vault init`: the files of a project from a configuration that exists already.
struct VaultInitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make schema, defaults, sealed dump and signet.json from a configuration.",
        discussion: """
            CONFIG is JSON (nested or flat), YAML 1.2, TOML or lines NAME=value (.env); the file's \
            name or --format gives the format. What vault export writes can be read: docker, \
            systemd and kubernetes, which no name gives, with --format. Nested objects become \
            names with dots, and DATABASE_HOST of a .env file becomes database.host. Each value of \
            a Kubernetes Secret becomes secret. A null is named and has no value. Types are guessed, also lists, \
            durations and URLs. Plain values become public and go to defaults.json; values that \
            look like a secret, by value or name, become secret and go only into the sealed dump. \
            One line for each key shows the guess: correct schema.json, and seal again.

            Nothing but CONFIG is needed: the command says what it assumed, and writes it into \
            signet.json. A key file that does not exist is made, with one vault key. No file is \
            overwritten. All files appear at once; if the command is killed, run it again. CONFIG \
            itself stays unchanged, with its secrets: in a git work tree, it and a key file are \
            added to .gitignore.
            """,
        examples: [
            "signet vault init config.yaml",
            "signet vault init config.yaml --out shop --app-id com.example.shop \\",
            "  --app-version 1.4.2 --keys shop.keys",
        ])

    @Argument(
        help: ArgumentHelp("The configuration; - is standard input.", valueName: "CONFIG"),
        completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "The folder of the new files; without it the current one.", valueName: "FOLDER"),
        completion: .directory
    )
    var out: String = "."

    @Option(
        help: ArgumentHelp(
            "json, yaml, toml, env, docker, systemd or kubernetes, if the name of CONFIG does not "
                + "say it."))
    var format: SourceFormat?

    @Option(
        help: ArgumentHelp(
            "The app, such as com.example.shop; without it the folder's name.", valueName: "ID"))
    var appID: String?

    @Option(help: ArgumentHelp("The app's version; without it 1.0.0.", valueName: "V"))
    var appVersion: String?

    @Option(
        help: ArgumentHelp(
            "The key set: a file, which is made if it does not exist, env:NAME, fd:N, "
                + "credential:NAME or command:LINE; without it ~/.config/signet/ID.keys.",
            valueName: "SOURCE"), completion: .file())
    var keys: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The root's id in the key set, if it has several.", valueName: "ID"))
    var keyID: String?

    @OptionGroup var common: CommonOptions

    func validate() throws { try ToolError.requireFile(out, subject: "a dump") }

    func run() throws {
        let choices = try InitChoices(self)
        let app = choices.app
        let source = choices.keys
        let guessed = try read()
        let schema = try Schema(.object(guessed.document))
        let secrets = guessed.values(secret: true)
        let merged = try GlobalConfiguration(
            schema: schema, defaults: .values(guessed.values(secret: false)),
            launch: .values(secrets))
        var contents = DumpContents(merged)
        // Marked, so that a later seal of the defaults keeps them.
        contents.markChanged(secrets.memberNames)

        let files = NewFiles(
            ["schema.json", "signet.dump", "defaults.json", "signet.json"], in: out)
        try files.requireNone()
        try files.inNewFolder {
            guard !files.contain(source) else {
                throw ToolError.usage(
                    "--keys \(printable(source)): the command makes this file; give another one")
            }
            let secretFiles = [file == "-" ? nil : file, KeySource(source).filePath]
                .compactMap(\.self)
            let ignored = try secretFiles.compactMap { try GitIgnore.add($0) }
            let tracked = secretFiles.filter { Folder.exists($0) && GitIgnore.isTracked($0) }
            let madeKeys = try makeKeys(choices)
            let keySet = VaultKeys.keys(try KeySource(source).load())
            try files.make { path in
                try NewFiles.write(guessed.document, to: path("schema.json"))
                let sealed = try DumpFile(path("signet.dump")).seal(
                    contents, of: schema, with: keySet, keyID: keyID, for: app)
                try NewFiles.write(guessed.values(secret: false), to: path("defaults.json"))
                try NewFiles.write(
                    projectFile(
                        app, keys: choices.projectKeys ?? files.relative(source),
                        keyID: sealed.keyID),
                    to: path("signet.json"))
            }
            try trust(files)
            try tell(
                guessed, files: files, choices: choices, madeKeys: madeKeys, ignored: ignored,
                tracked: tracked)
        }
    }

    /// Trusts the project that was made, unless it has no home folder to write that down in.
    private func trust(_ files: NewFiles) throws {
        guard (try? UserFolder.configuration()) != nil, let folder = Folder.resolved(out) else {
            return
        }
        let project = try ProjectFile(file: files.path("signet.json"), isFound: true)
        try TrustList.set(ProjectTrust(project), for: folder)
    }

    private func read() throws -> GuessedSchema {
        guard let format = format ?? SourceFormat(fileName: file) else {
            throw ToolError.usage(
                "the name of \(printable(file)) does not say its format: give --format "
                    + "json, yaml, toml, env, docker, systemd or kubernetes")
        }
        common.terminal.awaitInput("a configuration", from: file)
        let bytes = try InputFile.read(file, limit: ConfigurationInput.sizeLimit)
        let name = file == "-" ? "standard input" : file
        let (object, notes) = try format.read(bytes, named: name)
        for note in notes { common.terminal.note("\(printable(name)): \(note)") }
        return try GuessedSchema(
            of: object, reason: format == .kubernetes ? "the data of a Secret" : nil)
    }

    /// Makes a key file with one root if the source is a file that does not exist.
    private func makeKeys(_ choices: InitChoices) throws -> Bool {
        guard let file = KeySource(choices.keys).filePath, !Folder.exists(file) else {
            return false
        }
        try UserFolder.create(holding: file)
        try KeyFile.add(.vault, id: keyID ?? "vault", to: file, append: false)
        return true
    }

    private func projectFile(
        _ binding: VersionBinding, keys: String?, keyID: String
    ) -> JSONObject {
        var object: JSONObject = [
            "app": [
                "id": .string(binding.app.id), "version": .string(binding.app.version),
            ]
        ]
        object["keys"] = keys.map(JSONValue.string)
        object["keyID"] = .string(keyID)
        object["schema"] = "schema.json"
        object["defaults"] = "defaults.json"
        object["dump"] = "signet.dump"
        return object
    }

    private func tell(
        _ guessed: GuessedSchema, files: NewFiles, choices: InitChoices, madeKeys: Bool,
        ignored: [String], tracked: [String]
    ) throws(ToolError) {
        var table = Table("KEY", "TYPE", "VISIBILITY", "GUESSED FROM")
        var keys: [JSONValue] = []
        for guess in guessed.guesses {
            let elements = guess.elementType.map { " of \($0.rawValue)" } ?? ""
            let visibility = guess.isSecret ? "secret" : "public"
            var object: JSONObject = [
                "key": .string(guess.name), "type": .string(guess.type.rawValue),
                "visibility": .string(visibility),
            ]
            object["items"] = guess.elementType.map { .string($0.rawValue) }
            object["reason"] = guess.secretReason.map(JSONValue.string)
            keys.append(.object(object))
            table.add([
                (guess.name, .plain), (guess.type.rawValue + elements, .plain),
                (visibility, guess.isSecret ? .warning : .plain),
                (guess.secretReason ?? "its value", .plain),
            ])
        }
        try common.terminal.result(
            [
                "keys": .array(keys),
                "withoutValue": .array(guessed.withoutValue.map(JSONValue.string)),
                "files": .array(files.paths.map(JSONValue.string)),
                "madeKeys": .bool(madeKeys),
                "assumed": .object(
                    JSONObject(choices.assumed.map { ($0.option, .string($0.value)) })),
                "ignoredIn": .array(ignored.map(JSONValue.string)),
                "tracked": .array(tracked.map(JSONValue.string)),
            ], lines: table.lines(colored: common.terminal.allowsColor))
        note(
            guessed, files: files, choices: choices, madeKeys: madeKeys, ignored: ignored,
            tracked: tracked)
    }

    /// Says what was assumed and made, and last that CONFIG still has the secrets.
    private func note(
        _ guessed: GuessedSchema, files: NewFiles, choices: InitChoices, madeKeys: Bool,
        ignored: [String], tracked: [String]
    ) {
        let terminal = common.terminal
        if !choices.assumed.isEmpty {
            let words = choices.assumed.map { option, value in
                "--\(option) \(option == "keys" ? choices.shownKeys : value)"
            }
            terminal.note("assumed \(words.joined(separator: ", "))")
        }
        let secrets = guessed.guesses.count(where: \.isSecret)
        terminal.note(
            "made \(files.paths.joined(separator: ", ")); \(secrets) of "
                + "\(guessed.guesses.count) keys are secret, with their values in the sealed dump "
                + "alone")
        if madeKeys {
            terminal.note(
                "made a vault key in \(choices.shownKeys): keep a copy in a safe place, and out "
                    + "of version control")
        }
        if !guessed.withoutValue.isEmpty {
            terminal.note("no value: \(guessed.withoutValue.joined(separator: ", "))")
        }
        for file in Set(ignored).sorted() {
            terminal.note("added the files with secrets to \(file)")
        }
        for file in tracked {
            terminal.note(
                "git tracks \(file), whatever .gitignore says: run git rm --cached "
                    + "\(ShellCommand.word(file)), and replace its secrets if they were committed, "
                    + "because the history keeps them"
            )
        }
        terminal.note(
            file == "-"
                ? "where the configuration came from, it still has the secrets"
                : "\(file) still has the secrets: delete it, or keep it out of version control")
    }
}
#endif
