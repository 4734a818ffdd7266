internal import CSignetCurl
public import SignetPinning
public import SignetTransport

/// An HTTP engine on libcurl, with a connection pool, that checks pins before each request.
///
/// The engine stores the verified chain of a connection with its TLS session. Before every request,
/// even on a pooled connection or in a resumed session, it checks the chain against the policy of
/// that call. It returns redirects like any other response. It ignores the environment's proxies,
/// credentials, cookies, CA files and session-key log, and uses only the system's resolver.
///
/// ```swift
/// import HTTPTypes
/// import SignetPinning
/// import SignetTransport
///
/// let engine = try CurlEngine()
/// let pins = [
///     try Pin(parsing: "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="),
///     try Pin(parsing: "sha256/E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g="),
/// ]
/// let policy = try PinPolicy(rules: [PinRule(host: "api.example.com", pins: pins)])
/// let request = HTTPRequest(
///     method: .get, scheme: "https", authority: "api.example.com", path: "/orders/7")
/// do {
///     let response = try await engine.send(EngineRequest(request, policy: policy))
///     let body = try await response.body.collect(limit: 1 << 20)
///     print(response.response.status, body.count)
/// } catch let error where error.code == .pinMismatch {
///     print("the server's keys are not pinned: \(error)")
/// }
/// await engine.shutdown()
/// ```
public final class CurlEngine: HTTPEngine {
    /// The settings of an engine.
    public struct Configuration: Sendable, Hashable {
        /// The path of a PEM file of CA certificates to use instead of the system's.
        ///
        /// The file may change while the engine runs. Each call checks the file's times, size and
        /// inode; if they differ, this and all later calls use new connections, verified with the
        /// new file, while calls under way continue. Replace the file by renaming another over it,
        /// because calls fail with `trust-store` while it is missing or contains no certificate.
        /// The same applies to the system's file.
        public var caFile: String?
        /// Whether to offer HTTP/2 in the TLS handshake (ALPN). Defaults to `true`.
        public var offersHTTP2 = true
        /// The maximum number of connections to one host and port; further calls wait. Defaults to
        /// 64.
        ///
        /// The engine doesn't use the last 16 descriptors that the process may open. A call that
        /// needs one of them fails with `resources`.
        public var maximumConnectionsPerHost = 64
        /// The maximum size of a response's header in bytes, with interim responses and trailers.
        /// Defaults to 64 KiB.
        public var maximumHeaderSize = 64 << 10
        /// The maximum number of fields in a response's header, at most 65,534, which is the limit
        /// of `HTTPFields`. Defaults to 256.
        public var maximumHeaderFields = 256
        /// The approximate number of bytes that are buffered if a body's reader is slower than the
        /// server. Defaults to 256 KiB.
        public var bodyBufferSize = 256 << 10

        /// Creates the default configuration.
        public init() {}
    }

    /// The engine's capabilities.
    public let capabilities: EngineCapabilities
    private let loops: LoopPool

    /// Starts the engine.
    ///
    /// - Throws: `TransportError`: `unsupported-libcurl` if libcurl doesn't use the program's own
    ///   OpenSSL or is older than 7.87.0, `trust-store` if the CA file can't be used, `resources`.
    public init(_ configuration: Configuration = Configuration()) throws(TransportError) {
        let library = try LibcurlCheck.check()
        self.capabilities = EngineCapabilities(
            name: library.name, pinsPublicKeys: true,
            speaksHTTP2: configuration.offersHTTP2 && library.hasHTTP2)
        self.loops = try LoopPool(configuration)
    }

    /// Sends a request; see `HTTPEngine`.
    public func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        let plan = try plan(request)
        if request.body.bytes == nil, request.body.length == 0 {
            try await Self.readToEnd(request.body)
        }
        return try await loop(for: request, plan: plan).send(plan)
    }

    // These are functions of their own so that a waiting call doesn't keep their values in memory.

    private func plan(_ request: EngineRequest) throws(TransportError) -> RequestPlan {
        if Task.isCancelled {
            throw TransportError(.cancelled, "the call was cancelled")
        }
        let plan = try RequestPlan(request, now: Clock.unixSeconds)
        if let proxyCAFile = plan.proxy?.caFile { try LibcurlCheck.check(caFile: proxyCAFile) }
        return plan
    }

    /// Checks that a stream of length 0 is empty, because libcurl doesn't read from it.
    private static func readToEnd(_ body: RequestBody) async throws(TransportError) {
        var reader = try body.makeReader()
        _ = try await reader.next()
    }

    private func loop(
        for request: EngineRequest, plan: RequestPlan
    ) throws(TransportError) -> EventLoop {
        try loops.loop(caFile: request.caFile, authorities: plan.authorities, proxy: plan.proxy)
    }

    /// Performs a TLS handshake and returns the server's certificate chain. It sends no request.
    ///
    /// ```swift
    /// import SignetPinning
    ///
    /// let engine = try CurlEngine()
    /// let result = try await engine.probe(Authority(parsing: "api.example.com"))
    /// for certificate in result.chain { print(certificate.pin, certificate.subject) }
    /// if !result.isTrusted { print("not trusted: \(result.reason ?? "")") }
    /// await engine.shutdown()
    /// ```
    ///
    /// - Parameters:
    ///   - authority: The host and port. The port defaults to 443.
    ///   - caFile: The path of a PEM file of CA certificates to use instead of the engine's.
    ///   - connectTo: Other addresses to connect to.
    ///   - proxy: The proxy; `nil` connects directly.
    ///   - timeout: The time for the whole call.
    ///   - policy: A policy whose rule for the host may add or replace CAs. Its pins aren't
    ///     checked.
    /// - Returns: The verified chain, or the chain as the server sent it if it isn't trusted.
    /// - Throws: `TransportError` if no handshake showed a chain.
    public func probe(
        _ authority: Authority, caFile: String? = nil, connectTo: [EngineRequest.ConnectTo] = [],
        proxy: Proxy? = nil, timeout: Duration = .seconds(30), policy: PinPolicy? = nil
    ) async throws(TransportError) -> ProbeResult {
        let plan = try RequestPlan(
            probing: authority, connectTo: connectTo, proxy: proxy, timeout: timeout,
            now: Clock.unixSeconds)
        let authorities = policy?.rule(for: authority.host)?.authorities
        let loop = try loops.loop(caFile: caFile, authorities: authorities, proxy: proxy)
        return try await loop.probe(plan)
    }

    /// Ends every call and releases everything; see `HTTPEngine`.
    public func shutdown() async {
        await loops.shutdown()
    }

    /// The number of times that the primary loop has called libcurl for sockets and timers.
    var libcurlCalls: UInt64 { loops.libcurlCalls }
}
