internal import SignetCrypto

/// Signs messages with one key: a scheme, a key and a list of covered components, compiled once.
///
/// A signer is shared between threads; signing takes no lock.
public struct MessageSigner: Sendable {
    /// What is decided once for all messages of a signer.
    public struct Options: Sendable, Hashable {
        /// What is covered; nil for the scheme's own choice.
        ///
        /// For `rfc9421` that is `@method`, `@authority`, `@path`, also `@query` where the target has
        /// one and `content-digest` where there is a body; for a response `@status` and, with a
        /// body, `content-digest`. `salted-hmac-v1` always covers method, authority, path, query and
        /// body; the list names the fields it covers too, none of its own accord.
        public var covers: [ComponentIdentifier]?
        /// The signature's label (`rfc9421`), `sig1` without one.
        public var label: String?
        /// What the signature is for (`rfc9421`, parameter `tag`).
        public var tag: String?
        /// Seconds from `created` to `expires` (`rfc9421`); nil writes no `expires`.
        public var lifetime: Int64?
        /// Whether each signature gets a random nonce where the caller gives none.
        /// `salted-hmac-v1` always has one.
        public var addsNonce = false

        /// Options that leave everything to the scheme.
        public init() {}
    }

    /// A signature and what it was made of.
    public struct Result: Sendable, Hashable {
        /// Exactly the bytes that were signed.
        public let base: [UInt8]
        /// The fields that were added to the message, in their order.
        public let addedFields: [SignableMessage.Field]
    }

    private enum Engine: Sendable {
        case rfc9421(RFC9421Signer)
        case saltedHMAC(SaltedHMACSigner)
    }

    /// The scheme that signs.
    public let scheme: SigningScheme
    private let key: Key
    private let engine: Engine
    private let addsNonce: Bool

    /// Compiles a signer.
    ///
    /// - Throws: `SigningError`: for the key `wrong-key-use` or `algorithm-mismatch`; for the options
    ///   `duplicate-component`, `unsupported-component`, `unsupported-option` or `invalid-value`.
    public init(
        scheme: SigningScheme, key: Key, options: Options = Options()
    ) throws(SigningError) {
        self.scheme = scheme
        self.key = key
        switch scheme.kind {
        case .rfc9421:
            self.engine = .rfc9421(try RFC9421Signer(key: key, options: options))
            self.addsNonce = options.addsNonce
        case .saltedHMAC:
            self.engine = .saltedHMAC(try SaltedHMACSigner(key: key, options: options))
            self.addsNonce = true
        }
    }

    /// Signs a message: adds the fields of the signature and, where it is covered and absent, a
    /// Content-Digest. A message that is refused stays as it was.
    ///
    /// - Parameters:
    ///   - message: The message in its final form; whatever changes later breaks the signature.
    ///   - now: The time that the signature bears, in seconds since 1970.
    ///   - expires: When it ends, in seconds since 1970; nil for the options' lifetime.
    ///   - nonce: What makes it unlike all others; nil for a random one where one is due.
    /// - Returns: What was signed, and the fields that were added.
    /// - Throws: `SigningError`: `missing-component`, `non-ascii-value`, `digest-mismatch`,
    ///   `malformed-message`, `duplicate-label`, `invalid-time`, `invalid-value` and the codes of a
    ///   key that cannot be used at that time.
    public func sign(
        _ message: inout SignableMessage, now: Int64, expires: Int64? = nil, nonce: String? = nil
    ) throws(SigningError) -> Result {
        try sign(&message, now: now, expires: expires, nonce: nonce, salt: nil)
    }

    /// Signs with a salt that the caller chose, which only a test may do.
    package func sign(
        _ message: inout SignableMessage, now: Int64, expires: Int64? = nil, nonce: String?,
        salt: [UInt8]?
    ) throws(SigningError) -> Result {
        guard (0...SigningTime.latest).contains(now) else { throw SigningTime.outOfRange }
        try key.requireUsableForSigning(at: now)
        var nonce = nonce
        if nonce == nil, addsNonce { nonce = try Self.randomNonce() }
        if let nonce { try SigningText.require(nonce, "the nonce") }
        switch engine {
        case .rfc9421(let signer):
            return try signer.sign(&message, created: now, expires: expires, nonce: nonce)
        case .saltedHMAC(let signer):
            guard expires == nil else {
                throw SigningError(.unsupportedOption, "salted-hmac-v1 has no expiry")
            }
            return try signer.sign(&message, created: now, nonce: nonce ?? "", salt: salt)
        }
    }

    private static func randomNonce() throws(SigningError) -> String {
        do throws(CryptoFailure) {
            return Base64.encode(try RandomBytes.bytes(16), .url)
        } catch {
            throw SigningError(error)
        }
    }
}

/// Times that a structured field's integer can hold.
enum SigningTime {
    static let latest: Int64 = 999_999_999_999_999

    static var outOfRange: SigningError {
        SigningError(.invalidTime, "a time lies before 1970 or has more than 15 digits")
    }
}

/// Texts that travel as strings of RFC 9651.
enum SigningText {
    /// Demands printable ASCII, at most 256 bytes and at least one.
    static func require(_ text: String, _ what: String) throws(SigningError) {
        guard (1...256).contains(text.utf8.count), text.isPrintableASCII else {
            throw SigningError(
                .invalidValue, "\(what) must have 1 to 256 printable characters of ASCII")
        }
    }
}
