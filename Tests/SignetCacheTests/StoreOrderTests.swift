#if Storage
import HTTPTypes
import SignetClient
import SignetPinning
import SignetStorage
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// Memory and disk are asked before the network.
@Suite struct StoreOrderTests {
    private final class Origin: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "origin", pinsPublicKeys: true, speaksHTTP2: false)
        let count = Mutex(0)

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            count.withLock { $0 += 1 }
            return EngineResponse(
                response: HTTPResponse(
                    status: .ok, headerFields: [.cacheControl: "max-age=600"]),
                body: HTTPResponseBody(bytes: Array("1".utf8)),
                httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async {}
    }

    private let directory: TemporaryDirectory
    private let origin = Origin()

    init() throws { directory = try TemporaryDirectory() }

    /// Makes calls as one process would, and returns the cache's decisions.
    private func calls(_ count: Int, memoryLimit: Int) async throws -> [CacheUse.Decision?] {
        var options = NetworkSystem.Options()
        options.engine = origin
        options.cacheStore = try DiskCacheStore(
            folder: directory.path("cache"), memoryLimit: memoryLimit)
        options.callOptions.cache = .http
        let system = try await NetworkSystem.start(
            services: [
                "a": ServiceConfiguration(
                    baseURL: "https://api.example.com", payloadProtocol: .rest)
            ], policy: PinPolicy(rules: [], unlisted: .allow), options: options)
        var decisions: [CacheUse.Decision?] = []
        for _ in 0..<count {
            let trace = CallTrace()
            _ = try await system.call(
                RESTRequest(.get, "/x"), on: "a", options: RequestOptions(trace: trace))
            decisions.append(trace.record?.work.cache?.decision)
        }
        await system.shutdown()
        return decisions
    }

    @Test(.features("003-30")) func theNetworkIsTheLastToBeAsked() async throws {
        #expect(try await calls(3, memoryLimit: 1 << 20) == [.miss, .hit, .hit])
        #expect(origin.count.withLock { $0 } == 1)
        // The next process has nothing in memory, and one keeps nothing there.
        #expect(try await calls(1, memoryLimit: 1 << 20) == [.hit])
        #expect(try await calls(2, memoryLimit: 0) == [.hit, .hit])
        #expect(origin.count.withLock { $0 } == 1)
        try await DiskCacheStore(folder: directory.path("cache")).remove(.all)
        #expect(try await calls(2, memoryLimit: 1 << 20) == [.miss, .hit])
        #expect(origin.count.withLock { $0 } == 2)
    }
}
#endif
