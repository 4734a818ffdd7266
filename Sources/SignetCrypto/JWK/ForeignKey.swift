internal import CSignetOpenSSL
internal import SignetBase
internal import SignetJSON
internal import SignetSystem

/// The members of a JWK for a key in PEM or DER, or for a secret.
struct ForeignKey {
    private enum Origin {
        case privateKey, publicKey, certificate
    }

    let kind: Key.Kind
    /// Without `kid` and `use`.
    let members: JSONObject

    /// A secret's bytes.
    init(secret: Span<UInt8>, isRoot: Bool) {
        kind = isRoot ? .vault : .hmac
        members = ["kty": "oct", "k": .string(Base64.encode(secret, as: .url))]
    }

    /// Reads a structure in DER: a private key, a public key or a certificate.
    ///
    /// - Throws: `KeyError` with `malformedKeys`.
    init(der: Span<UInt8>) throws(KeyError) {
        copenssl_forget_errors()
        defer { copenssl_forget_errors() }
        for origin in [Origin.privateKey, .publicKey, .certificate] {
            guard let key = try Self.read(der, as: origin, isPKCS1: false) else { continue }
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
    init(pem: [UInt8]) throws(KeyError) {
        copenssl_forget_errors()
        defer { copenssl_forget_errors() }
        var found: [(origin: Origin, key: ForeignKey)] = []
        do throws(X509Failure) {
            _ = try PEM.forEachBlock(in: pem) { (label, der) throws(X509Failure) in
                if let block = try Self.block(der, label: label) { found.append(block) }
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

    private init(kind: Key.Kind, members: JSONObject) {
        self.kind = kind
        self.members = members
    }

    /// Returns a PEM block's key, or nil for a block without one, such as EC parameters.
    private static func block(
        _ der: Span<UInt8>, label: PEM.Label
    ) throws(X509Failure) -> (origin: Origin, key: ForeignKey)? {
        let origin: Origin
        switch label.name {
        case "CERTIFICATE", "X509 CERTIFICATE": origin = .certificate
        case "PUBLIC KEY", "RSA PUBLIC KEY": origin = .publicKey
        case "PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY": origin = .privateKey
        case "ENCRYPTED PRIVATE KEY": throw encrypted
        case "OPENSSH PRIVATE KEY":
            throw X509Failure(
                "found a key of OpenSSH, expected PKCS #8; ssh-keygen -p -m PKCS8 -f COPY converts "
                    + "a copy of it")
        default: return nil
        }
        if label.isEncrypted { throw encrypted }
        do throws(KeyError) {
            guard
                let key = try read(der, as: origin, isPKCS1: label.name == "RSA PUBLIC KEY")
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

    /// Returns the key of a structure, or nil if it isn't one.
    private static func read(
        _ der: Span<UInt8>, as origin: Origin, isPKCS1: Bool
    ) throws(KeyError) -> ForeignKey? {
        let key = unsafe der.withUnsafeBytes { bytes -> OpaquePointer? in
            switch origin {
            case .privateKey:
                return unsafe copenssl_read_private_key(bytes.baseAddress, bytes.count)
            case .publicKey where isPKCS1:
                return unsafe copenssl_read_rsa_public_key(bytes.baseAddress, bytes.count)
            case .publicKey:
                guard
                    let read = unsafe copenssl_read_public_key(bytes.baseAddress, bytes.count)
                else { return nil }
                defer { unsafe X509_PUBKEY_free(read) }
                return unsafe X509_PUBKEY_get(read)
            case .certificate:
                guard
                    let read = unsafe copenssl_read_certificate(bytes.baseAddress, bytes.count)
                else { return nil }
                defer { unsafe X509_free(read) }
                return unsafe X509_get_pubkey(read)
            }
        }
        guard let key = unsafe key else { return nil }
        let pair = unsafe try KeyPair(owning: key)
        guard let members = try pair.members(isPrivate: origin == .privateKey) else {
            throw KeyParts.malformed(
                "found a key that is neither Ed25519, P-256, P-384 nor RSA, expected one of them")
        }
        return ForeignKey(kind: pair.kind, members: members)
    }
}
