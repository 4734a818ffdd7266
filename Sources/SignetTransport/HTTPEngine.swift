/// What carries requests to servers.
public protocol HTTPEngine: Sendable {
    /// What the engine can do; a pinned host needs one that pins.
    var capabilities: EngineCapabilities { get }

    /// Sends a request and returns when the reply's header has come.
    ///
    /// Each call ends exactly once. A cancelled task ends its call within 100 ms.
    ///
    /// - Throws: `TransportError`.
    func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse

    /// Ends every call with `not-running`, takes no more, and returns when all is released.
    func shutdown() async
}

/// What an engine can do.
public struct EngineCapabilities: Sendable, Hashable {
    /// The engine's name, with the library's version: `libcurl/7.88.1 OpenSSL/3.0.22`.
    public var name: String
    /// Whether it judges the verified chain by the policy of each call, before any byte of a request.
    public var pinsPublicKeys: Bool
    /// Whether it speaks HTTP/2.
    public var speaksHTTP2: Bool

    /// Describes an engine.
    public init(name: String, pinsPublicKeys: Bool, speaksHTTP2: Bool) {
        self.name = name
        self.pinsPublicKeys = pinsPublicKeys
        self.speaksHTTP2 = speaksHTTP2
    }
}
