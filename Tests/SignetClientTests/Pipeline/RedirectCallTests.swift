import Foundation
import HTTPTypes
import SignetClient
import SignetPinning
import SignetSigning
import SignetTransport
import TestSupport
import Testing

/// Redirected calls: which requests are signed again, and which fields are kept or removed.
@Suite struct RedirectCallTests {
    private static let keys: KeySet? = try? KeySet(
        parsing: Array(
            #"{"keys":[{"kty":"oct","use":"sig","kid":"AK","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"},{"kty":"oct","use":"sig","alg":"HS256","kid":"HS","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"}]}"#
                .utf8), source: "test")

    private static func found(_ location: String, status: Int = 302) -> RecordingEngine.Response {
        .init(status: status, body: "moved", fields: [.location: location])
    }

    /// A system with one service on `https://a.test`, on an engine with scripted responses.
    private static func system(
        _ engine: (any HTTPEngine)?, url: String = "https://a.test/rpc",
        _ payload: ServiceConfiguration.PayloadProtocol = .rest,
        signing: ServiceConfiguration.Signing? = .init(scheme: "rfc9421", keyID: "HS"),
        policy: PinPolicy? = nil, change: (inout ServiceConfiguration) -> Void = { _ in }
    ) async throws -> NetworkSystem {
        var service = ServiceConfiguration(
            baseURL: url, payloadProtocol: payload, signing: signing, timeout: .seconds(300))
        change(&service)
        var options = NetworkSystem.Options()
        options.engine = engine
        if engine == nil { options.caFile = try TestAuthority.trusted.get().caFile }
        return try await NetworkSystem.start(
            services: ["a": service], keys: keys, policy: policy ?? .allowingAll(),
            options: options)
    }

    private static func get(
        _ system: NetworkSystem, _ target: String = "/first", fields: HTTPFields = [:],
        method: HTTPRequest.Method = .get, body: [UInt8] = [], trace: CallTrace? = nil
    ) async -> Result<RawResponse, ClientError> {
        do throws(ClientError) {
            return .success(
                try await system.exchange(
                    "a", method: method, target: target, fields: fields, body: body,
                    options: RequestOptions(trace: trace)))
        } catch {
            return .failure(error)
        }
    }

    private static func code(_ outcome: Result<some Any, ClientError>) -> String? {
        if case .failure(let error) = outcome { error.code.name } else { nil }
    }

