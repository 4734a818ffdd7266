internal import SignetBase
import SignetCrypto
import SignetJSON

/// The highest sequence that was seen of each app, as a state file holds it, with a MAC under each
/// root that may vouch for it: one, and two while a dump goes from one root to another.
///
///     {"format":"signet-state-1","seen":[{"app":ID,"system":ID,"sequence":N}],
///      "macs":[{"kid":"signet1.KEYID.SALT","mac":MAC}]}
///
/// in one line. A file in any other spelling is not ours. The MAC is HMAC-SHA256 over the count of
/// entries and each entry's names behind their lengths and its sequence; its key comes from the root
/// and the salt by HKDF (RFC 5869) under a label of its own, so that no dump shares it.
struct SequenceState: Sendable {
    /// The largest file, in bytes, and the most apps in it.
    static let sizeLimit = 1 << 18
    private static let entryLimit = 256

    struct Entry: Sendable, Equatable {
        let app: String
        let system: String
        var sequence: Int64

        func isOf(_ binding: VersionBinding) -> Bool {
            sameBytes(app, binding.app.id) && sameBytes(system, binding.system.id)
        }
    }

    /// What vouches for the entries.
    struct Seal: Sendable, Equatable {
        let scheme: DumpName.Scheme
        let keyID: String
        let salt: [UInt8]
        var mac: [UInt8]

        func isOf(_ root: DumpRoot) -> Bool {
            scheme == root.scheme && sameBytes(keyID, root.id)
        }
    }

    private(set) var entries: [Entry] = []
    private(set) var seals: [Seal] = []

    /// Nothing seen.
    init() {}

    /// The highest sequence that was seen of an app and a network system, of whatever versions.
    func seen(_ binding: VersionBinding) -> Int64? {
        entries.first { $0.isOf(binding) }?.sequence
    }

    /// Notes a sequence, which may not be lower than what was seen.
    ///
    /// - Throws: `unwritable-file` where there are too many apps.
    mutating func note(_ sequence: Int64, of binding: VersionBinding) throws(VaultError) {
        if let index = entries.firstIndex(where: { $0.isOf(binding) }) {
            entries[index].sequence = max(sequence, entries[index].sequence)
            return
        }
        guard entries.count < Self.entryLimit else {
            throw VaultError(
                .unwritableFile, "a state file holds at most \(Self.entryLimit) apps")
        }
        entries.append(
            Entry(app: binding.app.id, system: binding.system.id, sequence: sequence))
    }

    // MARK: - MACs

    /// Whether a MAC under this root vouches for the entries; compared in constant time.
    func isAuthenticated(by root: DumpRoot) throws(VaultError) -> Bool {
        for seal in seals where seal.isOf(root) {
            let mac = try Self.mac(of: entries, root, salt: seal.salt)
            if constantTimeEqual(mac.span, seal.mac.span) { return true }
        }
        return false
    }

    /// Lets these roots and no others vouch for the entries. A root that did before keeps its salt, so
    /// that a passphrase is not stretched once more.
    mutating func seal(under roots: [DumpRoot]) throws(VaultError) {
        var seals: [Seal] = []
        for root in roots where !seals.contains(where: { $0.isOf(root) }) {
            var salt = self.seals.first { $0.isOf(root) }?.salt ?? []
            if salt.isEmpty { salt = try SealedDump.newSalt() }
            seals.append(
                Seal(
                    scheme: root.scheme, keyID: root.id, salt: salt,
                    mac: try Self.mac(of: entries, root, salt: salt)))
        }
        self.seals = seals
    }

    private static func mac(
        of entries: [Entry], _ root: DumpRoot, salt: [UInt8]
    ) throws(VaultError) -> [UInt8] {
        var text = LengthPrefixed()
        text.append(UInt64(entries.count))
        for entry in entries {
            text.append(entry.app)
            text.append(entry.system)
            text.append(UInt64(bitPattern: entry.sequence))
        }
        var info = LengthPrefixed(label: "signet1 state")
        info.append(root.id)
        let key = try root.derive(salt: salt, info: info.bytes, count: 32)
        do {
            return try HMAC.tag(of: text.bytes.span, key: key.bytes, .sha256)
        } catch {
            throw VaultError(error)
        }
    }

    // MARK: - The file's text

    var bytes: [UInt8] {
        let seen = entries.map { entry -> JSONValue in
            [
                "app": .string(entry.app), "system": .string(entry.system),
                "sequence": .number(JSONNumber(entry.sequence)),
            ]
        }
        let macs = seals.map { seal -> JSONValue in
            let name = [
                seal.scheme.rawValue, Base64.encode(Array(seal.keyID.utf8), .url),
                Base64.encode(seal.salt, .url),
            ]
            return [
                "kid": .string(name.joined(separator: ".")),
                "mac": .string(Base64.encode(seal.mac, .url)),
            ]
        }
        let state: JSONValue = [
            "format": "signet-state-1", "seen": .array(seen), "macs": .array(macs),
        ]
        return state.serialized() + [0x0A]
    }

    /// Reads a file's text; nil where one byte is not as `bytes` writes it.
    init?(parsing bytes: [UInt8]) {
        guard let state = try? JSONValue(parsing: bytes, maximumDepth: 4),
            let seen = state["seen"]?.array, let macs = state["macs"]?.array,
            seen.count <= Self.entryLimit, macs.count <= 2
        else { return nil }
        for entry in seen {
            guard let app = entry["app"]?.string, let system = entry["system"]?.string,
                let sequence = entry["sequence"]?.number?.int64, sequence >= 1
            else { return nil }
            entries.append(Entry(app: app, system: system, sequence: sequence))
        }
        for mac in macs {
            guard let seal = Self.seal(mac) else { return nil }
            seals.append(seal)
        }
        guard self.bytes == bytes else { return nil }
    }

    private static func seal(_ value: JSONValue) -> Seal? {
        guard let name = value["kid"]?.string, let mac = value["mac"]?.string else { return nil }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let scheme = DumpName.Scheme(rawValue: parts[0]),
            let id = Base64.decode(parts[1], .url),
            let keyID = String(validating: id, as: UTF8.self),
            let salt = Base64.decode(parts[2], .url), salt.count == DumpName.saltByteCount,
            let mac = Base64.decode(mac, .url), mac.count == 32
        else { return nil }
        return Seal(scheme: scheme, keyID: keyID, salt: salt, mac: mac)
    }
}

/// Bytes in which each part stands behind its length, so that no two lists of parts are the same.
struct LengthPrefixed {
    private(set) var bytes: [UInt8] = []

    init() {}

    /// Begins with a label and a zero byte.
    init(label: StaticString) {
        bytes = Array("\(label)".utf8) + [0]
    }

    /// A text: the count of its UTF-8 bytes as 32 bits, the highest first, and the bytes as given.
    mutating func append(_ text: String) {
        let utf8 = Array(text.utf8)
        append(UInt64(utf8.count), bytes: 4)
        bytes.append(contentsOf: utf8)
    }

    /// A number as 64 bits, the highest first.
    mutating func append(_ number: UInt64) { append(number, bytes: 8) }

    private mutating func append(_ number: UInt64, bytes count: Int) {
        for shift in (0..<UInt64(count)).reversed() {
            bytes.append(UInt8(truncatingIfNeeded: number >> (shift * 8)))
        }
    }
}
