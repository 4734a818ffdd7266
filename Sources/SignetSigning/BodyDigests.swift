internal import SignetCrypto

/// What is known of a body that no message holds: its length and its digests.
///
/// A message with digests in place of its body (`SignableMessage/setBody(_:)`) is
/// signed and verified as one that holds all the bytes, by every scheme that hashes the body.
public struct BodyDigests: Sendable, Hashable {
    /// How many bytes the body has.
    public let byteCount: Int64
    private let sha256: [UInt8]?
    private let sha512: [UInt8]?

    fileprivate init(byteCount: Int64, sha256: [UInt8]?, sha512: [UInt8]?) {
        self.byteCount = byteCount
        self.sha256 = sha256
        self.sha512 = sha512
    }

    /// Takes digests over that were made elsewhere.
    ///
    /// - Parameters:
    ///   - byteCount: How many bytes the body has.
    ///   - digests: One or two, each of the length of its algorithm.
    /// - Throws: `SigningError` with `malformed-digest` for none, for one of another length, and for a
    ///   negative count.
    public init(byteCount: Int64, digests: [BodyDigest: [UInt8]]) throws(SigningError) {
        guard byteCount >= 0, !digests.isEmpty,
            digests.allSatisfy({ $0.value.count == $0.key.algorithm.byteCount })
        else {
            throw SigningError(
                .malformedDigest, "a body's digest has 32 bytes by sha-256 and 64 by sha-512")
        }
        self.init(
            byteCount: byteCount, sha256: digests[.sha256], sha512: digests[.sha512])
    }

    /// Digests what a sequence yields, in pieces of any length; no piece is kept.
    ///
    /// - Parameters:
    ///   - chunks: The body; an error of it is passed on.
    ///   - algorithms: Which digests are made.
    public init<Chunks: AsyncSequence>(
        of chunks: Chunks, algorithms: Set<BodyDigest> = [.sha256]
    ) async throws where Chunks.Element == [UInt8] {
        var digester = try BodyDigester(algorithms)
        for try await chunk in chunks { try digester.update(chunk) }
        self = try digester.finish()
    }

    /// Digests a file, in pieces of 64 KiB.
    ///
    /// - Throws: `SigningError` with `unreadable-body`.
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

    /// The digest of an algorithm, or nil where it was not made.
    public subscript(algorithm: BodyDigest) -> [UInt8]? {
        algorithm == .sha256 ? sha256 : sha512
    }

    /// The digest of an algorithm.
    ///
    /// - Throws: `SigningError` with `unsupported-digest` where it was not made.
    func digest(_ algorithm: BodyDigest) throws(SigningError) -> [UInt8] {
        guard let digest = self[algorithm] else {
            throw SigningError(
                .unsupportedDigest, "the body was not digested with \(algorithm.rawValue)")
        }
        return digest
    }
}

/// Digests a body that comes in pieces; what it holds does not grow with the body.
public struct BodyDigester: ~Copyable, Sendable {
    private var sha256: IncrementalDigest?
    private var sha512: IncrementalDigest?
    private var failure: SigningError?
    /// How many bytes came so far.
    public private(set) var byteCount: Int64 = 0

    /// Begins.
    ///
    /// - Parameter algorithms: Which digests are made.
    /// - Throws: `SigningError` with `crypto-failed`.
    public init(_ algorithms: Set<BodyDigest> = [.sha256]) throws(SigningError) {
        do throws(CryptoFailure) {
            self.sha256 = algorithms.contains(.sha256) ? try IncrementalDigest(.sha256) : nil
            self.sha512 = algorithms.contains(.sha512) ? try IncrementalDigest(.sha512) : nil
        } catch {
            throw SigningError(error)
        }
    }

    /// Adds the next bytes; none is fine too.
    ///
    /// - Throws: `SigningError` with `crypto-failed`; then ``finish()`` throws it too.
    public mutating func update(_ chunk: Span<UInt8>) throws(SigningError) {
        update(unlessFailed: chunk)
        if let failure { throw failure }
    }

    /// Adds the next bytes.
    ///
    /// - Throws: As the other method of the name.
    public mutating func update(_ chunk: [UInt8]) throws(SigningError) {
        try update(chunk.span)
    }

    /// Adds the next bytes; a failure is told at the end.
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

    /// The digests of all that came.
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

/// A message's body, as far as the message knows it.
enum MessageContent: Sendable, Hashable {
    case bytes([UInt8])
    /// It lies elsewhere.
    case digested(BodyDigests)
    /// It follows; only a verifier that then demands all of it makes such a message.
    case expected

    /// Whether there is a body, or may be one.
    var isEmpty: Bool {
        switch self {
        case .bytes(let bytes): bytes.isEmpty
        case .digested(let digests): digests.byteCount == 0
        case .expected: false
        }
    }

    /// The bytes, for schemes that sign more than a hash of them.
    ///
    /// - Throws: `SigningError` with `body-not-held`.
    func held() throws(SigningError) -> [UInt8] {
        guard case .bytes(let bytes) = self else {
            throw SigningError(
                .bodyNotHeld,
                "the scheme signs the body itself and not a digest of it: it must be held in memory"
            )
        }
        return bytes
    }

    /// The body's digest; nil where the body is still to come.
    ///
    /// - Throws: `SigningError` with `crypto-failed`, or `unsupported-digest` where the body lies
    ///   elsewhere and the digest was not made.
    func digest(_ algorithm: BodyDigest) throws(SigningError) -> [UInt8]? {
        switch self {
        case .expected: return nil
        case .digested(let digests): return try digests.digest(algorithm)
        case .bytes(let bytes):
            do throws(CryptoFailure) {
                return try SignetCrypto.Digest.of(bytes, algorithm.algorithm)
            } catch {
                throw SigningError(error)
            }
        }
    }
}
