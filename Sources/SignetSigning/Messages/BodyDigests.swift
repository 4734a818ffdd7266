import SignetCrypto
import SignetSystem

/// The digest algorithms that RFC 9530 lists as active.
public enum BodyDigest: String, Sendable, Hashable, CaseIterable {
    /// SHA-256.
    case sha256 = "sha-256"
    /// SHA-512.
    case sha512 = "sha-512"

    var algorithm: DigestAlgorithm { self == .sha256 ? .sha256 : .sha512 }
}

/// The length and the digests of a body that isn't in memory.
///
/// A message with digests in place of its body (`SignableMessage/setBody(_:)`) is signed and
/// verified like one that holds the body, by every scheme that only hashes the body.
public struct BodyDigests: Sendable, Hashable {
    /// The length of the body in bytes.
    public let byteCount: Int64
    fileprivate let sha256: [UInt8]?
    fileprivate let sha512: [UInt8]?
}

extension BodyDigests {
    /// Creates the value from digests that were computed elsewhere.
    ///
    /// - Parameters:
    ///   - byteCount: The length of the body in bytes.
    ///   - digests: At least one digest, each with the length of its algorithm.
    /// - Throws: `SigningError` with `malformed-digest` for an empty dictionary, a wrong length or
    ///   a negative count.
    public init(byteCount: Int64, digests: [BodyDigest: [UInt8]]) throws(SigningError) {
        guard byteCount >= 0, !digests.isEmpty,
            digests.allSatisfy({ $0.value.count == $0.key.algorithm.byteCount })
        else {
            throw SigningError(
                .malformedDigest,
                "expected a length and at least one digest: 32 bytes for sha-256, 64 for sha-512")
        }
        self.init(byteCount: byteCount, sha256: digests[.sha256], sha512: digests[.sha512])
    }

    /// Digests a sequence. Keeps no chunk in memory.
    ///
    /// - Parameters:
    ///   - chunks: The body, in chunks of any length.
    ///   - algorithms: The digests to compute.
    /// - Throws: The error of the sequence, or `SigningError` with `crypto-failed`.
    public init<Chunks: AsyncSequence>(
        of chunks: Chunks, algorithms: Set<BodyDigest> = [.sha256]
    ) async throws where Chunks.Element == [UInt8] {
        var digester = try BodyDigester(algorithms)
        for try await chunk in chunks { try digester.update(chunk) }
        self = try digester.finish()
    }

    /// Digests a file in chunks of 64 KiB.
    ///
    /// - Throws: `SigningError` with `unreadable-body` or `crypto-failed`.
    public init(
        ofFile path: String, algorithms: Set<BodyDigest> = [.sha256]
    ) throws(SigningError) {
        var digester = try BodyDigester(algorithms)
        do throws(FileFailure) {
            var reader = try ChunkReader(path)
            while try reader.next() > 0 { digester.update(unlessFailed: reader.chunk) }
        } catch {
            throw SigningError(.unreadableBody, error.message)
        }
        self = try digester.finish()
    }

    /// The digest of an algorithm, or nil if it wasn't computed.
    public subscript(algorithm: BodyDigest) -> [UInt8]? {
        algorithm == .sha256 ? sha256 : sha512
    }

    /// Returns the digest of an algorithm.
    ///
    /// - Throws: `SigningError` with `unsupported-digest` if it wasn't computed.
    func digest(_ algorithm: BodyDigest) throws(SigningError) -> [UInt8] {
        guard let digest = self[algorithm] else {
            throw SigningError(.unsupportedDigest, "the body has no \(algorithm.rawValue) digest")
        }
        return digest
    }
}

/// Digests a body in pieces. Its memory use doesn't depend on the size of the body.
public struct BodyDigester: ~Copyable, Sendable {
    private var sha256: IncrementalDigest?
    private var sha512: IncrementalDigest?
    private var failure: SigningError?
    /// The number of bytes so far.
    public private(set) var byteCount: Int64 = 0

    /// Creates a digester.
    ///
    /// - Parameter algorithms: The digests to compute.
    /// - Throws: `SigningError` with `crypto-failed`.
    public init(_ algorithms: Set<BodyDigest> = [.sha256]) throws(SigningError) {
        do throws(CryptoFailure) {
            self.sha256 = algorithms.contains(.sha256) ? try IncrementalDigest(.sha256) : nil
            self.sha512 = algorithms.contains(.sha512) ? try IncrementalDigest(.sha512) : nil
        } catch {
            throw SigningError(error)
        }
    }

    /// Adds the next bytes. The span may be empty.
    ///
    /// - Throws: `SigningError` with `crypto-failed`; then ``finish()`` throws it too.
    public mutating func update(_ chunk: Span<UInt8>) throws(SigningError) {
        update(unlessFailed: chunk)
        if let failure { throw failure }
    }

    /// Adds the next bytes.
    ///
    /// - Throws: `SigningError` with `crypto-failed`; then ``finish()`` throws it too.
    public mutating func update(_ chunk: [UInt8]) throws(SigningError) {
        try update(chunk.span)
    }

    /// Adds the next bytes. Keeps a failure for ``finish()`` to throw.
    mutating func update(unlessFailed chunk: Span<UInt8>) {
        guard failure == nil else { return }
        do throws(CryptoFailure) {
            try sha256?.update(chunk)
            try sha512?.update(chunk)
            byteCount += Int64(chunk.count)
        } catch {
            failure = SigningError(error)
        }
    }

    /// Returns the digests of all bytes.
    ///
    /// - Throws: `SigningError` with `crypto-failed`.
    public consuming func finish() throws(SigningError) -> BodyDigests {
        if let failure { throw failure }
        let count = byteCount
        do throws(CryptoFailure) {
            return BodyDigests(
                byteCount: count, sha256: try sha256?.finish(), sha512: try sha512?.finish())
        } catch {
            throw SigningError(error)
        }
    }
}

/// The body of a message, its digests, or a placeholder for a body that will follow.
enum MessageContent: Sendable, Hashable {
    case bytes([UInt8])
    /// The body isn't in memory.
    case digested(BodyDigests)
    /// The body will follow. Only ``StreamedVerification`` has such a message.
    case expected

    /// Whether the body is known to be empty.
    var isEmpty: Bool {
        switch self {
        case .bytes(let bytes): bytes.isEmpty
        case .digested(let digests): digests.byteCount == 0
        case .expected: false
        }
    }

    /// Returns the bytes, for schemes that sign the body itself, not a hash of it.
    ///
    /// - Throws: `SigningError` with `body-not-held`.
    func held() throws(SigningError) -> [UInt8] {
        guard case .bytes(let bytes) = self else {
            throw SigningError(
                .bodyNotHeld,
                "the scheme signs the body itself, not a digest of it: the body must be in memory"
            )
        }
        return bytes
    }

    /// Returns the body's digest; nil if the body will follow.
    ///
    /// - Throws: `SigningError` with `crypto-failed`, or with `unsupported-digest` if the body
    ///   isn't in memory and the digest wasn't computed.
    func digest(_ algorithm: BodyDigest) throws(SigningError) -> [UInt8]? {
        switch self {
        case .expected: return nil
        case .digested(let digests): return try digests.digest(algorithm)
        case .bytes(let bytes):
            return try convertingCryptoFailure { () throws(CryptoFailure) in
                try SignetCrypto.Digest.of(bytes, using: algorithm.algorithm)
            }
        }
    }
}
