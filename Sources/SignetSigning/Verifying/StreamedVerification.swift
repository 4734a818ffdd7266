import SignetBase

/// Verifies a message whose body arrives in pieces.
///
/// ```swift
/// let verifier = try Verifier(keys: KeySource("partner-keys.json").load())
/// let head = try SignableMessage(
///     parsing: Array("PUT /a HTTP/1.1\nHost: api.example.com\nContent-Length: 4\n\n".utf8))
/// let chunks: [[UInt8]] = [[0x64, 0x61], [0x74, 0x61]]
/// var stream = try await verifier.startVerifying(head)
/// for chunk in chunks {
///     try stream.update(chunk)  // Also write the chunk to a temporary file.
/// }
/// // If this throws, delete the file.
/// let verified = try await stream.finish()
/// print(verified.keyID)
/// ```
///
/// Created by `Verifier/startVerifying(_:now:)`. Don't trust the received bytes before
/// `finish(trailers:now:)` returns a ``VerifiedMessage``, which it does only for a complete body
/// that matches the signature.
public struct StreamedVerification: ~Copyable, Sendable {
    /// Whether the signature is verified already, except for the body. This is so for `rfc9421` if
    /// the signature is in the head and covers no trailers. Otherwise only the policy has been
    /// checked, as far as the head allows: other schemes sign the body's hash itself, and a
    /// signature in the trailers follows the body. If a server accepts large bodies only from known
    /// senders, it should stop if this is false.
    public let isHeadVerified: Bool

    private let verifier: Verifier
    private var message: SignableMessage
    private let startTime: Int64
    private let declared: Int64?
    private let isBodyCovered: Bool
    private var digester: BodyDigester
    private var failure: SigningError?

    fileprivate init(
        verifier: Verifier, message: SignableMessage, head: VerifiedMessage?, now: Int64
    ) throws(SigningError) {
        var algorithms = DigestField.allAlgorithms(in: message.fields)
        // The trailers, or the key that they name, may require either digest.
        if head == nil || algorithms.isEmpty { algorithms = Set(BodyDigest.allCases) }
        let declared = try message.declaredLength
        self.digester = try BodyDigester(algorithms)
        self.declared = declared
        self.verifier = verifier
        self.message = message
        self.startTime = now
        self.isHeadVerified = head != nil
        self.isBodyCovered = head.map(verifier.engine.provesBody) ?? true
    }

    /// Adds the next bytes of the body, as they arrived.
    ///
    /// - Throws: `SigningError`: `not-covered` for the first byte of a body that the signature
    ///   doesn't cover; `body-cut` for more bytes than Content-Length declares; `crypto-failed`.
    ///   The `finish` method then throws it too.
    public mutating func update(_ chunk: Span<UInt8>) throws(SigningError) {
        if let failure { throw failure }
        do throws(SigningError) {
            guard !chunk.isEmpty else { return }
            guard isBodyCovered else { throw Self.notCovered }
            try digester.update(chunk)
            if let declared, digester.byteCount > declared {
                throw SigningError(
                    .bodyCut, "the body is longer than its Content-Length of \(declared) bytes")
            }
        } catch {
            failure = error
            throw error
        }
    }

    /// Adds the next bytes of the body, as they arrived.
    ///
    /// - Throws: As the other method of this name.
    public mutating func update(_ chunk: [UInt8]) throws(SigningError) {
        try update(chunk.span)
    }

    /// Finishes the verification after the last byte of the body. Blocks the thread while the nonce
    /// store waits.
    ///
    /// - Parameters:
    ///   - trailers: The trailers in the order of arrival.
    ///   - now: The time at the end, in seconds since 1970; nil means now. Ignored if
    ///     ``isHeadVerified``. Otherwise the signature must still be fresh at this time, because
    ///     its nonce is stored only now.
    /// - Returns: The values that the signature proves, including the body's digest.
    /// - Throws: `SigningError` as `Verifier/verify(_:now:)`, and with `body-cut` for fewer bytes
    ///   than Content-Length declares.
    public consuming func finish(
        trailers: [SignableMessage.Field] = [], now: Int64? = nil
    ) throws(SigningError) -> VerifiedMessage {
        let verifier = verifier
        let now = now ?? UnixTime.now()
        let (verified, claims) = try verdict(trailers, now: now)
        if let claims { try verifier.remember(claims, now: now) }
        return verified
    }

    /// Finishes the verification after the last byte of the body. Suspends the task while the nonce
    /// store waits.
    ///
    /// - Parameters:
    ///   - trailers: The trailers in the order of arrival.
    ///   - now: The time at the end, in seconds since 1970; nil means now.
    /// - Returns: The values that the signature proves.
    /// - Throws: As the other method of this name.
    public consuming func finish(
        trailers: [SignableMessage.Field] = [], now: Int64? = nil
    ) async throws(SigningError) -> VerifiedMessage {
        let verifier = verifier
        let now = now ?? UnixTime.now()
        let (verified, claims) = try verdict(trailers, now: now)
        if let claims { try await verifier.remember(claims, now: now) }
        return verified
    }

