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
            CONFIG is JSON (nested or flat), YAML 1.2, TOML or lines NAME=value (.env); its name or \
            --format says which. Nested objects become names with dots, and DATABASE_HOST of a .env \
            file becomes database.host. Types are guessed, also lists, durations and URLs. Plain \
            values become public and go to defaults.json; what looks like a secret, by its value or \
            its name, becomes secret and goes only into the sealed dump. One line for each key says \
            what was guessed: correct schema.json, and seal again.

            A key file that does not exist is made, with one vault key. No file is overwritten. CONFIG \
            itself stays as it is, with its secrets.
            """,
        examples: [
            "signet vault init config.yaml --out . --app-id com.example.shop \\",
            "  --app-version 1.0.0 --keys keys",
        ])

    @Argument(help: ArgumentHelp("The configuration; - is standard input.", valueName: "CONFIG"))
    var file: String

    @Option(help: ArgumentHelp("Where the files are made.", valueName: "FOLDER"))
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
                + "credential:NAME or command:LINE.", valueName: "SOURCE"))
    var keys: String?

    @Option(
        help: ArgumentHelp("The root's id in the key set, if it has several.", valueName: "ID"))
    var keyID: String?

    @OptionGroup var common: CommonOptions

    func run() throws {
        // Never the project file of a parent: this command makes one.
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

        var files = NewFiles(folder: out)
        try files.requireNone(["schema.json", "defaults.json", "signet.json", "signet.dump"])
        try files.createFolder()
        let madeKeys = try makeKeys(source)
        let keySet = VaultKeys.keys(try KeySource(source).load())
        do {
            // First, because of two runs at the same time only one can make it: the other one ends
            // here and leaves the dump of the first alone.
            try files.write(guessed.document, to: "schema.json")
            let dump = files.path("signet.dump")
            files.made.append(dump)
            let sealed = try DumpFile(dump).seal(
                contents, of: schema, with: keySet, keyID: keyID, for: app)
            try files.write(guessed.values(secret: false), to: "defaults.json")
            try files.write(
                projectFile(app, keys: files.relative(source), keyID: sealed.keyID),
                to: "signet.json")
        } catch {
            files.removeAll()
            throw error
        }
        try tell(guessed, files: files, madeKeys: madeKeys)
    }

    private func read() throws -> JSONObject {
        guard let format = format ?? SourceFormat(fileName: file) else {
            throw ToolError.usage(
                "the name of \(printable(file)) does not say its format: give --format "
                    + "json, yaml, toml or env")
        }
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
                "keys": .array(keys), "files": .array(files.made.map(JSONValue.string)),
                "madeKeys": .bool(madeKeys),
            ], lines: table.lines(colored: common.terminal.allowsColor))
        let secrets = guessed.guesses.count(where: \.isSecret)
        common.terminal.note(
            "made \(files.made.joined(separator: ", ")); \(secrets) of "
                + "\(guessed.guesses.count) keys are secret, with their values in the sealed dump "
                + "alone"
                + (madeKeys ? "; made a vault key: keep the key file out of version control" : ""))
    }
}
