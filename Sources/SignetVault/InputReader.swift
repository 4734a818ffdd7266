import SignetBase
package import SignetJSON
import SignetSystem

/// Reads inputs as keys with their values. Entries without an error are read even if others have
/// one.
struct InputReader {
    let schema: Schema
    /// The name of the inputs' origin, for messages.
    let place: String
    private(set) var entries: [ConfigurationInput.Entry] = []
    /// The errors: `unreadable-file` and `malformed-input`; `wrong-type` if a text isn't of its
    /// key's type; `unknown-config-key`.
    private(set) var problems: [VaultError] = []

    init(schema: Schema, place: String) {
        self.schema = schema
        self.place = place
    }

    mutating func read(_ input: ConfigurationInput) {
        do throws(VaultError) {
            try read(input.source)
        } catch {
            problems.append(error)
        }
    }

    private mutating func read(_ source: ConfigurationInput.Source) throws(VaultError) {
        switch source {
        case .file(let path):
            let bytes = try VaultError.reading(path, limit: ConfigurationInput.sizeLimit)
            try add(Self.object(parsing: bytes, place: "\(place) (\(path))"))
        case .json(let bytes): try add(Self.object(parsing: bytes, place: place))
        case .values(let object): try add(object)
        case .texts(let texts): add(parsing: texts)
        case .environment(let prefix, let variables):
            let variables = variables?.map { (name: $0, value: Optional($1)) } ?? Environment.all
            try add(parsing: variables, prefix: prefix)
        case .detected(let prefix, let appVersion, let variables):
            entries += DetectedValues.entries(
                for: schema, prefix: prefix, appVersion: appVersion,
                variables: variables ?? Environment.texts,
                place: "\(place) (detected)")
        case .joined(let inputs):
            for input in inputs { read(input) }
        }
    }

    private static func object(
        parsing bytes: [UInt8], place: String
    ) throws(VaultError) -> JSONObject {
        guard bytes.count <= ConfigurationInput.sizeLimit else {
            throw VaultError(.malformedInput, "\(place): larger than 16 MiB")
        }
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw VaultError(.malformedInput, "\(place): not JSON: \(error.messageWithoutNames)")
        }
        guard let object = value.object else {
            throw VaultError(
                .malformedInput, "\(place): found \(value.article), expected an object KEY:VALUE")
        }
        return object
    }

    /// Adds the members of an object as keys, flattened with dots if the schema has keys below
    /// their names.
    ///
    /// - Throws: `malformed-input` if a nested and a flat member are the same key; then none is
    ///   added.
    private mutating func add(_ object: JSONObject) throws(VaultError) {
        let found = flattened(object, prefix: "")
        var seen: Set<ByteName> = []
        for entry in found where !seen.insert(ByteName(entry.name)).inserted {
            throw duplicate(entry.name)
        }
        entries += found
    }

    private func flattened(
        _ object: JSONObject, prefix: String
    ) -> [ConfigurationInput.Entry] {
        object.flatMap { member, value in
            let name = prefix + member
            if let nested = value.object, schema.position(of: name) == nil,
                schema.hasKeys(below: name)
            {
                return flattened(nested, prefix: name + ".")
            }
            return [ConfigurationInput.Entry(name: name, value: value, place: place)]
        }
    }

    private func duplicate(_ name: String) -> VaultError {
        VaultError(.malformedInput, "\(quoted(name)) in \(place): duplicate key", key: name)
    }

    // MARK: - Text

    private mutating func add(parsing texts: [String]) {
        var seen: Set<ByteName> = []
        for (index, text) in texts.enumerated() {
            do throws(VaultError) {
                guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")),
                    equals > text.startIndex
                else {
                    throw VaultError(
                        .malformedInput, "\(place) value \(index + 1): expected KEY=VALUE")
                }
                let name = String(text[..<equals])
                guard seen.insert(ByteName(name)).inserted else { throw duplicate(name) }
                guard let rule = schema.rule(named: name) else {
                    throw .unknown(name, in: place, among: schema.keys)
                }
                let value = String(text[text.utf8.index(after: equals)...])
                try add(parsing: value, rule: rule, place: place)
            } catch {
                problems.append(error)
            }
        }
    }

    private mutating func add(
        parsing variables: [(name: String, value: String?)], prefix: String
    ) throws(VaultError) {
        guard !prefix.isEmpty else {
            throw VaultError(
                .malformedInput, "\(place): an empty prefix would match every variable")
        }
        let rules = Dictionary(grouping: schema.rules) { rule in
            ByteName(ConfigurationInput.variable(for: rule.name, prefix: prefix))
        }
        for (name, value) in variables.sorted(by: { $0.name < $1.name })
        where name.utf8.starts(with: prefix.utf8) {
            do throws(VaultError) {
                guard let matches = rules[ByteName(name)] else {
                    throw VaultError(
                        .unknownConfigKey,
                        "variable \(quoted(name)) in \(place): no key of the schema has this name")
                }
                guard matches.count == 1 else {
                    let names = matches.map { quoted($0.name) }.joined(separator: " and ")
                    throw VaultError(
                        .malformedInput,
                        "variable \(quoted(name)) in \(place): both \(names) have this name")
                }
                guard let value else {
                    throw VaultError(
                        .malformedInput,
                        "variable \(quoted(name)) in \(place): its value is not UTF-8",
                        key: matches[0].name)
                }
                try add(
                    parsing: value, rule: matches[0], place: "\(place) (variable \(name))")
            } catch {
                problems.append(error)
            }
        }
    }

    private mutating func add(
        parsing text: String, rule: KeyRule, place: String
    ) throws(VaultError) {
        let value = try rule.value(ofText: text, from: place)
        entries.append(.init(name: rule.name, value: value, place: place))
    }
}

extension KeyRule {
    /// Reads a text as a value of the key's type, as for a launch value: plain text, a number of
    /// seconds, or JSON. Doesn't check the value's limits.
    ///
    /// - Throws: `wrong-type`, naming the key and the place.
    package func value(ofText text: String, from place: String) throws(VaultError) -> JSONValue {
        if type.isText { return .string(text) }
        if type == .duration {
            return JSONNumber(text: text).map(JSONValue.number) ?? .string(text)
        }
        do {
            return try JSONValue(parsing: text)
        } catch {
            throw VaultError(
                .wrongType,
                "\(quoted(name)) in \(place): expected \(type.expectation) as JSON: "
                    + error.messageWithoutNames, key: name)
        }
    }
}
