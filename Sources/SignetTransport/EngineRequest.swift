public import HTTPTypes
public import SignetPinning

/// A request as an engine sends it, with the pins, limits and timeouts of this one call.
///
/// ```swift
/// import HTTPTypes
/// import SignetPinning
///
/// let pins = [
///     try Pin(parsing: "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="),
///     try Pin(parsing: "sha256/E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g="),
/// ]
/// var fields = HTTPFields()
/// fields[.contentType] = "application/json"
/// var request = EngineRequest(
///     HTTPRequest(
///         method: .post, scheme: "https", authority: "api.example.com", path: "/orders",
///         headerFields: fields),
///     body: HTTPRequestBody(Array(#"{"item":"tea"}"#.utf8)),
///     policy: try PinPolicy(rules: [PinRule(host: "api.example.com", pins: pins)]),
///     timeout: .seconds(10), maximumBodySize: 1 << 20)
/// request.connectTo = [try EngineRequest.ConnectTo(parsing: "api.example.com:443:127.0.0.1:8443")]
/// ```
public struct EngineRequest: Sendable {
    /// Connects to another address than the one in the URL, like curl's `--connect-to`.
    ///
    /// The request, its pins and the TLS host name stay those of the URL.
    public struct ConnectTo: Sendable, Hashable {
        /// The host in the URL; `nil` matches every host.
        public var host: HostName?
        /// The port in the URL; `nil` matches every port.
        public var port: Int?
        /// The host or address to connect to; `nil` keeps the URL's host.
        public var address: HostName?
        /// The port to connect to; `nil` keeps the URL's port.
        public var addressPort: Int?

        /// Creates a mapping of the four parts; `nil` is curl's empty part.
        public init(host: HostName?, port: Int?, address: HostName?, addressPort: Int?) {
            self.host = host
            self.port = port
            self.address = address
            self.addressPort = addressPort
        }
    }

    /// The method, scheme, authority, path and fields, sent exactly as written.
    ///
    /// The engine adds only `Host` and, with a body, `Content-Length` or `Transfer-Encoding`. It
    /// sends `Expect: 100-continue`, and waits for the response to it, only if the field is listed
    /// here.
    public var request: HTTPRequest
    /// The body. A stream isn't read before the server's keys have been checked. An engine that
    /// can't send a body's trailers ends the call with `unsupported-trailers`.
    public var body: HTTPRequestBody
    /// The pins of this call; `nil` checks only the CA and the host name.
    public var policy: PinPolicy?
    /// The time for the whole call, including the response's body. Defaults to 30 seconds.
    public var timeout: Duration
    /// The time for connecting, including TLS; `nil`, the default, is the engine's own.
    public var connectTimeout: Duration?
    /// The maximum size of the response's body, in bytes. Defaults to 64 MiB.
    public var maximumBodySize: Int
    /// Other addresses to connect to; the first matching one is used.
    public var connectTo: [ConnectTo]
    /// The proxy; `nil` connects directly, whatever the environment says.
    public var proxy: Proxy?
    /// The path of a PEM file of CA certificates to use instead of the engine's.
    public var caFile: String?
    /// The certificate for a server that asks for one; `nil` shows none. An engine that can't use
    /// one ends the call with `client-certificate`.
    public var clientCertificate: ClientCertificate?

    /// Creates a request.
    public init(
        _ request: HTTPRequest, body: HTTPRequestBody = [], policy: PinPolicy? = nil,
        timeout: Duration = .seconds(30), connectTimeout: Duration? = nil,
        maximumBodySize: Int = 64 << 20, connectTo: [ConnectTo] = [], caFile: String? = nil
    ) {
        self.request = request
        self.body = body
        self.policy = policy
        self.timeout = timeout
        self.connectTimeout = connectTimeout
        self.maximumBodySize = maximumBodySize
        self.connectTo = connectTo
        self.caFile = caFile
    }

    /// Creates a request whose body is an array of bytes.
    public init(
        _ request: HTTPRequest, body: [UInt8], policy: PinPolicy? = nil,
        timeout: Duration = .seconds(30)
    ) {
        self.init(request, body: HTTPRequestBody(body), policy: policy, timeout: timeout)
    }
}

extension EngineRequest.ConnectTo {
    /// Parses `HOST:PORT:ADDRESS:PORT`. Any part may be empty; IPv6 addresses are in brackets.
    ///
    /// - Throws: `TransportError` with code `invalid-request` if the text isn't of this form.
    public init(parsing text: String) throws(TransportError) {
        var parts: [[UInt8]] = [[]]
        var isInBrackets = false
        for byte in text.utf8 {
            if byte == UInt8(ascii: "[") { isInBrackets = true }
            if byte == UInt8(ascii: "]") { isInBrackets = false }
            if byte == UInt8(ascii: ":"), !isInBrackets {
                parts.append([])
            } else {
                parts[parts.count - 1].append(byte)
            }
        }
        guard parts.count == 4, !isInBrackets else {
            throw TransportError(
                .invalidRequest,
                "connect-to: expected HOST:PORT:ADDRESS:PORT (IPv6 addresses in brackets)")
        }
        func host(_ bytes: [UInt8]) throws(HostError) -> HostName? {
            try bytes.isEmpty ? nil : .canonical(String(decoding: bytes, as: UTF8.self))
        }
        func port(_ bytes: [UInt8]) throws(HostError) -> Int? {
            try bytes.isEmpty ? nil : Authority.port(bytes)
        }
        do throws(HostError) {
            self.init(
                host: try host(parts[0]), port: try port(parts[1]), address: try host(parts[2]),
                addressPort: try port(parts[3]))
        } catch {
            throw TransportError(.invalidRequest, "connect-to: \(error.message)")
        }
    }
}
