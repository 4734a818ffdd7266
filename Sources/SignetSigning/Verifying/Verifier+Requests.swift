public import HTTPTypes
import SignetBase

extension Verifier {
    /// Verifies a request as a server received it, for a middleware of a web framework. Suspends
    /// the task while the nonce store waits.
    ///
    /// ```swift
    /// import HTTPTypes
    /// import SignetSigning
    ///
    /// func receive(_ head: HTTPRequest, body: [UInt8], verifier: Verifier) async throws {
    ///     let verified = try await verifier.verify(head, body: body)
    ///     print(verified.keyID, String(decoding: verified.body ?? [], as: UTF8.self))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - request: The head, with the target, fields and authority that the sender chose.
    ///   - body: The whole body, byte for byte.
    ///   - isSecure: Whether the sender used https, also if a proxy in front of the server ended
    ///     TLS. Defaults to `true`.
    ///   - now: The time, in seconds since 1970; nil means now.
    /// - Returns: The values that the signature proves.
    /// - Throws: `SigningError` with the reason, for the log only. Send
    ///   ``SigningError/publicMessage`` to the sender, with status 503 if `isVerifierFailure` is
    ///   true, otherwise 401.
    public func verify(
        _ request: HTTPRequest, body: [UInt8], isSecure: Bool = true, now: Int64? = nil
    ) async throws(SigningError) -> VerifiedMessage {
        var request = request
        request.scheme = isSecure ? "https" : "http"
        return try await verify(SignableMessage(request: request, body: body), now: now)
    }
}
