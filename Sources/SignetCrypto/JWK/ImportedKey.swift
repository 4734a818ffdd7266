import SignetBase
import SignetSystem

/// A key that another program wrote, as a JWK for a key file.
package struct ImportedKey {
    /// The form of the foreign key.
    package enum Encoding: String, CaseIterable, Sendable {
        case raw, base64, base64url, hex, pem
    }

    /// The new `kid`.
    package let id: String
    /// The kind of the key.
    package let kind: CryptoKey.Kind
    /// `alg`, or nil for a vault's root.
    package let algorithm: String?
    /// Whether the key includes secret bytes or a private half.
    package let isPrivate: Bool
    /// Notes on what was left out or looks like a mistake; never a byte of the key.
    package let notes: [String]
    /// The key with its secret.
    let text: NewKeyText

    /// The form of a foreign key, also one that is recognised.
    package enum Form: Sendable, Hashable {
        case encoded(Encoding)
        /// A JWK or a JWK Set.
        case jwk
        /// `whsec_` and base64.
        case webhookSecret
        /// The line of a public key of OpenSSH.
        case openSSHPublic

        /// Returns the form of bytes that aren't a bare secret, or nil.
        package static func recognized(in bytes: [UInt8]) -> Form? {
            if PEM.isDisguised(in: bytes) { return .encoded(.pem) }
            if WebhookSecret.find(in: bytes) != nil { return .webhookSecret }
            if OpenSSHKey.isLine(bytes) { return .openSSHPublic }
            return KeySet.isJWK(bytes) ? .jwk : nil
        }
    }

    /// Reads a key.
    ///
    /// Of several PEM blocks, the only private key is taken, or else the only public key, or else
    /// the first certificate; of a JWK Set the key with the id, or else the only one. Decoded bytes
    /// are the secret itself for `hmac`, `vault` and `aes`. For the other kinds they are PEM or DER
    /// (PKCS #8, SEC 1, PKCS #1, SubjectPublicKeyInfo or a certificate); for `ed25519` also a seed
    /// with the public key after it.
    ///
    /// - Parameters:
    ///   - bytes: The foreign key, which the caller wipes. Line breaks, and spaces next to them,
    ///     are dropped, unless the encoding is `raw`.
    ///   - form: The form of `bytes`.
    ///   - id: The new `kid`.
    ///   - kind: The expected kind; nil takes the kind of the key, or `hmac` for decoded bytes.
    ///   - algorithm: The new `alg`; nil takes the first of `CryptoKey.Kind.algorithms(use:)`.
    ///   - acceptsKeyAsSecret: Whether decoded bytes that are a key in another form, such as PEM or
    ///     DER, may become a secret.
    /// - Throws: `KeyError` with `malformedKeys` or `invalidKeyID`.
    package init(
        _ bytes: [UInt8], form: Form, id: String, kind: CryptoKey.Kind? = nil,
        algorithm: String? = nil, acceptsKeyAsSecret: Bool = false
    ) throws(KeyError) {
        try KeyFile.requireUsable(id)
        let header = ForeignKey.Header(id: id, algorithm: algorithm)
        let foreign: ForeignKey
        var notes: [String] = []
        switch form {
        case .encoded(.pem):
            var text = PEM.undisguised(bytes)
            defer { wipe(&text) }
            foreign = try ForeignKey(pem: text, with: header)
        case .openSSHPublic: foreign = try ForeignKey(openSSHPublic: bytes, with: header)
        case .jwk:
            let (repaired, changes) = try RepairedJWK.text(of: bytes)
            var text = repaired
            defer { wipe(&text) }
            foreign = try ForeignKey(jwk: text, kind: kind, with: header)
            notes = changes
        case .webhookSecret:
            guard let (range, leftOut) = WebhookSecret.find(in: bytes),
                WebhookSecret.isWhole(bytes.span.extracting(range))
            else { throw KeyParts.malformed("the text after whsec_ is not base64") }
            foreign = try ForeignKey(
                secret: bytes.span.extracting(range), kind: .hmac, with: header)
            notes = leftOut.map { "left out \($0)" }
        case .encoded(let encoding):
            var decoded = try Self.decode(bytes, from: encoding)
            defer { wipe(&decoded) }
            // PEM may be encoded once more, as in the variables of a pipeline.
            let isKey = encoding != .raw && !acceptsKeyAsSecret && PEM.isDisguised(in: decoded)
            if kind?.isSecret ?? !isKey {
                guard !decoded.isEmpty else { throw KeyParts.malformed("the key is empty") }
                if !acceptsKeyAsSecret, let form = Self.form(mistakenForSecret: decoded) {
                    throw KeyParts.malformed("\(form); --force takes the bytes for a secret")
                }
                foreign = try ForeignKey(
                    secret: decoded.span, kind: kind ?? .hmac, with: header)
                notes = encoding == .raw ? Self.suspicions(of: decoded) : []
            } else {
                foreign = try Self.asymmetric(decoded, kind: kind, with: header)
            }
        }
        if let kind, kind != foreign.kind {
            throw KeyParts.malformed("found a key of type \(foreign.kind), expected \(kind)")
        }
        // The reader of key files checks the numbers, their sizes and that the halves match.
        let set = try KeyFile.newSet(of: foreign.text)
        let key = try KeySet(parsing: set.bytes, source: "the imported key").key(id: id)
        guard key.kind == foreign.kind else {
            throw KeyParts.malformed(
                "found a JWK whose \"use\" or \"alg\" does not fit a key of type \(foreign.kind)")
        }
        self.id = id
        self.kind = key.kind
        self.algorithm = key.algorithm
        self.isPrivate = key.isPrivate
        self.notes = notes
        self.text = foreign.text
    }

    /// Returns what a secret whose bytes are kept as they are may have too much of.
    private static func suspicions(of secret: [UInt8]) -> [String] {
        if let (range, leftOut) = WebhookSecret.find(in: secret) {
            return leftOut.isEmpty || range.isEmpty
                ? []
                : [
                    "the secret has more than whsec_ and base64; without --encoding, import leaves "
                        + "out \(leftOut.joined(separator: " and "))"
                ]
        }
        if secret.last == ASCII.lineFeed {
            return ["the last byte of the secret is a line break, which --encoding raw keeps"]
        }
        var decoded = Base64.decode(secret.span, from: .standard) ?? []
        defer { wipe(&decoded) }
        guard [24, 32, 48, 64].contains(decoded.count),
            !secret.allSatisfy({ $0.hexDigitValue != nil })
        else { return [] }
        return [
            "the secret looks like base64 of \(decoded.count) bytes; if those bytes are the secret, "
                + "as for standard-webhooks, import it with --encoding base64"
        ]
    }

    private static func decode(
        _ bytes: [UInt8], from encoding: Encoding
    ) throws(KeyError) -> [UInt8] {
        guard encoding != .raw else { return bytes }
        guard WebhookSecret.find(in: bytes) == nil else {
            throw KeyParts.malformed(
                "found whsec_, which \(encoding.rawValue) doesn't begin with; import it without "
                    + "--encoding")
        }
        if let form = form(mistakenForSecret: bytes) { throw KeyParts.malformed(form) }
        var text: [UInt8] = []
        defer { wipe(&text) }
        text.reserveCapacity(bytes.count)
        let isBreak = { (byte: UInt8) in byte == ASCII.lineFeed || byte == ASCII.carriageReturn }
        for line in bytes.split(whereSeparator: isBreak) { text += line.trimmingBlanks() }
        if let decoded = decode(text.span, encoding) { return decoded }
        let other: Encoding = encoding == .base64 ? .base64url : .base64
        guard encoding != .hex, var decoded = decode(text.span, other) else {
            throw KeyParts.malformed("the input is not \(encoding.rawValue) without spaces")
        }
        wipe(&decoded)
        throw KeyParts.malformed(
            "the input is not \(encoding.rawValue), but \(other.rawValue)")
    }

    private static func decode(_ text: Span<UInt8>, _ encoding: Encoding) -> [UInt8]? {
        switch encoding {
        case .base64: Base64.decode(text, from: .standard)
        case .base64url: Base64.decode(text, from: .url)
        default: hex(text)
        }
    }

    private static func hex(_ text: Span<UInt8>) -> [UInt8]? {
        guard text.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        for index in stride(from: 0, to: text.count, by: 2) {
            guard let high = text[index].hexDigitValue,
                let low = text[index + 1].hexDigitValue
            else {
                wipe(&bytes)
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}

extension CryptoKey.Kind {
    /// Whether a key of this kind is a secret (`oct`), without a public half.
    package var isSecret: Bool { [.hmac, .vault, .aes].contains(self) }

    /// The values of `alg` that a key of this kind can have for a use, the default first.
    package func algorithms(use: String) -> [String] {
        guard use == "enc" else { return algorithms }
        return switch self {
        case .aes: ["A256KW", "A128KW", "A256GCM", "A128GCM"]
        case .x25519, .p256, .p384: ["ECDH-ES+A256KW", "ECDH-ES"]
        case .rsa: ["RSA-OAEP-256"]
        default: []
        }
    }

    /// The values of `alg` that a key of this kind can have for signatures, the default first.
    package var algorithms: [String] {
        switch self {
        case .hmac: ["HS256", "HS512"]
        case .ed25519: ["Ed25519", "EdDSA"]
        case .p256: ["ES256"]
        case .p384: ["ES384"]
        case .rsa: ["PS512", "RS256"]
        default: []
        }
    }

    /// The value of `alg` with which a key of this kind encrypts other keys (RFC 7518, section
    /// 4.1).
    var encryptionAlgorithm: String? {
        switch self {
        case .x25519, .p256, .p384: "ECDH-ES+A256KW"
        case .rsa: "RSA-OAEP-256"
        default: nil
        }
    }

    /// The default of `use`.
    var defaultUse: String { [.vault, .x25519, .aes].contains(self) ? "enc" : "sig" }
}