    @Test func eachHopOfTheOriginIsSignedAgain() async throws {
        let engine = RecordingEngine(responses: [
            Self.found("/second?x=1", status: 307), Self.found("https://A.TEST:443/third"), .init(),
        ])
        let system = try await Self.system(engine)
        let trace = CallTrace()
        let outcome = await Self.get(
            system, fields: [.contentType: "text/plain"], method: .post, body: [0x41],
            trace: trace)
        #expect(try outcome.get().status == 200)
        await system.shutdown()
        #expect(engine.requests.map(\.request.path) == ["/first", "/second?x=1", "/third"])
        #expect(engine.requests.map(\.bytes) == [[0x41], [0x41], []])
        #expect(engine.requests.map(\.request.method) == [.post, .post, .get])
        #expect(engine.requests[2].request.headerFields[.contentType] == nil)
        let verifier = try Verifier(
            scheme: SigningScheme(named: "rfc9421"), keys: #require(Self.keys),
            policy: VerificationPolicy())
        var signatures: Set<String> = []
        for request in engine.requests {
            let message = try SignableMessage(request: request.request, body: request.bytes)
            let now = Int64(Date().timeIntervalSince1970)
            #expect(try await verifier.verify(message, now: now).keyID == "HS")
            signatures.insert(
                request.request.headerFields[HTTPField.Name("Signature")!] ?? "none")
        }
        #expect(signatures.count == 3)
        let timeouts = engine.requests.map(\.timeout)
        #expect(timeouts[0] > timeouts[1] && timeouts[1] > timeouts[2])
        #expect(trace.attempts.count == 1)
        #expect(trace.attempts[0].hops.map(\.status) == [307, 302, 200])
        #expect(trace.attempts[0].hops.allSatisfy { $0.isSigned && !$0.url.contains("x=1") })
        #expect(
            trace.attempts[0].redirects.map(\.to)
                == ["https://a.test/second", "https://a.test/third"])
    }

    @Test func anotherOriginGetsNoSignature() async throws {
        let engine = RecordingEngine(responses: [
            Self.found("https://b.test/x"), Self.found("https://a.test/transfer"), .init(),
        ])
        let token = HTTPField.Name("X-Token")!
        let system = try await Self.system(engine) { $0.commonFields[token] = "s3cr3t" }
        let outcome = await Self.get(
            system,
            fields: [.authorization: "s3cr3t", .cookie: "s3cr3t", .accept: "text/plain"])
        #expect(try outcome.get().status == 200)
        await system.shutdown()
        #expect(engine.count == 3)
        #expect(engine.requests[0].request.headerFields[.authorization] == "s3cr3t")
        #expect(engine.requests[0].request.headerFields[token] == "s3cr3t")
        for request in engine.requests.dropFirst() {
            #expect(
                request.request.headerFields.map(\.name.canonicalName) == ["accept"],
                "\(request.request)")
        }
    }

    @Test func aSignatureInTheQueryIsNotForwarded() async throws {
        let aws = [
            "region": "eu-central-1", "service": "execute-api", "placement": "query",
        ]
        for (host, isOwn) in [("a.test", true), ("b.test", false)] {
            let first = RecordingEngine()
            let signing = ServiceConfiguration.Signing(
                scheme: "aws-sigv4", keyID: "AK", settings: aws)
            let probe = try await Self.system(first, signing: signing)
            _ = await Self.get(probe, "/first?x=1")
            await probe.shutdown()
            let echoed = try #require(first.requests.first?.request.path)
            #expect(echoed.contains("X-Amz-Signature="))
            let engine = RecordingEngine(responses: [
                Self.found("https://\(host)\(echoed.replacing("/first", with: "/second"))"),
                .init(),
            ])
            let system = try await Self.system(engine, signing: signing)
            _ = await Self.get(system, "/first?x=1")
            await system.shutdown()
            let path = try #require(engine.requests.last?.request.path)
            #expect(path.hasPrefix("/second?x=1"))
            #expect(path.components(separatedBy: "X-Amz-Signature=").count == (isOwn ? 2 : 1))
            #expect(path.contains("X-Amz-") == isOwn)
        }
    }

    @Test func aCallOfARemoteProcedureNeverBecomesAGet() async throws {
        for status in [301, 302, 303] {
            let engine = RecordingEngine(responses: [Self.found("/other", status: status), .init()])
            let system = try await Self.system(engine, .jsonRPC2)
            let error = await #expect(throws: ClientError.self) {
                try await system.call(RPCCall("m"), on: "a")
            }
            #expect(error?.code.name == "redirect-refused" && error?.status == status)
            await system.shutdown()
            #expect(engine.count == 1)
        }
        let engine = RecordingEngine(responses: [Self.found("/other", status: 308), .init()])
        let system = try await Self.system(engine, .jsonRPC2)
        #expect(try await system.call(RPCCall("m"), on: "a").result != nil)
        await system.shutdown()
        #expect(engine.requests[0].bytes == engine.requests[1].bytes)
    }

    @Test func aRedirectedCallIsNotRepeated() async throws {
        let down = RecordingEngine.Response(failure: TransportError(.connect, "down"))
        for (method, count) in [(HTTPRequest.Method.post, 2), (.put, 4)] {
            let engine = RecordingEngine(responses: [
                Self.found("/made", status: 303), down, Self.found("/made", status: 303), down,
            ])
            let system = try await Self.system(engine) { $0.attempts = 2 }
            let outcome = await Self.get(system, method: method, body: [0x41])
            #expect(Self.code(outcome) == "connect")
            await system.shutdown()
            #expect(engine.count == count)
        }
    }

    @Test func rulesOfTheConfigurationHold() async throws {
        func outcome(
            _ values: JSONObject, _ responses: [RecordingEngine.Response]
        ) async throws -> (String?, Int) {
            let engine = RecordingEngine(responses: responses + [.init(body: "{}")])
            var options = NetworkSystem.Options()
            options.engine = engine
            var all = values
            all["services.a.protocol"] = "rest"
            let system = try await NetworkSystem.start(
                Settings.configuration(all), options: options)
            let outcome = await Self.get(system, method: .post, body: [0x41])
            await system.shutdown()
            return (Self.code(outcome), engine.count)
        }
        let within = Self.found("/b", status: 307)
        let away = Self.found("https://api.example.com:8443/b")
        #expect(try await outcome([:], [within]) == (nil, 2))
        #expect(try await outcome(["services.a.redirects.maximum": 0], [within]) == (nil, 1))
        #expect(
            try await outcome(["services.a.redirects.maximum": 1], [within, Self.found("/c")])
                == ("too-many-redirects", 2))
        #expect(try await outcome([:], [away]) == (nil, 2))
        #expect(
            try await outcome(["services.a.redirects.acrossOrigins": false], [away])
                == ("redirect-refused", 1))
        #expect(
            try await outcome(["urlRules.refused": ["^https://[^/]*/b"]], [within])
                == ("refused-url", 1))
        #expect(
            try await outcome([:], [Self.found("https://third.example/b")]) == ("unlisted-host", 1))
        #expect(
            try await outcome([:], [Self.found("http://api.example.com/b")])
                == ("cleartext-to-pinned-host", 1))
        #expect(
            try await outcome([:], Array(repeating: within, count: 6))
                == ("too-many-redirects", 6))
        for maximum in [-1, 21] as [JSONValue] {
            let error = await #expect(throws: ClientError.self) {
                _ = try await outcome(["services.a.redirects.maximum": maximum], [])
            }
            #expect(error?.code == .invalidService)
        }
    }

    @Test func anEngineThatCannotPinIsNotLedToAPinnedHost() async throws {
        let pin = try Pin(parsing: "sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=")
        let policy = try PinPolicy(
            rules: [PinRule(host: "b.test", pins: [pin])], unlisted: .allow)
        let engine = RecordingEngine(
            pins: false, responses: [Self.found("https://b.test/"), .init()])
        let system = try await Self.system(engine, policy: policy)
        #expect(Self.code(await Self.get(system)) == "engine-cannot-pin")
        await system.shutdown()
        #expect(engine.count == 1)
    }

    // MARK: Real hosts

    @Test func aRefusedHostSeesNotAByte() async throws {
        let authority = try TestAuthority.trusted.get()
        let target = try await RouteServer(["/b": "200 OK\r\n\r\nb"], tls: authority.leaf)
        let cleartext = try await RouteServer(["/b": "200 OK\r\n\r\nb"])
        let host = try await RouteServer(
            [
                "/pinned":
                    "302 Found\r\nLocation: https://127.0.0.1:\(target.port)/b?s3cr3t\r\n\r\n",
                "/unlisted": "307 X\r\nLocation: https://example.com:\(target.port)/b\r\n\r\n",
                "/clear": "302 X\r\nLocation: http://localhost:\(cleartext.port)/b\r\n\r\n",
                "/user": "302 X\r\nLocation: https://u:s3cr3t@localhost:\(target.port)/b\r\n\r\n",
                "/body": "307 X\r\nLocation: https://localhost:\(target.port)/b\r\n\r\n",
            ], tls: authority.leaf)
        let wrong = "sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        let policy = try PinPolicy(rules: [
            PinRule(host: "localhost", pins: [Pin(parsing: authority.leaf.pin)]),
            PinRule(host: "127.0.0.1", pins: [Pin(parsing: wrong)]),
        ])
        let system = try await Self.system(nil, url: host.url, policy: policy)
        for (path, wanted) in [
            ("/pinned", "pin-mismatch"), ("/unlisted", "unlisted-host"),
            ("/clear", "cleartext-to-pinned-host"), ("/user", "redirect-refused"),
            ("/body", "redirect-refused"),
        ] {
            let outcome = await Self.get(
                system, path, fields: [.authorization: "topsecret"],
                method: path == "/body" ? .put : .get, body: path == "/body" ? [0x41] : [])
            #expect(Self.code(outcome) == wanted)
            if case .failure(let error) = outcome { #expect(!error.message.contains("s3cr3t")) }
        }
        await system.shutdown()
        #expect(host.requests.count == 5)
        #expect(target.requests.isEmpty && cleartext.requests.isEmpty)
    }

    @Test(.features("000-55")) func aFollowedHostSeesNoCredentials() async throws {
        let authority = try TestAuthority.trusted.get()
        let target = try await RouteServer(
            ["/b": "302 Found\r\nLocation: c\r\n\r\n", "/c": "200 OK\r\n\r\ndone"],
            tls: authority.leaf)
        let host = try await RouteServer(
            [
                "/first": "308 X\r\nLocation: ./second\r\n\r\n",
                "/second": "303 X\r\nLocation: https://localhost:\(target.port)/b\r\n\r\n",
            ], tls: authority.leaf)
        let policy = try PinPolicy(rules: [
            PinRule(host: "localhost", pins: [Pin(parsing: authority.root.pin)])
        ])
        let system = try await Self.system(nil, url: host.url, policy: policy)
        let trace = CallTrace()
        let response = try await Self.get(
            system, fields: [.authorization: "topsecret", .contentType: "text/plain"],
            method: .post, body: Array("payload".utf8), trace: trace
        ).get()
        await system.shutdown()
        #expect(response.status == 200 && response.body == Array("done".utf8))
        #expect(host.requests.count == 2)
        for request in host.requests {
            #expect(request.contains("payload") && request.lowercased().contains("signature-input"))
        }
        #expect(
            target.requests.map { $0.prefix { $0 != "\r\n" } } == [
                "GET /b HTTP/1.1", "GET /c HTTP/1.1",
            ])
        for request in target.requests {
            for word in ["topsecret", "signature", "payload", "content-", "authorization"] {
                #expect(!request.lowercased().contains(word), "\(request)")
            }
        }
        let hops = try #require(trace.attempts.first?.hops)
        #expect(hops.map(\.status) == [308, 303, 302, 200])
        #expect(hops.map(\.isSigned) == [true, true, false, false])
        for hop in hops {
            #expect(hop.timings.secured >= hop.timings.connected)
            #expect(hop.timings.total >= hop.timings.firstByte)
            #expect(hop.httpVersion?.major == 1)
        }
    }
}
