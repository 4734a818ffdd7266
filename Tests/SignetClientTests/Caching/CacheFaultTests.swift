import Foundation
import HTTPTypes
import SignetBase
import SignetCache
import SignetClient
import SignetTransport
import TestSupport
import Testing

/// Calls that must not be answered with what is stored, or must not be stored.
@Suite struct CacheFaultTests {
    private func origin(_ fields: HTTPFields) -> CachedOrigin {
        CachedOrigin { _, number in .init(fields: fields, body: "\(number)") }
    }

    /// A tag that is a hash looks like a secret.
    @Test(arguments: [HTTPField.Name.ifNoneMatch, .ifRange, .ifMatch])
    func conditionsReachTheServerAsTheyAre(_ name: HTTPField.Name) async throws {
        let origin = CachedOrigin.counter()
        let cached = try await CachedSystem(origin)
        let tag = "\"33a64df551425fcc55e4d42a148795d9f25f89d4\""
        for fields in [[name: tag], [name: tag, .range: "bytes=0-0"]] as [HTTPFields] {
            _ = try await cached.system.exchange(
                "a", method: .get, target: "/v1/\(fields.count)", fields: fields)
            #expect(origin.requests.last?.request.headerFields[name] == tag)
        }
        // They aren't a user's.
        #expect(Set(cached.store.list().map(\.id.key.scope)).count <= 1)
        await cached.system.shutdown()
    }

    @Test func aStoredRedirectIsFollowed() async throws {
        let origin = CachedOrigin { request, number in
            request.request.path == "/v1/n"
                ? .init(
                    status: 301, fields: [.cacheControl: "max-age=60", .location: "/v1/m"])
                : .init(body: "\"there\"")
        }
        let cached = try await CachedSystem(origin)
        var staying = RequestOptions()
        staying.redirects = .never
        for _ in 0..<2 {
            let raw = try await cached.system.exchange(
                "a", method: .get, target: "/v1/n", options: staying)
            #expect(raw.status == 301 && origin.count == 1)
        }
        #expect(try await cached.text() == "\"there\"")
        #expect(origin.count == 3)
        await cached.system.shutdown()
    }

    /// As on a full disk.
    private struct FullStore: CacheStore {
        let scopeKey = [UInt8](repeating: 7, count: 32)

        func responses(for key: CacheKey) async -> [CacheEntry] { [] }
        func change(_ change: CacheChange) async -> Bool { false }
        func writer(for change: CacheChange) async -> (any CacheWriter)? { nil }
        func remove(_ selection: CacheSelection) async {}
        func trim(origin: String, to byteCount: Int) async {}
        func list() async -> [StoredResponse] { [] }
    }

    @Test func aFullStoreIsNotSaidToHaveStored() async throws {
        let origin = origin([.cacheControl: "max-age=60"])
        let cached = try await CachedSystem(origin) { $0.cacheStore = FullStore() }
        let raw = try await cached.system.exchange("a", method: .get, target: "/v1/n")
        let name = try #require(HTTPField.Name("Cache-Status"))
        #expect(raw.fields[name] == "signet;fwd=uri-miss;fwd-status=200")
        await cached.system.shutdown()
    }

    @Test func aWrongDigestIsNotStored() async throws {
        let name = try #require(HTTPField.Name("Content-Digest"))
        let origin = origin([
            .cacheControl: "max-age=60",
            name: "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:",
        ])
        let cached = try await CachedSystem(origin)
        #expect(try await cached.text() == "1")
        #expect(cached.store.count == 0)
        #expect(try await cached.text() == "2")
        await cached.system.shutdown()
    }

    @Test func anotherCAFileIsAnotherWay() async throws {
        let directory = try TemporaryDirectory()
        let authority = try TestAuthority.trusted.get()
        let pem = try String(contentsOfFile: authority.caFile, encoding: .utf8)
        let file = directory.path("ca.pem")
        try pem.write(toFile: file, atomically: true, encoding: .utf8)
        let server = try await RouteServer(
            ["/n": "200 OK\r\nCache-Control: max-age=600\r\n\r\n1"], tls: authority.leaf)
        var options = NetworkSystem.Options()
        options.caFile = file
        options.cacheStore = MemoryCacheStore(byteLimit: 1 << 20)
        options.callOptions.cache = .http
        let system = try await NetworkSystem.start(
            services: ["a": ServiceConfiguration(baseURL: server.url, payloadProtocol: .rest)],
            policy: .allowingAll(), options: options)
        for count in [1, 1] {
            _ = try await system.exchange("a", method: .get, target: "/n")
            #expect(server.requests.count == count)
        }
        // As after a CA was removed from it.
        try (pem + "\n").write(toFile: file, atomically: true, encoding: .utf8)
        _ = try await system.exchange("a", method: .get, target: "/n")
        #expect(server.requests.count == 2)
        await system.shutdown()
    }

    private struct Gate: Sendable {
        private let stream: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation

        init() { (stream, continuation) = AsyncStream.makeStream() }

        func open() { continuation.finish() }
        func wait() async { for await _ in stream {} }
    }

    /// How stored responses are removed while one is received.
    enum Removal: String, CaseIterable, Sendable {
        case put, all, service, host, ownRules

        func act(on cached: CachedSystem) async throws {
            switch self {
            case .put: _ = try await cached.system.exchange("a", method: .put, target: "/v1/n")
            case .all, .ownRules: await cached.system.clearCache()
            case .service: await cached.system.clearCache(of: "a")
            case .host:
                await cached.system.clearCache(ofHost: try HostName.canonical("api.example.com"))
            }
        }
    }

    @Test(arguments: Removal.allCases)
    func whatIsRemovedMeanwhileIsNotStored(_ removal: Removal) async throws {
        let (gate, arrived) = (Gate(), Gate())
        let origin = CachedOrigin { request, number in
            if number == 1 {
                arrived.open()
                await gate.wait()
            }
            return .init(fields: [.cacheControl: "max-age=600"], body: "\(number)")
        }
        let cached = try await CachedSystem(
            origin, removal == .ownRules ? .age(.seconds(600)) : .http)
        async let first = cached.text()
        await arrived.wait()
        try await removal.act(on: cached)
        gate.open()
        #expect(try await first == "1")
        #expect(cached.store.list().filter { $0.id.key.url.hasSuffix("/n") }.isEmpty)
        // A removal of other responses, and an earlier one, change nothing.
        _ = try await cached.system.exchange("a", method: .put, target: "/v1/other")
        let text = try await cached.text()
        #expect(text != "1")
        #expect(try await cached.text() == text)
        await cached.system.shutdown()
    }

    /// A cut-off content replaces nothing that can be served in place of the next failure.
    @Test func aCutOffContentReplacesNothing() async throws {
        let origin = CachedOrigin { _, number in
            number == 1
                ? .init(
                    fields: [.cacheControl: "max-age=1, stale-if-error=600", .eTag: "\"a\""],
                    body: "\"whole\"")
                : .init(
                    fields: [
                        .cacheControl: "max-age=60", .eTag: "\"b\"", .contentLength: "99",
                    ], body: "par", cut: TransportError(.cutOff, "test"))
        }
        let cached = try await CachedSystem(origin)
        #expect(try await cached.text() == "\"whole\"")
        for _ in 0..<3 {
            cached.clock.now += 10
            let (text, use) = try await cached.get()
            #expect(text == "\"whole\"" && use?.decision == .stale)
        }
        await cached.system.shutdown()
    }
}
