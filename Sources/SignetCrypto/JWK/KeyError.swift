public import SignetBase

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
public struct KeyError: SignetError, Sendable, Hashable, CustomStringConvertible {
    /// The type of `code`.
    public typealias Code = SignetErrorCode

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

extension SignetErrorCode {
    /// The source of the keys cannot be read.
    public static let unreadableKeys = usage("unreadable-keys")
    /// The key file cannot be written.
    public static let unwritableKeys = usage("unwritable-keys")
    /// The set already has a key with the id.
    public static let keyExists = usage("key-exists")
    /// The file to create already exists.
    public static let fileExists = usage("file-exists")
    /// The id is empty or contains control characters.
    public static let invalidKeyID = usage("invalid-key-id")
    /// The identity isn't one of the recipients of a shared key set.
    public static let notARecipient = checkFailed("not-a-recipient")
    /// No identity was given that opens a shared key set.
    public static let missingIdentity = usage("missing-identity")
    /// A shared key set of a project has a root that the user doesn't trust.
    public static let unknownRoot = checkFailed("unknown-root")
    /// There is no terminal on which to ask for a passphrase.
    public static let noTerminal = usage("no-terminal")
}
