#if Redis
public import SignetCrypto
public import SignetSigning

/// A store of nonces that many servers share through a Redis.
///
/// ```swift
/// import SignetRedis
/// import SignetSigning
///
/// var options = try RedisNonceStore.Options(url: "rediss://redis.internal/1")
/// options.username = "verifier"
/// let password = try Passphrase(.credential("redis"))
/// let nonces = try RedisNonceStore(options, password: password)
/// try await nonces.check()  // fails at startup, not at the first message
///
/// let keys = try KeySource.file("keys.json").load()
/// let verifier = try Verifier(keys: keys, nonces: nonces)
/// ```
///
/// One atomic command, `SET key 1 NX PX …`, stores each nonce with its expiration. The key is
/// the prefix and 43 bytes of base64url: SHA-256 over key id and nonce, so no text from a
/// message gets into Redis. Redis measures the expiration by its own clock, starting when it
/// receives the command.
///
/// Unless Redis clearly confirms a nonce, the store refuses the message with
/// `nonce-store-unavailable`: if Redis is down, slow, full, loading, a replica or part of a
/// cluster, requires another password, or if the server isn't a Redis. The store never sends a
/// command twice. If a response is lost, Redis may remember the nonce although the message was
/// refused; the sender then has to sign again with another nonce. Every call ends within the
/// sum of `connectTimeout` and `commandTimeout`, even if a name lookup takes longer.
///
/// Redis must not drop keys early (the store checks for `maxmemory-policy noeviction` at each
/// new connection) and must not lose them: see
/// Documentation/threats/verifying.md for restarts and failovers. The
/// Redis user needs `SET`, `PING`, `INFO`, and `SELECT` for a database other than 0.
public final class RedisNonceStore: NonceStore, CustomStringConvertible, CustomReflectable {
    private let prefix: [UInt8]
    private let pool: RedisConnectionPool

    /// Creates a store; it connects at the first nonce or at `check()`.
    ///
    /// - Parameters:
    ///   - options: The address of Redis, and how to connect to it.
    ///   - password: The password for `AUTH`. Without TLS it is sent in the clear.
    /// - Throws: `SigningError` with `invalid-value` if an option is out of range, or if there
    ///   is a user name without a password.
    public init(_ options: Options, password: Passphrase? = nil) throws(SigningError) {
        try options.check()
        guard options.username == nil || password != nil else {
            throw SigningError(.invalidValue, "Redis options: a username requires a password")
        }
        prefix = Array(options.prefix.utf8)
        pool = RedisConnectionPool(options, password: password)
    }

    /// Remembers a key's nonce, or throws if it is already remembered, in one atomic step.
    /// Blocks the thread until Redis responds.
    ///
    /// - Parameters:
    ///   - nonce: 1 to 256 bytes of ASCII.
    ///   - keyID: The key's id. Two keys can use the same nonce.
    ///   - expiration: The last second, since 1970, at which a verifier could accept the
    ///     signature again.
    ///   - now: The time, in seconds since 1970.
    /// - Throws: `SigningError` with `replayed-nonce` if Redis remembers the nonce, or
    ///   `nonce-store-unavailable` if Redis doesn't confirm that it stored the nonce.
    public func remember(
        _ nonce: String, of keyID: String, expiration: Int64, now: Int64
    ) throws(SigningError) {
        try pool.call(try command(for: nonce, of: keyID, until: expiration, now: now))
            .wait().get()
    }

    /// Remembers a key's nonce like the blocking method, but suspends the task until Redis
    /// responds.
    public func remember(
        _ nonce: String, of keyID: String, expiration: Int64, now: Int64
    ) async throws(SigningError) {
        try await pool.call(try command(for: nonce, of: keyID, until: expiration, now: now))
            .outcome().get()
    }

    /// Checks that Redis can be used, for example when a server starts. Blocks the thread.
    ///
    /// - Throws: `SigningError` with `nonce-store-unavailable`, whose message gives the reason.
    public func check() throws(SigningError) { try pool.call(nil).wait().get() }

    /// Checks that Redis can be used, and suspends the task meanwhile.
    public func check() async throws(SigningError) { try await pool.call(nil).outcome().get() }

    private func command(
        for nonce: String, of keyID: String, until expiration: Int64, now: Int64
    ) throws(SigningError) -> [[UInt8]] {
        // Add one second, because a signature is still valid at `expiration`, and ten, because
        // the verifier read its clock earlier.
        let (seconds, overflows) = max(expiration, now).subtractingReportingOverflow(now)
        let lifetime = overflows ? Self.longest : min(seconds, Self.longest) + 11
        return [
            Array("SET".utf8), try key(for: nonce, of: keyID), Array("1".utf8),
            Array("NX".utf8),
            Array("PX".utf8), Array("\(lifetime * 1000)".utf8),
        ]
    }

    /// A thousand years in seconds, which Redis can still add to the current time.
    private static let longest: Int64 = 31_536_000_000

    private func key(for nonce: String, of keyID: String) throws(SigningError) -> [UInt8] {
        let text = Array("signet-nonce 1\n\(keyID.utf8.count):\(keyID)\(nonce)".utf8)
        do throws(CryptoFailure) {
            let digest = try Digest.of(text)
            return prefix + Base64.encodeBytes(digest.span, as: .url)
        } catch {
            throw SigningError(.cryptoFailed, error.description)
        }
    }

    /// A redacted description.
    public var description: String { "RedisNonceStore(redacted)" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
