package import SignetBase

/// A key or a key set cannot be used.
///
/// Scripts and programs decide by ``code``; ``message`` is for people.
///
/// ```swift
/// do {
///     let keys = try KeySource.file("keys.json").load()
///     try keys.key(id: "orders-2026").requireUsable(at: 1_790_000_000)
/// } catch {
///     switch error.code {
///     case .keyExpired, .keyRevoked: print("Ask the partner for a new key: \(error.message)")
///     // It contains a fix if there is one, such as `chmod 600 keys.json`.
///     default: print(error.message)
///     }
/// }
/// ```
public struct KeyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of a failure. Later versions may add more.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        package let value: ErrorCode

        private init(_ value: ErrorCode) { self.value = value }

        /// The name that scripts rely on, in kebab-case.
        public var name: String { value.name }

        /// The name.
        public var description: String { name }

        /// The input isn't a JWK Set that this package accepts. None of its keys is used.
        public static let malformedKeys = Code(.malformedKeys)
        /// The key file belongs to another user, or others than its owner have access to it.
        public static let keyFilePermissions = Code(.keyFilePermissions)
        /// The source of the keys cannot be read.
        public static let unreadable = Code(.usage("unreadable-keys"))
        /// The key file cannot be written.
        public static let unwritable = Code(.usage("unwritable-keys"))
        /// The set has no key with the id.
        public static let unknownKey = Code(.unknownKey)
        /// The key is marked as revoked.
        public static let keyRevoked = Code(.keyRevoked)
        /// The time is equal to or after the key's `exp`.
        public static let keyExpired = Code(.keyExpired)
        /// The time is before the key's `nbf`.
        public static let keyNotYetValid = Code(.keyNotYetValid)
        /// The key is bound to another use or algorithm.
        public static let wrongKeyUse = Code(.wrongKeyUse)
        /// The set already has a key with the id.
        public static let keyExists = Code(.usage("key-exists"))
        /// The file to create already exists.
        public static let fileExists = Code(.usage("file-exists"))
        /// Another process kept the file locked for too long.
        public static let fileBusy = Code(.fileBusy)
        /// The id is empty or contains control characters.
        public static let invalidID = Code(.usage("invalid-key-id"))
        /// The identity isn't one of the recipients of a shared key set.
        public static let notARecipient = Code(.checkFailed("not-a-recipient"))
        /// No identity was given that opens a shared key set.
        public static let missingIdentity = Code(.usage("missing-identity"))
        /// A shared key set was changed, or is sealed in another way than its header says.
        public static let tampered = Code(.tampered)
        /// A shared key set of a project has a root that the user doesn't trust.
        public static let unknownRoot = Code(.checkFailed("unknown-root"))
        /// There is no terminal on which to ask for a passphrase.
        public static let noTerminal = Code(.usage("no-terminal"))
        /// OpenSSL failed.
        public static let cryptoFailed = Code(.cryptoFailed)
    }

    /// The kind of the failure.
    public let code: Code
    /// The found value, the expected one and the place; never a byte of a key.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    init(_ failure: CryptoFailure) {
        self.init(.cryptoFailed, failure.message)
    }

    /// The message.
    public var description: String { message }
}
