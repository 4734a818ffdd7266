package import SignetBase

/// An error of a pin, a host name or a policy. A policy's refusal of a host is a `PinRefusal`.
///
/// The message says what was found, what was expected and where. It never contains the user info of
/// a URL, and control characters in it are escaped.
public struct PinError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error; more may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        package let value: ErrorCode

        private init(_ value: ErrorCode) { self.value = value }

        /// The bytes aren't a valid pin policy.
        public static let malformedPolicy = Code(.usage("malformed-policy", kind: .malformed))
        /// The bytes aren't in the expected format.
        public static let malformedInput = Code(.malformedInput)
        /// The other format can't express the policy without pinning less.
        public static let notExpressible = Code(.usage("not-expressible"))
        /// The text isn't a pin: `sha256/` and the canonical base64 of 32 bytes.
        public static let badPin = Code(.usage("bad-pin"))
        /// The text isn't a host, or its canonical form is ambiguous.
        public static let badHost = Code(.badHost)

        /// The bytes aren't a valid signed policy.
        public static let malformedUpdate = Code(.usage("malformed-update", kind: .malformed))
        /// The signature doesn't verify.
        public static let tampered = Code(.tampered)
        /// The signed policy is for another app, or for programs that name none.
        public static let wrongApp = Code(.wrongApp)
        /// The signed policy has expired.
        public static let updateExpired = Code(.checkFailed("update-expired", kind: .malformed))
        /// The signed policy isn't valid yet.
        public static let updateNotYetValid = Code(
            .checkFailed("update-not-yet-valid", kind: .malformed))
        /// The signed policy is older than the one in use.
        public static let rolledBack = Code(.rolledBack)
        /// The file of a ``PinUpdateStore`` isn't a document that the store could have written.
        public static let stateTampered = Code(.stateTampered)
        /// No key has the id that the signed policy names.
        public static let unknownKey = Code(.unknownKey)
        /// The key is revoked.
        public static let keyRevoked = Code(.keyRevoked)
        /// The key has expired.
        public static let keyExpired = Code(.keyExpired)
        /// The key isn't valid yet.
        public static let keyNotYetValid = Code(.keyNotYetValid)
        /// The key is for another use.
        public static let wrongKeyUse = Code(.wrongKeyUse)
        /// A file can't be read.
        public static let unreadableFile = Code(.unreadableFile)
        /// A file can't be written.
        public static let unwritableFile = Code(.unwritableFile)
        /// Another process is changing the file.
        public static let fileBusy = Code(.fileBusy)
        /// A sink didn't accept a pin report.
        public static let reportFailed = Code(.usage("report-failed"))
        /// An OpenSSL operation failed.
        public static let cryptoFailed = Code(.cryptoFailed)

        /// The code's name in kebab-case, as the tool prints it.
        public var name: String { value.name }

        /// The code's name.
        public var description: String { name }
    }

    /// The kind of the error.
    public let code: Code
    /// One line for people to read.
    public let message: String

    /// Creates an error, and escapes the control characters of its message.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = printable(message)
    }

    /// Creates the error for an invalid host.
    package init(_ error: HostError) { self.init(.badHost, error.message) }

    /// The message.
    public var description: String { message }
}
