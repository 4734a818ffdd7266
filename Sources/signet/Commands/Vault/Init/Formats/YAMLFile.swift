#if Tool
import SignetBase
import SignetJSON
import SignetVault
import Yams

/// Reads a YAML file by the core schema of YAML 1.2, and follows merge keys (`<<`).
struct YAMLFile {
    /// The largest file: 4 MiB. The parser takes many times that in memory.
    private static let sizeLimit = 4 << 20

    private let characters: YAMLCharacters
    private var count = 0
    /// The lines of `yes`, `no`, `on` and `off` without quotes.
    private var switchLines: Set<Int> = []

    /// Reads a document.
    ///
    /// - Returns: The values, and notes about those that other programs read differently.
    static func object(
        parsing text: String
    ) throws(MalformedSource) -> (object: JSONObject, notes: [String]) {
        guard text.utf8.count <= sizeLimit else {
            throw MalformedSource(
                "found \(text.utf8.count) bytes, expected at most \(sizeLimit)")
        }
        var file = YAMLFile(characters: try YAMLCharacters(masking: text))
        let text = file.characters.masked
        try YAMLAliases.requireUsable(text)
        let root: Node?
        do {
            root = try Parser(yaml: text, resolver: .basic, encoding: .utf8).singleRoot()
        } catch {
            throw malformed(error)
        }
        guard let root else { return ([:], []) }
        guard let object = try file.value(of: root).object else {
            throw MalformedSource("expected a mapping")
        }
        return (object, file.notes)
    }

    private init(characters: YAMLCharacters) { self.characters = characters }

    private var notes: [String] {
        guard !switchLines.isEmpty else { return [] }
        let shown = switchLines.sorted().prefix(10).map(String.init).joined(separator: ", ")
        let more = switchLines.count > 10 ? " and \(switchLines.count - 10) more lines" : ""
        return [
            "yes, no, on and off are texts in YAML 1.2; a boolean is true or false: "
                + "\(switchLines.count == 1 ? "line" : "lines") \(shown)\(more)"
        ]
    }

    private mutating func value(of node: Node) throws(MalformedSource) -> JSONValue {
        count += 1
        guard count <= YAMLAliases.valueLimit else {
            throw MalformedSource("more than \(YAMLAliases.valueLimit) values")
        }
        switch node {
        case .scalar(let scalar): return try value(of: scalar)
        case .sequence(let sequence):
            try Self.require(sequence.tag, toBe: "seq", line: sequence.mark?.line)
            var elements: [JSONValue] = []
            for element in sequence { elements.append(try value(of: element)) }
            return .array(elements)
        case .mapping(let mapping): return .object(try object(of: mapping))
        case .alias(let alias):
            throw MalformedSource("an alias without an anchor", line: alias.mark?.line)
        }
    }

    /// Checks that a tag is missing or the one that the node has anyway.
    private static func require(
        _ tag: Tag, toBe name: String, line: Int?
    ) throws(MalformedSource) {
        guard ["", "!", CoreSchema.prefix + name].contains(tag.rawValue) else {
            throw MalformedSource("a tag other than !!\(name) on a collection", line: line)
        }
    }

    // MARK: - Mappings

    private mutating func object(of mapping: Node.Mapping) throws(MalformedSource) -> JSONObject {
        try Self.require(mapping.tag, toBe: "map", line: mapping.mark?.line)
        var members: [(key: Node.Scalar, name: String?, value: Node)] = []
        var names: Set<ByteName> = []
        for (key, member) in mapping {
            guard case .scalar(let scalar) = key else {
                throw MalformedSource("a key that is not a text", line: key.mark?.line)
            }
            guard !Self.isMergeKey(scalar) else {
                members.append((scalar, nil, member))
                continue
            }
            guard Self.isText(scalar.tag) else {
                throw MalformedSource("a tag other than !!str on a key", line: scalar.mark?.line)
            }
            let name = try text(of: scalar)
            guard names.insert(ByteName(name)).inserted else {
                throw MalformedSource("a duplicate key", line: scalar.mark?.line)
            }
            members.append((scalar, name, member))
        }
        var object = JSONObject()
        for (key, name, member) in members {
            if let name {
                object[name] = try value(of: member)
                continue
            }
            // The mapping's own members win, then those of the first merged mapping.
            for merged in try merged(member, line: key.mark?.line) {
                for (name, value) in merged
                where object[name] == nil && !names.contains(ByteName(name)) {
                    object[name] = value
                }
            }
        }
        return object
    }

    /// Returns whether a key is `<<` without quotes. The parser takes it for `!!str`.
    private static func isMergeKey(_ key: Node.Scalar) -> Bool {
        key.string == "<<" && key.style == .plain
            && (isText(key.tag) || key.tag.rawValue == CoreSchema.prefix + "merge")
    }

    private static func isText(_ tag: Tag) -> Bool {
        ["", "!", CoreSchema.prefix + "str"].contains(tag.rawValue)
    }

    /// Reads the mappings that a merge key names.
    private mutating func merged(
        _ node: Node, line: Int?
    ) throws(MalformedSource) -> [JSONObject] {
        let value = try value(of: node)
        let objects = value.array?.compactMap(\.object) ?? value.object.map { [$0] } ?? []
        guard objects.count == value.array?.count ?? 1 else {
            throw MalformedSource(
                "a merge key (<<) whose value is neither a mapping nor a list of mappings",
                line: line)
        }
        return objects
    }

    // MARK: - Scalars

    private mutating func value(of scalar: Node.Scalar) throws(MalformedSource) -> JSONValue {
        let text = try text(of: scalar)
        let tag = scalar.tag.rawValue
        guard tag.isEmpty else {
            if Self.isText(scalar.tag) { return .string(text) }
            guard let value = CoreSchema.value(of: text, tag: tag) else {
                throw MalformedSource(
                    "a tag that the value does not fit: expected !!str, or !!int, !!float, "
                        + "!!bool or !!null with a value of this type",
                    line: scalar.mark?.line)
            }
            return value
        }
        guard scalar.style == .plain else { return .string(text) }
        if let line = scalar.mark?.line, CoreSchema.isSwitch(text) { switchLines.insert(line) }
        return CoreSchema.value(of: text)
    }

    /// The text of a scalar, with the characters of the file.
    private func text(of scalar: Node.Scalar) throws(MalformedSource) -> String {
        let text = characters.restored(
            scalar.string, isDoubleQuoted: scalar.style == .doubleQuoted)
        guard scalar.style != .plain || !text.unicodeScalars.contains("\u{FEFF}") else {
            throw MalformedSource(
                "a byte-order mark inside the file: quote the text", line: scalar.mark?.line)
        }
        return text
    }

    /// The reason that the parser gives, without a line of the text.
    static func malformed(_ error: any Error) -> MalformedSource {
        // The errors' own texts repeat the line, which may hold a secret.
        guard let error = error as? YamlError else { return MalformedSource("invalid text") }
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return MalformedSource(problem, line: mark.line)
        case .duplicatedKeysInMapping(_, let context):
            return MalformedSource("a duplicate key", line: context.mark.line)
        case .reader(let problem, _, _, _): return MalformedSource(problem)
        default: return MalformedSource("invalid text")
        }
    }
}
#endif
