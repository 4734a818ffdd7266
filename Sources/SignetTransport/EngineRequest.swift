public import HTTPTypes
public import SignetPinning

/// One request as an engine sends it: final bytes, and the rules of this one call.
public struct EngineRequest: Sendable {
    /// Sends what is meant for one host and port to another address, as curl's `--connect-to`.
    public struct ConnectTo: Sendable, Hashable {
        /// The host asked for; nil is any.
        public var host: HostName?
        /// The port asked for; nil is any.
        public var port: Int?
        /// The host or address to connect to; nil is the one asked for.
        public var address: HostName?
        /// The port to connect to; nil is the one asked for.
        public var addressPort: Int?

        /// Takes the four parts; nil is curl's empty part.
        public init(host: HostName?, port: Int?, address: HostName?, addressPort: Int?) {
            self.host = host
            self.port = port
            self.address = address
            self.addressPort = addressPort
        }
    }

    /// Method, scheme, authority, path and fields, sent exactly as they stand.
    ///
    /// Fields that are not here are not sent, but for `Host` and, with a body, `Content-Length` or
    /// `Transfer-Encoding`. `Expect: 100-continue` is sent, and waited for, only where it stands here.
    public var request: HTTPRequest
    /// The body; a stream is not read before the server's keys have been judged.
    public var body: RequestBody
    /// The pins of this call; nil leaves it to CA and host name.
    public var policy: PinPolicy?
    /// The time for the whole call, reading the body included.
    public var timeout: Duration
    /// The time for a connection, TLS included.
    public var connectTimeout: Duration
    /// The most bytes of a reply's body.
    public var maximumBodySize: Int
    /// Other addresses to connect to; the first that fits is taken.
    public var connectTo: [ConnectTo]
    /// The proxy that it goes through; nil is none, whatever the environment says.
    public var proxy: Proxy?
    /// A PEM file of CA certificates in the place of the engine's own.
    public var caFile: String?

    /// Makes a request.
    public init(
        _ request: HTTPRequest, body: RequestBody = [], policy: PinPolicy? = nil,
        timeout: Duration = .seconds(30), connectTimeout: Duration = .seconds(30),
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

    /// Makes a request with a body of bytes.
    public init(
        _ request: HTTPRequest, body: [UInt8], policy: PinPolicy? = nil,
        timeout: Duration = .seconds(30)
    ) {
        self.init(request, body: RequestBody(body), policy: policy, timeout: timeout)
    }
}

extension EngineRequest.ConnectTo {
    /// Reads `HOST:PORT:ADDRESS:PORT`; any part may be empty, IPv6 addresses stand in brackets.
    ///
    /// - Throws: `TransportError` with code `invalid-request`.
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
                code: .invalidRequest,
                message: "connect-to is HOST:PORT:ADDRESS:PORT (IPv6 addresses in brackets)")
        }
        self.init(
            host: try Self.host(parts[0]), port: try Self.port(parts[1]),
            address: try Self.host(parts[2]), addressPort: try Self.port(parts[3]))
    }

    private static func host(_ bytes: [UInt8]) throws(TransportError) -> HostName? {
        if bytes.isEmpty { return nil }
        do {
            return try HostName.canonical(String(decoding: bytes, as: UTF8.self))
        } catch {
            throw TransportError(code: .invalidRequest, message: "connect-to: \(error.message)")
        }
    }

    private static func port(_ bytes: [UInt8]) throws(TransportError) -> Int? {
        if bytes.isEmpty { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard bytes.count <= 5,
            bytes.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let port = Int(text), (1...65535).contains(port)
        else {
            throw TransportError(
                code: .invalidRequest, message: "connect-to: a port is a number from 1 to 65535")
        }
        return port
    }
}
