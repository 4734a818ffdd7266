package import SignetBase

/// An error of a pin, a host name or a policy, or a policy's refusal of a host.
///
/// The message says what was found, what was expected and where. It never contains the user info of
/// a URL, and control characters in it are escaped.
public struct PinError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error; more may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case malformedPolicy = "malformed-policy"
            case malformedInput = "malformed-input"
            case notExpressible = "not-expressible"
            case badPin = "bad-pin"
            case badHost = "bad-host"
            case unlistedHost = "unlisted-host"
            case policyExpired = "policy-expired"
            case cleartext = "cleartext-to-pinned-host"
            case mismatch = "pin-mismatch"
            case malformedUpdate = "malformed-update"
            case tampered = "tampered"
            case updateExpired = "update-expired"
            case updateNotYetValid = "update-not-yet-valid"
            case rolledBack = "rolled-back"
            case stateTampered = "state-tampered"
            case unknownKey = "unknown-key"
            case keyRevoked = "key-revoked"
            case keyExpired = "key-expired"
            case keyNotYetValid = "key-not-yet-valid"
            case wrongKeyUse = "wrong-key-use"
            case unreadableFile = "unreadable-file"
            case unwritableFile = "unwritable-file"
            case fileBusy = "file-busy"
            case reportFailed = "report-failed"
            case cryptography = "crypto-failure"
        }

        private let value: Value

        /// The bytes aren't a valid pin policy.
        public static let malformedPolicy = Code(value: .malformedPolicy)
        /// The bytes aren't in the expected format.
        public static let malformedInput = Code(value: .malformedInput)
        /// The other format can't express the policy without pinning less.
        public static let notExpressible = Code(value: .notExpressible)
        /// The text isn't a pin: `sha256/` and the canonical base64 of 32 bytes.
        public static let badPin = Code(value: .badPin)
        /// The text isn't a host, or its canonical form is ambiguous.
        public static let badHost = Code(value: .badHost)
        /// The policy doesn't list the host, and doesn't set `"unlisted":"allow"`.
        public static let unlistedHost = Code(value: .unlistedHost)
        /// The rule for the host has expired, and doesn't set `"afterExpiry":"allow"`.
        public static let policyExpired = Code(value: .policyExpired)
        /// The call to a pinned host doesn't use TLS.
        public static let cleartextToPinnedHost = Code(value: .cleartext)
        /// No certificate of the verified chain has a key that the rule pins.
        public static let pinMismatch = Code(value: .mismatch)

        /// The bytes aren't a valid signed policy.
        public static let malformedUpdate = Code(value: .malformedUpdate)
        /// The signature doesn't verify.
        public static let tampered = Code(value: .tampered)
        /// The signed policy has expired.
        public static let updateExpired = Code(value: .updateExpired)
        /// The signed policy isn't valid yet.
        public static let updateNotYetValid = Code(value: .updateNotYetValid)
        /// The signed policy is older than the one in use.
        public static let rolledBack = Code(value: .rolledBack)
        /// The file of the newest signed policy was changed by something else.
        public static let stateTampered = Code(value: .stateTampered)
        /// No key has the id that the signed policy names.
        public static let unknownKey = Code(value: .unknownKey)
        /// The key is revoked.
        public static let keyRevoked = Code(value: .keyRevoked)
        /// The key has expired.
        public static let keyExpired = Code(value: .keyExpired)
        /// The key isn't valid yet.
        public static let keyNotYetValid = Code(value: .keyNotYetValid)
        /// The key is for another use.
        public static let wrongKeyUse = Code(value: .wrongKeyUse)
        /// A file can't be read.
        public static let unreadableFile = Code(value: .unreadableFile)
        /// A file can't be written.
        public static let unwritableFile = Code(value: .unwritableFile)
        /// Another process is changing the file.
        public static let fileBusy = Code(value: .fileBusy)
        /// A sink didn't accept a pin report.
        public static let reportFailed = Code(value: .reportFailed)
        /// An OpenSSL operation failed.
        public static let cryptography = Code(value: .cryptography)

        /// The code's name in kebab-case, as the tool prints it.
        public var name: String { value.rawValue }

        /// The code's name.
        public var description: String { name }
    }

    /// The kind of the error.
    public let code: Code
    /// One line for people to read.
    public let message: String
    /// The values of the message, if a policy refused a host.
    public let refusal: PinRefusal?

    /// Creates an error, and escapes the control characters of its message.
    public init(code: Code, message: String, refusal: PinRefusal? = nil) {
        self.code = code
        self.message = printable(message)
        self.refusal = refusal
    }

    /// Creates the error for an invalid host.
    package init(_ error: HostError) {
        self.init(code: .badHost, message: error.message)
    }

    /// The message.
    public var description: String { message }
}
