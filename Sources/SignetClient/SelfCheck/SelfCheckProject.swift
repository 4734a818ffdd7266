internal import SignetCrypto
internal import SignetJSON
internal import SignetSystem

/// Where a program's own files are, for the self-check.
///
/// The file is a JSON object; every member may be left out, and paths are relative to the file's folder:
///
///     {"schema":"schema.json","defaults":"defaults.json","dump":"shop.dump","keys":"keys",
///      "app":{"id":"com.example.shop","version":"1.4.2"},"systemVersion":"0.1.0",
///      "state":"dump-state","lastGood":"fetched.dump",
///      "policy":"policy.json","caFile":"ca.pem","connectTo":["api.example.com:443:127.0.0.1:8443"]}
public struct SelfCheckProject: Sendable, Hashable {
    /// The configuration's schema.
    public var schema: String?
    /// The built-in defaults, checked against the schema.
    public var defaults: String?
    /// The sealed dump.
    public var dump: String?
    /// The key set's source, as `--keys` takes it.
    public var keys: String?
    /// The source of the passphrase that opens the dump in the place of the key set.
    public var passphrase: String?
    /// The file of the highest sequences seen, which tells a dump that was put back.
    public var state: String?
    /// The sealed dump of the last good fetched values.
    public var lastGood: String?
    /// The app's id, to which the dump is bound.
    public var appID: String?
    /// The running app's version.
    public var appVersion: String?
    /// The running network system's version; nil is this one's own.
    public var systemVersion: String?
    /// The pin policy.
    public var policy: String?
    /// A PEM file of the CAs that are trusted in place of the system's.
    public var caFile: String?
    /// Where hosts are to be found, each as `HOST:PORT:ADDRESS:PORT`.
    public var connectTo: [String] = []

    /// An empty project: only the program itself is checked.
    public init() {}

    /// Reads a project file.
    ///
    /// - Throws: `ClientError` with code `malformed-input` that names the file and the member.
    public init(file: String) throws(ClientError) {
        let bytes: [UInt8]
        let value: JSONValue
        do {
            bytes = try InputFile.read(file, limit: 1 << 20)
        } catch {
            throw ClientError(code: .unreadableFile, message: error.message)
        }
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw Self.malformed(file, error.message)
        }
        guard let object = value.object else {
            throw Self.malformed(file, "it is \(value.typeName), wanted an object")
        }
        let slash = file.lastIndex(of: "/")
        let folder = slash.map { String(file[...$0]) } ?? ""
        func path(_ text: String) -> String { text.hasPrefix("/") ? text : folder + text }
        for (name, value) in object {
            switch name {
            case "schema": schema = path(try Self.text(value, name, file))
            case "defaults": defaults = path(try Self.text(value, name, file))
            case "dump": dump = path(try Self.text(value, name, file))
            case "state": state = path(try Self.text(value, name, file))
            case "lastGood": lastGood = path(try Self.text(value, name, file))
            case "keys", "passphrase":
                let text = try Self.text(value, name, file)
                let source = text.contains(":") ? text : path(text)
                if name == "keys" { keys = source } else { passphrase = source }
            case "policy": policy = path(try Self.text(value, name, file))
            case "caFile": caFile = path(try Self.text(value, name, file))
            case "systemVersion": systemVersion = try Self.text(value, name, file)
            case "connectTo":
                guard let elements = value.array else {
                    throw Self.malformed(file, "connectTo is no array")
                }
                for element in elements { connectTo.append(try Self.text(element, name, file)) }
            case "app":
                guard let app = value.object, app.memberNames.sorted() == ["id", "version"],
                    let id = app["id"], let version = app["version"]
                else { throw Self.malformed(file, "app is no object of id and version") }
                appID = try Self.text(id, "app.id", file)
                appVersion = try Self.text(version, "app.version", file)
            default:
                throw Self.malformed(file, "it has an unknown member")
            }
        }
    }

    private static func text(
        _ value: JSONValue, _ name: String, _ file: String
    ) throws(ClientError) -> String {
        guard let text = value.string, !text.isEmpty else {
            throw malformed(file, "\(name) is \(value.typeName), wanted text")
        }
        return text
    }

    private static func malformed(_ file: String, _ what: String) -> ClientError {
        ClientError(code: .malformedInput, message: "\(file): \(what)")
    }
}
