internal import SignetBase
internal import SignetCrypto
internal import SignetJSON

/// What went wrong with a schema, a configuration's input or a sealed dump.
///
/// The message names the key, the input, the file or the versions, and what was wanted; it never
/// repeats a value of the configuration, a key or a part of the plaintext.
public struct VaultError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error. More may be added, so a `switch` over it needs a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case malformedSchema = "malformed-schema"
            case unknownConfigKey = "unknown-config-key"
            case wrongType = "wrong-type"
            case outOfRange = "out-of-range"
            case patternMismatch = "pattern-mismatch"
            case notInList = "not-in-list"
            case sourceNotAllowed = "source-not-allowed"
            case publicValueLooksSecret = "public-value-looks-secret"
            case missingValue = "missing-value"
            case notPublic = "not-public"
            case wrongKey = "wrong-key"
            case tampered
            case newerVersion = "newer-version"
            case olderVersion = "older-version"
            case otherVersion = "other-version"
            case wrongApp = "wrong-app"
            case wrongSystem = "wrong-system"
            case unknownKey = "unknown-key"
            case keyRevoked = "key-revoked"
            case keyExpired = "key-expired"
            case keyNotYetValid = "key-not-yet-valid"
            case malformedDump = "malformed-dump"
            case wrongKeyUse = "wrong-key-use"
            case malformedKeys = "malformed-keys"
            case keyFilePermissions = "key-file-permissions"
            case weakPassphrase = "weak-passphrase"
            case rolledBack = "rolled-back"
            case stateTampered = "state-tampered"
            case locksOutOthers = "locks-out-others"
            case malformedInput = "malformed-input"
            case unreadableFile = "unreadable-file"
            case unwritableFile = "unwritable-file"
            case fileBusy = "file-busy"
            case cryptoFailure = "crypto-failure"
        }

        private let value: Value

        /// The schema is not of the schema's form, or contradicts itself.
        public static let malformedSchema = Code(value: .malformedSchema)
        /// An input names a key that the schema does not.
        public static let unknownConfigKey = Code(value: .unknownConfigKey)
        /// A value is of another type than the schema says.
        public static let wrongType = Code(value: .wrongType)
        /// A value is below the minimum, above the maximum, or beyond what the type can hold.
        public static let outOfRange = Code(value: .outOfRange)
        /// A text as a whole does not match the schema's pattern.
        public static let patternMismatch = Code(value: .patternMismatch)
        /// A value is none of those that the schema lists.
        public static let notInList = Code(value: .notInList)
        /// An input gives a key that the schema does not let it set.
        public static let sourceNotAllowed = Code(value: .sourceNotAllowed)
        /// A value that would be public looks like a key, a token or a password.
        public static let publicValueLooksSecret = Code(value: .publicValueLooksSecret)
        /// A key that the program needs has no value in any input.
        public static let missingValue = Code(value: .missingValue)
        /// A key that the program would read publicly is secret by the schema.
        public static let notPublic = Code(value: .notPublic)
        /// The commitment does not fit: another key, or a dump of other versions under this name.
        public static let wrongKey = Code(value: .wrongKey)
        /// The dump was changed after sealing, or its inside disagrees with its outside.
        public static let tampered = Code(value: .tampered)
        /// The dump is of a newer version than the one running.
        public static let newerVersion = Code(value: .newerVersion)
        /// The dump is of an older version that is not on the list of accepted ones.
        public static let olderVersion = Code(value: .olderVersion)
        /// The dump is of a version that has no order with the one running.
        public static let otherVersion = Code(value: .otherVersion)
        /// The dump is another app's.
        public static let wrongApp = Code(value: .wrongApp)
        /// The dump is another network system's.
        public static let wrongSystem = Code(value: .wrongSystem)
        /// No key of the set has the id that is asked for.
        public static let unknownKey = Code(value: .unknownKey)
        /// The key is marked as revoked.
        public static let keyRevoked = Code(value: .keyRevoked)
        /// The key's last second has passed.
        public static let keyExpired = Code(value: .keyExpired)
        /// The key's first second is yet to come.
        public static let keyNotYetValid = Code(value: .keyNotYetValid)
        /// The bytes are no sealed dump.
        public static let malformedDump = Code(value: .malformedDump)
        /// The key is bound to another use than a vault's root.
        public static let wrongKeyUse = Code(value: .wrongKeyUse)
        /// The key set is malformed, or its key's id cannot stand in a dump.
        public static let malformedKeys = Code(value: .malformedKeys)
        /// Others than the owner may read the key file.
        public static let keyFilePermissions = Code(value: .keyFilePermissions)
        /// A passphrase is too short to seal with.
        public static let weakPassphrase = Code(value: .weakPassphrase)
        /// The dump's sequence is lower than one that was seen before.
        public static let rolledBack = Code(value: .rolledBack)
        /// The state file was changed, cut short, or is of another root.
        public static let stateTampered = Code(value: .stateTampered)
        /// A root cannot go while other dumps are under it.
        public static let locksOutOthers = Code(value: .locksOutOthers)
        /// An input is not a flat JSON object, or a name or version is not usable.
        public static let malformedInput = Code(value: .malformedInput)
        /// A file cannot be read.
        public static let unreadableFile = Code(value: .unreadableFile)
        /// A file cannot be written.
        public static let unwritableFile = Code(value: .unwritableFile)
        /// Another process is changing the file and did not end in time.
        public static let fileBusy = Code(value: .fileBusy)
        /// OpenSSL refused an operation that has no reason to fail.
        public static let cryptoFailure = Code(value: .cryptoFailure)

        /// The code's name in kebab-case, as the tool prints it.
        public var name: String { value.rawValue }

        /// The code's name.
        public var description: String { name }

        /// Whether the dump asked about says no, which is exit 1; anything else is exit 2.
        package var isRefusal: Bool {
            switch value {
            case .wrongKey, .tampered, .newerVersion, .olderVersion, .otherVersion, .wrongApp,
                .wrongSystem, .unknownKey, .wrongKeyUse, .keyRevoked, .keyExpired, .keyNotYetValid,
                .rolledBack, .stateTampered:
                true
            default: false
            }
        }
    }

    /// The kind of the error.
    public let code: Code
    /// Found, wanted and where, for people; never a value, a key or plaintext.
    public let message: String

    /// Makes an error; `message` must not hold a value of the configuration or a key.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

extension VaultError {
    /// An input names a key that the schema does not have. A name that looks like a secret is one
    /// that was put in the wrong place, and is not repeated.
    static func unknown(_ name: String, in place: String) -> VaultError {
        let isSecret = SecretDetector.finding(in: .string(name)) != nil
        let shown = isSecret ? "a name that looks like a secret" : quoted(name)
        return VaultError(.unknownConfigKey, "\(shown) in \(place): not in the schema")
    }

    /// The same error with the file it was found in before its message; nil or `-` is standard input.
    func naming(_ file: String?) -> VaultError {
        let shown = file.flatMap { $0 == "-" ? nil : $0 } ?? "standard input"
        return VaultError(code, "\(printable(shown)): \(message)")
    }
}
