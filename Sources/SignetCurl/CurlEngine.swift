internal import CSignetCurl
public import SignetPinning
public import SignetTransport
internal import Synchronization

/// The engine on libcurl: one event loop, one connection pool, pins judged before each request.
///
/// The verified chain of a connection is kept with its TLS session; before every request, also on a
/// pooled connection or a resumed session, it is judged by the policy of that very call. Redirects
/// are answers like any other; proxies, credentials and cookies of the surroundings are not used.
public final class CurlEngine: HTTPEngine {
    /// How an engine works.
    public struct Configuration: Sendable, Hashable {
        /// A PEM file of CA certificates in the place of the system's.
        public var caFile: String?
        /// Whether HTTP/2 is offered by ALPN.
        public var offersHTTP2 = true
        /// The most connections to one host and port; more calls wait.
        public var maximumConnectionsPerHost = 64
        /// The most bytes of a reply's header, interim replies and trailers included.
        public var maximumHeaderSize = 64 << 10
        /// The most fields of a reply's header.
        public var maximumHeaderFields = 256
        /// About how many bytes of a body are held for a reader that is slower than the server.
        public var bodyBufferSize = 256 << 10

        /// Makes the standard configuration.
        public init() {}
    }

    private struct Loops {
        var isStopped = false
        var byTrust: [String: EventLoop] = [:]
    }

    /// The most CA files that one engine takes; each has a loop of its own.
    private static let maximumTrustStores = 16

    /// What the engine can do.
    public let capabilities: EngineCapabilities
    private let configuration: Configuration
    private let loops = Mutex(Loops())

    /// Starts the engine.
    ///
    /// - Throws: `TransportError`: `unsupported-libcurl` where libcurl's TLS is not the program's own
    ///   OpenSSL, `trust-store` where the CA file cannot be used, `resources`.
    public init(_ configuration: Configuration = Configuration()) throws(TransportError) {
        let library = try LibcurlCheck.check()
        self.configuration = configuration
        self.capabilities = EngineCapabilities(
            name: library.name, pinsPublicKeys: true,
            speaksHTTP2: configuration.offersHTTP2 && library.hasHTTP2)
        _ = try loop(caFile: nil)
    }

    deinit {
        for loop in loops.withLock({ Array($0.byTrust.values) }) { loop.stop() }
    }

    /// Sends a request; see `HTTPEngine`.
    public func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        if Task.isCancelled {
            throw TransportError(code: .cancelled, message: "the call was cancelled")
        }
        let loop = try loop(caFile: request.caFile)
        let plan = try RequestPlan(request, now: Clock.unixSeconds)
        switch try await loop.perform(plan).get() {
        case .response(let response): return response
        case .handshake: throw TransportError(code: .malformedReply, message: "no reply came")
        }
    }

    /// Connects and shakes hands, and looks at the chain; no byte of a request is sent.
    ///
    /// - Parameters:
    ///   - authority: Host and port; 443 where none was written.
    ///   - caFile: A PEM file of CA certificates in the place of the engine's own.
    ///   - connectTo: Other addresses to connect to.
    ///   - timeout: For the whole.
    /// - Returns: The verified chain, or the chain as sent where it is not trusted.
    /// - Throws: `TransportError` where no handshake showed a chain.
    public func probe(
        _ authority: Authority, caFile: String? = nil, connectTo: [EngineRequest.ConnectTo] = [],
        timeout: Duration = .seconds(30)
    ) async throws(TransportError) -> ProbeResult {
        let loop = try loop(caFile: caFile)
        let plan = RequestPlan(
            probing: authority, connectTo: connectTo, timeout: timeout,
            now: Clock.unixSeconds)
        switch try await loop.perform(plan, isProbe: true).get() {
        case .handshake(let result): return result
        case .response:
            throw TransportError(code: .malformedReply, message: "no handshake was seen")
        }
    }

    /// Ends every call and releases everything; see `HTTPEngine`.
    public func shutdown() async {
        let all = loops.withLock { loops in
            loops.isStopped = true
            return Array(loops.byTrust.values)
        }
        for loop in all { loop.stop() }
        for loop in all { await loop.waitForEnd() }
    }

    private func loop(caFile: String?) throws(TransportError) -> EventLoop {
        let caFile = caFile ?? configuration.caFile
        let key = caFile ?? ""
        let known = loops.withLock { ($0.isStopped, $0.byTrust[key], $0.byTrust.count) }
        if known.0 {
            throw TransportError(code: .notRunning, message: "the engine has been shut down")
        }
        if let loop = known.1 { return loop }
        guard known.2 < Self.maximumTrustStores else {
            throw TransportError(
                code: .trustStore,
                message: "one engine takes \(Self.maximumTrustStores) CA files at most")
        }
        if let caFile { try LibcurlCheck.check(caFile: caFile) }
        let loop = try EventLoop(configuration, caFile: caFile)
        let winner = loops.withLock { loops -> EventLoop? in
            if loops.isStopped { return nil }
            if let other = loops.byTrust[key] { return other }
            loops.byTrust[key] = loop
            return loop
        }
        if winner !== loop { loop.stop() }
        guard let winner else {
            throw TransportError(code: .notRunning, message: "the engine has been shut down")
        }
        return winner
    }
}
