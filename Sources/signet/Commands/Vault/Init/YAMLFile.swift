import SignetJSON
import SignetVault
internal import Yams

/// Reads a YAML file as YAML 1.2: only `true`, `false`, `null` and numbers in JSON's spelling
/// aren't text.
enum YAMLFile {
    /// The largest file: 4 MiB. The parser takes many times that in memory.
    private static let sizeLimit = 4 << 20

    /// Reads a document.
    static func object(parsing text: String) throws(MalformedSource) -> JSONObject {
        guard text.utf8.count <= sizeLimit else {
            throw MalformedSource(
                "found \(text.utf8.count) bytes, expected at most \(sizeLimit)")
        }
        try YAMLAliases.requireUsable(text)
        let root: Node?
        do {
            root = try Parser(yaml: text, resolver: .basic, encoding: .utf8).singleRoot()
        } catch {
            throw malformed(error)
        }
        var count = 0
        guard let root else { return [:] }
        guard let object = try value(of: root, count: &count).object else {
            throw MalformedSource("expected a mapping")
        }
        return object
    }

    private static func value(
        of node: Node, count: inout Int
    ) throws(MalformedSource) -> JSONValue {
        count += 1
        guard count <= YAMLAliases.valueLimit else {
            throw MalformedSource("more than \(YAMLAliases.valueLimit) values")
        }
        switch node {
        case .scalar(let scalar): return try value(of: scalar)
        case .sequence(let sequence):
            var elements: [JSONValue] = []
            for element in sequence { elements.append(try value(of: element, count: &count)) }
            return .array(elements)
        case .mapping(let mapping):
            var object = JSONObject()
            for (key, member) in mapping {
                guard case .scalar(let name) = key else {
                    throw MalformedSource(
                        "a key that is not a text", line: key.mark?.line)
                }
                guard name.string != "<<" || name.style != .plain else {
                    throw MalformedSource(
                        "a merge key (<<), which YAML 1.2 does not have", line: name.mark?.line)
                }
                guard object[name.string] == nil else {
                    throw MalformedSource("a duplicate key", line: name.mark?.line)
                }
                object[name.string] = try value(of: member, count: &count)
            }
            return .object(object)
        case .alias(let alias):
            throw MalformedSource("an alias without an anchor", line: alias.mark?.line)
        }
    }

    private static func value(
        of scalar: Node.Scalar
    ) throws(MalformedSource) -> JSONValue {
        switch scalar.tag.rawValue {
        case "": break
        case "!", "tag:yaml.org,2002:str": return .string(scalar.string)
        default:
            throw MalformedSource(
                "a tag other than !!str, which has no meaning here", line: scalar.mark?.line)
        }
        guard scalar.style == .plain else { return .string(scalar.string) }
        return PlainText.value(of: scalar.string, emptyIsNull: true)
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
