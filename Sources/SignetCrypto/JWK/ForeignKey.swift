import CSignetOpenSSL
import SignetBase
import SignetSystem

/// A JWK for a key in PEM or DER, or for a secret.
struct ForeignKey {
    /// The members that the foreign key doesn't have.
    struct Header {
        let id: String
        /// `alg`; nil takes the first of `CryptoKey.Kind.algorithms(use:)`.
        let algorithm: String?
        /// `use`; nil takes the default of the kind.
        var use: String? = nil
    }

    private enum Origin {
        case privateKey, publicKey, certificate
    }

    let kind: CryptoKey.Kind
    let text: NewKeyText

    /// Takes a secret's bytes.
    ///
    /// - Throws: `KeyError` with `malformedKeys` for an algorithm of another kind.
    init(secret: Span<UInt8>, kind: CryptoKey.Kind, with header: Header) throws(KeyError) {
        self.kind = kind
        text = NewKeyText(id: header.id, secretByteCount: secret.count)
        text.set("use", to: kind.defaultUse)
        text.set("kty", to: "oct")
        if let algorithm = try header.algorithm(
            for: kind, among: kind.algorithms(use: kind.defaultUse))
        {
            text.set("alg", to: algorithm)
        }
        text.set("k", to: secret)
        text.end()
    }

    /// Reads a structure in DER: a private key, a public key or a certificate.
    ///
    /// - Throws: `KeyError` with `malformedKeys`.
    init(der: Span<UInt8>, with header: Header) throws(KeyError) {
        signet_openssl_forget_errors()
        defer { signet_openssl_forget_errors() }
        for origin in [Origin.privateKey, .publicKey, .certificate] {
            guard let key = try Self.read(der, as: origin, isPKCS1: false, with: header) else {
                continue
            }
            self = key
            return
        }
        throw KeyParts.malformed(
            "found no key in DER, expected PKCS #8, SEC 1, PKCS #1, SubjectPublicKeyInfo or a "
                + "certificate")
    }

    /// Reads the key of a PEM file: the only private key, or else the only public key, or else
    /// that of the first certificate.
    ///
    /// - Throws: `KeyError` with `malformedKeys`.
    init(pem: [UInt8], with header: Header) throws(KeyError) {
        signet_openssl_forget_errors()
        defer { signet_openssl_forget_errors() }
        var found: [(origin: Origin, key: ForeignKey)] = []
        do throws(X509Failure) {
            _ = try PEM.forEachBlock(in: pem) { (label, der) throws(X509Failure) in
                if let block = try Self.block(der, label: label, with: header) {
                    found.append(block)
                }
            }
        } catch {
            throw KeyParts.malformed(error.message)
        }
        for origin in [Origin.privateKey, .publicKey, .certificate] {
            let keys = found.filter { $0.origin == origin }
            guard let key = keys.first?.key else { continue }
            guard keys.count == 1 || origin == .certificate else {
                throw KeyParts.malformed("found \(keys.count) keys in the PEM file, expected one")
            }
            self = key
            return
        }
        throw KeyParts.malformed("the PEM blocks contain neither a key nor a certificate")
    }

