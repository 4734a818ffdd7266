import SignetClient
import SignetJSON
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// A self-check uses the proxy, both of a running system and of files.
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

    @Test func filesAreCheckedThroughTheProxyThatTheyName() async throws {
        let (named, given, other) = (
            try await ProxyServer(), try await ProxyServer(), try await ProxyServer()
        )
        let folder = try TemporaryDirectory()
        let schema: JSONValue = [
            "keys": ["proxy.url": ["type": "string", "visibility": "public"]]
        ]
        var project = SelfCheckProject()
        project.caFile = authority.caFile
        project.schema = try folder.write(schema.text, to: "schema.json")
        project.policy = try folder.write(
            #"{"hosts":{"localhost":{"pins":["\#(authority.root.pin)","\#(authority.leaf.pin)"]}}}"#,
            to: "policy.json")
        project.connectTo = ["localhost:443:localhost:\(host.port)"]
        for (url, defaults) in [(true, "url.json"), (false, "none.json")] {
            let values: JSONValue =
                url ? ["proxy.url": .string("http://127.0.0.1:\(named.port)")] : [:]
            project.defaults = try folder.write(values.text, to: defaults)
            for isGiven in [false, true] {
                var check = SelfCheck(of: project, hostTimeout: .seconds(300))
                check.otherProxies = try rules(other.port)
                if isGiven { check.proxies = try rules(given.port) }
                let report = await check.run(now: 1_800_000_000)
                let line = try #require(report.lines.first { $0.area == "hosts" })
                let proxy = isGiven ? given : url ? named : other
                #expect(
                    line.status == .good
                        && line.detail.hasSuffix("through the proxy http://127.0.0.1:\(proxy.port)"),
                    "\(line.detail)")
            }
        }
        #expect(named.asked.count == 1 && given.asked.count == 2 && other.asked.count == 1)
    }
}
