internal import SignetBase
public import SignetPinning

/// An error of a call that got no response, or only a part of it.
///
/// The message says what was found, what was expected and where. It never contains a field's value,
/// a body or user info, and it escapes the control characters of a server's text.
public struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error.
    ///
    /// New codes may be added, so a `switch` needs a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case name, connect, tls
            case pinMismatch = "pin-mismatch"
            case unlistedHost = "unlisted-host"
            case policyExpired = "policy-expired"
            case cleartextToPinnedHost = "cleartext-to-pinned-host"
            case timeout
            case cutOff = "cut-off"
            case malformedResponse = "malformed-reply"
            case responseTooLarge = "reply-too-large"
            case unsupportedEncoding = "unsupported-encoding"
            case cancelled
            case notRunning = "not-running"
            case unsupportedLibcurl = "unsupported-libcurl"
            case invalidRequest = "invalid-request"
            case bodyLength = "body-length"
            case bodyFailed = "body-failed"
            case bodyChanged = "body-changed"
            case bodyNotReplayable = "body-not-replayable"
            case trustStore = "trust-store"
            case resources
            case redirectRefused = "redirect-refused"
            case redirectLoop = "redirect-loop"
            case tooManyRedirects = "too-many-redirects"
            case proxy
            case proxyRefused = "proxy-refused"
            case proxyAuthentication = "proxy-authentication"
        }

        private let value: Value

        /// The host's name could not be resolved.
        public static let name = Code(value: .name)
        /// The connection failed.
        public static let connect = Code(value: .connect)
        /// TLS failed: the handshake, CA, dates or host name.
        public static let tls = Code(value: .tls)
        /// No certificate of the verified chain has a pinned key.
        public static let pinMismatch = Code(value: .pinMismatch)
        /// The policy doesn't list the host.
        public static let unlistedHost = Code(value: .unlistedHost)
        /// The policy's rule for the host has expired.
        public static let policyExpired = Code(value: .policyExpired)
        /// The URL of a pinned host has the scheme http.
        public static let cleartextToPinnedHost = Code(value: .cleartextToPinnedHost)
        /// The deadline passed.
        public static let timeout = Code(value: .timeout)
        /// The connection ended before the response did.
        public static let cutOff = Code(value: .cutOff)
        /// The response isn't valid HTTP, or it is ambiguous and therefore refused.
        public static let malformedResponse = Code(value: .malformedResponse)
        /// The response's body or header is larger than the limit.
        public static let responseTooLarge = Code(value: .responseTooLarge)
        /// The response's body has an unknown content coding, or more than one.
        public static let unsupportedEncoding = Code(value: .unsupportedEncoding)
        /// The caller's task was cancelled.
        public static let cancelled = Code(value: .cancelled)
        /// The engine has been shut down.
        public static let notRunning = Code(value: .notRunning)
        /// libcurl doesn't use the program's OpenSSL, or is older than 7.87.0.
        public static let unsupportedLibcurl = Code(value: .unsupportedLibcurl)
        /// The request is invalid. Nothing was sent.
        public static let invalidRequest = Code(value: .invalidRequest)
        /// A streamed body is shorter or longer than its length. The request wasn't sent
        /// completely.
        public static let bodyLength = Code(value: .bodyLength)
        /// The source of a streamed body failed. The request wasn't sent completely.
        public static let bodyFailed = Code(value: .bodyFailed)
        /// A file changed while it was sent. The request wasn't sent completely.
        public static let bodyChanged = Code(value: .bodyChanged)
        /// A body that can be read only once would have to be sent again.
        public static let bodyNotReplayable = Code(value: .bodyNotReplayable)
        /// The CA file can't be read, or contains no certificate.
        public static let trustStore = Code(value: .trustStore)
        /// The system provided no memory, thread or socket.
        public static let resources = Code(value: .resources)
        /// The redirect policy refuses a redirect.
        public static let redirectRefused = Code(value: .redirectRefused)
        /// A redirect leads to a URL that the call has requested before.
        public static let redirectLoop = Code(value: .redirectLoop)
        /// There were more redirects than the policy allows.
        public static let tooManyRedirects = Code(value: .tooManyRedirects)
        /// The proxy could not be found, reached or trusted, or didn't respond as a proxy.
        public static let proxy = Code(value: .proxy)
        /// The proxy refused to connect to the host.
        public static let proxyRefused = Code(value: .proxyRefused)
        /// The proxy requires credentials, or rejected those it got.
        public static let proxyAuthentication = Code(value: .proxyAuthentication)

        /// The code's name in kebab-case, as the `signet` tool prints it.
        public var name: String { value.rawValue }

        /// The code's name.
        public var description: String { name }
    }

    /// The kind of the error.
    public let code: Code
    /// A message for people: what was found, what was expected, and where.
    public let message: String

    /// The details of a pin policy's refusal; `nil` for every other error.
    public let pinRefusal: PinRefusal?

    /// Creates an error.
    public init(code: Code, message: String, pinRefusal: PinRefusal? = nil) {
        self.code = code
        self.message = printable(message)
        self.pinRefusal = pinRefusal
    }

    /// The message.
    public var description: String { message }
}

extension TransportError {
    /// Creates an error from a pin policy's refusal.
    package init(_ refusal: PinError) {
        let code: Code =
            switch refusal.code {
            case .unlistedHost: .unlistedHost
            case .policyExpired: .policyExpired
            case .cleartextToPinnedHost: .cleartextToPinnedHost
            case .pinMismatch: .pinMismatch
            default: .invalidRequest
            }
        self.init(code: code, message: refusal.message, pinRefusal: refusal.refusal)
    }
}
