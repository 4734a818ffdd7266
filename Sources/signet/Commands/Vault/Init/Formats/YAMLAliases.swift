#if Tool
import SignetBase
import SignetVault
import Yams

/// The size of a YAML text once its aliases are followed, found without following them.
///
/// The parser puts the anchored node in the place of each alias and compares the keys of a mapping.
/// A short text with aliases of aliases, as a key or one inside the other, would keep it busy
/// without end or take the whole stack. Here each alias is a scalar to the parser.
struct YAMLAliases {
    /// The most values that a file may have once its aliases are followed.
    static let valueLimit = 100_000
    /// The deepest nesting once its aliases are followed, which is that of JSON.
    static let depthLimit = 512

    private struct Extent {
        var values = 1
        var depth = 1

        mutating func contain(_ other: Extent) {
            values += other.values
            depth = max(depth, other.depth + 1)
        }
    }

    /// The character in the place of the `*` of an alias.
    private let alias: Unicode.Scalar
    /// The character in the place of `?`, which begins a key that is not a single line.
    private let key: Unicode.Scalar
    private var anchors: [String: Extent] = [:]

    /// Checks that the aliases of a text stand for a bounded number of values, and for no key.
    static func requireUsable(_ text: String) throws(MalformedSource) {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") })
        else { return }
        var aliases = try YAMLAliases(for: text)
        let parser: Parser
        let root: Node?
        do {
            parser = try Parser(yaml: aliases.masked(text), resolver: .basic, encoding: .utf8)
            root = try parser.singleRoot()
        } catch {
            throw YAMLFile.malformed(error)
        }
        guard let root else { return }
        // The nodes do not keep their anchors, but the parser does.
        try withExtendedLifetime(parser) { () throws(MalformedSource) in
            _ = try aliases.extent(of: root)
        }
    }

    /// Chooses two characters that the text does not have.
    private init(for text: String) throws(MalformedSource) {
        let chosen = try UnusedCharacters.choose(2, for: text)
        alias = chosen[0]
        key = chosen[1]
    }

    /// The text with other characters in the places where an alias or a `?` key can begin.
    private func masked(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let (alias, key) = (Array(String(alias).utf8), Array(String(key).utf8))
        var masked: [UInt8] = []
        masked.reserveCapacity(bytes.count + bytes.count / 16)
        for (index, byte) in bytes.enumerated() {
            if byte == UInt8(ascii: "?") {
                masked += key
            } else if byte == UInt8(ascii: "*"), index + 1 < bytes.count,
                Self.isNameByte(bytes[index + 1])
            {
                masked += alias
            } else {
                masked.append(byte)
            }
        }
        return String(decoding: masked, as: UTF8.self)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == ASCII.underscore || byte == ASCII.minus
    }

    private mutating func extent(of node: Node) throws(MalformedSource) -> Extent {
        var extent = Extent()
        switch node {
        case .scalar(let scalar):
            if let name = try name(in: scalar) {
                guard let target = anchors[name] else {
                    throw MalformedSource(
                        "an alias without an anchor", line: scalar.mark?.line)
                }
                return target
            }
        case .sequence(let sequence):
            for element in sequence { extent.contain(try self.extent(of: element)) }
        case .mapping(let mapping):
            for (key, member) in mapping {
                guard case .scalar(let scalar) = key, try name(in: scalar) == nil else {
                    throw MalformedSource(
                        "a key that is not a text", line: key.mark?.line)
                }
                // An anchor of a key is one too.
                _ = try self.extent(of: key)
                extent.contain(try self.extent(of: member))
            }
        case .alias: break
        }
        guard extent.values <= Self.valueLimit else {
            throw MalformedSource(
                "more than \(Self.valueLimit) values, with those of aliases", line: node.mark?.line)
        }
        guard extent.depth <= Self.depthLimit else {
            throw MalformedSource(
                "more than \(Self.depthLimit) levels, with those of aliases", line: node.mark?.line)
        }
        if let anchor = node.anchor { anchors[anchor.rawValue] = extent }
        return extent
    }

    /// Returns the anchor's name if a scalar stands for an alias.
    private func name(
        in scalar: Node.Scalar
    ) throws(MalformedSource) -> String? {
        guard scalar.style == .plain, let first = scalar.string.unicodeScalars.first else {
            return nil
        }
        guard first != key else {
            throw MalformedSource(
                "a key or value that begins with ?: quote it", line: scalar.mark?.line)
        }
        return first == alias ? String(scalar.string.unicodeScalars.dropFirst()) : nil
    }
}
#endif
