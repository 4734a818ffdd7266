/// Why a pin, a host name or a policy was refused, or a policy refused a host.
///
/// The message says what was found, what was wanted and where. It never holds user info of a URL.
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
    public let failure: PinFailure?

    /// Makes an error.
    public init(code: Code, message: String, failure: PinFailure? = nil) {
        self.code = code
        self.message = message
        self.failure = failure
    }

    /// The message.
    public var description: String { message }
}
