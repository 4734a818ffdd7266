#if Tool
import SignetBase
import SignetClient
import SignetSystem
import SignetVault

/// The app, version and keys of `vault init`: those that were given, else assumed ones.
struct InitChoices {
    let app: VersionBinding
    /// The source of the keys.
    let keys: String
    /// The options that were not given, without dashes, and the values that were assumed.
    let assumed: [(option: String, value: String)]
    private let home: String?

    /// Takes the options, then the environment. The project file of a parent folder doesn't count,
    /// because the command creates one.
    init(_ command: VaultInitCommand) throws {
        var assumed: [(String, String)] = []
        func choose(
            _ given: String?, variable: String, option: String,
            otherwise: () throws -> String
        ) throws -> String {
            if let value = try given ?? Project.variable(variable) { return value }
            let value = try otherwise()
            assumed.append((option, value))
            return value
        }
        let id = try choose(command.appID, variable: "SIGNET_APP_ID", option: "app-id") {
            try Self.name(of: command.out)
        }
        let version = try choose(
            command.appVersion, variable: "SIGNET_APP_VERSION", option: "app-version"
        ) { "1.0.0" }
        app = VersionBinding(app: id, version: version)
        keys = try choose(command.keys, variable: "SIGNET_KEYS", option: "keys") {
            "\(try UserFolder.configuration())/\(Self.fileName(id)).keys"
        }
        self.assumed = assumed
        home = try UserFolder.home
    }

    var assumesKeys: Bool { assumed.contains { $0.option == "keys" } }

    /// The assumed key file as the project file names it, so that it is each user's own; nil if it
    /// isn't in the home folder or was given.
    var projectKeys: String? {
        guard assumesKeys, let home, keys.startsWithBytes(of: home + "/") else {
            return nil
        }
        return "~" + keys.dropFirst(home.count)
    }

    /// The source of the keys for people.
    var shownKeys: String { projectKeys ?? keys }

    /// The id of the app that a folder suggests.
    private static func name(of folder: String) throws(ToolError) -> String {
        let path = Folder.resolved(folder) ?? folder
        let name = fileName(path.split(separator: "/").last.map(String.init) ?? "")
        guard !name.isEmpty, !name.allSatisfy({ $0 == "." || $0 == "-" }) else {
            throw .usage("the folder's name gives no id of the app; give --app-id ID")
        }
        return name
    }

    /// A text in lower case, with hyphens for other characters than letters, digits, dots and
    /// hyphens.
    private static func fileName(_ text: String) -> String {
        String(
            text.lowercased().map { character in
                character.isASCII && (character.isLetter || character.isNumber)
                    || character == "." || character == "-" ? character : "-"
            })
    }
}
#endif
