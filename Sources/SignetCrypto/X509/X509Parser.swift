import CSignetOpenSSL
import SignetBase

/// Reads certificates and keys without verifying them.
package enum X509Parser {
    /// Fields of a certificate and its public key's digest.
    package struct CertificateInfo: Sendable, Hashable {
        /// The subject on one line (RFC 2253), with control characters escaped. May be empty.
        package let subject: String
        /// SHA-256 of the DER SubjectPublicKeyInfo, 32 bytes.
        package let spkiSHA256: [UInt8]
        /// The first second of its validity, in Unix seconds.
        package let notBefore: Int64
        /// The last second of its validity, in Unix seconds.
        package let notAfter: Int64
        /// The whole certificate in DER.
        package let der: [UInt8]
    }

    /// The kind of structure that contained a public key.
    package enum Kind: String, Sendable, Hashable {
        case certificate
        case publicKey = "public-key"
        case request
        /// A private key, whose public half is digested.
        case privateKey = "private-key"
    }

    /// A public key's digest, and the structure that contained the key.
    package struct PublicKeyDigest: Sendable, Hashable {
        package let kind: Kind
        /// The subject of a certificate or request; empty for a bare key.
        package let subject: String
        /// The host names and addresses in the subject alternative name of a certificate or request
        /// (RFC 5280, section 4.2.1.6). Addresses are text, those of IPv6 in brackets.
        package let hosts: [String]
        /// SHA-256 of the DER SubjectPublicKeyInfo, 32 bytes.
        package let spkiSHA256: [UInt8]
    }

    /// Returns the certificates of a PEM file, in its order, or the single one of a DER file.
    /// Ignores keys and requests.
    ///
    /// - Parameter bytes: The whole file, at most 64 MiB.
    /// - Returns: One or more certificates.
    /// - Throws: `X509Failure` if there is no certificate or a block is malformed.
    package static func certificates(_ bytes: [UInt8]) throws(X509Failure) -> [CertificateInfo] {
        let found = try entries(bytes).compactMap(\.certificate)
        guard !found.isEmpty else {
            throw X509Failure("found no certificate, expected one in PEM or DER")
        }
        return found
    }

    /// Returns the digests of all public keys of a PEM file, in its order, or of the single one of
    /// a DER file.
    ///
    /// - Parameter bytes: The whole file, at most 64 MiB: certificates, certificate requests,
    ///   public keys or private keys.
    /// - Returns: One or more digests.
    /// - Throws: `X509Failure` if there is no key, a block is malformed, or a private key is
    ///   encrypted.
    package static func publicKeyDigests(
        of bytes: [UInt8]
    ) throws(X509Failure) -> [PublicKeyDigest] {
        try entries(bytes).map(\.digest)
    }

    /// The content of one block of a file.
    private struct Entry {
        var digest: PublicKeyDigest
        var certificate: CertificateInfo?
    }

    private static func entries(_ bytes: [UInt8]) throws(X509Failure) -> [Entry] {
        guard !bytes.isEmpty else { throw X509Failure("the file is empty, expected PEM or DER") }
        guard bytes.count <= 64 << 20 else {
            throw X509Failure("found \(bytes.count) bytes, expected at most 64 MiB")
        }
        signet_openssl_forget_errors()
        defer { signet_openssl_forget_errors() }
        var entries: [Entry] = []
        let blocks = try PEM.forEachBlock(in: bytes) { (label, der) throws(X509Failure) in
            if let entry = try entry(der: der, label: label) { entries.append(entry) }
        }
        if blocks == 0 { return [try entry(der: bytes.span)] }
        guard !entries.isEmpty else {
            throw X509Failure("the PEM blocks contain neither a certificate nor a key")
        }
        return entries
    }

    /// Returns a PEM block's content, or nil for a block without a key, such as EC parameters.
    private static func entry(
        der: Span<UInt8>, label: PEM.Label
    ) throws(X509Failure) -> Entry? {
        let entry: Entry?
        switch label.name {
        case "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE":
            entry = try certificate(der, isTrusted: label.name == "TRUSTED CERTIFICATE")
        case "PUBLIC KEY", "RSA PUBLIC KEY":
            entry = try publicKey(der, isPKCS1: label.name == "RSA PUBLIC KEY")
        case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST":
            entry = try request(der)
        case "ENCRYPTED PRIVATE KEY":
            throw X509Failure("the private key is encrypted; give its public key instead")
        case "PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY":
            guard !label.isEncrypted else {
                throw X509Failure("the private key is encrypted; give its public key instead")
            }
            entry = try privateKey(der)
        default: return nil
        }
        guard let entry else {
            throw X509Failure("the PEM block \(printable(label.name)) is malformed")
        }
        return entry
    }

    private static func entry(der: Span<UInt8>) throws(X509Failure) -> Entry {
        if let entry = try certificate(der, isTrusted: false) { return entry }
        if let entry = try publicKey(der, isPKCS1: false) { return entry }
        if let entry = try request(der) { return entry }
        if let entry = try privateKey(der) { return entry }
        throw X509Failure(
            "found neither PEM nor DER, expected a certificate, a key or a certificate request")
    }

    private static func certificate(
        _ der: Span<UInt8>, isTrusted: Bool
    ) throws(X509Failure) -> Entry? {
        let reader =
            unsafe isTrusted
            ? signet_openssl_read_trusted_certificate : signet_openssl_read_certificate
        guard let read = unsafe read(der, by: reader) else { return nil }
        defer { unsafe X509_free(read) }
        let digest = unsafe PublicKeyDigest(
            kind: .certificate, subject: try name(X509_get_subject_name(read)),
            hosts: hosts(signet_openssl_certificate_names(read)),
            spkiSHA256: try spkiDigest {
                unsafe signet_openssl_spki(X509_get_X509_PUBKEY(read), $0)
            })
        let encoded = unsafe der.withUnsafeBytes { unsafe Array($0) }
        let certificate = unsafe CertificateInfo(
            subject: digest.subject, spkiSHA256: digest.spkiSHA256,
            notBefore: try time(X509_get0_notBefore(read)),
            notAfter: try time(X509_get0_notAfter(read)), der: encoded)
        return Entry(digest: digest, certificate: certificate)
    }

    private static func publicKey(
        _ der: Span<UInt8>, isPKCS1: Bool
    ) throws(X509Failure) -> Entry? {
        if isPKCS1 {
            guard let read = unsafe read(der, by: signet_openssl_read_rsa_public_key) else {
                return nil
            }
            defer { unsafe EVP_PKEY_free(read) }
            return unsafe try bareKey(kind: .publicKey) { unsafe signet_openssl_key_spki(read, $0) }
        }
        guard let read = unsafe read(der, by: signet_openssl_read_public_key) else { return nil }
        defer { unsafe X509_PUBKEY_free(read) }
        return unsafe try bareKey(kind: .publicKey) { unsafe signet_openssl_spki(read, $0) }
    }

    private static func privateKey(_ der: Span<UInt8>) throws(X509Failure) -> Entry? {
        guard let read = unsafe readPrivateKey(der) else { return nil }
        defer { unsafe EVP_PKEY_free(read) }
        return unsafe try bareKey(kind: .privateKey) { unsafe signet_openssl_key_spki(read, $0) }
    }

    private static func request(_ der: Span<UInt8>) throws(X509Failure) -> Entry? {
        guard let read = unsafe read(der, by: signet_openssl_read_request) else { return nil }
        defer { unsafe X509_REQ_free(read) }
        return unsafe Entry(
            digest: PublicKeyDigest(
                kind: .request, subject: try name(X509_REQ_get_subject_name(read)),
                hosts: hosts(signet_openssl_request_names(read)),
                spkiSHA256: try spkiDigest {
                    unsafe signet_openssl_spki(X509_REQ_get_X509_PUBKEY(read), $0)
                }))
    }

    /// Returns a structure of OpenSSL, which the caller frees, or nil if the bytes are something
    /// else.
    static func read(
        _ der: Span<UInt8>, by reader: (UnsafeRawPointer?, Int) -> OpaquePointer?
    ) -> OpaquePointer? {
        unsafe der.withUnsafeBytes { unsafe reader($0.baseAddress, $0.count) }
    }

    /// Returns a private key, which the caller frees: PKCS #8 of both versions, SEC 1 or PKCS #1.
    /// Returns nil for anything else, and if a public key beside it is that of another key.
    static func readPrivateKey(_ der: Span<UInt8>) -> OpaquePointer? {
        guard let pair = OneAsymmetricKey(der: der) else {
            return unsafe read(der, by: signet_openssl_read_private_key)
        }
        let key = unsafe read(pair.version1.bytes, by: signet_openssl_read_private_key)
        guard let key = unsafe key else { return nil }
        var count: Int32 = 0
        if let spki = unsafe signet_openssl_key_spki(key, &count) {
            defer { unsafe signet_openssl_free(spki) }
            // The public key is the last element of the SubjectPublicKeyInfo.
            let own = unsafe UnsafeBufferPointer(start: spki, count: Int(count))
            if unsafe own.suffix(pair.publicKey.count).elementsEqual(pair.publicKey) {
                return unsafe key
            }
        }
        unsafe EVP_PKEY_free(key)
        return nil
    }

    private static func bareKey(
        kind: Kind, _ spki: (UnsafeMutablePointer<Int32>) -> UnsafeMutablePointer<UInt8>?
    ) throws(X509Failure) -> Entry {
        Entry(
            digest: PublicKeyDigest(
                kind: kind, subject: "", hosts: [], spkiSHA256: unsafe try spkiDigest(spki)))
    }

    private static func spkiDigest(
        _ spki: (UnsafeMutablePointer<Int32>) -> UnsafeMutablePointer<UInt8>?
    ) throws(X509Failure) -> [UInt8] {
        var count: Int32 = 0
        guard let der = unsafe spki(&count) else {
            throw X509Failure("the public key cannot be read")
        }
        defer { unsafe signet_openssl_free(der) }
        do throws(CryptoFailure) {
            return unsafe try Digest.of(Span(_unsafeStart: der, count: Int(count)))
        } catch {
            throw X509Failure(error.description)
        }
    }

    private static func name(_ name: OpaquePointer?) throws(X509Failure) -> String {
        var count = 0
        guard let text = unsafe signet_openssl_name(name, &count) else {
            throw X509Failure("the subject cannot be converted to text")
        }
        defer { unsafe signet_openssl_free(text) }
        return printable(
            unsafe String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self))
    }

    /// Returns names and addresses as text, and frees `names`. Skips other kinds and names that
    /// aren't printable ASCII.
    private static func hosts(_ names: OpaquePointer?) -> [String] {
        defer { unsafe GENERAL_NAMES_free(names) }
        var hosts: [String] = []
        for index in 0..<(unsafe signet_openssl_names_count(names)) {
            var isAddress: Int32 = 0
            var count: Int32 = 0
            guard
                let bytes = unsafe signet_openssl_names_bytes(names, index, &isAddress, &count),
                count > 0
            else { continue }
            let name = unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
            if isAddress == 0 {
                guard name.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { continue }
                hosts.append(String(decoding: name, as: UTF8.self))
            } else if name.count == 4 {
                hosts.append(name.map(String.init).joined(separator: "."))
            } else if name.count == 16 {
                let groups = stride(from: 0, to: 16, by: 2).map { place in
                    String(UInt16(name[place]) << 8 | UInt16(name[place + 1]), radix: 16)
                }
                hosts.append("[" + groups.joined(separator: ":") + "]")
            }
        }
        return hosts
    }

    private static func time(_ time: UnsafePointer<ASN1_TIME>?) throws(X509Failure) -> Int64 {
        var seconds: Int64 = 0
        guard unsafe signet_openssl_unix_time(time, &seconds) == 1 else {
            throw X509Failure("the validity contains an invalid time")
        }
        return seconds
    }
}
