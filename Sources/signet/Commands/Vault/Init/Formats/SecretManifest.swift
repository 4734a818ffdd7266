#if Tool
import SignetBase
import SignetCrypto
import SignetJSON
import SignetVault

/// Reads the manifest of a Kubernetes Secret.
enum SecretManifest {
    /// The annotation that names the entries with a mark, separated by commas.
    ///
    /// Comments would be lost: `kubectl get secret -o yaml` prints annotations alone.
    static func annotation(for mark: EnvironmentFile.Mark) -> String { "signet/\(mark.rawValue)" }

    /// Returns the values of the entries by the keys that their names stand for, as in a .env file.
    ///
    /// Each value is a text. Without a mark it's a boolean or a number if it's spelled as in JSON.
    static func object(of manifest: JSONObject) throws(MalformedSource) -> JSONObject {
        guard isSecret(manifest) else {
            throw MalformedSource("expected one document with apiVersion v1 and kind Secret")
        }
        var entries = JSONObject()
        for (name, value) in try members("data", of: manifest) {
            entries[name] = try decoded(value, of: name)
        }
        // The API server prefers these to members of `data` with the same name.
        for (name, value) in try members("stringData", of: manifest) { entries[name] = value }
        let marks = try marks(of: manifest)
        var object = JSONObject()
        for (name, value) in entries {
            guard !name.isEmpty, name.utf8.allSatisfy(nameBytes.contains) else {
                throw MalformedSource(
                    "the name of an entry has other characters than letters, digits, -, _ and .")
            }
            try EnvironmentFile.set(
                interpreted(value, of: name, marked: marks[name]), named: name, in: &object)
        }
        return object
    }

    /// Returns a note if an object is a manifest, whose values are in base64.
    static func notes(on object: JSONObject) -> [String] {
        isSecret(object)
            ? ["it is the manifest of a Secret; --format kubernetes reads the values in it"] : []
    }

    private static let nameBytes = ASCIISet(lettersDigitsAnd: "-_.")

    private static func isSecret(_ object: JSONObject) -> Bool {
        object["apiVersion"] == "v1" && object["kind"] == "Secret"
    }

    /// Returns the members of an object in an object, which may be missing.
    private static func members(
        _ name: String, of object: JSONObject
    ) throws(MalformedSource) -> JSONObject {
        guard let value = object[name], !value.isNull else { return [:] }
        guard let members = value.object else {
            throw MalformedSource("found \(value.typeName), expected object in \(name)")
        }
        return members
    }

    private static func marks(
        of manifest: JSONObject
    ) throws(MalformedSource) -> [String: EnvironmentFile.Mark] {
        let annotations = try members("annotations", of: members("metadata", of: manifest))
        var marks: [String: EnvironmentFile.Mark] = [:]
        for mark in EnvironmentFile.Mark.allCases {
            let name = annotation(for: mark)
            guard let value = annotations[name] else { continue }
            guard let names = value.string else {
                throw MalformedSource("found \(value.typeName), expected string in \(name)")
            }
            for name in names.split(separator: ",") { marks[String(name)] = mark }
        }
        return marks
    }

    /// Decodes base64, in which the API server ignores line breaks.
    private static func decoded(
        _ value: JSONValue, of name: String
    ) throws(MalformedSource) -> JSONValue {
        guard let encoded = value.string else { return value }
        let letters = encoded.utf8.filter { $0 != ASCII.lineFeed && $0 != ASCII.carriageReturn }
        guard let bytes = Base64.decode(Array(letters), from: .standard) else {
            throw MalformedSource("the value of \(quoted(name)) is not canonical base64")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw MalformedSource("the value of \(quoted(name)) is not UTF-8 text")
        }
        return .string(text)
    }

    private static func interpreted(
        _ value: JSONValue, of name: String, marked mark: EnvironmentFile.Mark?
    ) throws(MalformedSource) -> JSONValue {
        if value.isNull { return .null }
        guard let text = value.string else {
            throw MalformedSource(
                "found \(value.typeName), expected string as the value of \(quoted(name))")
        }
        do throws(MalformedSource) {
            return try EnvironmentFile.value(of: text, marked: mark)
        } catch {
            throw MalformedSource(
                "the value of \(quoted(name)) is not JSON, which \(annotation(for: .json)) says")
        }
    }
}
#endif
