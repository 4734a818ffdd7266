import SignetClient
import SignetCurl
import SignetJSON
import TestSupport
import Testing

/// Engines that send, compared by their test calls to a host that logs how each of them came.
@Suite(.timeLimit(.minutes(2))) struct EngineComparisonTests {
    @Test(.features("000-45", "000-62")) func realEnginesAreMeasured() async throws {
        let (authority, host) = (try TestAuthority.trusted.get(), try await OrdersHost.start())
        var values = ProbeTests.probe([
            "service": "a", "method": "orders.list", "expect": [], "timeout": 20,
        ])
        values["services.a.baseURL"] = .string("\(host.url)/rpc")
        values["services.a.pins"] = [.string(authority.root.pin), .string(authority.leaf.pin)]
        values["services.a.signing.scheme"] = "rfc9421"
        values["services.a.signing.key"] = .string(OrdersHost.keyID)
        var options = NetworkSystem.Options()
        options.caFile = authority.caFile
        var settings = EngineSettings()
        (settings.caFile, settings.offersHTTP2) = (authority.caFile, false)
        options.engines["http1"] = try CurlEngine(settings)
        // It has the system's authorities alone.
        options.engines["untrusting"] = try CurlEngine()
        let system = try await NetworkSystem.start(
            Settings.configuration(values), keys: KeySource.file(host.keyFile).load(),
            options: options)
        let results = await system.compareEngines().results
        #expect(results.map(\.engine) == ["http1", "standard", "untrusting"])
        #expect(results.allSatisfy { $0.probe == "up" && $0.count == 20 })
        for result in results[...1] {
            #expect(result.failureCount == 0 && result.durations.count == 20, "\(result)")
            #expect(result.bytesSent > 20 * 300 && result.bytesReceived > 20 * 100, "\(result)")
            let median = try #require(result.medianDuration)
            #expect(try median <= #require(result.duration(at: 0.95)))
        }
        #expect(results[2].failures.values.sorted() == [20])
        #expect(results[2].durations.isEmpty && results[2].bytesReceived == 0)
        // The host has verified each signature, and got nothing of the third engine.
        let requests = try await host.requests(count: 40)
        #expect(requests.count == 40)
        #expect(requests.allSatisfy { $0.contains(#""verdict":"verified""#) })
        #expect(requests.count { $0.contains(#""protocol":"HTTP/1.1""#) } == 20)
        #expect(requests.count { $0.contains(#""protocol":"HTTP/2.0""#) } == 20)
        await system.shutdown()
        try await host.stop()
    }
}
