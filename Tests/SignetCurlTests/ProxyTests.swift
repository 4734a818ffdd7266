import HTTPTypes
import SignetCurl
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// Proxies of every kind: the pins are still checked against the origin, and no field of the
/// request goes to the proxy.
@Suite struct ProxyTests {
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority.trusted.get() }

    private func request(
        _ port: Int, through proxy: String, credentials: String? = nil, pin: String? = nil,
        caFile: String? = nil, _ change: (inout EngineRequest) -> Void = { _ in }
    ) throws -> EngineRequest {
        var head = get(port, "/plain?secret-target")
        head.headerFields[.authorization] = "topsecret"
        var request = EngineRequest(
            head, policy: try pinned(pin ?? authority.leaf.pin), timeout: .seconds(300),
            connectTimeout: .seconds(300))
        var parsed = try Proxy(parsing: proxy)
        if let credentials { try parsed.setCredentials(Array(credentials.utf8)) }
        parsed.caFile = caFile
        request.proxy = parsed
        change(&request)
        return request
    }

    @Test(arguments: ["http", "https", "socks4a", "socks5", "socks5h"])
    func thePinIsOnTheOrigin(_ kind: String) async throws {
        let host = try await OrdersHost.start(directives: "location /plain { return 200 'x'; }")
        // Its key is not the origin's, and its authority another one.
        let other = try TestAuthority.rogue.get()
        let proxy = try await ProxyServer(tls: kind == "https" ? other.leaf : nil)
        let url = "\(kind)://localhost:\(proxy.port)"
        let caFile = kind == "https" ? other.caFile : nil
        for http2 in [false, true] {
            let engine = try engine(http2: http2)
            for pin in [authority.leaf.pin, authority.root.pin] {
                let (response, body) = try await engine.fetch(
                    try request(host.port, through: url, pin: pin, caFile: caFile))
                #expect(body == Array("x".utf8))
                #expect(response.httpVersion.major == (http2 ? 2 : 1))
                #expect(
                    response.peerChain.map(\.pin.text) == [
                        authority.leaf.pin, authority.intermediate.pin, authority.root.pin,
                    ])
                #expect(response.response.headerFields[HTTPField.Name("X-Proxy")!] == nil)
                let timings = response.finalTimings
                if !timings.reusedConnection {
                    #expect(timings.tunnelled >= timings.connected && timings.connected > .zero)
                    #expect(timings.secured >= timings.tunnelled)
                }
                #expect(timings.total >= timings.firstByte && timings.firstByte > .zero)
            }
            // A pooled connection, a new one, and the proxy's own keys in the place of the
            // origin's.
            for pin in [wrongPin, other.leaf.pin, other.root.pin, other.intermediate.pin] {
                let error = await engine.failure(
                    try request(host.port, through: url, pin: pin, caFile: caFile))
                #expect(error?.code == .pinMismatch)
                #expect(error?.message.contains(authority.root.pin) == true)
            }
            await engine.shutdown()
        }
        let requests = try await host.requests(count: 4)
        #expect(requests.count == 4)
        #expect(!proxy.asked.isEmpty)
        #expect(proxy.asked.allSatisfy { $0.hasSuffix(":\(host.port)") })
        for word in ["topsecret", "secret-target", "authorization", "user-agent"] {
            #expect(!proxy.heard.contains(word))
        }
    }

    @Test func aWrongPinOnAFreshConnectionSendsNothing() async throws {
        for kind in ["http", "https", "socks5h"] {
            let server = try await ScriptedServer([.head], tls: authority.leaf)
            let proxy = try await ProxyServer(tls: kind == "https" ? authority.leaf : nil)
            let engine = try engine(http2: false)
            // The proxy shows the very key that is pinned: it is not the origin's for that.
            let origin = try authority.issue()
            let other = try await ScriptedServer([.head], tls: origin)
            for (port, pin) in [(server.port, wrongPin), (other.port, authority.leaf.pin)] {
                let error = await engine.failure(
                    try request(
                        port, through: "\(kind)://localhost:\(proxy.port)", pin: pin,
                        caFile: authority.caFile))
                #expect(error?.code == .pinMismatch, "\(kind): \(error?.message ?? "none")")
            }
            await engine.shutdown()
            #expect(!server.gotBytes && !other.gotBytes)
        }
    }

    @Test func anHTTPSProxysCertificateIsChecked() async throws {
        let host = try await ScriptedServer([.head], tls: authority.leaf)
        let rogue = try TestAuthority.rogue.get()
        let elsewhere = try authority.issue(hosts: ["other.test"])
        let engine = try engine()
        for certificate in [rogue.leaf, elsewhere] {
            let proxy = try await ProxyServer(login: "u:p", tls: certificate)
            let error = await engine.failure(
                try request(
                    host.port, through: "https://localhost:\(proxy.port)", credentials: "u:s3cr3t",
                    pin: certificate.pin, caFile: authority.caFile))
            #expect(error?.code == .proxy)
            #expect(error?.message.contains("localhost:\(proxy.port)") == true)
            #expect(error?.message.contains("s3cr3t") == false)
            #expect(proxy.heard.isEmpty && proxy.logins.isEmpty)
            // A look at the origin does not show the proxy's certificates as the origin's.
            var seen = try Proxy(parsing: "https://localhost:\(proxy.port)")
            seen.caFile = authority.caFile
            let way = seen
            let probe = await #expect(throws: TransportError.self) {
                try await engine.probe(
                    Authority(parsing: "localhost:\(host.port)"), proxy: way,
                    timeout: .seconds(300))
            }
            #expect(probe?.code == .proxy)
        }
        await engine.shutdown()
        #expect(!host.gotBytes)
    }

    @Test(arguments: ["http", "socks5h"])
    func credentialsGoToTheProxyAlone(_ kind: String) async throws {
        let server = try await RouteServer(["/plain": "200 OK\r\n\r\nx"], tls: authority.leaf)
        let proxy = try await ProxyServer(login: "us er:s3:cr3t")
        let url = "\(kind)://127.0.0.1:\(proxy.port)"
        let engine = try engine(http2: false)
        let good = try request(server.port, through: url, credentials: "us er:s3:cr3t")
        #expect(try await engine.fetch(good).body == Array("x".utf8))
        #expect(proxy.logins == ["us er:s3:cr3t"])
        for credentials in [nil, "us er:wrong-s3cr3t"] {
            let error = await engine.failure(
                try request(server.port, through: url, credentials: credentials) {
                    // Another host and port, so that no pooled connection is used.
                    $0.request.authority = "127.0.0.1:\(server.port)"
                    $0.policy = nil
                })
            #expect(error?.code == .proxyAuthentication, "\(error?.message ?? "none")")
            #expect(error?.message.contains("s3cr3t") == false)
        }
        var own = good
        own.request.headerFields[.proxyAuthorization] = "Basic s3cr3t"
        let refused = await engine.failure(own)
        #expect(refused?.code == .invalidRequest)
        await engine.shutdown()
        #expect(server.requests.count == 1)
        #expect(!server.requests[0].lowercased().contains("proxy"))
    }

    private static let responses: [(String, [ServerStep], TransportError.Code)] = [
        ("forbidden", [.send("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno")], .proxyRefused),
        (
            "a redirect", [.send("HTTP/1.1 302 X\r\nLocation: https://evil.test/\r\n\r\n")],
            .proxyRefused
        ),
        ("gateway", [.send("HTTP/1.1 502 Bad\r\n\r\n")], .proxyRefused),
        (
            "a login", [.send("HTTP/1.1 407 Login\r\nContent-Length: 0\r\n\r\n")],
            .proxyAuthentication
        ),
        ("nothing", [], .proxy),
        ("garbage", [.send(everyByte, times: 8)], .proxy),
        ("half", [.send("HTTP/1.1 20")], .proxy),
        (
            "endless header",
            [.send("HTTP/1.1 200 OK\r\n"), .flood("A: \(String(repeating: "b", count: 100))\r\n")],
            .proxy
        ),
        ("one endless line", [.send("HTTP/1.1 200 OK\r\nA: "), .flood("b")], .proxy),
        ("a stall", [.stall], .timeout),
    ]

    @Test(arguments: responses)
    func aProxyThatDoesNotConnectIsNamed(
        _ name: String, _ response: [ServerStep], _ code: TransportError.Code
    ) async throws {
        let server = try await ScriptedServer([.head], tls: authority.leaf)
        let proxy = try await ProxyServer(response: response)
        let engine = try engine()
        let error = await engine.failure(
            try request(server.port, through: "http://127.0.0.1:\(proxy.port)") {
                if code == .timeout { $0.timeout = .seconds(1) }
            })
        #expect(error?.code == code, "\(name): \(error?.message ?? "none")")
        #expect(error?.message.contains("proxy http://127.0.0.1:\(proxy.port)") == true)
        await engine.shutdown()
        #expect(!server.gotBytes)
    }

    @Test func aProxyThatIsNotThereIsNamed() async throws {
        let engine = try engine()
        for (url, words) in [
            ("http://127.0.0.1:\(freePort())", "127.0.0.1"),
            ("socks5h://nothing.invalid:1080", "nothing.invalid"),
        ] {
            let error = await engine.failure(try request(443, through: url))
            #expect(error?.code == .proxy)
            #expect(error?.message.contains(words) == true)
        }
        let server = try await ScriptedServer([.head], tls: authority.leaf)
        let refusing = try await ProxyServer(
            response: [.send("\u{5}\u{2}\0\u{1}\0\0\0\0\0\0")])
        let error = await engine.failure(
            try request(server.port, through: "socks5h://127.0.0.1:\(refusing.port)"))
        #expect(error?.code == .proxyRefused, "\(error?.message ?? "none")")
        await engine.shutdown()
    }

    @Test func sendsCleartextAsAWholeURL() async throws {
        let server = try await RouteServer(["http://x": "200 OK\r\n\r\nx"])
        let proxy = try await ProxyServer()
        let engine = try engine()
        var plain = try request(server.port, through: "http://127.0.0.1:\(proxy.port)")
        plain.request.scheme = "http"
        let error = await engine.failure(plain)
        #expect(error?.code == .cleartextToPinnedHost)
        #expect(proxy.asked.isEmpty)
        plain.policy = nil
        let (response, _) = try await engine.fetch(plain)
        #expect(response.response.status == .notFound)
        #expect(proxy.asked == ["GET http://localhost:\(server.port)/plain?secret-target"])
        await engine.shutdown()
        #expect(server.requests.count == 1)
    }

    /// An HTTPS proxy that is asked to connect to itself: the TLS session that libcurl has begun
    /// with the proxy, whose chain is not the host's, isn't resumed for the host.
    @Test func aProxysSessionIsNotUsedForTheHost() async throws {
        let proxy = try await ProxyServer(tls: authority.leaf)
        let engine = try engine(http2: false)
        let url = "https://localhost:\(proxy.port)"
        func through(_ policy: PinPolicy) throws -> EngineRequest {
            try request(proxy.port, through: url, caFile: authority.caFile) { $0.policy = policy }
        }
        let error = await engine.failure(try through(pinned(wrongPin)))
        #expect(error?.code == .pinMismatch, "\(error?.message ?? "a response")")
        // The host's own chain was seen.
        #expect(error?.pinRefusal?.seen.first?.pin.text == authority.leaf.pin)
        #expect(!proxy.heard.contains("secret"))
        let policy = try pinned(authority.leaf.pin)
        #expect(try await engine.fetch(through(policy)).body == Array("ok".utf8))
        // Without the proxy it is a host like any.
        let direct = EngineRequest(
            get(proxy.port, "/direct"), policy: policy, timeout: .seconds(300))
        #expect(try await engine.fetch(direct).body == Array("ok".utf8))
        await engine.shutdown()
        #expect(proxy.heard.contains("get /direct"))
    }
}
