import SignetBase
import SignetSystem

extension ImportedKey {
    /// Returns what bytes that would become a secret are rather, with the next step; nil if they
    /// may be a secret.
    static func form(mistakenForSecret bytes: [UInt8]) -> String? {
        if PEM.isDisguised(in: bytes) {
            return "found \"-----BEGIN\" in the secret, which is rather a key in PEM; import it "
                + "with --encoding pem"
        }
        if OpenSSHKey.isLine(bytes) {
            return "found a public key of OpenSSH, expected a secret; import it without --encoding"
        }
        if bytes.starts(with: "PuTTY-User-Key-File-".utf8) {
            return "found a key of PuTTY, expected a secret; puttygen FILE -O private-openssh -o "
                + "OUT converts it"
        }
        if KeySet.isJWK(bytes) {
            return "found a JWK, expected a secret; import it without --encoding"
        }
        if KeyBytes.isPrivateKey(bytes) || KeyBytes.isKeyOrCertificate(bytes) {
            return
                "found the bytes of a key or a certificate, expected a secret; import a key with "
                + "--type"
        }
        return nil
    }

    /// Reads decoded bytes as a key pair or its public half.
    ///
    /// - Parameter kind: The kind; nil if the bytes are PEM.
    static func asymmetric(
        _ decoded: [UInt8], kind: CryptoKey.Kind?, with header: ForeignKey.Header
    ) throws(KeyError) -> ForeignKey {
        if PEM.isDisguised(in: decoded) {
            var text = PEM.undisguised(decoded)
            defer { wipe(&text) }
            return try ForeignKey(pem: text, with: header)
        }
        if kind == .ed25519, decoded.count == 64 {
            return try ForeignKey(ed25519: decoded.span, with: header)
        }
        if kind == .ed25519 || kind == .x25519, decoded.count == 32 {
            let oid = kind == .ed25519 ? "70" : "6e"
            throw KeyParts.malformed(
                "found 32 bytes, which may be a public key or a private one, expected DER; in hex, "
                    + "put 302a300506032b65\(oid)032100 before a public key, and "
                    + "302e020100300506032b65\(oid)04220420 before a private one")
        }
        return try ForeignKey(der: decoded.span, with: header)
    }
}

extension ForeignKey {
    /// Reads the line of a public key of OpenSSH.
    ///
    /// - Throws: `KeyError` with `malformedKeys`.
    init(openSSHPublic line: [UInt8], with header: Header) throws(KeyError) {
        let point: [UInt8]
        do throws(X509Failure) {
            point = try OpenSSHKey.publicKey(ofLine: line)
        } catch {
            throw KeyParts.malformed(error.message)
        }
        try self.init(ed25519: point.span, with: header)
    }
}
