/// A message whose body is still to come, piece by piece, and whose verdict comes with its end.
///
/// Made by `Verifier/startVerifying(_:now:)`. Only `finish(trailers:now:)` yields a
/// ``VerifiedMessage``, and it does so once: for a body that is whole and fits. Until then nothing that
/// was read is proved; a program keeps it apart, such as in a temporary file, and throws it away where
/// the end does not come or is an error.
public struct StreamedVerification: ~Copyable, Sendable {
    /// Whether the head's own signature holds already. It does for `rfc9421` where the signature stands
    /// in the head and covers no trailers. Other schemes sign over the body's hash itself, and a
    /// signature in the trailers follows the body: of these only the policy was checked, as far as the
    /// head tells, and a server that takes no large body from strangers ends here.
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
        var algorithms = DigestField.allCases.reduce(into: Set<BodyDigest>()) { found, field in
            found.formUnion(field.algorithms(in: message.fields))
        }
        // Nobody knows yet what the trailers, or the key that they name, will ask for.
        if head == nil || algorithms.isEmpty { algorithms = Set(BodyDigest.allCases) }
        let declared = try message.declaredLength
        self.digester = try BodyDigester(algorithms)
        self.declared = declared
        self.verifier = verifier
        self.message = message
        self.startTime = now
        self.isHeadVerified = head != nil
        self.isBodyCovered = head.map(verifier.provesBody) ?? true
    }

    /// Takes the next bytes of the body, as they arrived.
    ///
    /// - Throws: `SigningError` with `not-covered` for the first byte of a body that the signature does
    ///   not cover, with `body-cut` for more than Content-Length says, and with `crypto-failed`. Then the
    ///   end throws it too.
    public mutating func update(_ chunk: Span<UInt8>) throws(SigningError) {
        if let failure { throw failure }
        do throws(SigningError) {
            guard !chunk.isEmpty else { return }
            guard isBodyCovered else { throw Self.notCovered }
            try digester.update(chunk)
            if let declared, digester.byteCount > declared {
                throw SigningError(
                    .bodyCut, "the body goes on behind the \(declared) bytes that were declared")
            }
        } catch {
            failure = error
            throw error
        }
    }

    /// Takes the next bytes of the body, as they arrived.
    ///
    /// - Throws: As the other method of the name.
    public mutating func update(_ chunk: [UInt8]) throws(SigningError) {
        try update(chunk.span)
    }

    /// Gives the verdict, behind the body's last byte. Where the nonce store waits, so does the thread.
    ///
    /// - Parameters:
    ///   - trailers: Those that arrived, in their order.
    ///   - now: The time at the end, in seconds since 1970. It counts where the head was not verified
    ///     before: then the whole way must fit into the policy's window, or a nonce could have been
    ///     forgotten meanwhile.
    /// - Returns: What the signature proves, the body by its digest among it.
    /// - Throws: `SigningError` as `Verifier/verify(_:now:)`, and with `body-cut` for fewer bytes
    ///   than Content-Length says.
    public consuming func finish(
        trailers: [SignableMessage.Field] = [], now: Int64
    ) throws(SigningError) -> VerifiedMessage {
        let (verifier, isHeadVerified, startTime) = (verifier, isHeadVerified, startTime)
        let message = try whole(trailers)
        guard isHeadVerified else { return try verifier.verifyStreamed(message, now: now) }
        return try verifier.verdict(message, now: startTime).0
    }

    /// Gives the verdict in a task, which is suspended while the nonce store waits.
    ///
    /// - Parameters:
    ///   - trailers: Those that arrived, in their order.
    ///   - now: The time at the end, in seconds since 1970.
    /// - Returns: What the signature proves.
    /// - Throws: As the other method of the name.
    public consuming func finish(
        trailers: [SignableMessage.Field] = [], now: Int64
    ) async throws(SigningError) -> VerifiedMessage {
        let (verifier, isHeadVerified, startTime) = (verifier, isHeadVerified, startTime)
        let message = try whole(trailers)
        guard isHeadVerified else { return try await verifier.verifyStreamed(message, now: now) }
        return try verifier.verdict(message, now: startTime).0
    }

    private consuming func whole(
        _ trailers: [SignableMessage.Field]
    ) throws(SigningError) -> SignableMessage {
        if let failure { throw failure }
        let declared = declared
        var message = message
        let digests = try digester.finish()
        if let declared, digests.byteCount != declared {
            throw SigningError(
                .bodyCut, "the body ended after \(digests.byteCount) of \(declared) bytes")
        }
        message.setBody(digests)
        message.trailers += trailers
        return message
    }

    fileprivate static var notCovered: SigningError {
        SigningError(.notCovered, "the body is not covered, so that nothing of it can be proved")
    }
}

