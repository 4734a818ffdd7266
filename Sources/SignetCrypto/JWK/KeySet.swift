import SignetBase
public import SignetJSON

/// The keys of a JWK Set (RFC 7517, section 5). One malformed key makes the whole set unusable.
///
/// ```swift
/// let partner = """
///     {"keys": [{"kid": "shop", "kty": "OKP", "crv": "Ed25519", "use": "sig",
///                "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}
///     """
/// let keys = try KeySet(parsing: Array(partner.utf8), source: "partner")
/// let key = try keys.key(id: "shop")  // Throws KeyError with unknownKey if it is missing.
/// print(key.kind, key.thumbprint ?? "no thumbprint")
/// ```
///
/// ``KeySource`` reads a set from a file, the environment or a command.
public struct KeySet: Sendable, CustomStringConvertible, CustomReflectable {
    /// The maximum size of a set: 1 MiB.
    public static let maximumByteCount = 1 << 20

    /// The keys, in the set's order.
    public let keys: [CryptoKey]
    /// The origin of the set, for messages; never its contents.
    public let source: String

    /// Whether the set was sealed for several people, and an identity opened it.
    package internal(set) var isShared = false

    private let positions: [[UInt8]: Int]

    /// Reads a set.
    ///
    /// - Parameters:
    ///   - bytes: A JWK Set in strict JSON. No copy of a secret's text stays in memory; the caller
    ///     wipes this one, as ``KeySource/load()`` does.
    ///   - source: The origin of the set, for messages.
    /// - Throws: `KeyError` with `malformedKeys` for invalid JSON, duplicate members, a missing
    ///   `kid` (but in a set of public keys, whose ids are then their thumbprints), two keys with
    ///   one `kid`, base64url that is not canonical, a vault root that is not 32 bytes long,
    ///   members of the wrong type, and numbers that are not a key.
    public init(parsing bytes: [UInt8], source: String) throws(KeyError) {
        do throws(KeyError) {
            try self.init(reading: Self.reader(of: bytes), source: source)
        } catch {
            throw KeyError(error.code, "\(printable(source)): \(error.message)")
        }
    }

    /// Creates a set of one key.
    package init(only key: CryptoKey) {
        keys = [key]
        positions = [Array(key.id.utf8): 0]
        source = "the key \"\(printable(key.id))\""
    }

    private init(reading reader: JSONReader, source: String) throws(KeyError) {
        var keys: [CryptoKey] = []
        var positions: [[UInt8]: Int] = [:]
        var unnamed: Int?
        for (index, member) in try Self.members(reader).enumerated() {
            let parts = try KeyParts.read(member, of: reader, index: index)
            if parts.isUnnamed { unnamed = unnamed ?? index }
            let key = CryptoKey(parts)
            guard positions.updateValue(index, forKey: Array(key.id.utf8)) == nil else {
                throw KeyParts.malformed("two keys have the id \(key.shownID)")
            }
            keys.append(key)
        }
        // Only public keys can do without a name. Those that can't be used don't matter.
        if let unnamed, keys.contains(where: { $0.isPrivate && $0.kind != .unsupported }) {
            throw KeyParts.missingID(at: unnamed)
        }
        self.keys = keys
        self.positions = positions
        self.source = source
    }

    private static let importAdvice =
        "signet keys import SOURCE --id ID --out FILE makes one of a bare secret"

    private static func members(_ reader: JSONReader) throws(KeyError) -> [JSONReader.Element] {
        guard reader.root.kind == .object else {
            throw KeyParts.malformed(
                "found \(reader.root.kind.name), expected a JWK Set: {\"keys\":[…]}; \(importAdvice)"
            )
        }
        let set = JWKMembers(of: reader.root, in: reader)
        guard let keys = set["keys"] else {
            throw KeyParts.malformed(
                set["kty"] == nil
                    ? "missing \"keys\", expected a JWK Set"
                    : "found a single JWK, expected {\"keys\":[JWK]}; signet keys import JWK --id ID --out "
                        + "FILE makes one of it")
        }
        guard keys.kind == .array else {
            throw KeyParts.malformed("found \(keys.kind.name), expected an array in \"keys\"")
        }
        return reader.elements(of: keys)
    }

    /// Returns whether bytes are an object in JSON that is a JWK or a JWK Set, maybe behind a byte
    /// order mark, which the reader of sets refuses.
    static func isJWK(_ bytes: [UInt8]) -> Bool {
        var text = bytes.hasByteOrderMark ? Array(bytes.dropFirst(3)) : bytes
        defer { if bytes.hasByteOrderMark { wipe(&text) } }
        guard let reader = try? reader(of: text), reader.root.kind == .object else { return false }
        let members = JWKMembers(of: reader.root, in: reader)
        return members["kty"] != nil || members["keys"]?.kind == .array
    }

    /// Reads the JSON of a set, without a tree of values, because their strings could not be wiped.
    static func reader(of bytes: [UInt8]) throws(KeyError) -> JSONReader {
        guard bytes.count <= maximumByteCount else {
            throw KeyParts.malformed(
                "found \(bytes.count) bytes, expected at most \(maximumByteCount)")
        }
        guard !bytes.isEmpty else {
            throw KeyParts.malformed("the input is empty, expected a JWK Set")
        }
        do throws(JSONError) {
            return try JSONReader(bytes, maximumDepth: 64)
        } catch {
            guard !PEM.isContained(in: bytes) else {
                throw KeyParts.malformed(
                    "found PEM, expected a JWK Set; signet keys import PEM --id ID --out FILE "
                        + "makes one of it")
            }
            guard !bytes.hasByteOrderMark else {
                throw KeyParts.malformed(
                    "found a byte order mark, expected strict JSON, which begins without one")
            }
            // Leaves out the reader's own message, which may quote a key.
            let place = error.offset.map { " at byte \($0)" } ?? ""
            let isObject = bytes.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "{")
            throw KeyParts.malformed(
                "not strict JSON: \(error.code.name)\(place)"
                    + (isObject ? "" : ", expected a JWK Set; \(importAdvice)"))
        }
    }

    /// Returns the key with an id.
    ///
    /// - Parameter id: Compared as UTF-8 bytes.
    /// - Returns: The key. It may be revoked, expired or not yet valid: see
    ///   ``CryptoKey/requireUsable(at:)``.
    /// - Throws: `KeyError` with `unknownKey` if it is missing.
    public func key(id: String) throws(KeyError) -> CryptoKey {
        guard let key = self[id] else {
            throw KeyError(
                .unknownKey, "\(printable(source)): no key has the id \"\(printable(id))\"")
        }
        return key
    }

    /// The key with an id, or nil.
    public subscript(id: String) -> CryptoKey? { positions[Array(id.utf8)].map { keys[$0] } }

    /// Whether the set includes a secret or a private key.
    public var isPrivate: Bool { keys.contains(where: \.isPrivate) }

    /// The public halves as a JWK Set, without the keys that have none.
    public var publicHalves: JSONValue { keys.publicHalves }

    /// The source and the number of keys.
    public var description: String { "KeySet(\(printable(source)), \(keys.count) keys, redacted)" }

    /// No children, so that reflection and `dump` show only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension [CryptoKey] {
    /// The public halves as a JWK Set, without the keys that have none.
    package var publicHalves: JSONValue {
        .object(["keys": .array(compactMap(\.publicHalf).map(JSONValue.object))])
    }
}
