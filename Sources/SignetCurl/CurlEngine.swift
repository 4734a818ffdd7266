public import SignetTransport

/// The engine on libcurl: one event loop, one connection pool, pins judged before each request.
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

    /// What the engine can do.
    public let capabilities: EngineCapabilities

    /// Starts the engine.
    ///
    /// - Throws: `TransportError`: `unsupported-libcurl` where libcurl's TLS is not the program's own
    ///   OpenSSL, `trust-store` where the CA file cannot be used, `resources`.
    public init(_ configuration: Configuration = Configuration()) throws(TransportError) {
        self.capabilities = EngineCapabilities(
            name: "libcurl", pinsPublicKeys: true, speaksHTTP2: configuration.offersHTTP2)
    }

    /// Sends a request; see `HTTPEngine`.
    public func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        throw TransportError(code: .notRunning, message: "the engine is not there yet")
    }

    /// Ends every call and releases everything; see `HTTPEngine`.
    public func shutdown() async {}
}
