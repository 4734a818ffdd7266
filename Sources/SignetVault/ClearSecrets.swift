import SignetBase
import SignetJSON
import SignetSystem

/// The values of a file of defaults whose keys the schema calls secret. They are in the clear.
///
/// That is so if `vault init` took a secret for a public value, and a person corrected the schema
/// alone.
package struct ClearSecrets: Sendable, CustomStringConvertible, CustomReflectable {
    /// The file.
    package let path: String
    /// The keys, in the order of the file.
    package let names: [String]
    private let found: [UInt8]
    private let rest: JSONObject

    /// Looks for them in a file. Returns nil if there are none, or if the file can't be read.
    ///
    /// A pipe keeps nothing, and an empty text, list or object isn't a secret.
    package init?(in path: String, schema: Schema) {
        guard path != "-", let file = Folder.resolved(path),
            Folder.permissions(ofFile: file) != nil,
            let found = try? InputFile.read(file, limit: ConfigurationInput.sizeLimit),
            let object = (try? JSONValue(parsing: found))?.object
        else { return nil }
        let (rest, names) = Self.split(object, by: schema)
        guard !names.isEmpty else { return nil }
        (self.path, self.names, self.found, self.rest) = (path, names, found, rest)
    }

    /// Removes them from the file.
    ///
    /// - Throws: `unwritable-file`; `file-busy` if the file was changed after it was read.
    package func remove() throws(VaultError) {
        do throws(FileFailure) {
            var lock = try FileLock(guarding: path)
            guard try InputFile.read(path, limit: ConfigurationInput.sizeLimit) == found else {
                throw FileFailure(
                    path: path, operation: "change",
                    reason: "another process changed it meanwhile; run the command again",
                    kind: .busy)
            }
            try lock.write(JSONValue.object(rest).serialized(.pretty) + [0x0A], mode: lock.mode)
        } catch {
            throw VaultError(
                error.kind == .busy ? .fileBusy : .unwritableFile,
                "the dump is sealed, but \(description): \(error.message)")
        }
    }

    /// Returns an object without the values of secret keys, and these keys.
    private static func split(
        _ object: JSONObject, by schema: Schema, after prefix: String = ""
    ) -> (rest: JSONObject, names: [String]) {
        var rest = JSONObject()
        var names: [String] = []
        for (member, value) in object {
            let name = prefix + member
            if let rule = schema.rule(named: name) {
                if rule.isPublic || isEmpty(value) {
                    rest[member] = value
                } else {
                    names.append(name)
                }
            } else if let nested = value.object, schema.hasKeys(below: name) {
                let (others, found) = split(nested, by: schema, after: name + ".")
                names += found
                if found.isEmpty || !others.isEmpty { rest[member] = .object(others) }
            } else {
                rest[member] = value
            }
        }
        return (rest, names)
    }

    private static func isEmpty(_ value: JSONValue) -> Bool {
        value.isNull || value.string?.isEmpty == true || value.array?.isEmpty == true
            || value.object?.isEmpty == true
    }

    /// The file and the keys, without the values.
    package var description: String {
        "\(printable(path)) has values in the clear that the schema calls secret: "
            + names.map { printable($0) }.joined(separator: ", ")
    }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
