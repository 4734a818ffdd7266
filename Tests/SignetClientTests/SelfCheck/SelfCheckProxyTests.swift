import SignetClient
import SignetJSON
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// A self-check of a running system uses its proxy.
@Suite struct SelfCheckProxyTests {
    private let authority: TestAuthority
    private let host: OrdersHost

    init() async throws {
        authority = try TestAuthority.trusted.get()
        host = try await OrdersHost.start()
    }

    /// Status and detail of the one host that is looked at.
    private func host(_ report: SelfCheckReport) throws -> (SelfCheckReport.Status, String) {
        let lines = report.lines.filter { $0.area == "hosts" }
        let line = try #require(lines.first)
        #expect(lines.count == 1 && line.subject == "localhost:\(host.port)")
        return (line.status, line.detail)
    }

    private func rules(_ port: Int, login: String? = nil) throws -> ProxyRules {
        var proxy = try Proxy(parsing: "http://127.0.0.1:\(port)")
        if let login { try proxy.setCredentials(Array(login.utf8)) }
        return ProxyRules(proxy)
    }

    @Test func aRunningSystemChecksThroughItsProxy() async throws {
        let proxy = try await ProxyServer(login: "u:p")
        for (rules, status, words) in [
            (try rules(proxy.port, login: "u:p"), .good, "through the proxy http://127.0.0.1"),
            (try rules(proxy.port, login: "u:s3cr3t"), .bad, "proxy"),
            (try rules(freePort()), .bad, "proxy"), (.none, .good, "shows a pinned key"),
        ] as [(ProxyRules, SelfCheckReport.Status, String)] {
            var options = NetworkSystem.Options()
            options.caFile = authority.caFile
            options.proxies = rules
            let system = try await NetworkSystem.start(
                services: ["a": ServiceConfiguration(baseURL: host.url, payloadProtocol: .rest)],
                policy: PinPolicy(rules: [
                    PinRule(
                        host: "localhost",
                        pins: [Pin(parsing: authority.root.pin), Pin(parsing: authority.leaf.pin)])
                ]), options: options)
            let found = try self.host(await system.selfCheck(hostTimeout: .seconds(300)))
            #expect(found.0 == status && found.1.contains(words), "\(found)")
            #expect(!found.1.contains("s3cr3t"))
            await system.shutdown()
        }
        #expect(proxy.asked == Array(repeating: "CONNECT localhost:\(host.port)", count: 2))
        #expect(host.requests.isEmpty)
    }
}
