import SignetBase
import SignetPinning
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
public final class CurlEngine: CancellableHTTPEngine {
    /// The engine's capabilities.
    public let capabilities: EngineCapabilities
    private let loops: LoopPool
    private let trusts: TrustPool

    /// Starts the engine.
    ///
    /// - Throws: `TransportError`: `unsupported-libcurl` if libcurl doesn't use the program's own
    ///   OpenSSL or is older than 7.87.0, `invalid-request` if the maximum number of connections
    ///   isn't in 1...65535, `trust-store` if the CA file can't be used, `resources`.
    public convenience init(
        _ configuration: EngineSettings = EngineSettings()
    ) throws(TransportError) {
        try self.init(configuration, hasRoute: TransferDriver.hasRoute)
    }

    /// Starts the engine with a function that returns whether the machine has a route to other
    /// networks.
    init(
        _ configuration: EngineSettings, hasRoute: @escaping @Sendable () -> Bool
    ) throws(TransportError) {
        let connections = configuration.maximumConnectionsPerHost
        guard (1...65_535).contains(connections) else {
            throw TransportError(
                .invalidRequest,
                "found \(connections) as the maximum number of connections to a host, expected 1 to"
                    + " 65535")
        }
        let library = try LibcurlCheck.check()
        self.capabilities = EngineCapabilities(
            name: library.name, pinsPublicKeys: true,
            speaksHTTP2: configuration.offersHTTP2 && library.hasHTTP2,
            usesClientCertificates: true, connectsToAddresses: true)
        self.loops = try LoopPool(configuration, hasRoute: hasRoute)
        self.trusts = TrustPool(caFile: configuration.caFile)
    }

    /// The executor of the engine's thread, for tasks that mostly make calls.
    ///
    /// A task that prefers it starts its calls and receives their responses without switching
    /// threads, which saves processor time. Its jobs run between two steps of the engine. A job
    /// that is slow or blocks delays all calls of the engine, even beyond their deadlines. After
    /// `shutdown`, jobs run on Swift's global executor. The thread blocks all signals.
    ///
    /// ```swift
    /// import HTTPTypes
    /// import SignetTransport
    ///
    /// let engine = try CurlEngine()
    /// let request = HTTPRequest(
    ///     method: .get, scheme: "https", authority: "api.example.com", path: "/orders/7")
    /// let count = try await withTaskExecutorPreference(engine.executor) {
    ///     try await engine.send(EngineRequest(request)).body.collect(limit: 1 << 20).count
    /// }
    /// print(count)
    /// await engine.shutdown()
    /// ```
    public var executor: (any TaskExecutor)? { loops }

    /// Sends a request; see `HTTPEngine`.
    public func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        try await perform(request, cancelledBy: nil)
    }

    /// Sends a request; see `CancellableHTTPEngine`.
    public func send(
        _ request: EngineRequest, cancelledBy cancellation: any RequestCancellation
    ) async throws(TransportError) -> EngineResponse {
        try await perform(request, cancelledBy: cancellation)
    }

    /// - Parameter cancellation: Nil if only the task can be cancelled.
    private func perform(
        _ request: EngineRequest, cancelledBy cancellation: (any RequestCancellation)?
    ) async throws(TransportError) -> EngineResponse {
        let plan = try plan(request)
        if request.body.bytes == nil, request.body.length == 0 {
            try await Self.readToEnd(request.body)
        }
        let resumesOnLoop = loops.isPreferred
        let trust = try trust(for: request, plan: plan)
        return try await loops.loop(proxy: plan.proxy)
            .send(plan, trust: trust, resumesOnLoop: resumesOnLoop, cancelledBy: cancellation)
    }

    // These are functions of their own so that a waiting call doesn't keep their values in memory.

    private func plan(_ request: EngineRequest) throws(TransportError) -> RequestPlan {
        if Task.isCancelled {
            throw TransportError(.cancelled, "the call was cancelled")
        }
        let plan = try RequestPlan(request, now: UnixTime.now())
        if let proxyCAFile = plan.proxy?.caFile { try LibcurlCheck.check(caFile: proxyCAFile) }
        return plan
    }

    /// Checks that a stream of length 0 is empty, because libcurl doesn't read from it.
    private static func readToEnd(_ body: HTTPRequestBody) async throws(TransportError) {
        var reader = try body.makeReader()
        _ = try await reader.next()
    }

    private func trust(
        for request: EngineRequest, plan: RequestPlan
    ) throws(TransportError) -> HandshakeTrust {
        let certificate =
            plan.isSecure
            ? try request.clientCertificate?.current(at: plan.now) : nil
        return try trusts.trust(
            caFile: request.caFile, authorities: plan.authorities, certificate: certificate)
    }

    /// Performs a TLS handshake and returns the server's certificate chain. It sends no request.
    ///
    /// ```swift
    /// import SignetPinning
    /// import SignetTransport
    ///
    /// let engine = try CurlEngine()
    /// let result = try await engine.probe(Authority(parsing: "api.example.com"))
    /// for certificate in result.chain { print(certificate.pin, certificate.subject) }
    /// if !result.isTrusted { print("not trusted: \(result.reason ?? "")") }
    /// await engine.shutdown()
    /// ```
    ///
    /// - Returns: The verified chain, or the chain as the server sent it if it isn't trusted.
    /// - Throws: `TransportError` if the port isn't in 1...65535 (`invalid-request`), or if the
    ///   server showed no chain.
    public func probe(_ probe: EngineProbe) async throws(TransportError) -> ProbeResult {
        let port = probe.authority.port(scheme: "https")
        guard (1...65535).contains(port) else {
            throw TransportError(.invalidRequest, "found the port \(port), expected 1 to 65535")
        }
        let plan = RequestPlan(
            probing: probe.authority, connectTo: probe.connectTo, proxy: probe.proxy,
            timeout: probe.timeout, now: UnixTime.now())
        let authorities = probe.policy?.rule(for: probe.authority.host)?.authorities
        let trust = try trusts.trust(
            caFile: probe.caFile, authorities: authorities,
            certificate: probe.clientCertificate?.current(at: plan.now))
        return try await loops.loop(proxy: probe.proxy).probe(plan, trust: trust)
    }

    /// Ends every call and releases everything; see `HTTPEngine`.
    public func shutdown() async {
        await loops.shutdown()
    }

    /// The number of times that the primary loop has called libcurl for sockets and timers.
    var libcurlCalls: UInt64 { loops.libcurlCalls }
}
