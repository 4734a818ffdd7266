import SignetBase
import SignetCrypto
import SignetSystem

/// CA certificates that a rule trusts for its hosts, and for no other host.
///
/// The file is read once, together with the policy. Later changes of the file apply only to
/// policies that are read later.
public struct PinAuthorities: Sendable, Hashable {
    /// The effect on the CAs that are trusted for all hosts.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// Trusts them for the rule's hosts too.
        case add
        /// Trusts only the rule's own CAs for its hosts.
        case replace
    }

    /// The largest size of a file: 1 MiB.
    public static let maximumByteCount = 1 << 20
    /// The largest number of certificates in a file.
    public static let maximumCertificateCount = 256
    /// The largest number of files in a policy.
    public static let maximumFileCount = 8

    /// The file's path as the policy gives it.
    public let file: String
    /// The effect on the CAs that are trusted for all hosts.
    public let mode: Mode
    /// The certificates without other contents of the file, as PEM (RFC 7468).
    public let pem: [UInt8]
    /// SHA-256 of the PEM, 32 bytes.
    public let digest: [UInt8]

    /// Reads a file of PEM certificates, or of one DER certificate.
    ///
    /// - Parameters:
    ///   - file: The path; a relative one starts from `directory`.
    ///   - mode: The effect on the CAs that are trusted for all hosts.
    ///   - directory: The directory of the policy's file.
    /// - Throws: `PinError` with code `unreadable-file` if the file can't be read, or
    ///   `malformed-policy` if it has no certificate, a malformed one, or too many. Both name the
    ///   file.
    public init(file: String, mode: Mode, in directory: String = ".") throws(PinError) {
        let path = file.utf8.first == UInt8(ascii: "/") ? file : "\(directory)/\(file)"
        let bytes: [UInt8]
        do throws(FileFailure) {
            bytes = try PrivateFile.read(path, limit: Self.maximumByteCount, requirePrivate: false)
        } catch {
            throw PinError(.unreadableFile, "the CA file: \(error.message)")
        }
        do throws(X509Failure) {
            try self.init(file: file, mode: mode, bytes: bytes)
        } catch {
            throw PinError(.malformedPolicy, "the CA file \(printable(path)): \(error.message)")
        }
    }

    private init(file: String, mode: Mode, bytes: [UInt8]) throws(X509Failure) {
        let certificates = try X509Parser.certificates(bytes)
        guard certificates.count <= Self.maximumCertificateCount else {
            throw X509Failure(
                "found \(certificates.count) certificates, expected at most"
                    + " \(Self.maximumCertificateCount)")
        }
        let pem = certificates.flatMap { PEM.text(ofCertificate: $0.der) }
        do throws(CryptoFailure) {
            digest = try Digest.of(pem.span)
        } catch {
            throw X509Failure(error.description)
        }
        self.file = file
        self.mode = mode
        self.pem = pem
    }
}