    /// Does all checks except whether the nonce was used before. Returns the claims if their nonce
    /// isn't stored yet.
    private consuming func verdict(
        _ trailers: [SignableMessage.Field], now: Int64
    ) throws(SigningError) -> (VerifiedMessage, SignatureClaims?) {
        if let failure { throw failure }
        let (verifier, declared, isHeadVerified) = (verifier, declared, isHeadVerified)
        let time = isHeadVerified ? startTime : now
        var message = message
        let digests = try digester.finish()
        if let declared, digests.byteCount != declared {
            throw SigningError(
                .bodyCut, "found \(digests.byteCount) bytes of body, expected \(declared)")
        }
        message.setBody(digests)
        message.trailers += trailers
        let (verified, claims) = try verifier.engine.check(message, now: time)
        guard message.content.isEmpty || verifier.engine.provesBody(verified) else {
            throw Self.notCovered
        }
        return (verified, isHeadVerified ? nil : claims)
    }

    private static var notCovered: SigningError {
        SigningError(.notCovered, "the signature doesn't cover the body")
    }
}

extension Verifier {
    /// Starts to verify a message whose body is too large for memory or hasn't arrived.
    ///
    /// Checks the policy and the key and, if the signature covers only the head, the signature. In
    /// that case it also stores the nonce, so that only one stream at a time can use it.
    ///
    /// - Parameters:
    ///   - head: The message without its body.
    ///   - now: The time, in seconds since 1970; nil means now.
    /// - Returns: The stream that takes the body and finishes the verification.
    /// - Throws: `SigningError` with the reason; `body-not-held` for schemes that sign the body
    ///   itself, not a hash of it.
    public func startVerifying(
        _ head: SignableMessage, now: Int64? = nil
    ) throws(SigningError) -> StreamedVerification {
        let now = now ?? UnixTime.now()
        let (message, verified, claims) = try checkHead(head, now: now)
        let stream = try StreamedVerification(
            verifier: self, message: message, head: verified, now: now)
        if let claims { try remember(claims, now: now) }
        return stream
    }

    /// Starts to verify a message whose body is too large for memory or hasn't arrived. Suspends
    /// the task while the nonce store waits.
    ///
    /// - Parameters:
    ///   - head: The message without its body.
    ///   - now: The time, in seconds since 1970; nil means now.
    /// - Returns: The stream that takes the body and finishes the verification.
    /// - Throws: As the other method of this name.
    public func startVerifying(
        _ head: SignableMessage, now: Int64? = nil
    ) async throws(SigningError) -> StreamedVerification {
        let now = now ?? UnixTime.now()
        let (message, verified, claims) = try checkHead(head, now: now)
        let stream = try StreamedVerification(
            verifier: self, message: message, head: verified, now: now)
        if let claims { try await remember(claims, now: now) }
        return stream
    }

    /// Verifies a message whose body is a sequence.
    ///
    /// - Parameters:
    ///   - head: The message without its body.
    ///   - body: The pieces of the body.
    ///   - now: The time at the start, in seconds since 1970; nil means now.
    ///   - atEnd: Returns the time at the end, nil for now, and the trailers.
    ///   - receive: Receives each piece, before it is proved.
    /// - Returns: The values that the signature proves.
    /// - Throws: As `startVerifying(_:now:)` and `StreamedVerification/finish(trailers:now:)`, and
    ///   the errors of `body` and `receive`. If this throws, discard everything you received.
    public func verify<Body: AsyncSequence>(
        _ head: SignableMessage, body: Body, now: Int64? = nil,
        atEnd: () -> (now: Int64?, trailers: [SignableMessage.Field]) = { (nil, []) },
        receive: ([UInt8]) async throws -> Void
    ) async throws -> VerifiedMessage where Body.Element == [UInt8] {
        var stream = try await startVerifying(head, now: now)
        for try await chunk in body {
            try stream.update(chunk)
            try await receive(chunk)
        }
        let last = atEnd()
        return try await stream.finish(trailers: last.trailers, now: last.now)
    }

    /// Checks a head. Returns the proof and the claims if its signature is verified already.
    private func checkHead(
        _ head: SignableMessage, now: Int64
    ) throws(SigningError) -> (SignableMessage, VerifiedMessage?, SignatureClaims?) {
        guard head.content == .bytes([]), head.trailers.isEmpty else {
            throw SigningError(
                .malformedMessage, "found a message with a body or trailers, expected a head")
        }
        var message = head
        message.content = .expected
        let proof = try engine.checkHead(message, now: now)
        return (message, proof?.0, proof?.1)
    }
}
