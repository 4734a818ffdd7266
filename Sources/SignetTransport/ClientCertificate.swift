import SignetBase
public import SignetCrypto
import SignetSystem
import Synchronization

/// A certificate with its private key, which a server gets that asks for one (mutual TLS).
///
/// Connections and TLS sessions that were made with a certificate are used by calls with the same
/// one alone.
///
/// If a source is a file and the file changes, the next call uses the new certificate and a new
/// connection, and calls under way continue. While certificate and key don't belong to each other,
/// because only one of the files has been replaced, the former ones stay in use.
///
/// ```swift
/// import SignetCrypto
/// import SignetTransport
///
/// let certificate = try ClientCertificate(
///     .file("/etc/shop/client.pem"), key: .file("/etc/shop/client.key"),
///     passphrase: .credential("client-passphrase"))
/// print(certificate.subject, certificate.notAfter)
/// ```
public final class ClientCertificate: Sendable, CustomStringConvertible, CustomReflectable {
    /// A version of the certificate, as one call uses it.
    package final class Version: Sendable {
        /// The certificate with its key.
        package let identity: ClientIdentity
        /// A hash of all certificates, which no other client certificate has.
        package let fingerprint: [UInt8]
        /// The versions of the files that it was read from.
        fileprivate let files: [FileVersion?]

        fileprivate init(
            _ identity: ClientIdentity, files: [FileVersion?]
        ) throws(CryptoFailure) {
            self.identity = identity
            self.files = files
            var digest = try IncrementalDigest()
            for certificate in identity.certificates { try digest.update(certificate.span) }
            fingerprint = try digest.finish()
        }
    }

    private struct State {
        var version: Version
        /// The versions of files that couldn't be used, so that they aren't read for each call.
        var refused: [FileVersion?]?
    }

    /// Nil for a certificate that was given by its bytes.
    private let certificateSource: KeySource?
    private let keySource: KeySource?
    private let passphraseSource: KeySource?
    private let state: Mutex<State>

    /// Reads a certificate.
    ///
    /// - Parameters:
    ///   - certificate: Certificates in PEM, the client's own one first and then those that vouch
    ///     for it, or a PKCS #12 file.
    ///   - key: The private key in PEM or DER; nil if the first source has it.
    ///   - passphrase: What the key, or the PKCS #12 file, is encrypted with; nil if it isn't.
    /// - Throws: `TransportError` with code `client-certificate` if a source can't be read, others
    ///   have access to the private key's file, or the two don't belong to each other.
    public init(
        _ certificate: KeySource, key: KeySource? = nil, passphrase: KeySource? = nil
    ) throws(TransportError) {
        certificateSource = certificate
        keySource = key
        passphraseSource = passphrase
        let version = try Self.read(certificate, key: key, passphrase: passphrase)
        state = Mutex(State(version: version))
    }

    /// Reads a certificate and its key in PEM, which don't change.
    ///
    /// - Throws: As `init(_:key:passphrase:)`.
    package init(pem certificate: [UInt8], key: [UInt8]) throws(TransportError) {
        (certificateSource, keySource, passphraseSource) = (nil, nil, nil)
        let version: Version
        do {
            version = try Version(
                ClientIdentity(certificate, key: key, passphrase: nil),
                files: Self.versions(of: nil, nil, nil))
        } catch let error as X509Failure {
            throw TransportError(.clientCertificate, error.message)
        } catch {
            throw TransportError(.clientCertificate, "OpenSSL can't read it")
        }
        state = Mutex(State(version: version))
    }

    private static func read(
        _ certificate: KeySource, key: KeySource?, passphrase: KeySource?
    ) throws(TransportError) -> Version {
        // Before they are read, so that a later change is noticed.
        let files = versions(of: certificate, key, passphrase)
        do throws(KeyError) {
            let secret: SecretBytes?
            if let passphrase {
                secret = try passphrase.loadPassphrase()
            } else {
                secret = nil
            }
            let identity = try ClientIdentity.load(certificate, key: key, passphrase: secret)
            do throws(CryptoFailure) {
                return try Version(identity, files: files)
            } catch {
                throw KeyError(.cryptoFailed, error.message)
            }
        } catch {
            throw TransportError(.clientCertificate, "the client certificate: \(error.message)")
        }
    }

    private static func versions(of sources: KeySource?...) -> [FileVersion?] {
        sources.map { $0?.filePath.flatMap { FileVersion($0) } }
    }

    /// Returns the version to use now. Reads the files again if they have changed.
    ///
    /// - Throws: `client-certificate` if the certificate isn't valid now.
    package func current(at now: Int64 = UnixTime.now()) throws(TransportError) -> Version {
        let files = Self.versions(of: certificateSource, keySource, passphraseSource)
        let (version, isNew) = state.withLock { state in
            (state.version, state.version.files != files && state.refused != files)
        }
        let current = isNew ? replaced(version, since: files) : version
        let leaf = current.identity.leaf
        guard now <= leaf.notAfter else {
            throw TransportError(
                .clientCertificate,
                "the client certificate \"\(leaf.subject)\" expired at"
                    + " \(UnixTime.rfc3339(leaf.notAfter)), now it is \(UnixTime.rfc3339(now)); nothing"
                    + " was sent")
        }
        guard now >= leaf.notBefore else {
            throw TransportError(
                .clientCertificate,
                "the client certificate \"\(leaf.subject)\" is valid from"
                    + " \(UnixTime.rfc3339(leaf.notBefore)), now it is \(UnixTime.rfc3339(now)); nothing"
                    + " was sent")
        }
        return current
    }

    private func replaced(_ version: Version, since files: [FileVersion?]) -> Version {
        let read = try? read()
        return state.withLock { state in
            guard let read else {
                state.refused = files
                return state.version
            }
            state.version = read
            state.refused = nil
            return read
        }
    }

    /// Reads the sources again now, also those that aren't files.
    ///
    /// - Throws: As `init`. The former certificate then stays in use.
    public func reload() throws(TransportError) {
        guard let version = try read() else { return }
        state.withLock { state in
            state.version = version
            state.refused = nil
        }
    }

    private func read() throws(TransportError) -> Version? {
        try certificateSource.map { source throws(TransportError) in
            try Self.read(source, key: keySource, passphrase: passphraseSource)
        }
    }

    /// The fingerprint of the version that was used last.
    package var fingerprint: [UInt8] { state.withLock { $0.version.fingerprint } }

    private var leaf: X509Parser.CertificateInfo {
        state.withLock { $0.version.identity.leaf }
    }

    /// The certificate's subject on one line (RFC 2253).
    public var subject: String { leaf.subject }
    /// The first second of its validity, in Unix seconds.
    public var notBefore: Int64 { leaf.notBefore }
    /// The last second of its validity, in Unix seconds.
    public var notAfter: Int64 { leaf.notAfter }

    /// The subject; nothing of the key.
    public var description: String { "ClientCertificate(\"\(subject)\", redacted)" }

    /// No children, so that reflection and `dump` show only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
