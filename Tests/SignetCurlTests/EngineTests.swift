import HTTPTypes
import SignetCurl
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// The basic behaviour of the engine: pins, exact bytes on the wire, bodies, simultaneous calls and
/// host names.
@Suite struct EngineTests {
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority.trusted.get() }

    @Test(.features("002-34"), arguments: [false, true])
    func fetchesWithAPinOnAnyCertificateOfTheChain(overHTTP2: Bool) async throws {
        let host = try await OrdersHost.start(directives: "location /plain { return 200 'hello'; }")
        let engine = try engine(http2: overHTTP2)
        for pin in [authority.leaf.pin, authority.intermediate.pin, authority.root.pin] {
            let (response, body) = try await engine.fetch(
                EngineRequest(get(host.port, "/plain"), policy: try pinned(pin)))
            #expect(response.response.status == .ok)
            #expect(response.httpVersion.major == (overHTTP2 ? 2 : 1))
            #expect(body == Array("hello".utf8))
            #expect(response.verdict?.isMatch == true)
            #expect(
                response.peerChain.map(\.pin.text) == [
                    authority.leaf.pin, authority.intermediate.pin, authority.root.pin,
                ])
        }
        await engine.shutdown()
    }

    @Test(
        .features("000-23"),
        arguments: [HTTPRequest.Method.get, .post, .put, .delete, .patch, .options])
    func sendsTheGivenBytesUnchanged(_ method: HTTPRequest.Method) async throws {
        let server = try await ScriptedServer("mirror")
        let engine = try engine()
        var request = HTTPRequest(
            method: method, scheme: "http", authority: "LocalHost:\(server.port)",
            path: "/a/../b//c/./%2e%2E?x=%41&y=é'\"<>|")
        request.headerFields[.userAgent] = "me"
        request.headerFields[try #require(HTTPField.Name("X-Empty"))] = ""
        request.headerFields.append(HTTPField(name: .cookie, value: "a=b; c=d"))
        let hasBody = method != .get && method != .options && method != .delete
        let body = hasBody ? Array("{}".utf8) : []
        let (_, echo) = try await engine.fetch(EngineRequest(request, body: body))
        let text = String(decoding: echo, as: UTF8.self)
        let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        #expect(lines.first == "\(method.rawValue) \(request.path ?? "") HTTP/1.1")
        #expect(
            Set(lines.dropFirst().dropLast(2))
                == Set(
                    [
                        "Host: LocalHost:\(server.port)", "User-Agent: me", "X-Empty:",
                        "Cookie: a=b; c=d",
                    ] + (hasBody ? ["Content-Length: 2"] : [])))
        #expect(text.hasSuffix("\r\n\r\n" + (hasBody ? "{}" : "")))
        await engine.shutdown()
    }

    @Test func sendsAuthorityAndPathOverHTTP2AsGiven() async throws {
        let host = try await OrdersHost.start(
            directives:
                "location /echo { return 200 '$host|$http_host|$request_uri|$http_accept'; }")
        let engine = try engine()
        let (response, body) = try await engine.fetch(
            EngineRequest(get(host.port, "/echo/../echo?a=%41//b", host: "LOCALHOST")))
        #expect(response.httpVersion.major == 2)
        #expect(
            String(decoding: body, as: UTF8.self)
                == "localhost|LOCALHOST:\(host.port)|/echo/../echo?a=%41//b|")
        await engine.shutdown()
    }

    @Test func refusesRequestsThatCannotBeSentUnchanged() async throws {
        let engine = try engine()
        func expectInvalid(_ change: (inout EngineRequest) -> Void) async {
            var request = EngineRequest(get(1))
            change(&request)
            let error = await engine.failure(request)
            #expect(error?.code == .invalidRequest, "\(request.request)")
        }
        for path in ["a", "/a b", "/a\r\nX: y", "/a#b", "*", "http://x/"] {
            await expectInvalid { $0.request.path = path }
        }
        for host in [
            "", "a b", "a\r\nb", "user:pw@a", "a:b", "a/b", "☃", "a:99999", "a\0b", "a\u{7F}b",
            "a\tb", "a%0d%0aX: y", "a%00", "user%40a", "a:8\00", "a:+1", "a:0",
            "[::1]\r\nX: y", "[::1\0]", "[fe80::1%25eth0]", "fe80::1", "a..b", ":443",
        ] {
            await expectInvalid { $0.request.authority = host }
        }
        await expectInvalid { $0.request.scheme = "ftp" }
        await expectInvalid { $0.request.scheme = "file" }
        await expectInvalid { $0.request.method = .connect }
        await expectInvalid {
            $0.request.method = .head
            $0.body = [1]
        }
        for (name, value) in [
            ("Transfer-Encoding", "chunked"), ("Content-Length", "5"), ("Host", "other"),
            ("Upgrade", "h2c"), ("Connection", "X-Secret"),
        ] {
            let name = try #require(HTTPField.Name(name))
            await expectInvalid { $0.request.headerFields[name] = value }
        }
        await engine.shutdown()
    }

    @Test func followsNoRedirect() async throws {
        let server = try await ScriptedServer([
            .head,
            .send(
                "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nSet-Cookie: a=b\r\n"
                    + "Content-Length: 0\r\n\r\n"),
        ])
        let engine = try engine()
        let (response, _) = try await engine.fetch(
            EngineRequest(get(server.port, scheme: "http")))
        #expect(response.response.status == .found)
        await engine.shutdown()
    }

    @Test func connectsToTheGivenAddress() async throws {
        let server = try await OpenSSLServer(authority.identity)
        let engine = try engine()
        var request = EngineRequest(
            HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/"))
        request.connectTo = [
            try .init(parsing: "other.example.com:443:127.0.0.1:1"),
            try .init(parsing: "API.example.com.:443:127.0.0.1:\(server.port)"),
        ]
        #expect(try await engine.fetch(request).response.response.status == .ok)
        await engine.shutdown()
    }

    @Test func streamsALargeBodyThroughASmallBuffer() async throws {
        let server = try await ScriptedServer(
            [
                .head, .send("HTTP/1.1 200 OK\r\nContent-Length: 16777216\r\n\r\n"),
                .send("0123456789abcdef", times: 1 << 20),
            ], tls: authority.leaf)
        let engine = try engine()
        var request = EngineRequest(get(server.port))
        request.timeout = .seconds(300)  // each pause waits for whatever else the machine does
        let response = try await engine.send(request)
        var count = 0
        for try await chunk in response.body {
            #expect(chunk.count <= 1 << 20)
            count += chunk.count
            await Task.yield()
        }
        #expect(count == 16_777_216)
        await engine.shutdown()
    }

    @Test func endsACallWhoseBodyIsUnread() async throws {
        let server = try await ScriptedServer([
            .head, .send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"), .flood("x"),
        ])
        let engine = try engine()
        var request = EngineRequest(get(server.port, scheme: "http"))
        request.maximumBodySize = 2_000_000_000
        do { _ = try await engine.send(request) }
        #expect(try await eventually { server.server.stdout.contains("ERR ") })
        await engine.shutdown()
    }

    @Test(.features("002-26")) func carriesAThousandCallsAtOnce() async throws {
        let host = try await OrdersHost.start(
            directives: "location /number/ { return 200 '$uri'; }")
        for http2 in [true, false] {
            let engine = try engine(http2: http2)
            let policy = try pinned(authority.intermediate.pin)
            let port = host.port
            let good = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<1_000 {
                    group.addTask {
                        // Each body is another one, so that swapped responses show.
                        let path = "/number/\(number)"
                        var request = EngineRequest(get(port, path), policy: policy)
                        request.timeout = .seconds(300)
                        let response = try? await engine.fetch(request)
                        return response?.body == Array(path.utf8)
                    }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(good == 1_000)
            await engine.shutdown()
        }
    }

    /// The upstream responds only after it has received all requests, so they run at the same time.
    /// nginx numbers connections.
    @Test(.features("002-32", "003-26", "004-01"), arguments: [false, true])
    func callsAtOnceShareOneConnectionOverHTTP2Alone(overHTTP2: Bool) async throws {
        let count = 32
        let upstream = try await ScriptedServer("barrier", "\(count)")
        let host = try await OrdersHost.start(
            directives: """
                location /number { return 200 '$connection $connection_requests'; }
                location /all {
                    proxy_pass http://127.0.0.1:\(upstream.port);
                    add_header X-Connection '$connection $connection_requests';
                    proxy_read_timeout 600;
                }
                """)
        let engine = try engine(http2: overHTTP2)
        let policy = try pinned(authority.root.pin)
        let name = try #require(HTTPField.Name("X-Connection"))
        let port = host.port
        func request(_ path: String) -> EngineRequest {
            EngineRequest(
                get(port, path), policy: policy, timeout: .seconds(300),
                connectTimeout: .seconds(300))
        }
        let (_, first) = try await engine.fetch(request("/number"))
        let numbers = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<count {
                group.addTask {
                    let (response, body) = try await engine.fetch(request("/all"))
                    #expect(body == Array("ok".utf8))
                    return try #require(response.response.headerFields[name])
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        await engine.shutdown()
        #expect(Set(numbers).count == count)
        let connections = Set(numbers.map { $0.prefix { $0 != " " } })
        if overHTTP2 {
            let known = String(decoding: first, as: UTF8.self).prefix { $0 != " " }
            #expect(connections == [known])
            // The second request of the connection to the last.
            #expect(Set(numbers) == Set((2...(count + 1)).map { "\(known) \($0)" }))
        } else {
            #expect(connections.count == count)
        }
    }

    /// The second request names the long field of the first (RFC 7541, section 2.3.2), which takes
    /// a few bytes of the header block.
    @Test(.features("003-26")) func aRepeatedFieldIsCompressedOverHTTP2() async throws {
        let server = try await ScriptedServer("http2-heads", tls: authority.leaf)
        let engine = try engine()
        var request = get(server.port)
        let long = String(decoding: (0..<1000).map { UInt8(48 + $0 * 7 % 75) }, as: UTF8.self)
        request.headerFields[try #require(HTTPField.Name("X-Long"))] = long
        for _ in 0..<2 {
            let (response, body) = try await engine.fetch(
                EngineRequest(request, timeout: .seconds(300)))
            #expect(response.httpVersion.major == 2 && body == Array("ok".utf8))
        }
        await engine.shutdown()
        let lengths = server.server.lines("HEAD").compactMap { Int($0) }
        #expect(lengths.count == 2)
        #expect(lengths.first.map { $0 > 600 } == true && lengths.last.map { $0 < 200 } == true)
        #expect(server.server.stdout.split(separator: "\n").count { $0 == "CONNECTION" } == 1)
    }

    private static let names: [(written: [String], host: String, shown: String?)] = [
        (
            [
                "bücher.example", "BÜCHER.Example", "ｂücher.example",
                "bücher。example", "bücher.example.", "b%C3%BCcher.example",
            ], "xn--bcher-kva.example", nil
        ),
        (["xn--bcher-kva.example", "XN--BCHER-KVA.example"], "xn--bcher-kva.example", nil),
        (
            ["[::1]", "[0:0:0:0:0:0:0:1]", "[0000:0000::0001]", "[::0.0.0.1]"], "::1", ""
        ),
        (["127.0.0.1", "127.1", "127。0。0。1", "[::ffff:127.0.0.1]"], "127.0.0.1", ""),
    ]

    /// A server gets a name in the handshake as the A-label, or nothing for an address; in `Host`
    /// and `:authority` as written if it is ASCII, because signatures cover it, and otherwise in
    /// the canonical form.
    @Test(arguments: names.indices, [false, true])
    func namesReachTheWireInOneForm(_ index: Int, overHTTP2: Bool) async throws {
        let (written, name, shown) = Self.names[index]
        let leaf = try authority.issue(hosts: ["xn--bcher-kva.example", "127.0.0.1", "::1"])
        let host = try await OrdersHost.start(
            certificate: leaf,
            directives: "location /name { return 200 '$ssl_server_name|$http_host'; }")
        let policy = try PinPolicy(rules: [PinRule(host: name, pins: [Pin(parsing: leaf.pin)])])
        let local = try HostName.canonical("127.0.0.1")
        for spelling in written {
            let engine = try engine(http2: overHTTP2)
            var request = EngineRequest(
                get(host.port, "/name", host: spelling), policy: policy, timeout: .seconds(300),
                connectTimeout: .seconds(300))
            request.connectTo = [.init(host: nil, port: nil, address: local, addressPort: nil)]
            let (response, body) = try await engine.fetch(request)
            #expect(response.httpVersion.major == (overHTTP2 ? 2 : 1))
            #expect(response.verdict?.isMatch == true && response.verdict?.host.text == name)
            let isASCII = spelling.utf8.allSatisfy { $0 < 0x80 }
            #expect(
                String(decoding: body, as: UTF8.self)
                    == "\(shown ?? name)|\(isASCII ? spelling : name):\(host.port)", "\(spelling)")
            await engine.shutdown()
        }
    }

    @Test func refusesAnInvalidCAFile() async throws {
        let folder = try TemporaryDirectory()
        for path in ["/nowhere.pem", folder.path, try folder.write("no PEM", to: "x.pem")] {
            var configuration = EngineSettings()
            configuration.caFile = path
            let error = #expect(throws: TransportError.self) { try CurlEngine(configuration) }
            #expect(error?.code == .trustStore)
        }
    }
}
