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
    /// 32 bytes that are derived together with the dump's keys. They show whether a key is the
    /// right one before anything is decrypted.
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
        let names = binding.parts.map { Array($0.utf8) }
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
        let parts = kid.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 8,
            let scheme = Scheme(rawValue: String(decoding: parts[0], as: UTF8.self))
        else {
            throw VaultError(
                .malformedDump, "\"kid\": expected signet1 or signet1p and seven more parts")
        }
        let salt = try Self.bytes(parts[2], named: "salt")
        let commitment = try Self.bytes(parts[3], named: "commitment")
        guard salt.count == Self.saltByteCount, commitment.count == Self.commitmentByteCount else {
            throw VaultError(
                .malformedDump,
                "\"kid\": found a salt of \(salt.count) bytes and a commitment of "
                    + "\(commitment.count) bytes, expected 32 each")
        }
        self.scheme = scheme
        self.keyID = try Self.text(parts[1], named: "the key's id")
        self.salt = salt
        self.commitment = commitment
        let names = try zip(parts[4...], VersionBinding.partNames).map {
            part, name throws(VaultError) in try Self.text(part, named: name)
        }
        self.binding = VersionBinding(
            app: .init(id: names[0], version: names[1]),
            system: .init(id: names[2], version: names[3]))
        self.kid = kid
    }

    /// The `info` from which HKDF derives the dump's keys.
    var info: [UInt8] { Self.info(keyID: keyID, binding: binding) }

    static func info(keyID: String, binding: VersionBinding) -> [UInt8] {
        var info = LengthPrefixed(label: "signet1 dump dir+A256GCM")
        info.append(keyID)
        for name in binding.parts { info.append(name) }
        return info.bytes
    }

    private static func bytes(
        _ part: ArraySlice<UInt8>, named name: String
    ) throws(VaultError) -> [UInt8] {
        guard let bytes = Base64.decode(part.span, from: .url) else {
            throw VaultError(.malformedDump, "\"kid\": \(name) is not canonical base64url")
        }
        return bytes
    }

    private static func text(
        _ part: ArraySlice<UInt8>, named name: String
    ) throws(VaultError) -> String {
        let bytes = try bytes(part, named: name)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw VaultError(.malformedDump, "\"kid\": \(name) is not UTF-8")
        }
        if let problem = VersionBinding.problem(with: text) {
            throw VaultError(.malformedDump, "\"kid\": \(name) \(problem)")
        }
        return text
    }
}
