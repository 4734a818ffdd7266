package import SignetBase
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
        package let value: ErrorCode

        fileprivate init(_ value: ErrorCode) { self.value = value }

        /// The host's name could not be resolved.
        public static let name = Code(.noResponse("name", kind: .noResponse))
        /// The host's name could not be resolved or the host could not be reached, and this machine
        /// has no route to other networks.
        public static let offline = Code(.noResponse("offline", kind: .noResponse))
        /// The connection failed.
        public static let connect = Code(.connect)
        /// TLS failed: the handshake, CA, dates or host name.
        public static let tls = Code(.noResponse("tls", kind: .noResponse))
        /// No certificate of the verified chain has a pinned key.
        public static let pinMismatch = Code(.pinMismatch)
        /// The policy doesn't list the host.
        public static let unlistedHost = Code(.unlistedHost)
        /// The policy's rule for the host has expired.
        public static let policyExpired = Code(.policyExpired)
        /// The URL of a pinned host has the scheme http.
        public static let cleartextToPinnedHost = Code(.cleartextToPinnedHost)
        /// The deadline passed.
        public static let timeout = Code(.timeout)
        /// The connection ended before the response did.
        public static let cutOff = Code(.cutOff)
        /// The response isn't valid HTTP, or it is ambiguous and therefore refused.
        public static let malformedResponse = Code(.malformedResponse)
        /// The response's body or header is larger than the limit.
        public static let responseTooLarge = Code(.responseTooLarge)
        /// The response's body has an unknown content coding, more than one, or is a part (206) of
        /// an encoded body.
        public static let unsupportedEncoding = Code(
            .noResponse("unsupported-encoding", kind: .malformed))
        /// The caller's task was cancelled.
        public static let cancelled = Code(.noResponse("cancelled"))
        /// The engine has been shut down.
        public static let notRunning = Code(.notRunning)
        /// libcurl doesn't use the program's OpenSSL, or is older than 7.87.0.
        public static let unsupportedLibcurl = Code(.usage("unsupported-libcurl"))
        /// The engine can't perform a TLS handshake without sending a request.
        public static let unsupportedProbe = Code(.usage("unsupported-probe"))
        /// The request is invalid. Nothing was sent.
        public static let invalidRequest = Code(.usage("invalid-request"))
        /// A streamed body is shorter or longer than the length it was given. The request wasn't
        /// sent completely.
        public static let bodyLength = Code(.usage("body-length"))
        /// The source of a streamed body failed. The request wasn't sent completely.
        public static let bodyFailed = Code(.usage("body-failed"))
        /// A file changed while it was sent. The request wasn't sent completely.
        public static let bodyChanged = Code(.usage("body-changed"))
        /// A body that can be read only once would have to be sent again.
        public static let bodyNotReplayable = Code(.noResponse("body-not-replayable"))
        /// The request has trailers, which can't be sent over HTTP/2 or by the engine. Nothing was
        /// sent.
        public static let unsupportedTrailers = Code(.usage("unsupported-trailers"))
        /// The CA file can't be read, or contains no certificate.
        public static let trustStore = Code(.usage("trust-store"))
        /// The client certificate can't be read, isn't valid now or isn't its key's, or the engine
        /// can't use one. Nothing was sent.
        public static let clientCertificate = Code(.usage("client-certificate"))
        /// Memory, threads, descriptors or the engine's event loops ran out, or an unread body held
        /// up other calls.
        public static let resources = Code(.noResponse("resources"))
        /// The redirect policy refuses a redirect.
        public static let redirectRefused = Code(.checkFailed("redirect-refused", kind: .refused))
        /// There were more redirects than the policy allows.
        public static let tooManyRedirects = Code(.noResponse("too-many-redirects", kind: .refused))
        /// The proxy could not be found, reached or trusted, or didn't respond as a proxy.
        public static let proxy = Code(.noResponse("proxy", kind: .noResponse))
        /// The proxy refused to connect to the host.
        public static let proxyRefused = Code(.noResponse("proxy-refused", kind: .noResponse))
        /// The proxy requires credentials, or rejected those it got.
        public static let proxyAuthentication = Code(
            .noResponse("proxy-authentication", kind: .noResponse))

        /// The code's name in kebab-case, as the `signet` tool prints it.
        public var name: String { value.name }

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
    public init(_ code: Code, _ message: String, pinRefusal: PinRefusal? = nil) {
        self.code = code
        self.message = printable(message)
        self.pinRefusal = pinRefusal
    }

    /// The message.
    public var description: String { message }
}

extension TransportError {
    /// Creates the error of a call that a pin policy refuses.
    public init(_ refusal: PinRefusal) {
        self.init(Code(refusal.code.value), refusal.message, pinRefusal: refusal)
    }
}
