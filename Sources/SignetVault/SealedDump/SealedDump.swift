import SignetCrypto
public import SignetJSON

/// A sealed configuration: a JWE compact string (RFC 7516, section 7.1) with `dir` and `A256GCM`.
/// Its key is bound to the app's version and the network system's version.
///
/// Parsing checks the whole format before any cryptography. The header isn't authenticated until
/// the dump is opened.
///
/// ```swift
/// let keys = VaultKeys.keys(try KeySource("/etc/shop/keys").load())
/// let running = VersionBinding(app: "com.example.shop", version: "1.4.2")
/// let dump = try SealedDump(contentsOf: "/var/lib/shop/shop.dump")
/// do {
///     let opened = try dump.open(with: keys, for: running)
///     let schema = try Schema(contentsOf: "/etc/shop/schema.json")
///     let configuration = try GlobalConfiguration(restoring: opened, schema: schema)
///     print(configuration.public)
/// } catch let error where error.code == .olderVersion {
///     print("sealed for version \(dump.binding.app.version); rebind it first")
/// }
/// ```
public struct SealedDump: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The maximum size of the plaintext, in bytes.
    public static let plaintextLimit = 16 << 20
    /// The maximum size of the header's base64url text, in bytes.
    static let headerLimit = 8 << 10
    /// The maximum size of a dump, in bytes: header, nonce, ciphertext and tag in base64url, and
    /// four dots.
    static let sizeLimit =
        headerLimit + 16 + Base64.encodedCount(of: plaintextLimit, as: .url) + 22 + 4

    /// The compact string, exactly as in a file.
    public let bytes: [UInt8]
    let header: DumpHeader
    let content: JWEContent

    /// The app and versions that the dump is bound to, as in the header.
    public var binding: VersionBinding { header.binding }
    /// The id of the key that sealed the dump, as in the header.
    public var keyID: String { header.keyID }
    /// The header's `kid`.
    public var kid: String { String(decoding: header.kid, as: UTF8.self) }
    /// Whether the dump is sealed under a passphrase, not under the root of a key set.
    public var isPassphraseSealed: Bool { header.scheme == .passphrase }
    /// The plaintext's size in bytes.
    public var plaintextByteCount: Int { content.ciphertext.count }

    /// The app's id and version and the key's id, without the content.
    public var description: String {
        "SealedDump(\(binding.app.id) \(binding.app.version), key \(keyID))"
    }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Everything that can be read without a key, as JSON: scheme, key id, binding and sizes.
    public var inspection: JSONObject {
        [
            "format": .string(header.scheme.rawValue),
            "keyID": .string(keyID),
            "app": binding.app.json,
            "system": binding.system.json,
            "kid": .string(kid),
            "plaintextBytes": .number(JSONNumber(plaintextByteCount)),
            "bytes": .number(JSONNumber(bytes.count)),
        ]
    }
}
