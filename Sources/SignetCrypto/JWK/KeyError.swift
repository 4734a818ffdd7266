/// A key or a set of keys that cannot be used.
public struct KeyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of failure it is; more kinds may come.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case malformedKeys = "malformed-keys"
            case keyFilePermissions = "key-file-permissions"
            case unreadable = "unreadable-keys"
            case unwritable = "unwritable-keys"
            case unknownKey = "unknown-key"
            case keyRevoked = "key-revoked"
            case keyExpired = "key-expired"
            case keyNotYetValid = "key-not-yet-valid"
            case wrongUse = "wrong-key-use"
            case keyExists = "key-exists"
            case fileExists = "file-exists"
            case fileBusy = "file-busy"
            case invalidID = "invalid-key-id"
            case noTerminal = "no-terminal"
            case cryptography = "crypto-failure"
        }
        private let value: Value

        /// The set is not a JWK Set as this package takes it; nothing of it is used.
        public static let malformedKeys = Code(value: .malformedKeys)
        /// Others than its owner have rights on the key file.
        public static let keyFilePermissions = Code(value: .keyFilePermissions)
        /// The source of the keys could not be read.
        public static let unreadable = Code(value: .unreadable)
        /// The key file could not be written.
        public static let unwritable = Code(value: .unwritable)
        /// No key of the set has the id.
        public static let unknownKey = Code(value: .unknownKey)
        /// The key is marked as revoked.
        public static let keyRevoked = Code(value: .keyRevoked)
        /// The time is at or behind the key's `exp`.
        public static let keyExpired = Code(value: .keyExpired)
        /// The time is before the key's `nbf`.
        public static let keyNotYetValid = Code(value: .keyNotYetValid)
        /// The key is bound to another use or algorithm.
        public static let wrongUse = Code(value: .wrongUse)
        /// The set has a key of the id already.
        public static let keyExists = Code(value: .keyExists)
        /// A file stands where a new one was to be made.
        public static let fileExists = Code(value: .fileExists)
        /// Another process is changing the file and did not end in time.
        public static let fileBusy = Code(value: .fileBusy)
        /// The id is empty or holds control characters.
        public static let invalidID = Code(value: .invalidID)
        /// A passphrase was to be asked for, and there is no terminal.
        public static let noTerminal = Code(value: .noTerminal)
        /// OpenSSL could not do its work.
        public static let cryptography = Code(value: .cryptography)

        /// The code in kebab-case, as scripts read it.
        public var name: String { value.rawValue }

        /// The same as `name`.
        public var description: String { name }
    }

    /// The kind of failure.
    public let code: Code
    /// What was found, what was wanted, and where; never a byte of a key.
    public let message: String

    /// Makes an error.
    public init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
