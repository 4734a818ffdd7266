import HTTPTypes
import SignetCurl
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// Tunnels that a proxy has opened, and the calls that may use them.
@Suite struct ProxyPoolTests {
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority.trusted.get() }

    private func request(
        _ port: Int, _ proxy: ProxyServer, _ kind: String, login: String? = nil,
        scheme: String = "https", pin: String? = nil
    ) throws -> EngineRequest {
        var request = EngineRequest(
            get(port, "/plain?\(login == "u:p" ? "good" : "bad")", scheme: scheme),
            timeout: .seconds(300), connectTimeout: .seconds(300))
        var parsed = try Proxy(parsing: "\(kind)://localhost:\(proxy.port)")
        if let login { try parsed.setCredentials(Array(login.utf8)) }
        if kind == "https" { parsed.caFile = authority.caFile }
        request.proxy = parsed
        request.policy = try pin.map { try pinned($0) }
        return request
    }

    /// A proxy lets one login through; the others meet an open connection of that one's to the same
    /// host.
    @Test(arguments: ["http", "https", "socks5h"], [false, true])
    func loginsDoNotShareTunnels(_ kind: String, overHTTP2: Bool) async throws {
        let host = try await OrdersHost.start(
            directives: "location /plain { return 200 'x'; } keepalive_timeout 600;")
        let proxy = try await ProxyServer(
            login: "u:p", tls: kind == "https" ? authority.leaf : nil)
        let engine = try engine(http2: overHTTP2)
        for round in 0..<2 {
            let good = try request(host.port, proxy, kind, login: "u:p")
            let (response, _) = try await engine.fetch(good)
            #expect(response.finalTimings.reusedConnection == (round > 0))
            for login in [nil, "u:wrong", "v:p", "u:P", "u:", ":p", "up:"] {
                let error = await engine.failure(
                    try request(host.port, proxy, kind, login: login))
                #expect(error?.code == .proxyAuthentication, "\(login ?? "none")")
            }
        }
        await engine.shutdown()
        let requests = try await host.requests(count: 2)
        #expect(requests.count == 2 && !requests.contains { $0.contains("bad") })
    }

    @Test func cleartextIsAskedForUnderItsOwnLogin() async throws {
        let server = try await RouteServer(["/plain": "200 OK\r\n\r\nx"])
        let proxy = try await ProxyServer(login: "u:p")
        let engine = try engine()
        for (login, status) in [("u:p", 404), ("u:wrong", 407), (nil, 407), ("u:p", 404)] {
            let (response, _) = try await engine.fetch(
                try request(server.port, proxy, "http", login: login, scheme: "http"))
            #expect(response.response.status.code == status)
        }
        await engine.shutdown()
        #expect(server.requests.count == 2)
        #expect(proxy.logins == ["u:p", "u:wrong", "u:p"])
    }

    /// Many calls over HTTP/2 through an HTTPS proxy at once, each judged by its own pins.
    @Test func callsThroughAnHTTPSProxyAreJudgedEach() async throws {
        let host = try await OrdersHost.start(directives: "location /plain { return 200 'x'; }")
        let proxy = try await ProxyServer(login: "u:p", tls: authority.leaf)
        let engine = try engine()
        func request(_ isRight: Bool) throws -> EngineRequest {
            var request = try self.request(
                host.port, proxy, "https", login: "u:p",
                pin: isRight ? authority.root.pin : wrongPin)
            if !isRight { request.request.path = "/plain?bad" }
            return request
        }
        let (first, _) = try await engine.fetch(request(true))
        #expect(first.httpVersion.major == 2)
        let outcomes = try await withThrowingTaskGroup(of: (Bool, Bool, TransportError?).self) {
            group in
            for index in 0..<60 {
                let isRight = !index.isMultiple(of: 3)
                let one = try request(isRight)
                group.addTask {
                    do throws(TransportError) {
                        let (response, body) = try await engine.fetch(one)
                        let isWhole = response.httpVersion.major == 2 && body == Array("x".utf8)
                        return (isRight, isWhole, nil)
                    } catch {
                        return (isRight, false, error)
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count == 60)
        for (isRight, isWhole, error) in outcomes {
            #expect(isWhole == isRight && error?.code == (isRight ? nil : .pinMismatch))
        }
        await engine.shutdown()
        #expect(proxy.asked.allSatisfy { $0 == "CONNECT localhost:\(host.port)" })
        let requests = try await host.requests(count: 41)
        #expect(requests.count == 41 && !requests.contains { $0.contains("bad") })
    }

    /// A proxy that puts the responses of two calls into one TLS record of its own: a call whose
    /// response is already there must not wait for a socket without further bytes.
    @Test func noCallWaitsForAReadProxyRecord() async throws {
        let host = try await OrdersHost.start(
            directives: "location /plain { return 200 'x'; } keepalive_timeout 3600;")
        let proxy = try await ProxyServer(tls: authority.leaf, gathers: true)
        let engine = try engine()
        let request = try request(host.port, proxy, "https", pin: authority.root.pin)
        let (first, _) = try await engine.fetch(request)
        #expect(first.httpVersion.major == 2)
        // If the host closed the connection, its end would show that there is something to read.
        for _ in 0..<3 {
            let failures = await withTaskGroup(of: TransportError?.self) { group in
                for _ in 0..<8 { group.addTask { await engine.failure(request) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(failures.allSatisfy { $0 == nil })
        }
        await engine.shutdown()
    }
}