extension Verifier {
    /// Begins to verify a message whose body does not fit in memory, or is still to come.
    ///
    /// Policy and key are checked at once and, where the head is all that is signed, the signature too;
    /// then the nonce is remembered here, so that one stream at a time can use it.
    ///
    /// - Parameters:
    ///   - head: The message without its body.
    ///   - now: The time, in seconds since 1970.
    /// - Returns: What takes the body and gives the verdict.
    /// - Throws: `SigningError` with the reason; `body-not-held` for schemes that sign the body itself
    ///   and not a hash of it.
    public func startVerifying(
        _ head: SignableMessage, now: Int64
    ) throws(SigningError) -> StreamedVerification {
        let (message, verified, claims) = try checkHead(head, now: now)
        let stream = try StreamedVerification(
            verifier: self, message: message, head: verified, now: now)
        if let claims { try remember(claims, now: now) }
        return stream
    }

    /// Begins in a task, which is suspended while the nonce store waits.
    ///
    /// - Parameters:
    ///   - head: The message without its body.
    ///   - now: The time, in seconds since 1970.
    /// - Returns: What takes the body and gives the verdict.
    /// - Throws: As the other method of the name.
    public func startVerifying(
        _ head: SignableMessage, now: Int64
    ) async throws(SigningError) -> StreamedVerification {
        let (message, verified, claims) = try checkHead(head, now: now)
        let stream = try StreamedVerification(
            verifier: self, message: message, head: verified, now: now)
        if let claims { try await remember(claims, now: now) }
        return stream
    }

    /// Verifies a message whose body a sequence yields.
    ///
    /// - Parameters:
    ///   - head: The message without its body.
    ///   - body: The body's pieces; an error of it is passed on, and there is no verdict.
    ///   - now: The time at the beginning, in seconds since 1970.
    ///   - atEnd: Tells the time at the end, and the trailers.
    ///   - receive: Gets each piece, which is not proved yet.
    /// - Returns: What the signature proves. Without it, what was received is nobody's.
    /// - Throws: As `startVerifying(_:now:)` and `StreamedVerification/finish(trailers:now:)`, and
    ///   what `body` and `receive` throw.
    public func verify<Body: AsyncSequence>(
        _ head: SignableMessage, body: Body, now: Int64,
        atEnd: () -> (now: Int64, trailers: [SignableMessage.Field]),
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

    /// Checks a head; with the proof and the claims where its signature holds already.
    private func checkHead(
        _ head: SignableMessage, now: Int64
    ) throws(SigningError) -> (SignableMessage, VerifiedMessage?, SignatureClaims?) {
        guard head.content == .bytes([]), head.trailers.isEmpty else {
            throw SigningError(.malformedMessage, "the message holds a body or trailers already")
        }
        var message = head
        message.content = .expected
        switch scheme.kind {
        case .rfc9421:
            guard try signsHeadRFC9421(message) else { break }
            let (verified, claims) = try check(message, now: now)
            return (message, verified, claims)
        case .saltedHMAC: _ = try checkSaltedHMACHead(message, now: now)
        case .document(let plan): try admitScheme(plan, head: message, now: now)
        }
        return (message, nil, nil)
    }

    /// Everything but the nonce's one use, of a message whose body was digested on its way.
    fileprivate func verdict(
        _ message: SignableMessage, now: Int64
    ) throws(SigningError) -> (VerifiedMessage, SignatureClaims) {
        let (verified, claims) = try check(message, now: now)
        guard message.content.isEmpty || provesBody(verified) else {
            throw StreamedVerification.notCovered
        }
        return (verified, claims)
    }

    fileprivate func verifyStreamed(
        _ message: SignableMessage, now: Int64
    ) throws(SigningError) -> VerifiedMessage {
        let (verified, claims) = try verdict(message, now: now)
        try remember(claims, now: now)
        return verified
    }

    fileprivate func verifyStreamed(
        _ message: SignableMessage, now: Int64
    ) async throws(SigningError) -> VerifiedMessage {
        let (verified, claims) = try verdict(message, now: now)
        try await remember(claims, now: now)
        return verified
    }

    /// Whether a proof covers the message's own body, by a digest that was recomputed.
    fileprivate func provesBody(_ verified: VerifiedMessage) -> Bool {
        guard case .rfc9421 = scheme.kind else {
            return verified["body-digest"] != nil || verified["body"] != nil
        }
        let components = verified.names.flatMap {
            (try? ComponentIdentifier.list(parsing: $0)) ?? []
        }
        return components.compactMap(CoveragePlan.Digest.init).contains { digest in
            !digest.isOfRequest && (digest.field == .content || policy.checksRepresentation)
        }
    }
}

extension SignableMessage {
    /// The body's length as Content-Length has it; nil without one, and where it tells of a body that
    /// does not follow (RFC 9110, section 8.6).
    ///
    /// - Throws: `SigningError` with `malformed-message` for what is no number, or several.
    fileprivate var declaredLength: Int64? {
        get throws(SigningError) {
            if let response,
                response.status == 304 || relatedRequest?.request?.method == "HEAD"
            {
                return nil
            }
            let values = values(of: Array("content-length".utf8))
            guard let value = values.first else { return nil }
            guard values.count == 1, (1...18).contains(value.count),
                value.allSatisfy(\.isDigit)
            else {
                throw SigningError(
                    .malformedMessage, "Content-Length is no number of at most 18 digits")
            }
            return value.reduce(0) { $0 * 10 + Int64($1 - ASCII.zero) }
        }
    }
}
