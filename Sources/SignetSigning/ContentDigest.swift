internal import SignetCrypto

/// Content-Digest (RFC 9530): what a signature proves about a body, where it is covered and the
/// digest recomputed.
public enum ContentDigest {
    /// The field's identifier as a covered component.
    public static let component = ComponentIdentifier(field: "content-digest")

    private static let sha256 = Array("sha-256".utf8)
    private static let sha512 = Array("sha-512".utf8)
    private static let deprecated = [
        "md5", "sha", "unixsum", "unixcksum", "adler", "crc32c",
    ].map { Array($0.utf8) }

    /// The field of a body, with sha-256.
    ///
    /// - Throws: `SigningError` with `crypto-failed`.
    public static func field(of body: [UInt8]) throws(SigningError) -> SignableMessage.Field {
        var value: [UInt8] = []
        value.reserveCapacity(64)
        value.append("sha-256=:")
        let digest = try digest(of: body, .sha256)
        Base64.append(digest.span, .standard, to: &value)
        value.append(ASCII.colon)
        return SignableMessage.Field(known: "Content-Digest", value: value)
    }

    /// Recomputes what a message's Content-Digest says about its body: every digest with sha-256 or
    /// sha-512 must fit, and there must be one.
    ///
    /// - Throws: `SigningError` with `missing-component` without the field, `digest-mismatch`,
    ///   `malformed-digest`, and `unsupported-digest` for a deprecated algorithm (RFC 9530,
    ///   section 5), also beside a good one, and for none that is known.
    public static func check(_ message: SignableMessage) throws(SigningError) {
        guard let text = message.value(of: component.nameBytes) else {
            throw SigningError(.missingComponent, "the message has no field content-digest")
        }
        let digests: StructuredDictionary
        do throws(SigningError) {
            digests = try StructuredDictionary(parsing: text, field: "Content-Digest")
        } catch {
            throw SigningError(.malformedDigest, error.message)
        }
        var isChecked = false
        for member in digests.members {
            let algorithm = algorithm(member.key, digests)
            guard
                algorithm != nil || !deprecated.contains(where: { digests.matches(member.key, $0) })
            else {
                throw SigningError(
                    .unsupportedDigest,
                    "Content-Digest holds a deprecated algorithm: wanted sha-256 or sha-512")
            }
            guard case .bytes(let range) = member.value,
                let claimed = digests.decoded(range)
            else {
                throw SigningError(
                    .malformedDigest, "Content-Digest holds a value that is no canonical base64")
            }
            guard let algorithm else { continue }
            let actual = try digest(of: message.body, algorithm)
            guard constantTimeEqual(claimed, actual) else {
                throw SigningError(.digestMismatch, "Content-Digest does not fit the body")
            }
            isChecked = true
        }
        guard isChecked else {
            throw SigningError(
                .unsupportedDigest, "Content-Digest holds neither sha-256 nor sha-512")
        }
    }

    private static func algorithm(
        _ name: Range<Int>, _ digests: StructuredDictionary
    ) -> DigestAlgorithm? {
        if digests.matches(name, sha256) { return .sha256 }
        return digests.matches(name, sha512) ? .sha512 : nil
    }

    static func digest(
        of body: [UInt8], _ algorithm: DigestAlgorithm
    ) throws(SigningError) -> [UInt8] {
        do throws(CryptoFailure) {
            return try Digest.of(body, algorithm)
        } catch {
            throw SigningError(error)
        }
    }
}

extension SigningError {
    init(_ failure: CryptoFailure) {
        self.init(.cryptoFailed, "\(failure)")
    }
}

extension ComponentIdentifier {
    /// A field whose name is known to be a token in lower case.
    init(field name: String) {
        self.name = name
        self.nameBytes = Array(name.utf8)
        self.source = .field
    }

    /// A derived component that is known to exist.
    init(derived source: Source, _ name: String) {
        self.name = name
        self.nameBytes = Array(name.utf8)
        self.source = source
    }
}
