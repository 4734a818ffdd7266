import ArgumentParser
internal import SignetBase
import SignetClient
import SignetCrypto
import SignetJSON
internal import SignetSystem
import SignetVault

/// `vault init`: the files of a project from a configuration that exists already.
struct VaultInitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make schema, defaults, sealed dump and signet.json from a configuration.",
        discussion: """
            CONFIG is JSON (nested or flat), YAML 1.2, TOML or lines NAME=value (.env); the file's \
            name or --format gives the format. Nested objects become names with dots, and \
            DATABASE_HOST of a .env file becomes database.host. Types are guessed, also lists, \
            durations and URLs. Plain values become public and go to defaults.json; values that \
            look like a secret, by value or name, become secret and go only into the sealed dump. \
            One line for each key shows the guess: correct schema.json, and seal again.

            A key file that does not exist is made, with one vault key. No file is overwritten. \
            All files appear at once; if the command is killed, run it again. CONFIG itself stays \
            unchanged, with its secrets.
            """,
        examples: [
            "signet vault init config.yaml --out . --app-id com.example.shop \\",
            "  --app-version 1.0.0 --keys keys",
        ])

    @Argument(
        help: ArgumentHelp("The configuration; - is standard input.", valueName: "CONFIG"),
        completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp("The folder of the new files.", valueName: "FOLDER"),
        completion: .directory
    )
    var out: String

    @Option(help: "json, yaml, toml or env, if the name of CONFIG does not say it.")
    var format: SourceFormat?

    @Option(help: ArgumentHelp("The app, such as com.example.shop.", valueName: "ID"))
    var appID: String?

    @Option(help: ArgumentHelp("The app's version.", valueName: "V"))
    var appVersion: String?

    @Option(
        help: ArgumentHelp(
            "The key set: a file, which is made if it does not exist, env:NAME, fd:N, "
                + "credential:NAME or command:LINE.", valueName: "SOURCE"), completion: .file())
    var keys: String?

    @Option(
        help: ArgumentHelp("The root's id in the key set, if it has several.", valueName: "ID"))
    var keyID: String?

    @OptionGroup var common: CommonOptions

    func run() throws {
        // Ignore the project file of a parent folder, because this command creates one.
        let project = try Project(file: nil)
        let app = VersionBinding(
            app: try project.appID(appID), version: try project.appVersion(appVersion))
        let source = try Project.required(
            project.keys(keys), option: "--keys SOURCE", variable: "SIGNET_KEYS", member: "keys")
        let configuration = try read()
        let guessed = try GuessedSchema(of: configuration)
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
        try files.createFolder()
        let madeKeys = try makeKeys(source)
        let keySet = VaultKeys.keys(try KeySource(source).load())
        try files.make { path in
            try NewFiles.write(guessed.document, to: path("schema.json"))
            let sealed = try DumpFile(path("signet.dump")).seal(
                contents, of: schema, with: keySet, keyID: keyID, for: app)
            try NewFiles.write(guessed.values(secret: false), to: path("defaults.json"))
            try NewFiles.write(
                projectFile(app, keys: files.relative(source), keyID: sealed.keyID),
                to: path("signet.json"))
        }
        try tell(guessed, files: files, madeKeys: madeKeys)
    }

    private func read() throws -> JSONObject {
        guard let format = format ?? SourceFormat(fileName: file) else {
            throw ToolError.usage(
                "the name of \(printable(file)) does not say its format: give --format "
                    + "json, yaml, toml or env")
        }
        common.terminal.awaitInput("a configuration", from: file)
        let bytes = try InputFile.read(file, limit: ConfigurationInput.sizeLimit)
        return try format.object(
            parsing: bytes, named: file == "-" ? "standard input" : file)
    }

    /// Makes a key file with one root if the source is a file that does not exist.
    private func makeKeys(_ source: String) throws -> Bool {
        guard let file = KeySource(source).filePath, !Folder.exists(file) else { return false }
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
        _ guessed: GuessedSchema, files: NewFiles, madeKeys: Bool
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
                "keys": .array(keys), "files": .array(files.paths.map(JSONValue.string)),
                "madeKeys": .bool(madeKeys),
            ], lines: table.lines(colored: common.terminal.allowsColor))
        let secrets = guessed.guesses.count(where: \.isSecret)
        common.terminal.note(
            "made \(files.paths.joined(separator: ", ")); \(secrets) of "
                + "\(guessed.guesses.count) keys are secret, with their values in the sealed dump "
                + "alone"
                + (madeKeys ? "; made a vault key: keep the key file out of version control" : ""))
    }
}
