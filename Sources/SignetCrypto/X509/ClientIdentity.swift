import CSignetOpenSSL
import SignetBase
import SignetSystem

/// A certificate with its private key, and the certificates that vouch for it. It never prints.
@safe package final class ClientIdentity: Sendable {
    // Not changed after `init`; OpenSSL allows several threads to use them.
    private nonisolated(unsafe) let pointers: [OpaquePointer]
    /// The private key, an `EVP_PKEY *` that lives as long as this object.
    package nonisolated(unsafe) let key: OpaquePointer
    /// The certificates, the leaf first, each in DER.
    package let certificates: [[UInt8]]
    /// The leaf.
    package let leaf: X509Parser.CertificateInfo

    /// The maximum number of certificates.
    package static let maximumCount = 16

    /// The certificates, each an `X509 *` that lives as long as this object; the leaf first.
    package var certificatePointers: [OpaquePointer] { unsafe pointers }

    /// Reads a certificate with its key.
    ///
    /// - Parameters:
    ///   - bytes: The certificates in PEM, the leaf first, maybe with the key; or PKCS #12, which
    ///     has both.
    ///   - key: The key in PEM or DER; nil if `bytes` has it.
    ///   - passphrase: What the key or the PKCS #12 file is encrypted with; nil if it isn't.
    /// - Throws: `X509Failure` for an unknown form, a missing or wrong passphrase, and a key that
    ///   isn't the leaf's.
    package init(
        _ bytes: [UInt8], key keyBytes: [UInt8]?, passphrase: borrowing SecretBytes?
    ) throws(X509Failure) {
        var found: OpaquePointer?
        var count: Int32 = 0
        var all = unsafe [OpaquePointer?](repeating: nil, count: Self.maximumCount)
        let text = keyBytes ?? bytes
        let isPEM = PEM.isContained(in: bytes)
        let status = unsafe Self.withPassphrase(passphrase) { secret, secretCount in
            unsafe bytes.withUnsafeBytes { source in
                unsafe text.withUnsafeBytes { text in
                    unsafe all.withUnsafeMutableBufferPointer { all in
                        unsafe signet_openssl_read_identity(
                            isPEM ? 1 : 0, source.baseAddress, Int32(source.count),
                            text.baseAddress, Int32(text.count),
                            keyBytes == nil && !isPEM ? 0 : 1, secret, Int32(secretCount), &found,
                            all.baseAddress, Int32(all.count), &count)
                    }
                }
            }
        }
        signet_openssl_forget_errors()
        let pointers = unsafe all.prefix(Int(count)).compactMap { unsafe $0 }
        do throws(X509Failure) {
            guard status == signet_openssl_identity_ok, let found = unsafe found else {
                throw X509Failure(Self.problem(status, isPEM: isPEM, hasKey: keyBytes != nil))
            }
            let ders = unsafe pointers.map { unsafe Self.der(of: $0) }
            guard let leaf = try ders.first.map(X509Parser.certificates)?.first else {
                throw X509Failure("found no certificate")
            }
            unsafe self.pointers = pointers
            unsafe self.key = found
            self.certificates = ders
            self.leaf = leaf
        } catch {
            unsafe pointers.forEach { unsafe X509_free($0) }
            unsafe EVP_PKEY_free(found)
            throw error
        }
    }

    private static func withPassphrase<Result>(
        _ passphrase: borrowing SecretBytes?, _ body: (UnsafeRawPointer?, Int) -> Result
    ) -> Result {
        switch passphrase {
        case .some(let secret):
            unsafe secret.bytes.withUnsafeBytes { unsafe body($0.baseAddress, $0.count) }
        case .none: body(nil, 0)
        }
    }

    private static func der(of certificate: OpaquePointer) -> [UInt8] {
        var count: Int32 = 0
        guard let der = unsafe signet_openssl_certificate_der(certificate, &count) else {
            return []
        }
        defer { unsafe signet_openssl_free(der) }
        return unsafe Array(UnsafeBufferPointer(start: der, count: Int(count)))
    }

    private static func problem(
        _ status: signet_openssl_identity_status, isPEM: Bool, hasKey: Bool
    ) -> String {
        switch status {
        case signet_openssl_identity_no_certificate:
            "found no certificate, expected PEM with the client's own one first, or PKCS #12"
        case signet_openssl_identity_too_many:
            "found more than \(maximumCount) certificates"
        case signet_openssl_identity_no_key:
            hasKey
                ? "found no private key in the key's source, expected PEM or DER"
                : "found no private key beside the certificate, expected one in the same file or a"
                    + " source of its own"
        case signet_openssl_identity_needs_passphrase:
            "the private key is encrypted, and no passphrase was given"
        case signet_openssl_identity_wrong_passphrase:
            "the passphrase doesn't open the private key, or its encryption isn't one that OpenSSL"
                + " has without its legacy provider"
        case signet_openssl_identity_mismatch:
            "the private key isn't the one of the first certificate"
        default: "OpenSSL can't read it"
        }
    }

    deinit {
        unsafe pointers.forEach { unsafe X509_free($0) }
        unsafe EVP_PKEY_free(key)
    }
}

extension ClientIdentity {
    /// Reads a certificate with its key from their sources.
    ///
    /// - Throws: `KeyError` with `unreadable`, `malformedKeys`, or `keyFilePermissions` if others
    ///   have access to a file with a private key.
    package static func load(
        _ certificate: KeySource, key: KeySource?, passphrase: borrowing SecretBytes?
    ) throws(KeyError) -> ClientIdentity {
        var (bytes, refusal) = try certificate.read(limit: KeySet.maximumByteCount)
        defer { wipe(&bytes) }
        var keyBytes: [UInt8] = []
        defer { wipe(&keyBytes) }
        if let key {
            let (secret, keyRefusal) = try key.read(limit: KeySet.maximumByteCount)
            keyBytes = secret
            if let keyRefusal { throw KeyError(.keyFilePermissions, keyRefusal.message) }
        } else if let refusal {
            throw KeyError(.keyFilePermissions, refusal.message)
        }
        do throws(X509Failure) {
            return try ClientIdentity(
                bytes, key: key == nil ? nil : keyBytes, passphrase: passphrase)
        } catch {
            throw KeyError(.malformedKeys, "\(certificate.description): \(error.message)")
        }
    }
}
