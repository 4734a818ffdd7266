import SignetCrypto

/// The parameters that a dump's header carries: the scheme, the key's id, the salt, the commitment,
/// and the app and versions that the dump is bound to.
///
/// The header's `kid` holds them as eight parts separated by dots, all but the scheme in base64url.
/// The other members of the header are the same in every dump.
struct DumpHeader: Sendable, Hashable {
    /// The source of the root.
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
    /// The text of the header's `kid`.
    let kid: [UInt8]

    /// Creates the header of a new dump.
    init(
        _ scheme: Scheme, keyID: String, salt: [UInt8], commitment: Span<UInt8>,
        binding: VersionBinding
    ) {
        self.scheme = scheme
        self.keyID = keyID
        self.salt = salt
        self.commitment = (0..<commitment.count).map { commitment[$0] }
        self.binding = binding
        var kid = Array(scheme.rawValue.utf8)
        let names = Self.names(in: binding).map { Array($0.utf8) }
        for part in [Array(keyID.utf8), salt, self.commitment] + names {
            kid.append(UInt8(ascii: "."))
            Base64.append(part.span, as: .url, to: &kid)
        }
        self.kid = kid
    }

    /// Reads a `kid`.
    ///
    /// - Throws: `malformed-dump` if the text isn't of this form, or a part isn't canonical.
    init(parsing kid: [UInt8]) throws(VaultError) {
        var parts: [Range<Int>] = []
        parts.reserveCapacity(8)
        var start = 0
        for index in kid.indices where kid[index] == UInt8(ascii: ".") {
            parts.append(start..<index)
            start = index + 1
        }
        parts.append(start..<kid.count)
        guard parts.count == 8,
            let scheme = Scheme(rawValue: String(decoding: kid[parts[0]], as: UTF8.self))
        else {
            throw VaultError(
                .malformedDump, "\"kid\": expected signet1 or signet1p and seven more parts")
        }
        let salt = try Self.bytes(of: parts[2], in: kid, named: "salt")
        let commitment = try Self.bytes(of: parts[3], in: kid, named: "commitment")
        guard salt.count == Self.saltByteCount, commitment.count == Self.commitmentByteCount else {
            throw VaultError(
                .malformedDump,
                "\"kid\": found a salt of \(salt.count) bytes and a commitment of "
                    + "\(commitment.count) bytes, expected 32 each")
        }
        self.scheme = scheme
        self.keyID = try Self.text(of: parts[1], in: kid, named: "the key's id")
        self.salt = salt
        self.commitment = commitment
        self.binding = VersionBinding(
            app: .init(
                id: try Self.text(of: parts[4], in: kid, named: "the app's id"),
                version: try Self.text(of: parts[5], in: kid, named: "the app's version")),
            system: .init(
                id: try Self.text(of: parts[6], in: kid, named: "the system's id"),
                version: try Self.text(of: parts[7], in: kid, named: "the system's version")))
        self.kid = kid
    }

    /// The `info` from which HKDF derives the dump's keys.
    var info: [UInt8] { Self.info(keyID: keyID, binding: binding) }

    static func info(keyID: String, binding: VersionBinding) -> [UInt8] {
        var info = LengthPrefixed(label: "signet1 dump dir+A256GCM")
        info.append(keyID)
        for name in names(in: binding) { info.append(name) }
        return info.bytes
    }

    private static func names(in binding: VersionBinding) -> [String] {
        [binding.app.id, binding.app.version, binding.system.id, binding.system.version]
    }

    private static func bytes(
        of part: Range<Int>, in kid: [UInt8], named name: StaticString
    ) throws(VaultError) -> [UInt8] {
        guard let bytes = Base64.decode(kid.span.extracting(part), from: .url) else {
            throw VaultError(.malformedDump, "\"kid\": \(name) is not canonical base64url")
        }
        return bytes
    }

    private static func text(
        of part: Range<Int>, in kid: [UInt8], named name: StaticString
    ) throws(VaultError) -> String {
        let bytes = try bytes(of: part, in: kid, named: name)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw VaultError(.malformedDump, "\"kid\": \(name) is not UTF-8")
        }
        if let problem = VersionBinding.problem(with: text) {
            throw VaultError(.malformedDump, "\"kid\": \(name) \(problem)")
        }
        return text
    }
}
