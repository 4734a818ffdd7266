import Foundation
import HTTPTypes
import Logging
import SignetClient
import SignetCrypto
import SignetJSON
import SignetPinning
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// Collectors that pin reports are posted to.
extension PinReportingTests {
    /// A system whose one service's host shows a wrong key, and a collector under a policy of its
    /// own.
    private func report(
        to collector: PinReportCollector, on host: OrdersHost, with policy: PinPolicy,
        connectTo: [EngineRequest.ConnectTo] = []
    ) async throws -> PinReportCounts {
        var options = try options(collectors: [collector])
        options.pinReports.logs = false
        options.connectTo = connectTo
        let system = try await PolicyUpdateTests.start(host, policy, options)
        #expect(await failure(system)?.code.name == "pin-mismatch")
        await system.shutdown()
        return system.pinReportCounts
    }

    @Test func anUnlistedCollectorGetsTheReport() async throws {
        let host = try await OrdersHost.start(directives: PolicyUpdateTests.directives)
        let collector = try await CaptureServer(status: "204 No Content", tls: authority.leaf)
        let app = PinReportFormat.App(identifier: "com.example.shop", version: "1.4.2")
        for (number, format) in [PinReportFormat.rfc7469, .trustKit(app)].enumerated() {
            var post = PinReportCollector(url: collector.url + "/reports?x=1", format: format)
            post.timeout = .seconds(300)
            let counts = try await report(
                to: post, on: host, with: PolicyUpdateTests.policy(PolicyUpdateTests.wrong))
            #expect(counts.delivered == 1 && counts.failed == 0 && counts.made == 1)
            let requests = try await collector.requests(count: number + 1)
            let text = String(decoding: try #require(requests.last), as: UTF8.self)
            #expect(requests.count == number + 1)
            #expect(text.hasPrefix("POST /reports?x=1 HTTP/1.1\r\n"))
            #expect(text.lowercased().contains("content-type: application/json\r\n"))
            let body = try #require(text.firstRange(of: "\r\n\r\n")?.upperBound)
            let json = try JSONValue(parsing: Array(text[body...].utf8))
            #expect(json["hostname"] == "localhost")
            #expect(json["date-time"] == "2026-11-21T02:35:51Z")
            let chain = json["validated-certificate-chain"]?.array ?? []
            let facts = try chain.map {
                try X509Parser.certificates(Array(($0.string ?? "").utf8))[0].der
            }
            #expect(facts.first == (try der(authority.leaf.pem)) && facts.count == 3)
        }
        try await host.stop()
    }

    @Test func aReportGoesThroughTheProxyOfItsCollector() async throws {
        let host = try await OrdersHost.start(directives: PolicyUpdateTests.directives)
        let collector = try await CaptureServer(tls: authority.leaf)
        let proxy = try await ProxyServer()
        var options = try options()
        options.proxies = ProxyRules(
            try Proxy(parsing: "http://127.0.0.1:\(proxy.port)"),
            except: ProxyExceptions(parsing: "localhost"))
        var post = PinReportCollector(url: collector.url)
        post.timeout = .seconds(300)
        options.pinReports.collectors = [post]
        options.pinReports.logs = false
        let system = try await PolicyUpdateTests.start(
            host, PolicyUpdateTests.policy(PolicyUpdateTests.wrong), options)
        #expect(await failure(system)?.code.name == "pin-mismatch")
        await system.shutdown()
        #expect(system.pinReportCounts.delivered == 1)
        #expect(proxy.asked == ["CONNECT \(collector.url.dropFirst("https://".count))"])
        try await host.stop()
    }

    /// The collector's host with the policy's rule, with its own pins, and with neither.
    @Test func theCollectorsOwnMismatchMakesNoReport() async throws {
        let host = try await OrdersHost.start(directives: PolicyUpdateTests.directives)
        let collector = try await CaptureServer(tls: authority.leaf)
        let address = "127.0.0.1"
        let right = try Pin(parsing: authority.leaf.pin)
        let wrong = try Pin(parsing: PolicyUpdateTests.wrong)
        let wanted = try PinRule(host: "localhost", pins: [wrong])
        let rows: [(rule: [Pin], expires: String?, own: [Pin], isTaken: Bool)] = [
            ([right], nil, [], true), ([wrong], nil, [], false), ([wrong], nil, [right], true),
            ([right], nil, [wrong], false), ([], nil, [wrong], false),
            ([right], "2020-01-01", [], false), ([right], "2020-01-01", [right], true),
        ]
        for row in rows {
            var rules = [wanted]
            if !row.rule.isEmpty {
                rules.append(try PinRule(host: address, pins: row.rule, expires: row.expires))
            }
            var post = PinReportCollector(url: collector.url)
            post.timeout = .seconds(300)
            post.pins = row.own
            let counts = try await report(to: post, on: host, with: PinPolicy(rules: rules))
            #expect(counts.delivered == (row.isTaken ? 1 : 0))
            // One report for the call, and none for the failure of the report.
            #expect(counts.made == 1 && counts.failed == (row.isTaken ? 0 : 1))
        }
        #expect(try await collector.requests(count: 3).count == 3)
        try await host.stop()
    }

    @Test func aBadCollectorIsOnlyCounted() async throws {
        let host = try await OrdersHost.start(directives: PolicyUpdateTests.directives)
        let policy = try PolicyUpdateTests.policy(PolicyUpdateTests.wrong)
        let refusing = try await CaptureServer(status: "500 No", tls: authority.leaf)
        let untrusted = try await CaptureServer(tls: TestAuthority.rogue.get().leaf)
        let silent = try await OpenSSLServer(authority.identity, responds: false)
        for url in [refusing.url, untrusted.url, silent.url, "https://127.0.0.1:9"] {
            var post = PinReportCollector(url: url)
            post.timeout = .seconds(2)
            let counts = try await report(to: post, on: host, with: policy)
            #expect(counts.failed == 1 && counts.made == 1 && counts.delivered == 0, "\(url)")
        }
        #expect(try await untrusted.requests(count: 0).isEmpty)
        try await host.stop()
    }

    @Test(arguments: ["http://collector.example/", "collector", "https://u:p@c.example/", ""])
    func aCollectorWithoutHTTPSIsRefused(_ url: String) async throws {
        var options = try options()
        options.pinReports.collectors = [PinReportCollector(url: url)]
        let given = options
        let error = await #expect(throws: ClientError.self) {
            try await NetworkSystem.start(services: [:], policy: nil, options: given)
        }
        #expect(error?.code == .refusedURL)
    }
}
