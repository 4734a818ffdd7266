#if Tool
import SignetBase
import SignetCrypto
import SignetJSON
import SignetVault

/// The format of a configuration that exists already.
enum SourceFormat: String, CaseIterable {
    case json, yaml, toml, env, docker, systemd, kubernetes

    /// The format that a file's name says, or nil.
    init?(fileName path: String) {
        let name = path.split(separator: "/").last.map { $0.lowercased() } ?? ""
        let ending = name.split(separator: ".", omittingEmptySubsequences: false).last ?? ""
        switch ending {
        case "json": self = .json
        case "yaml", "yml": self = .yaml
        case "toml": self = .toml
        case "env": self = .env
        default:
            // .env.local, .env.production and so on
            guard name.startsWithBytes(of: ".env.") else { return nil }
            self = .env
        }
    }

    /// The format for a message.
    var name: String {
        switch self {
        case .json: "JSON"
        case .yaml: "YAML"
        case .toml: "TOML"
        case .env: "lines NAME=value"
        case .docker: "lines NAME=value of docker run --env-file"
        case .systemd: "lines NAME=value of EnvironmentFile="
        case .kubernetes: "the manifest of a Secret"
        }
    }

    /// Reads a configuration as an object, whose nested objects are parts of names.
    ///
    /// A byte-order mark at the beginning is skipped, except in JSON, which doesn't allow it.
    ///
    /// - Returns: The values, and notes about those that other programs read differently.
    func object(
        parsing bytes: [UInt8]
    ) throws(MalformedSource) -> (object: JSONObject, notes: [String]) {
        if self == .json {
            let object = try Self.jsonObject(parsing: bytes)
            return (object, SecretManifest.notes(on: object))
        }
        let isMarked = bytes.hasByteOrderMark
        guard
            let text = String(validating: bytes.dropFirst(isMarked ? 3 : 0), as: UTF8.self),
            !text.utf8.contains(0)
        else {
            throw MalformedSource("it is not UTF-8 text, or it has a zero byte")
        }
        switch self {
        case .json, .env: return try EnvironmentFile.object(parsing: text)
        case .docker: return try EnvironmentFile.object(parsing: text, as: .docker)
        case .systemd: return try EnvironmentFile.object(parsing: text, as: .systemd)
        case .toml: return (try TOMLFile.object(parsing: text), [])
        case .yaml:
            let (object, notes) = try YAMLFile.object(parsing: text)
            return (object, notes + SecretManifest.notes(on: object))
        case .kubernetes:
            return (try SecretManifest.object(of: YAMLFile.object(parsing: text).object), [])
        }
    }

    private static func jsonObject(parsing bytes: [UInt8]) throws(MalformedSource) -> JSONObject {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: bytes)
        } catch {
            let line = error.offset.map { 1 + bytes.prefix($0).count { $0 == 0x0A } }
            throw MalformedSource(error.messageWithoutNames, line: line)
        }
        guard let object = value.object else {
            throw MalformedSource("found \(value.typeName), expected object")
        }
        return object
    }
}
#endif
