public import SignetJSON

/// The keys of a JWK Set (RFC 7517, section 5), taken whole or not at all.
public struct KeySet: Sendable, CustomStringConvertible, CustomReflectable {
    /// The most bytes of a set: 1 MiB.
    public static let maximumByteCount = 1 << 20

    /// The keys, in the order of the set.
    public let keys: [Key]
    /// Where the set came from, for messages; never its contents.
    public let source: String

    private let positions: [[UInt8]: Int]

    /// Reads a set.
    ///
    /// - Parameters:
    ///   - bytes: The JSON of a JWK Set; read strictly. No copy of a secret's text is left behind; this
    ///     one is the caller's to wipe, which ``KeySource/load()`` does.
    ///   - source: Where it came from, named in errors.
    /// - Throws: `KeyError` with `malformedKeys` for a root that is not 32 bytes long, base64url
    ///   that is not canonical, a missing `kid`, two keys of one `kid`, duplicate members, `revoked`
    ///   that is no boolean, `nbf` or `exp` that is no number, and any other broken key.
    public init(parsing bytes: [UInt8], source: String) throws(KeyError) {
        do throws(KeyError) {
            try self.init(reading: Self.reader(bytes), source: source)
        } catch {
            throw KeyError(code: error.code, message: "\(printable(source)): \(error.message)")
        }
    }

    private init(reading reader: JSONReader, source: String) throws(KeyError) {
        var keys: [Key] = []
        var positions: [[UInt8]: Int] = [:]
        for (index, member) in try Self.members(reader).enumerated() {
            let key = Key(try KeyParts.read(member, of: reader, index: index))
            guard positions.updateValue(index, forKey: Array(key.id.utf8)) == nil else {
                throw KeyParts.malformed("two keys have the id \(key.shownID)")
            }
            keys.append(key)
        }
        self.keys = keys
        self.positions = positions
        self.source = source
    }

    private static func members(_ reader: JSONReader) throws(KeyError) -> [JSONReader.Element] {
        guard reader.root.kind == .object else {
            throw KeyParts.malformed("wanted a JWK Set: {\"keys\":[…]}")
        }
        let set = JWKMembers(of: reader.root, in: reader)
        guard let keys = set["keys"] else {
            throw KeyParts.malformed(
                set["kty"] == nil
                    ? "a JWK Set has a member \"keys\"" : "one JWK, wanted {\"keys\":[JWK]}")
        }
        guard keys.kind == .array else {
            throw KeyParts.malformed("\"keys\" is \(keys.kind.name), wanted an array")
        }
        return reader.elements(of: keys)
    }

    /// Reads the JSON of a set. It makes no tree, because its strings cannot be wiped.
    private static func reader(_ bytes: [UInt8]) throws(KeyError) -> JSONReader {
        guard bytes.count <= maximumByteCount else {
            throw KeyParts.malformed(
                "\(bytes.count) bytes, at most \(maximumByteCount) are taken")
        }
        guard !bytes.isEmpty else { throw KeyParts.malformed("it is empty, wanted a JWK Set") }
        do throws(JSONError) {
            return try JSONReader(bytes, maximumDepth: 64)
        } catch {
            // The words of the JSON reader may quote what they found, which may be a key.
            let place = error.offset.map { " at byte \($0)" } ?? ""
            throw KeyParts.malformed("no strict JSON: \(error.code.name)\(place)")
        }
    }

    /// The key of an id, or an error that names it.
    ///
    /// - Parameter id: Compared as UTF-8 bytes.
    /// - Returns: The key, which may still be revoked or out of its time.
    /// - Throws: `KeyError` with `unknownKey`.
    public func key(id: String) throws(KeyError) -> Key {
        guard let key = self[id] else {
            throw KeyError(
                code: .unknownKey,
                message: "\(printable(source)): no key has the id \"\(printable(id))\"")
        }
        return key
    }

    /// The key of an id, or nil.
    public subscript(id: String) -> Key? { positions[Array(id.utf8)].map { keys[$0] } }

    /// Whether a key of the set has a half that must not be seen.
    public var isPrivate: Bool { keys.contains(where: \.isPrivate) }

    /// The public halves as a JWK Set; keys that have none are left out.
    public var publicHalves: JSONValue {
        .object(["keys": .array(keys.compactMap(\.publicHalf).map(JSONValue.object))])
    }

    /// The source and the number of keys.
    public var description: String { "KeySet(\(printable(source)), \(keys.count) keys, redacted)" }

    /// No children: reflection and `dump` see no more than `description` says.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
