import SignetBase
import SignetCurl
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// Certificates for other hosts than the one of the URL. The server gets no byte of the request.
@Suite struct ServerNameTests {
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority.trusted.get() }

    /// A server whose certificate has a common name and a subjectAltName, both in OpenSSL's syntax.
    private func server(
        _ commonName: String, _ alternatives: String, tls version: String = "TLSv1_3"
    ) async throws -> ScriptedServer {
        try await ScriptedServer(
            [.head, .ok()],
            tls: try authority.issue(hosts: [commonName], alternatives: alternatives),
            version: version)
    }

    /// Every host is this machine.
    private static var here: [EngineRequest.ConnectTo] {
        get throws {
            let address = try HostName.canonical("127.0.0.1")
            return [.init(host: nil, port: nil, address: address, addressPort: nil)]
        }
    }

    private func request(
        _ host: String, at server: ScriptedServer, policy: PinPolicy? = nil
    ) throws -> EngineRequest {
        EngineRequest(
            get(server.port, host: host), policy: policy, timeout: .seconds(300),
            connectTo: try Self.here)
    }

    private static let others: [(name: String, alternatives: String, hosts: [String])] = [
        ("api.test", "", ["api.test", "API.test.", "x.api.test"]),
        ("*.api.test", "", ["x.api.test"]),
        ("127.0.0.1", "", ["127.0.0.1", "2130706433"]),
        ("::1", "", ["[::1]"]),
        ("api.test", "email:admin@api.test,URI:https://api.test/", ["api.test"]),
        ("api.test", "IP:127.0.0.1", ["api.test", "[::1]", "127.0.0.2"]),
        ("127.0.0.1", "DNS:127.0.0.1,DNS:api.test", ["127.0.0.1"]),
        ("::1", "DNS:::1,IP:127.0.0.1", ["[::1]"]),
        ("api.test", "DNS:*.api.test", ["api.test", "x.y.api.test", "127.0.0.1"]),
        ("api.test", "DNS:*.test,DNS:*,DNS:api.*,DNS:a*.test,DNS:*i.test", ["api.test"]),
        ("api.test", "DNS:x.*.test,DNS:.api.test,DNS:api.test.evil", ["x.api.test", "api.test"]),
        // The dNSName `api.test`, a zero byte and `.evil`.
        ("api.test", "DER:3010820e6170692e74657374002e6576696c", ["api.test"]),
        (
            "xn--bcher-kva.test", "DNS:b*.test,DNS:xn--*.test",
            ["xn--bcher-kva.test", "bücher.test"]
        ),
    ]

    @Test(arguments: others.indices)
    func refusesACertificateForOtherHosts(_ index: Int) async throws {
        let (name, alternatives, hosts) = Self.others[index]
        let server = try await server(name, alternatives)
        let engine = try engine(http2: false)
        for host in hosts {
            let canonical = try HostName.canonical(host)
            for mode in [nil, PinRule.Mode.enforce, .report] {
                let policy = try mode.map {
                    try PinPolicy(rules: [
                        PinRule(
                            host: host, pins: [Pin(parsing: authority.root.pin)], mode: $0)
                    ])
                }
                let error = await engine.failure(try request(host, at: server, policy: policy))
                #expect(error?.code == .tls, "\(host): \(error?.message ?? "a response")")
                let expected = "expected \(canonical.kind == .name ? "" : "the IP address ")"
                #expect(error?.message.hasSuffix("\(expected)\"\(canonical)\"") == true)
            }
        }
        await engine.shutdown()
        #expect(!server.gotBytes)
    }

    private static let own: [(alternatives: String, hosts: [String])] = [
        ("DNS:api.test", ["api.test", "API.test.", "ａpi.test"]),
        ("DNS:API.Test,DNS:*.API.test", ["api.test", "x.api.test", "a_b.api.test"]),
        ("DNS:*.a_b.test", ["x.a_b.test", "_x.a_b.test"]),
        ("DNS:*.test.test", ["bücher.test.test"]),
        ("DNS:xn--bcher-kva.test", ["bücher.test"]),
        ("IP:127.0.0.1,IP:::1", ["127.0.0.1", "127.1", "[::ffff:127.0.0.1]", "[0:0::1]"]),
    ]

    @Test(arguments: own.indices)
    func acceptsACertificateForTheHost(_ index: Int) async throws {
        let (alternatives, hosts) = Self.own[index]
        let server = try await server("unrelated", alternatives)
        let engine = try engine(http2: false)
        for host in hosts {
            let (_, body) = try await engine.fetch(try request(host, at: server))
            #expect(body == Array("ok".utf8))
        }
        await engine.shutdown()
    }

    @Test func comparesTheURLsHostAndNotTheAddress() async throws {
        let server = try await server("api.test", "DNS:localhost,IP:127.0.0.1")
        let engine = try engine(http2: false)
        let error = await engine.failure(try request("api.test", at: server))
        #expect(
            error?.message == "api.test:\(server.port) is not trusted: the certificate's"
                + " subjectAltName has \"localhost\", \"127.0.0.1\", expected \"api.test\"")
        await engine.shutdown()
        #expect(!server.gotBytes)
    }

    /// A connection or session that another call began, in both versions of TLS.
    @Test(arguments: ["TLSv1_2", "TLSv1_3"])
    func comparesOnEachConnectionAndSession(_ version: String) async throws {
        let server = try await server("api.test", "DNS:a.test,DNS:b.test", tls: version)
        let engine = try engine(http2: false)
        for host in ["a.test", "api.test", "a.test", "b.test", "api.test", "b.test"] {
            let error = await engine.failure(try request(host, at: server))
            #expect(error?.code == (host == "api.test" ? .tls : nil), "\(error?.message ?? "")")
        }
        await engine.shutdown()
        #expect(!server.got.contains("api.test"))
    }

    @Test func comparesAnHTTPSProxysName() async throws {
        let host = try await ScriptedServer([.head], tls: authority.leaf)
        let engine = try engine()
        for (name, alternatives) in [("localhost", ""), ("localhost", "DNS:other.test")] {
            let certificate = try authority.issue(hosts: [name], alternatives: alternatives)
            let proxy = try await ProxyServer(tls: certificate)
            var request = EngineRequest(get(host.port), timeout: .seconds(300))
            request.proxy = try Proxy(parsing: "https://localhost:\(proxy.port)")
            request.proxy?.caFile = authority.caFile
            let error = await engine.failure(request)
            #expect(error?.code == .proxy)
            #expect(error?.message.contains("\(proxy.port) could not be used to connect") == true)
            #expect(error?.message.hasSuffix("expected \"localhost\"") == true)
            #expect(proxy.heard.isEmpty)
        }
        await engine.shutdown()
        #expect(!host.gotBytes)
    }

    /// A look at a server says why its certificate is not trusted.
    @Test func showsACertificateForOtherHosts() async throws {
        let server = try await server("api.test", "")
        let engine = try engine()
        let seen = try await engine.probe(
            Authority(parsing: "api.test:\(server.port)"), connectTo: Self.here,
            timeout: .seconds(300))
        #expect(!seen.isTrusted && seen.chain.count == 3)
        #expect(
            seen.reason == "the certificate's subjectAltName has no host (its common name doesn't"
                + " count), expected \"api.test\"")
        await engine.shutdown()
    }
}
