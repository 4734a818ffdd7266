public import SignetBase
public import SignetPinning

/// An error of a call that got no response, or only a part of it.
///
/// The message says what was found, what was expected and where. It never contains a field's value,
/// a body or user info, and it escapes the control characters of a server's text.
public struct TransportError: SignetError, Sendable, Hashable, CustomStringConvertible {
    /// The type of `code`.
    public typealias Code = SignetErrorCode

    /// The kind of the error.
    public let code: Code
    /// A message for people: what was found, what was expected, and where.
    public let message: String

    /// The details of a pin policy's refusal; `nil` for every other error.
    public let pinRefusal: PinRefusal?

    /// Whether the engine knows that no byte of the request has left, so that it may be sent to
    /// another address.
    package var isUnsent = false

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
        self.init(refusal.code, refusal.message, pinRefusal: refusal)
    }
}

extension SignetErrorCode {
    /// The host's name could not be resolved.
    public static let unresolvedHost = noResponse("name", kind: .noResponse)
    /// The host's name could not be resolved or the host could not be reached, and this machine
    /// has no route to other networks.
    public static let offline = noResponse("offline", kind: .noResponse)
    /// TLS failed: the handshake, CA, dates or host name.
    public static let tls = noResponse("tls", kind: .noResponse)
    /// The response's body has an unknown content coding, more than one, or is a part (206) of
    /// an encoded body.
    public static let unsupportedEncoding = noResponse("unsupported-encoding", kind: .malformed)
    /// libcurl doesn't use the program's OpenSSL, or is older than 7.87.0.
    public static let unsupportedLibcurl = usage("unsupported-libcurl")
    /// The engine can't perform a TLS handshake without sending a request.
    public static let unsupportedProbe = usage("unsupported-probe")
    /// The request is invalid. Nothing was sent.
    public static let invalidRequest = usage("invalid-request")
    /// A streamed body is shorter or longer than the length it was given. The request wasn't
    /// sent completely.
    public static let bodyLength = usage("body-length")
    /// The source of a streamed body failed. The request wasn't sent completely.
    public static let bodyFailed = usage("body-failed")
    /// A file changed while it was sent. The request wasn't sent completely.
    public static let bodyChanged = usage("body-changed")
    /// A body that can be read only once would have to be sent again.
    public static let bodyNotReplayable = noResponse("body-not-replayable")
    /// The request has trailers, which can't be sent over HTTP/2 or by the engine. Nothing was
    /// sent.
    public static let unsupportedTrailers = usage("unsupported-trailers")
    /// The CA file can't be read, or contains no certificate.
    public static let trustStore = usage("trust-store")
    /// The client certificate can't be read, isn't valid now or isn't its key's, or the engine
    /// can't use one. Nothing was sent.
    public static let clientCertificate = usage("client-certificate")
    /// Memory, threads, descriptors or the engine's event loops ran out, or an unread body held
    /// up other calls.
    public static let resources = noResponse("resources")
    /// The redirect policy refuses a redirect.
    public static let redirectRefused = checkFailed("redirect-refused", kind: .refused)
    /// There were more redirects than the policy allows.
    public static let tooManyRedirects = noResponse("too-many-redirects", kind: .refused)
    /// The proxy could not be found, reached or trusted, or didn't respond as a proxy.
    public static let proxy = noResponse("proxy", kind: .noResponse)
    /// The proxy refused to connect to the host.
    public static let proxyRefused = noResponse("proxy-refused", kind: .noResponse)
    /// The proxy requires credentials, or rejected those it got.
    public static let proxyAuthentication = noResponse("proxy-authentication", kind: .noResponse)
}
