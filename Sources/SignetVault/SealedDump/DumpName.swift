import SignetCrypto

/// What a dump's `kid` says: the scheme, the key's id, salt, commitment and what it is bound to.
struct DumpName: Sendable, Hashable {
    /// Where the root comes from.
    enum Scheme: String, Sendable {
        /// 32 random bytes of a key set.
        case root = "signet1"
        /// scrypt of a passphrase and the dump's salt.
        case passphrase = "signet1p"
    }

    static let saltByteCount = 32
    static let commitmentByteCount = 32

    let scheme: Scheme
    let keyID: String
    let salt: [UInt8]
    let commitment: [UInt8]
    let binding: VersionBinding
    /// The kid itself.
    let text: [UInt8]

    /// Names a new dump.
    init(
        _ scheme: Scheme, keyID: String, salt: [UInt8], commitment: Span<UInt8>,
        binding: VersionBinding
    ) {
        self.scheme = scheme
        self.keyID = keyID
        self.salt = salt
        self.commitment = (0..<commitment.count).map { commitment[$0] }
        self.binding = binding
        var text = Array(scheme.rawValue.utf8)
        for part in [Array(keyID.utf8), salt, self.commitment] + Self.parts(binding) {
            text.append(UInt8(ascii: "."))
            Base64.append(part.span, .url, to: &text)
        }
        self.text = text
    }

    /// Reads a kid.
    ///
    /// - Throws: `malformed-dump` where it is not of the form, or a part is not canonical.
    init(parsing text: [UInt8]) throws(VaultError) {
        var parts: [Range<Int>] = []
        parts.reserveCapacity(8)
        var start = 0
        for index in text.indices where text[index] == UInt8(ascii: ".") {
            parts.append(start..<index)
            start = index + 1
        }
        parts.append(start..<text.count)
        guard parts.count == 8,
            let scheme = Scheme(rawValue: String(decoding: text[parts[0]], as: UTF8.self))
        else {
            throw VaultError(.malformedDump, "\"kid\" is none of signet1 with its seven parts")
        }
        let salt = try Self.bytes(text, parts[2], "salt")
        let commitment = try Self.bytes(text, parts[3], "commitment")
        guard salt.count == Self.saltByteCount, commitment.count == Self.commitmentByteCount else {
            throw VaultError(
                .malformedDump,
                "\"kid\" has a salt of \(salt.count) and a commitment of \(commitment.count) bytes, "
                    + "wanted 32 each")
        }
        self.scheme = scheme
        self.keyID = try Self.name(text, parts[1], "the key's id")
        self.salt = salt
        self.commitment = commitment
        self.binding = VersionBinding(
            app: .init(
                try Self.name(text, parts[4], "the app's id"),
                try Self.name(text, parts[5], "the app's version")),
            system: .init(
                try Self.name(text, parts[6], "the system's id"),
                try Self.name(text, parts[7], "the system's version")))
        self.text = text
    }

    /// What the keys are derived for: the label and each name behind its byte count, so that no two
    /// sets of names give the same bytes.
    var info: [UInt8] {
        Self.info(keyID: keyID, binding: binding)
    }

    static func info(keyID: String, binding: VersionBinding) -> [UInt8] {
        var info: [UInt8] = []
        info.reserveCapacity(160)
        info.append(contentsOf: "signet1 dump dir+A256GCM\0".utf8)
        for part in [Array(keyID.utf8)] + parts(binding) {
            let count = UInt32(truncatingIfNeeded: part.count)
            for shift: UInt32 in [24, 16, 8, 0] {
                info.append(UInt8(truncatingIfNeeded: count >> shift))
            }
            info.append(contentsOf: part)
        }
        return info
    }

    private static func parts(_ binding: VersionBinding) -> [[UInt8]] {
        [
            Array(binding.app.id.utf8), Array(binding.app.version.utf8),
            Array(binding.system.id.utf8), Array(binding.system.version.utf8),
        ]
    }

    private static func bytes(
        _ text: [UInt8], _ part: Range<Int>, _ what: StaticString
    ) throws(VaultError) -> [UInt8] {
        guard let bytes = Base64.decode(text.span.extracting(part), .url) else {
            throw VaultError(.malformedDump, "\"kid\": \(what) is not canonical base64url")
        }
        return bytes
    }

    private static func name(
        _ text: [UInt8], _ part: Range<Int>, _ what: StaticString
    ) throws(VaultError) -> String {
        guard let text = String(validating: try bytes(text, part, what), as: UTF8.self) else {
            throw VaultError(.malformedDump, "\"kid\": \(what) is not UTF-8")
        }
        if let problem = VersionBinding.problem(with: text) {
            throw VaultError(.malformedDump, "\"kid\": \(what) \(problem)")
        }
        return text
    }
}
