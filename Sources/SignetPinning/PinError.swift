internal import SignetCrypto

/// Why a pin, a host name or a policy was refused, or a policy refused a host.
///
/// The message says what was found, what was wanted and where. It never holds user info of a URL, and it never
/// holds a control character: those of a name that somebody else wrote are escaped.
public struct PinError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error.
    ///
    /// More may be added, so a `switch` over it needs a default.
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

        /// The bytes are no pin policy.
        public static let malformedPolicy = Code(value: .malformedPolicy)
        /// The bytes are not of the format that they were read as.
        public static let malformedInput = Code(value: .malformedInput)
        /// Another program's format cannot say what the policy says, and would pin less.
        public static let notExpressible = Code(value: .notExpressible)
        /// The text is no pin: `sha256/` and the canonical base64 of 32 bytes.
        public static let badPin = Code(value: .badPin)
        /// The text is no host, or none that can be brought to one form with certainty.
        public static let badHost = Code(value: .badHost)
        /// The policy does not list the host, and does not say `"unlisted":"allow"`.
        public static let unlistedHost = Code(value: .unlistedHost)
        /// The rule for the host has expired, and does not say `"afterExpiry":"allow"`.
        public static let policyExpired = Code(value: .policyExpired)
        /// A pinned host was to be spoken to without TLS.
        public static let cleartextToPinnedHost = Code(value: .cleartext)
        /// No certificate of the verified chain has a key that the rule wants.
        public static let pinMismatch = Code(value: .mismatch)

        /// The bytes are no signed policy in the form that is taken.
        public static let malformedUpdate = Code(value: .malformedUpdate)
        /// A signature does not hold.
        public static let tampered = Code(value: .tampered)
        /// A signed policy's time is over.
        public static let updateExpired = Code(value: .updateExpired)
        /// A signed policy's time has not come.
        public static let updateNotYetValid = Code(value: .updateNotYetValid)
        /// A signed policy is older than the one in use.
        public static let rolledBack = Code(value: .rolledBack)
        /// The file of the newest signed policy is not as it was written.
        public static let stateTampered = Code(value: .stateTampered)
        /// No key has the id that a signed policy names.
        public static let unknownKey = Code(value: .unknownKey)
        /// The key is revoked.
        public static let keyRevoked = Code(value: .keyRevoked)
        /// The key's time is over.
        public static let keyExpired = Code(value: .keyExpired)
        /// The key's time has not come.
        public static let keyNotYetValid = Code(value: .keyNotYetValid)
        /// The key is bound to another use.
        public static let wrongKeyUse = Code(value: .wrongKeyUse)
        /// A file cannot be read.
        public static let unreadableFile = Code(value: .unreadableFile)
        /// A file cannot be written.
        public static let unwritableFile = Code(value: .unwritableFile)
        /// Another process is changing the file.
        public static let fileBusy = Code(value: .fileBusy)
        /// A pin report was not taken where it was to go.
        public static let reportFailed = Code(value: .reportFailed)
        /// OpenSSL could not do its work.
        public static let cryptography = Code(value: .cryptography)

        /// The code's name in kebab-case, as the tool prints it.
        public var name: String { value.rawValue }

        /// The code's name.
        public var description: String { name }
    }

    /// The kind of the error.
    public let code: Code
    /// Found, wanted and where, for people.
    public let message: String
    /// The same as values, where a policy refused a host.
    public let refusal: PinRefusal?

    /// Makes an error.
    public init(code: Code, message: String, refusal: PinRefusal? = nil) {
        self.code = code
        self.message = printable(message)
        self.refusal = refusal
    }

    /// The message.
    public var description: String { message }
}