    /// Makes a key of the bytes of Ed25519 (RFC 8032, section 5.1.5).
    ///
    /// - Parameter bytes: The public key of 32 bytes, or a seed and the public key after it.
    /// - Throws: `KeyError` with `malformedKeys` if the halves don't match.
    init(ed25519 bytes: Span<UInt8>, with header: Header) throws(KeyError) {
        signet_openssl_forget_errors()
        defer { signet_openssl_forget_errors() }
        let isPrivate = bytes.count == 64
        precondition(isPrivate || bytes.count == 32)
        let key: OpaquePointer? = unsafe bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return nil }
            return unsafe signet_openssl_25519_key(
                "ED25519", isPrivate ? base + 32 : base, isPrivate ? base : nil)
        }
        guard let key = unsafe key else {
            throw KeyParts.malformed("the halves of the Ed25519 key don't match")
        }
        try self.init(unsafe KeyPair(owning: key), isPrivate: isPrivate, with: header)
    }

    private init(_ pair: borrowing KeyPair, isPrivate: Bool, with header: Header) throws(KeyError) {
        kind = pair.kind
        text = NewKeyText(id: header.id)
        let use = header.use ?? kind.defaultUse
        text.set("use", to: use)
        let algorithms =
            use == "enc" ? kind.algorithms(use: use) : pair.algorithms
        let algorithm = try header.algorithm(for: kind, among: algorithms) ?? ""
        try pair.write(to: text, algorithm: algorithm, isPrivate: isPrivate)
        text.end()
    }

    /// Returns a PEM block's key, or nil for a block without one, such as EC parameters.
    private static func block(
        _ der: Span<UInt8>, label: PEM.Label, with header: Header
    ) throws(X509Failure) -> (origin: Origin, key: ForeignKey)? {
        let origin: Origin
        switch label.name {
        case "CERTIFICATE", "X509 CERTIFICATE": origin = .certificate
        case "PUBLIC KEY", "RSA PUBLIC KEY": origin = .publicKey
        case "PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY": origin = .privateKey
        case "ENCRYPTED PRIVATE KEY": throw encrypted
        case "OPENSSH PRIVATE KEY": origin = .privateKey
        default: return nil
        }
        if label.isEncrypted { throw encrypted }
        let pair = label.name == "OPENSSH PRIVATE KEY" ? try OpenSSHKey.pair(in: der) : nil
        do throws(KeyError) {
            if let pair {
                return (origin, try ForeignKey(ed25519: der.extracting(pair), with: header))
            }
            guard
                let key = try read(
                    der, as: origin, isPKCS1: label.name == "RSA PUBLIC KEY", with: header)
            else {
                throw KeyParts.malformed("the PEM block \(label.name) is malformed")
            }
            return (origin, key)
        } catch {
            throw X509Failure(error.message)
        }
    }

    private static var encrypted: X509Failure {
        X509Failure(
            "the private key is encrypted; openssl pkey -in FILE decrypts it to standard output")
    }

    /// Returns the key in a DER structure, or nil if the bytes aren't such a structure.
    private static func read(
        _ der: Span<UInt8>, as origin: Origin, isPKCS1: Bool, with header: Header
    ) throws(KeyError) -> ForeignKey? {
        let key: OpaquePointer?
        switch origin {
        case .privateKey:
            unsafe key = X509Parser.readPrivateKey(der)
        case .publicKey where isPKCS1:
            unsafe key = X509Parser.read(der, by: signet_openssl_read_rsa_public_key)
        case .publicKey:
            let read = unsafe X509Parser.read(der, by: signet_openssl_read_public_key)
            guard let read = unsafe read else { return nil }
            defer { unsafe X509_PUBKEY_free(read) }
            unsafe key = X509_PUBKEY_get(read)
        case .certificate:
            let read = unsafe X509Parser.read(der, by: signet_openssl_read_certificate)
            guard let read = unsafe read else { return nil }
            defer { unsafe X509_free(read) }
            unsafe key = X509_get_pubkey(read)
        }
        guard let key = unsafe key else { return nil }
        let pair = unsafe try KeyPair(owning: key)
        return try ForeignKey(pair, isPrivate: origin == .privateKey, with: header)
    }
}

extension ForeignKey.Header {
    /// Returns `alg` for a key of a kind; nil for a vault's root, and for an unsupported key.
    ///
    /// - Parameters:
    ///   - kind: The kind of the key, for the error.
    ///   - algorithms: What the key allows, the default first.
    /// - Throws: `KeyError` with `malformedKeys` for an algorithm of another kind.
    func algorithm(
        for kind: CryptoKey.Kind, among algorithms: [String]
    ) throws(KeyError) -> String? {
        guard let algorithm, kind != .unsupported else { return algorithms.first }
        guard algorithms.contains(algorithm) else {
            let known = algorithms.joined(separator: " or ")
            throw KeyParts.malformed(
                "found \"alg\" \(printable(algorithm)), expected "
                    + "\(known.isEmpty ? "none" : known) for a key of type \(kind)")
        }
        return algorithm
    }
}
