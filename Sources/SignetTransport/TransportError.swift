internal import SignetCrypto
public import SignetPinning

/// Why a call has no reply, or its reply no end.
///
/// The message says what was found, what was wanted and where. It never holds a field's value, a body
/// or user info, and control characters of what a server wrote are escaped in it.
public struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error.
    ///
    /// More may be added, so a `switch` over it needs a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case name, connect, tls
            case pinMismatch = "pin-mismatch"
            case unlistedHost = "unlisted-host"
            case policyExpired = "policy-expired"
            case cleartextToPinnedHost = "cleartext-to-pinned-host"
            case timeout
            case cutOff = "cut-off"
            case malformedReply = "malformed-reply"
            case replyTooLarge = "reply-too-large"
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

        /// The host's name was not resolved.
        public static let name = Code(value: .name)
        /// No connection was made.
        public static let connect = Code(value: .connect)
        /// TLS failed: the handshake, CA, dates or host name.
        public static let tls = Code(value: .tls)
        /// No certificate of the verified chain has a key that the policy wants.
        public static let pinMismatch = Code(value: .pinMismatch)
        /// The policy does not list the host.
        public static let unlistedHost = Code(value: .unlistedHost)
        /// The policy's rule for the host has expired.
        public static let policyExpired = Code(value: .policyExpired)
        /// A pinned host was to be spoken to without TLS.
        public static let cleartextToPinnedHost = Code(value: .cleartextToPinnedHost)
        /// The deadline passed.
        public static let timeout = Code(value: .timeout)
        /// The connection ended before the reply did.
        public static let cutOff = Code(value: .cutOff)
        /// The reply is no HTTP, or no HTTP that we take.
        public static let malformedReply = Code(value: .malformedReply)
        /// The reply's body or header is larger than the limit.
        public static let replyTooLarge = Code(value: .replyTooLarge)
        /// The reply's body has a content coding, or more than one, that is not undone here.
        public static let unsupportedEncoding = Code(value: .unsupportedEncoding)
        /// The caller's task was cancelled.
        public static let cancelled = Code(value: .cancelled)
        /// The engine has been shut down.
        public static let notRunning = Code(value: .notRunning)
        /// libcurl was built with another TLS library than the program's OpenSSL.
        public static let unsupportedLibcurl = Code(value: .unsupportedLibcurl)
        /// The request cannot be sent as it stands; nothing was.
        public static let invalidRequest = Code(value: .invalidRequest)
        /// A streamed body is shorter or longer than it said; the request did not go out whole.
        public static let bodyLength = Code(value: .bodyLength)
        /// What makes a streamed body failed; the request did not go out whole.
        public static let bodyFailed = Code(value: .bodyFailed)
        /// A file changed while it was sent; the request did not go out whole.
        public static let bodyChanged = Code(value: .bodyChanged)
        /// A body that can be read once would have to be sent again.
        public static let bodyNotReplayable = Code(value: .bodyNotReplayable)
        /// The CA file cannot be read, or holds no certificate.
        public static let trustStore = Code(value: .trustStore)
        /// The system gave no memory, thread or socket.
        public static let resources = Code(value: .resources)
        /// A redirect leads where the rules do not follow.
        public static let redirectRefused = Code(value: .redirectRefused)
        /// A redirect leads where the call has been.
        public static let redirectLoop = Code(value: .redirectLoop)
        /// More redirects than are followed.
        public static let tooManyRedirects = Code(value: .tooManyRedirects)
        /// The proxy was not found, not reached, not trusted, or speaks no proxy's protocol.
        public static let proxy = Code(value: .proxy)
        /// The proxy did not open the way to the host.
        public static let proxyRefused = Code(value: .proxyRefused)
        /// The proxy wants a user name and a password, or others.
        public static let proxyAuthentication = Code(value: .proxyAuthentication)

        /// The code's name in kebab-case, as the tool prints it.
        public var name: String { value.rawValue }

        /// The code's name.
        public var description: String { name }
    }

    /// The kind of the error.
    public let code: Code
    /// Found, wanted and where, for people.
    public let message: String

    /// What a policy's refusal is about, as values; nil for every other error.
    public let pinRefusal: PinRefusal?

    /// Makes an error.
    public init(code: Code, message: String, pinRefusal: PinRefusal? = nil) {
        self.code = code
        self.message = printable(message)
        self.pinRefusal = pinRefusal
    }

    /// The message.
    public var description: String { message }
}

extension TransportError {
    /// A policy's refusal as a transport's error.
    package init(_ error: PinError) {
        let code: Code =
            switch error.code {
            case .unlistedHost: .unlistedHost
            case .policyExpired: .policyExpired
            case .cleartextToPinnedHost: .cleartextToPinnedHost
            case .pinMismatch: .pinMismatch
            default: .invalidRequest
            }
        self.init(code: code, message: error.message, pinRefusal: error.refusal)
    }
}
