public import SignetBase

/// An error of a pin, a host name or a policy. A policy's refusal of a host is a `PinRefusal`.
///
/// The message says what was found, what was expected and where. It never contains the user info of
/// a URL, and control characters in it are escaped.
public struct PinError: SignetError, Sendable, Hashable, CustomStringConvertible {
    /// The type of `code`.
    public typealias Code = SignetErrorCode

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

extension SignetErrorCode {
    /// The bytes aren't a valid pin policy.
    public static let malformedPolicy = usage("malformed-policy", kind: .malformed)
    /// The other format can't express the policy without pinning less.
    public static let notExpressible = usage("not-expressible")
    /// The text isn't a pin: `sha256/` and the canonical base64 of 32 bytes.
    public static let badPin = usage("bad-pin")
    /// The bytes aren't a valid signed policy.
    public static let malformedUpdate = usage("malformed-update", kind: .malformed)
    /// The signed policy has expired.
    public static let updateExpired = checkFailed("update-expired", kind: .malformed)
    /// The signed policy isn't valid yet.
    public static let updateNotYetValid = checkFailed("update-not-yet-valid", kind: .malformed)
    /// A sink didn't accept a pin report.
    public static let reportFailed = usage("report-failed")
}
