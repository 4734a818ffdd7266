#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOSSL
public import SignetTransport
import Synchronization

/// An engine on async-http-client. It doesn't check pins, and refuses requests to pinned hosts.
///
/// The engine refuses requests for what it can't do: proxies, other addresses, trailers, CAs of a
/// single host, and a time for connecting that is shorter than its own. It follows no redirect and
/// undoes no content coding. It turns async-http-client's tracing off.
///
/// ```swift
/// import HTTPTypes
/// import SignetTransport
///
/// let engine = try AsyncHTTPClientEngine()
/// let request = HTTPRequest(
///     method: .get, scheme: "https", authority: "api.example.com", path: "/orders/7")
/// let response = try await engine.send(EngineRequest(request, timeout: .seconds(10)))
/// print(response.response.status, try await response.body.collect(limit: 1 << 20).count)
/// await engine.shutdown()
/// ```
public final class AsyncHTTPClientEngine: HTTPEngine {
    /// The settings of an engine.
    public struct Configuration: Sendable, Hashable {
        /// The path of a PEM file of CA certificates to use instead of the system's. It is read for
        /// each new connection.
        public var caFile: String?
        /// Whether to offer HTTP/2 in the TLS handshake (ALPN). Defaults to `true`.
        public var offersHTTP2 = true
        /// The soft limit of connections to one host over HTTP/1.1. Defaults to 64.
        public var maximumConnectionsPerHost = 64
        /// The time after which an idle connection is closed. Defaults to 60 seconds.
        public var maximumIdleTime = Duration.seconds(60)
        /// The time for connecting, including TLS. Defaults to 10 seconds. A request that sets a
        /// shorter `connectTimeout` is refused, because async-http-client has one for all requests.
        public var connectTimeout = Duration.seconds(10)
        /// The approximate number of bytes that are buffered if a body's reader is slower than the
        /// server. Defaults to 256 KiB.
        public var bodyBufferSize = 256 << 10

        /// Creates the default configuration.
        public init() {}
    }

    /// The engine's capabilities: no pins.
    public let capabilities: EngineCapabilities
    private let configuration: Configuration
    private let client: HTTPClient
    private let isStopped = Mutex(false)

    /// Creates an engine.
    ///
    /// - Throws: `TransportError` with code `trust-store` if the CA file can't be used.
    public init(_ configuration: Configuration = Configuration()) throws(TransportError) {
        var settings = HTTPClient.Configuration()
        settings.tlsConfiguration = try Self.trust(configuration.caFile)
        settings.redirectConfiguration = .disallow
        settings.decompression = .disabled
        // Tracing would add fields after the signature, and write queries into spans.
        settings.tracing.tracer = nil
        settings.timeout = HTTPClient.Configuration.Timeout(
            connect: TimeAmount(configuration.connectTimeout))
        settings.connectionPool = HTTPClient.Configuration.ConnectionPool(
            idleTimeout: TimeAmount(configuration.maximumIdleTime),
            concurrentHTTP1ConnectionsPerHostSoftLimit: max(
                configuration.maximumConnectionsPerHost, 1))
        // A retry is the network system's decision.
        settings.connectionPool.retryConnectionEstablishment = false
        settings.httpVersion = configuration.offersHTTP2 ? .automatic : .http1Only
        self.configuration = configuration
        self.client = HTTPClient(configuration: settings)
        self.capabilities = EngineCapabilities(
            name: "async-http-client", pinsPublicKeys: false,
            speaksHTTP2: configuration.offersHTTP2)
    }

    deinit {
        // A client that was not shut down ends the program.
        if !isStopped.withLock({ $0 }) { client.shutdown { _ in } }
    }

    /// Sends a request; see `HTTPEngine`.
    ///
    /// - Throws: `TransportError`; `invalid-request` also for a pinned host and for what the engine
    ///   can't do.
    public func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        if Task.isCancelled { throw TransportError(.cancelled, "the call was cancelled") }
        if isStopped.withLock({ $0 }) { throw ErrorMap.notRunning }
        let start = ContinuousClock.now
        let (outgoing, origin) = try OutgoingRequest.make(
            request,
            trust: request.caFile.map { path throws(TransportError) in try Self.trust(path) },
            connectTimeout: configuration.connectTimeout)
        let errors = ErrorMap(
            origin: origin.authority, isStopped: { [weak self] in self?.hasStopped ?? true })
        let response: HTTPClientResponse
        do {
            response = try await client.execute(outgoing, timeout: TimeAmount(request.timeout))
        } catch {
            throw errors.transportError(error)
        }
        return try IncomingResponse(
            request: request, start: start, errors: errors,
            bufferSize: configuration.bodyBufferSize
        ).engineResponse(response)
    }

    /// Ends every call and closes every connection; see `HTTPEngine`.
    public func shutdown() async {
        isStopped.withLock { $0 = true }
        // The client throws only if it was shut down before.
        try? await client.shutdown()
    }

    private var hasStopped: Bool { isStopped.withLock { $0 } }

    private static func trust(_ caFile: String?) throws(TransportError) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        guard let caFile else { return configuration }
        do {
            guard try !NIOSSLCertificate.fromPEMFile(caFile).isEmpty else { throw ErrorMap.noCAs }
        } catch {
            throw ErrorMap.noCAs
        }
        configuration.trustRoots = .file(caFile)
        return configuration
    }
}
#endif
