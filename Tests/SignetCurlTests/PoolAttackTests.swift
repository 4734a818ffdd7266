import HTTPTypes
import SignetCurl
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// Connections and sessions of one call that another call with other pins could use.
@Suite struct PoolAttackTests {
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority.trusted.get() }

    /// Each round a call with a wrong pin and one without pins, all of them at once.
    @Test func keepsWrongPinsAndNoPinsApartAThousandTimes() async throws {
        let host = try await OrdersHost.start(
            directives: "location /plain { return 200 'x'; } keepalive_requests 100000;")
        let engine = try engine()
        let wrong = try pinned(wrongPin)
        let port = host.port
        let outcomes = await withTaskGroup(of: (Bool, TransportError?).self) { group in
            for index in 0..<2_000 {
                let isWrong = index.isMultiple(of: 2)
                group.addTask {
                    var request = EngineRequest(
                        get(port, isWrong ? "/plain?bad" : "/plain?good"),
                        policy: isWrong ? wrong : nil)
                    request.timeout = .seconds(300)
                    return (isWrong, await engine.failure(request))
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count == 2_000)
        #expect(outcomes.allSatisfy { $0.0 == ($0.1?.code == .pinMismatch) })
        #expect(outcomes.allSatisfy { $0.0 || $0.1 == nil })
        let requests = try await host.requests(count: 1_000)
        #expect(requests.count == 1_000 && !requests.contains { $0.contains("bad") })
        await engine.shutdown()
    }

    /// A Python server that closes after each response, and says whether the session was resumed
    /// and each byte that it got.
    @Test(arguments: ["TLSv1_2", "TLSv1_3"])
    func sendsNothingOnAResumedSessionThatIsRefused(version: String) async throws {
        let server = try await ScriptedServer(
            "resumption", tls: authority.leaf, version: version)
        let engine = try engine(http2: false)
        func reused() -> [Bool] {
            server.server.stdout.split(separator: "\n").filter { $0.hasPrefix("RESUMED ") }.map {
                $0.hasPrefix("RESUMED True")
            }
        }
        for (round, pin) in [authority.leaf.pin, authority.root.pin].enumerated() {
            for _ in 0..<2 {
                let (response, _) = try await engine.fetch(
                    EngineRequest(get(server.port, "/good"), policy: try pinned(pin)))
                #expect(response.peerChain.count == 3 && response.verdict?.isMatch == true)
            }
            var request = get(server.port, "/refused")
            request.headerFields[.authorization] = "topsecret"
            let error = await engine.failure(
                EngineRequest(request, body: Array("payload".utf8), policy: try pinned(wrongPin)))
            #expect(error?.code == .pinMismatch)
            #expect(error?.message.contains(authority.intermediate.pin) == true)
            // It was the third on a connection of its own, and resumed the second's session.
            #expect(try await eventually { reused().count == 3 * (round + 1) })
            #expect(reused().last == true)
        }
        await engine.shutdown()
        // Four requests, and not a byte of another.
        let got = server.server.stdout.split(separator: "\n").filter { $0.hasPrefix("GOT ") }
        #expect(got.count == 4)
        for word in ["refused", "topsecret", "payload"] {
            let digits = word.utf8.map { String($0, radix: 16) }.joined()
            #expect(!server.server.stdout.contains(digits))
        }
    }

    /// A session that a call without pins began is judged when a pinned call resumes it, and a
    /// policy that is removed and set again applies at once.
    @Test func judgesEachCallByItsOwnPolicy() async throws {
        let host = try await OrdersHost.start(directives: "location /plain { return 200 'x'; }")
        for http2 in [false, true] {
            let engine = try engine(http2: http2)
            let policies: [(PinPolicy?, Bool)] = [
                (nil, true), (try pinned(wrongPin), false), (try pinned(authority.root.pin), true),
                (try pinned(wrongPin, authority.leaf.pin), true),
                (try pinned(wrongPin, mode: .report), true), (try pinned(wrongPin), false),
            ]
            for _ in 0..<3 {
                for (policy, isGood) in policies {
                    let error = await engine.failure(
                        EngineRequest(
                            get(host.port, isGood ? "/plain?good" : "/plain?bad"), policy: policy))
                    #expect(error?.code == (isGood ? nil : .pinMismatch))
                }
            }
            await engine.shutdown()
        }
        let requests = try await host.requests(count: 24)
        #expect(requests.count == 24 && !requests.contains { $0.contains("bad") })
    }

    /// One connection under all the spellings of a name.
    @Test func judgesAPooledConnectionUnderAnotherSpelling() async throws {
        let host = try await OrdersHost.start(directives: "location /plain { return 200 'x'; }")
        let engine = try engine()
        let addresses = try PinPolicy(rules: [
            PinRule(host: "127.0.0.1", pins: [Pin(parsing: wrongPin)])
        ])
        _ = try await engine.fetch(EngineRequest(get(host.port, "/plain?good")))
        _ = try await engine.fetch(
            EngineRequest(get(host.port, "/plain?good", host: "127.0.0.1")))
        for name in ["LOCALHOST", "localhost.", "LocalHost", "%4cocalhost", "ｌｏｃａｌhost"] {
            let error = await engine.failure(
                EngineRequest(
                    get(host.port, "/plain?bad", host: name), policy: try pinned(wrongPin)))
            #expect(error?.code == .pinMismatch, "\(name)")
        }
        for name in ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "127。0。0。1"] {
            let error = await engine.failure(
                EngineRequest(get(host.port, "/plain?bad", host: name), policy: addresses))
            #expect(error?.code == .pinMismatch, "\(name)")
        }
        _ = try await engine.fetch(EngineRequest(get(host.port, "/plain?good")))
        let requests = try await host.requests(count: 3)
        #expect(requests.count == 3 && !requests.contains { $0.contains("bad") })
        await engine.shutdown()
    }
}
