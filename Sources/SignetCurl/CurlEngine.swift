internal import CSignetCurl
public import SignetPinning
public import SignetTransport
internal import Synchronization

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

    private struct Loops {
        /// A loop, and who is about to give it a call.
        struct Entry {
            let loop: EventLoop
            var borrowers = 0
            var lastUse = 0
        }

        var isStopped = false
        var byKey: [PoolKey: Entry] = [:]
        var uses = 0
        /// Loops that gave way to others and may not have ended yet.
        var retired: [EventLoop] = []

        mutating func borrow(_ key: PoolKey) -> EventLoop? {
            uses += 1
            byKey[key]?.borrowers += 1
            byKey[key]?.lastUse = uses
            return byKey[key]?.loop
        }

        /// Takes out the loop that has been idle for longest.
        mutating func retireOne() -> EventLoop? {
            let idle = byKey.filter { $0.value.borrowers == 0 && $0.value.loop.isIdle }
            guard let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse }) else {
                return nil
            }
            byKey[oldest.key] = nil
            retired.removeAll(where: \.hasEnded)
            retired.append(oldest.value.loop)
            return oldest.value.loop
        }
    }

    /// The most trust stores and proxy logins that one engine has at once; each has a loop of its own.
    private static let maximumLoops = 16

    /// What the engine can do.
    public let capabilities: EngineCapabilities
    private let configuration: Configuration
    /// The loop of the engine's own trust store; it never gives way to others.
    private let usual: EventLoop
    private let loops = Mutex(Loops())
    private let origins = Origins()

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
        if let caFile = configuration.caFile { try LibcurlCheck.check(caFile: caFile) }
        self.usual = try EventLoop(
            configuration,
            PoolKey(TrustStore(caFile: configuration.caFile, authorities: nil), proxy: nil))
    }

    deinit {
        usual.stop()
        for entry in loops.withLock({ Array($0.byKey.values) }) { entry.loop.stop() }
    }

    /// Sends a request; see `HTTPEngine`.
    public func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        let plan = try plan(request)
        if request.body.bytes == nil, request.body.length == 0 {
            try await Self.readToEnd(request.body)
        }
        let key = otherKey(
            caFile: request.caFile, authorities: plan.authorities, proxy: plan.proxy)
        guard let key else { return try await usual.send(plan) }
        return try await send(plan, key)
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

    private func send(
        _ plan: RequestPlan, _ key: PoolKey
    ) async throws(TransportError) -> EngineResponse {
        let loop = try borrow(key)
        defer { giveBack(loop, key) }
        return try await loop.send(plan)
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
        let key = otherKey(caFile: caFile, authorities: authorities, proxy: proxy)
        guard let key else { return try await usual.probe(plan) }
        let loop = try borrow(key)
        defer { giveBack(loop, key) }
        return try await loop.probe(plan)
    }

    /// Ends every call and releases everything; see `HTTPEngine`.
    public func shutdown() async {
        let all = loops.withLock { loops in
            loops.isStopped = true
            return [usual] + loops.byKey.values.map(\.loop) + loops.retired
        }
        for loop in all { loop.stop() }
        for loop in all { await loop.waitForEnd() }
    }

    // MARK: Loops

    private static let notRunning = TransportError(
        code: .notRunning, message: "the engine has been shut down")

    /// What a call's loop is known by, where it is not the engine's usual one.
    private func otherKey(
        caFile: String?, authorities: PinAuthorities?, proxy: Proxy?
    ) -> PoolKey? {
        if caFile == nil && authorities == nil && proxy == nil { return nil }
        let trust = TrustStore(caFile: caFile ?? configuration.caFile, authorities: authorities)
        let usual = TrustStore(caFile: configuration.caFile, authorities: nil)
        let key = PoolKey(trust, proxy: proxy)
        return key == PoolKey(usual, proxy: nil) ? nil : key
    }

    /// The loop of a key, made where there is none; it does not end while it is borrowed.
    private func borrow(_ key: PoolKey) throws(TransportError) -> EventLoop {
        let known = loops.withLock { ($0.isStopped, $0.borrow(key)) }
        if known.0 { throw Self.notRunning }
        if let loop = known.1 { return loop }
        if let caFile = key.trust.caFile { try LibcurlCheck.check(caFile: caFile) }
        let loop = try EventLoop(configuration, key)
        let (winner, retired, isFull) = loops.withLock {
            loops -> (EventLoop?, EventLoop?, Bool) in
            if loops.isStopped { return (nil, nil, false) }
            if let other = loops.borrow(key) { return (other, nil, false) }
            var retired: EventLoop?
            if loops.byKey.count + 1 >= Self.maximumLoops {
                retired = loops.retireOne()
                if retired == nil { return (nil, nil, true) }
            }
            loops.byKey[key] = Loops.Entry(loop: loop)
            return (loops.borrow(key), retired, false)
        }
        retired?.stop()
        if winner !== loop { loop.stop() }
        if let winner { return winner }
        guard isFull else { throw Self.notRunning }
        throw TransportError(
            code: .trustStore,
            message:
                "calls of \(Self.maximumLoops) different trust stores or proxy logins are under way,"
                + " and one engine takes no more at once")
    }

    private func giveBack(_ loop: EventLoop, _ key: PoolKey) {
        loops.withLock { loops in
            if loops.byKey[key]?.loop === loop { loops.byKey[key]?.borrowers -= 1 }
        }
    }
}
