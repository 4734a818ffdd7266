import SignetCrypto
public import SignetJSON

/// A sealed configuration: a JWE compact string (RFC 7516, section 7.1) with `dir` and `A256GCM`, whose key
/// is bound to an app's version and to the network system's.
///
/// Parsing demands the whole form before any cryptography. What stands in the name is not proved
/// until the dump is opened.
public struct SealedDump: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The largest plaintext, in bytes.
    public static let plaintextLimit = 16 << 20
    /// The largest header, in bytes of its base64url text.
    static let headerLimit = 8 << 10
    /// The largest dump: header, nonce, plaintext, tag and four points.
    static let sizeLimit = headerLimit + 16 + Base64.encodedCount(plaintextLimit, .url) + 22 + 4

    /// The compact string, as it stands in a file.
    public let bytes: [UInt8]
    let name: DumpName
    /// The header's base64url text, which the tag covers.
    let header: [UInt8]
    let nonce: [UInt8]
    let ciphertext: [UInt8]
    let tag: [UInt8]

    /// What the dump says it is bound to.
    public var binding: VersionBinding { name.binding }
    /// The id of the key that it says it is sealed with.
    public var keyID: String { name.keyID }
    /// The `kid` of its header.
    public var kid: String { String(decoding: name.text, as: UTF8.self) }
    /// Whether a passphrase takes the place of a key set's root.
    public var isPassphraseSealed: Bool { name.scheme == .passphrase }
    /// The plaintext's size in bytes.
    public var plaintextByteCount: Int { ciphertext.count }

    init(
        bytes: [UInt8], name: DumpName, header: [UInt8], nonce: [UInt8], ciphertext: [UInt8],
        tag: [UInt8]
    ) {
        self.bytes = bytes
        self.name = name
        self.header = header
        self.nonce = nonce
        self.ciphertext = ciphertext
        self.tag = tag
    }

    /// What the dump is bound to; nothing of its inside.
    public var description: String {
        "SealedDump(\(binding.app.id) \(binding.app.version), key \(keyID))"
    }
    /// Without children.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// What can be known without a key, as JSON: scheme, key id, binding and size.
    public var inspection: JSONObject {
        [
            "format": .string(name.scheme.rawValue),
            "keyID": .string(keyID),
            "app": ["id": .string(binding.app.id), "version": .string(binding.app.version)],
            "system": [
                "id": .string(binding.system.id), "version": .string(binding.system.version),
            ],
            "kid": .string(kid),
            "plaintextBytes": .number(JSONNumber(plaintextByteCount)),
            "bytes": .number(JSONNumber(bytes.count)),
        ]
    }
}
