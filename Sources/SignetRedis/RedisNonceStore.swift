#if Redis
    public import SignetCrypto
    public import SignetSigning

    /// Nonces in a Redis that many servers share: each is set unless it is there, with its expiry, in one
    /// atomic command (`SET key 1 NX PX …`).
    ///
    /// A key of Redis's is the prefix and 43 bytes of base64url: SHA-256 over key id and nonce, so that
    /// nothing from a message stands in the key space. The expiry is counted by Redis's own clock, from
    /// when it gets the command.
    ///
    /// Whatever is not a clear answer refuses the message with `nonce-store-unavailable`: Redis is down,
    /// slow, full, a replica, loading, part of a cluster, wants another password, or speaks no Redis. A
    /// command is never sent twice. Where its answer is lost, the nonce may be remembered although the
    /// message was refused: the sender signs anew, with another nonce. A call is over after
    /// `connectTimeout` and `commandTimeout` together at the latest, also where a name is looked up for
    /// longer.
    ///
    /// Redis must not drop keys before their time (`maxmemory-policy noeviction`, asked for at each new
    /// connection), and must not lose them: see SECURITY.md for restarts and failovers. Its user needs
    /// `SET`, `PING`, `INFO`, and `SELECT` for another database than 0.
    public final class RedisNonceStore: NonceStore, CustomStringConvertible, CustomReflectable {
        private let prefix: [UInt8]
        private let crew: RedisCrew

        /// Names the Redis; nothing is sent before the first nonce, or ``check()``.
        ///
        /// - Parameters:
        ///   - options: Where it is and how it is spoken to.
        ///   - password: For `AUTH`; in the clear without TLS.
        /// - Throws: `SigningError` with `invalid-value`.
        public init(_ options: Options, password: Passphrase? = nil) throws(SigningError) {
            try options.check()
            guard options.username == nil || password != nil else {
                throw SigningError(.invalidValue, "a user of Redis's wants a password")
            }
            prefix = Array(options.prefix.utf8)
            crew = RedisCrew(options, password)
        }

        /// Remembers a key's nonce unless it is remembered already, in one step. It blocks the thread
        /// until Redis has answered.
        ///
        /// - Parameters:
        ///   - nonce: 1 to 256 bytes of ASCII.
        ///   - keyID: The key's id.
        ///   - expiration: The last second at which the signature could be taken again.
        ///   - now: The time, in seconds since 1970.
        /// - Throws: `SigningError` with `replayed-nonce` or `nonce-store-unavailable`.
        public func remember(
            _ nonce: String, of keyID: String, expiration: Int64, now: Int64
        ) throws(SigningError) {
            try crew.call(try command(nonce, keyID, expiration, now)).wait().get()
        }

        /// The same, for a task, which is suspended meanwhile.
        public func remember(
            _ nonce: String, of keyID: String, expiration: Int64, now: Int64
        ) async throws(SigningError) {
            try await crew.call(try command(nonce, keyID, expiration, now)).outcome().get()
        }

        /// Asks whether Redis answers as it should, such as when a server starts. It blocks the thread.
        ///
        /// - Throws: `SigningError` with `nonce-store-unavailable`.
        public func check() throws(SigningError) { try crew.call(nil).wait().get() }

        /// The same, for a task.
        public func check() async throws(SigningError) { try await crew.call(nil).outcome().get() }

        private func command(
            _ nonce: String, _ keyID: String, _ expiry: Int64, _ now: Int64
        ) throws(SigningError) -> [[UInt8]] {
            // The second of the expiry itself still counts, and a server may come to ask some seconds
            // after it looked at its clock.
            let (seconds, isTooMuch) = max(expiry, now).subtractingReportingOverflow(now)
            let lifetime = isTooMuch ? Self.longest : min(seconds, Self.longest) + 11
            return [
                Array("SET".utf8), try key(nonce, keyID), Array("1".utf8), Array("NX".utf8),
                Array("PX".utf8), Array("\(lifetime * 1000)".utf8),
            ]
        }

        /// A thousand years; Redis adds it to the time of day.
        private static let longest: Int64 = 31_536_000_000

        private func key(_ nonce: String, _ keyID: String) throws(SigningError) -> [UInt8] {
            let text = Array("signet-nonce 1\n\(keyID.utf8.count):\(keyID)\(nonce)".utf8)
            do throws(CryptoFailure) {
                let digest = try Digest.of(text)
                return prefix + Base64.encodeBytes(digest.span, .url)
            } catch {
                throw SigningError(.cryptoFailed, error.description)
            }
        }

        /// That it is a store, and nothing of it.
        public var description: String { "RedisNonceStore(redacted)" }
        /// Without children.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }
#endif
