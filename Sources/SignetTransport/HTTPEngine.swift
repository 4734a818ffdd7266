/// A type that sends HTTP requests and returns their responses.
///
/// `CurlEngine` is the engine for the network. Implement the protocol for tests, or to send
/// requests by other means:
///
/// ```swift
/// import HTTPTypes
///
/// struct EchoEngine: HTTPEngine {
///     let capabilities = EngineCapabilities(
///         name: "echo", pinsPublicKeys: false, speaksHTTP2: false)
///
///     func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
///         var reader = try request.body.makeReader()
///         var bytes: [UInt8] = []
///         while let chunk = try await reader.next() { bytes += chunk }
///         return EngineResponse(
///             response: HTTPResponse(status: .ok), body: HTTPResponseBody(bytes: bytes),
///             httpVersion: EngineResponse.HTTPVersion(major: 1, minor: 1))
///     }
///
///     func shutdown() async {}
/// }
///
/// let request = HTTPRequest(
///     method: .post, scheme: "https", authority: "api.example.com", path: "/echo")
/// let response = try await EchoEngine().send(
///     EngineRequest(request, body: HTTPRequestBody(Array("hello".utf8))))
/// let body = try await response.body.collect(limit: 1 << 20)
/// precondition(body == Array("hello".utf8))
/// ```
public protocol HTTPEngine: Sendable {
    /// The engine's capabilities. A pinned host needs an engine that pins.
    var capabilities: EngineCapabilities { get }

    /// Sends a request and returns after the response's header has arrived.
    ///
    /// Each call ends exactly once. If the task is cancelled, the call ends within 100 ms; for a
    /// ``CancellableHTTPEngine``, there is also the ``RequestCancellation``. An engine asks
    /// ``EngineRequest/sends(_:)`` about each field before it connects.
    ///
    /// - Throws: `TransportError`.
    func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse

    /// Performs a TLS handshake and returns the server's certificate chain. It sends no request.
    ///
    /// The default throws `unsupported-probe`. An engine that wraps another passes the probe to it.
    ///
    /// - Throws: `TransportError` if the server showed no chain.
    func probe(_ probe: EngineProbe) async throws(TransportError) -> ProbeResult

    /// The executor of the engine's own thread; the default is `nil`, for an engine without one. An
    /// engine that wraps another returns the other's.
    ///
    /// A task that prefers it starts calls and receives responses without switching threads. A slow
    /// job on it delays all calls of the engine.
    var executor: (any TaskExecutor)? { get }

    /// Ends every call with `not-running`, refuses new ones and returns after everything is
    /// released.
    func shutdown() async
}

extension HTTPEngine {
    /// `nil`: the engine has no thread of its own.
    public var executor: (any TaskExecutor)? { nil }
}

/// The capabilities of an engine.
public struct EngineCapabilities: Sendable, Hashable {
    /// The engine's name, with the library's version: `libcurl/7.88.1 OpenSSL/3.0.22`.
    public var name: String
    /// Whether the engine checks the verified chain against the policy of each call before it sends
    /// the first byte of the request.
    public var pinsPublicKeys: Bool
    /// Whether the engine can use HTTP/2.
    public var speaksHTTP2: Bool
    /// Whether the engine gives `EngineRequest.clientCertificate` to servers that ask for one, and
    /// keeps connections and TLS sessions of different ones apart.
    public var usesClientCertificates: Bool
    /// Whether the engine connects to the addresses of `EngineRequest.connectTo`, also in probes.
    /// To another one, requests go by the host's name even if its service has addresses.
    public var connectsToAddresses: Bool
    /// The origin of the engine's responses, for the records of calls. Defaults to `server`.
    public var source = ResponseSource.server

    /// Creates a description of an engine.
    public init(
        name: String, pinsPublicKeys: Bool, speaksHTTP2: Bool, usesClientCertificates: Bool = false,
        connectsToAddresses: Bool = false
    ) {
        self.connectsToAddresses = connectsToAddresses
        self.usesClientCertificates = usesClientCertificates
        self.name = name
        self.pinsPublicKeys = pinsPublicKeys
        self.speaksHTTP2 = speaksHTTP2
    }
}
