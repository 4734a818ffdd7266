import SignetBase
import SignetCrypto
import SignetJSON

/// The content of a state file: the highest sequence seen of each app, and a MAC under each root
/// that authenticates it. There is one root, or two while a dump changes from one to the other.
///
///     {"format":"signet-state-1","seen":[{"app":ID,"system":ID,"sequence":N}],
///      "macs":[{"kid":"signet1.KEYID.SALT","mac":MAC}]}
///
/// in one line. Any other layout or member is refused. The MAC is HMAC-SHA256 over the number of
/// entries, and for each entry its ids, each after its length, and its sequence. HKDF (RFC 5869)
/// derives the MAC's key from the root and the salt with a label of its own, so no dump uses the
/// same key.
struct SequenceState: Sendable {
    /// The maximum size of the file in bytes, and the maximum number of apps in it.
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

    /// A MAC that authenticates the entries.
    struct Seal: Sendable, Equatable {
        let scheme: DumpHeader.Scheme
        let keyID: String
        let salt: [UInt8]
        var mac: [UInt8]

        func isOf(_ root: DumpRoot) -> Bool {
            scheme == root.scheme && sameBytes(keyID, root.id)
        }
    }

    private(set) var entries: [Entry] = []
    private(set) var seals: [Seal] = []

    init() {}

    /// Returns the highest sequence seen of an app and a network system, over all their versions.
    func highestSequence(of binding: VersionBinding) -> Int64? {
        entries.first { $0.isOf(binding) }?.sequence
    }

    /// Records a sequence if it's higher than those seen before.
    ///
    /// - Throws: `unwritable-file` if there are too many apps.
    mutating func record(_ sequence: Int64, of binding: VersionBinding) throws(VaultError) {
        if let index = entries.firstIndex(where: { $0.isOf(binding) }) {
            entries[index].sequence = max(sequence, entries[index].sequence)
            return
        }
        guard entries.count < Self.entryLimit else {
            throw VaultError(
                .unwritableFile,
                "found more than \(Self.entryLimit) apps, the maximum of a state file")
        }
        entries.append(Entry(app: binding.app.id, system: binding.system.id, sequence: sequence))
    }

    // MARK: - MACs

    /// Returns whether a MAC under this root authenticates the entries. Compares in constant time.
    func isAuthenticated(by root: DumpRoot) throws(VaultError) -> Bool {
        for seal in seals where seal.isOf(root) {
            let mac = try Self.mac(of: entries, under: root, salt: seal.salt)
            if constantTimeEqual(mac.span, seal.mac.span) { return true }
        }
        return false
    }

    /// Replaces the MACs with one under each of these roots. A root that had a MAC keeps its salt,
    /// so scrypt doesn't run again for a passphrase.
    mutating func seal(under roots: [DumpRoot]) throws(VaultError) {
        var seals: [Seal] = []
        for root in roots where !seals.contains(where: { $0.isOf(root) }) {
            var salt = self.seals.first { $0.isOf(root) }?.salt ?? []
            if salt.isEmpty { salt = try SealedDump.newSalt() }
            seals.append(
                Seal(
                    scheme: root.scheme, keyID: root.id, salt: salt,
                    mac: try Self.mac(of: entries, under: root, salt: salt)))
        }
        self.seals = seals
    }

    private static func mac(
        of entries: [Entry], under root: DumpRoot, salt: [UInt8]
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
        return try VaultError.converting(
            crypto: try HMAC.tag(of: text.bytes.span, key: key.bytes, using: .sha256))
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
                seal.scheme.rawValue, Base64.encode(Array(seal.keyID.utf8), as: .url),
                Base64.encode(seal.salt, as: .url),
            ]
            return [
                "kid": .string(name.joined(separator: ".")),
                "mac": .string(Base64.encode(seal.mac, as: .url)),
            ]
        }
        let state: JSONValue = [
            "format": "signet-state-1", "seen": .array(seen), "macs": .array(macs),
        ]
        return state.serialized() + [0x0A]
    }

    /// Reads a file's text. Returns nil if it isn't byte for byte as `bytes` writes it.
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
            guard let seal = Self.seal(parsing: mac) else { return nil }
            seals.append(seal)
        }
        guard self.bytes == bytes else { return nil }
    }

    private static func seal(parsing value: JSONValue) -> Seal? {
        guard let name = value["kid"]?.string, let mac = value["mac"]?.string else { return nil }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let scheme = DumpHeader.Scheme(rawValue: parts[0]),
            let id = Base64.decode(parts[1], from: .url),
            let keyID = String(validating: id, as: UTF8.self),
            let salt = Base64.decode(parts[2], from: .url), salt.count == DumpHeader.saltByteCount,
            let mac = Base64.decode(mac, from: .url), mac.count == 32
        else { return nil }
        return Seal(scheme: scheme, keyID: keyID, salt: salt, mac: mac)
    }
}
