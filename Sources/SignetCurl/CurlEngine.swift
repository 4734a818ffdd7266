internal import CSignetCurl
public import SignetPinning
public import SignetTransport

/// The engine on libcurl: one event loop, one connection pool, pins judged before each request.
///
/// The verified chain of a connection is kept with its TLS session; before every request, also on a
/// pooled connection or a resumed session, it is judged by the policy of that very call. Redirects
/// are answers like any other. Of the surroundings nothing is used: no proxy, credentials, cookies, CA
/// file or session-key log of the environment, and no resolver but the system's.
public final class CurlEngine: HTTPEngine {
    /// How an engine works.
    public struct Configuration: Sendable, Hashable {
        /// A PEM file of CA certificates in the place of the system's.
        ///
        /// It may change while the engine runs: each call looks at the file's times, size and identity, and
        /// if they differ, it and all later calls use new connections that the new file vouches for. Calls
        /// under way go on. While the file is missing or holds no certificate, calls fail with
        /// `trust-store`, so replace it by renaming another over it. The system's file is looked at too.
        public var caFile: String?
        /// Whether HTTP/2 is offered by ALPN.
        public var offersHTTP2 = true
        /// The most connections to one host and port; more calls wait. The last 16 descriptors that the
        /// process may open are left to others: a call that would need one fails with `resources`.
        public var maximumConnectionsPerHost = 64
        /// The most bytes of a reply's header, interim replies and trailers included.
        public var maximumHeaderSize = 64 << 10
        /// The most fields of a reply's header; more than 65,534 count as that many, which is the most
        /// that `HTTPFields` holds.
        public var maximumHeaderFields = 256
        /// About how many bytes of a body are held for a reader that is slower than the server.
        public var bodyBufferSize = 256 << 10

        /// Makes the standard configuration.
        public init() {}
    }

    /// What the engine can do.
    public let capabilities: EngineCapabilities
    private let loops: LoopPool
    private let origins = Origins()

    /// Starts the engine.
    ///
    /// - Throws: `TransportError`: `unsupported-libcurl` where libcurl's TLS is not the program's own
    ///   OpenSSL, `trust-store` where the CA file cannot be used, `resources`.
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
        return try await loop(of: request, plan).send(plan)
    }

    // Each in a function of its own: what they need is not kept while a call waits.

    private func plan(_ request: EngineRequest) throws(TransportError) -> RequestPlan {
        if Task.isCancelled {
            throw TransportError(code: .cancelled, message: "the call was cancelled")
        }
        let plan = try RequestPlan(request, now: Clock.unixSeconds, origins: origins)
        if let proxyCAFile = plan.proxy?.caFile { try LibcurlCheck.check(caFile: proxyCAFile) }
        return plan
    }

    /// Reads a stream that is said to have no byte: libcurl would not ask for one of it.
    private static func readToEnd(_ body: RequestBody) async throws(TransportError) {
        var reader = try body.makeReader()
        _ = try await reader.next()
    }

    private func loop(of request: EngineRequest, _ plan: RequestPlan) throws(TransportError)
        -> EventLoop
    {
        try loops.loop(caFile: request.caFile, authorities: plan.authorities, proxy: plan.proxy)
    }

    /// Connects and shakes hands, and looks at the chain; no byte of a request is sent.
    ///
    /// - Parameters:
    ///   - authority: Host and port; 443 where none was written.
    ///   - caFile: A PEM file of CA certificates in the place of the engine's own.
    ///   - connectTo: Other addresses to connect to.
    ///   - proxy: The proxy that it goes through; nil is none.
    ///   - timeout: For the whole.
    ///   - policy: Whose rule for the host may bring CAs of its own; its pins are not looked at.
    /// - Returns: The verified chain, or the chain as sent where it is not trusted.
    /// - Throws: `TransportError` where no handshake showed a chain.
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

    /// How often the loop of the engine's own trust store has called libcurl for sockets and timers.
    var libcurlCalls: UInt64 { loops.libcurlCalls }
}
