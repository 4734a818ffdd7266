import HTTPTypes
import SignetCurl
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// mitmproxy between the engine and the host, with a CA that the engine trusts: the attack that
/// pins prevent.
@Suite struct InterceptorTests {
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority.trusted.get() }

    @Test(.features("003-25", "004-21"), arguments: [false, true])
    func refusesAnInterceptorWhoseAuthorityIsTrusted(overHTTP2: Bool) async throws {
        let host = try await OrdersHost.start(directives: "location /plain { return 200 'x'; }")
        let interceptor = try await Interceptor(.host("https://localhost:\(host.port)"))
        try await attack(host, through: interceptor, port: interceptor.port, overHTTP2: overHTTP2)
    }

    @Test(arguments: [false, true])
    func refusesAnInterceptingProxy(overHTTP2: Bool) async throws {
        let host = try await OrdersHost.start(directives: "location /plain { return 200 'x'; }")
        let interceptor = try await Interceptor(.proxy)
        try await attack(
            host, through: interceptor, port: host.port, proxy: interceptor.proxyURL,
            overHTTP2: overHTTP2)
    }

    private func attack(
        _ host: OrdersHost, through interceptor: Interceptor, port: Int, proxy: String? = nil,
        overHTTP2: Bool
    ) async throws {
        var configuration = EngineSettings()
        configuration.caFile = interceptor.caFile
        configuration.offersHTTP2 = overHTTP2
        let engine = try CurlEngine(configuration)

        func request(_ word: String, _ policy: PinPolicy?) throws -> EngineRequest {
            var head = get(port, "/plain?\(word)")
            head.method = .post
            head.headerFields[.authorization] = "field-\(word)"
            var request = EngineRequest(
                head, body: Array("body-\(word)".utf8), policy: policy, timeout: .seconds(300))
            request.proxy = try proxy.map { try Proxy(parsing: $0) }
            return request
        }
        // Without pins all looks well: it reads and could change everything.
        let (open, body) = try await engine.fetch(request("open", nil))
        #expect(body == Array("x".utf8) && open.httpVersion.major == (overHTTP2 ? 2 : 1))
        for pin in [authority.leaf.pin, authority.intermediate.pin, authority.root.pin] {
            let error = await engine.failure(try request("refused", try pinned(pin)))
            #expect(error?.code == .pinMismatch)
            #expect(error?.message.contains(interceptor.pin) == true)
            #expect(error?.message.contains(pin) == true)
        }
        // And on connections of its own, with nothing open to it yet.
        let fresh = try CurlEngine(configuration)
        let error = await fresh.failure(
            try request("refused", try pinned(authority.root.pin)))
        #expect(error?.code == .pinMismatch)
        await fresh.shutdown()
        let report = try await engine.fetch(
            request("reported", try pinned(authority.root.pin, mode: .report)))
        #expect(report.response.verdict?.isMatch == false)
        // The same pins pass without the interceptor.
        var straight = try request("straight", try pinned(authority.root.pin))
        straight.request.authority = "localhost:\(host.port)"
        straight.proxy = nil
        _ = try await engine.fetch(straight)
        await engine.shutdown()
        let requests = try await host.requests(count: 3)
        #expect(requests.count == 3 && !requests.contains { $0.contains("refused") })
        let heard = try await interceptor.heard()
        for word in ["plain?open", "field-open", "body-open", "field-reported"] {
            #expect(heard.contains(word), "\(word)")
        }
        for word in ["refused", "straight"] { #expect(!heard.contains(word), "\(word)") }
    }
}
