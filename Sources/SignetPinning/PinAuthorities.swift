internal import SignetCrypto

/// CA certificates that a rule brings for its hosts, and for no other host.
///
/// They are read once, with the policy, and are part of the immutable value: a file that changes later
/// counts with the next policy.
public struct PinAuthorities: Sendable, Hashable {
    /// What becomes of the CAs that are trusted otherwise.
    public enum Mode: String, Sendable, Hashable {
        /// They are trusted for the rule's hosts too.
        case add
        /// For the rule's hosts these here alone are trusted.
        case replace
    }

    /// The largest file: 1 MiB.
    public static let maximumByteCount = 1 << 20
    /// The most certificates of a file.
    public static let maximumCertificateCount = 256
    /// The most files of one policy.
    public static let maximumFileCount = 8

    /// The file as the policy names it.
    public let file: String
    /// What becomes of the CAs that are trusted otherwise.
    public let mode: Mode
    /// The certificates alone, as PEM (RFC 7468).
    public let pem: [UInt8]
    /// SHA-256 of the PEM, 32 bytes.
    public let digest: [UInt8]

    /// Reads a PEM file of certificates, or one certificate as DER.
    ///
    /// - Parameters:
    ///   - file: Its path; a relative one counts from `directory`.
    ///   - mode: What becomes of the CAs that are trusted otherwise.
    ///   - directory: The folder of the policy's file.
    /// - Throws: `PinError`: `unreadable-file` where it cannot be read, `malformed-policy` where it holds no
    ///   certificate, a broken one, or more than is taken. Both name the file.
    public init(file: String, mode: Mode, in directory: String = ".") throws(PinError) {
        let path = file.utf8.first == UInt8(ascii: "/") ? file : "\(directory)/\(file)"
        let bytes: [UInt8]
        do throws(FileFailure) {
            bytes = try PrivateFile.read(
                path, limit: Self.maximumByteCount, requirePrivate: false)
        } catch {
            throw PinError(code: .unreadableFile, message: "the CA file: \(error.message)")
        }
        do throws(X509Failure) {
            try self.init(file: file, mode: mode, bytes: bytes)
        } catch {
            throw PinError(
                code: .malformedPolicy,
                message: "the CA file \(printable(path)): \(error.message)")
        }
    }

    private init(file: String, mode: Mode, bytes: [UInt8]) throws(X509Failure) {
        let certificates = try X509Parser.certificates(bytes)
        guard certificates.count <= Self.maximumCertificateCount else {
            throw X509Failure(
                "it holds \(certificates.count) certificates, at most"
                    + " \(Self.maximumCertificateCount) are taken")
        }
        var pem: [UInt8] = []
        for certificate in certificates { pem += PEMText.of(certificate.der) }
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

/// Certificates as PEM (RFC 7468, section 5).
enum PEMText {
    /// A certificate with its two lines around it, ended by a newline.
    static func of(_ der: [UInt8]) -> [UInt8] {
        let digits = Array(Base64.encode(der, .standard).utf8)
        var text = Array("-----BEGIN CERTIFICATE-----\n".utf8)
        for start in stride(from: 0, to: digits.count, by: 64) {
            text += digits[start..<min(start + 64, digits.count)]
            text.append(UInt8(ascii: "\n"))
        }
        return text + "-----END CERTIFICATE-----\n".utf8
    }
}
