import HTTPTypes
import SignetClient
import SignetCrypto
import SignetJSON
import SignetPinning
import SignetTesting
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetRecording

@Suite struct ReplayTests {
    private static let url = "https://shop.example.com"

    private func get(_ target: String, _ system: NetworkSystem) async throws -> RawResponse {
        try await system.exchange("shop", method: .get, target: target, body: [])
    }

    @Test(.features("000-41", "000-60")) func passesFromTheRecording() async throws {
        let stub = StubEngine()
        stub.respond(to: .procedure("orders.list"), with: .result(["tea"]))
        stub.respond(to: .request(.get, path: "/a"), with: .status(404, body: [0x78]))
        func tour(_ system: NetworkSystem) async throws -> [String] {
            let list = try await system.call(RPCCall("orders.list"), on: "orders")
            let raw = try await get("/a", system)
            return [
                list.result?.value.text ?? "", "\(raw.status)",
                String(decoding: raw.body, as: UTF8.self),
            ]
        }
        let live = try await startSystem(stub)
        let seen = Mutex<[String]>([])
        let recording = try await live.record(.anywhere) {
            let result = try await tour(live)
            seen.withLock { $0 = result }
        }
        let engine = ReplayEngine(try Recording(har: recording.har()))
        let counter = CallCounter()
        let system = try await startSystem(engine) { $0.observers = [counter] }
        #expect(try await tour(system) == seen.withLock { $0 })
        #expect(engine.unplayed.isEmpty)
        #expect(counter.count { $0.source == .replay } == 2)
        await #expect(throws: ClientError.self) { try await tour(system) }
    }

    @Test func aMissNamesTheNearestAndTheDifference() async throws {
        let recording = Recording(
            .json("POST", "\(Self.url)/orders", request: #"{"item":"tea","n":1}"#),
            .json("GET", "\(Self.url)/orders?limit=2"))
        let engine = ReplayEngine(recording)
        let system = try await startSystem(engine)
        let error = await #expect(throws: ClientError.self) {
            try await system.exchange(
                "shop", method: .post, target: "/orders",
                fields: [.contentType: "application/json"],
                body: Array(#"{"item":"coffee","m":1}"#.utf8))
        }
        #expect(error?.code == .notRecorded)
        let message = error?.message ?? ""
        for part in [
            "#1 POST https://shop.example.com/orders", "request.body.item differs",
            "request.body.n is missing", "request.body.m is not in the recording",
        ] { #expect(message.contains(part), "\(message)") }
        #expect(!message.contains("coffee") && !message.contains("tea"))
        #expect(engine.misses.first?.differences.first?.found == "coffee")
        let other = await #expect(throws: ClientError.self) {
            try await get("/orders?limit=3", system)
        }
        #expect(other?.message.contains("#2 GET") == true)
        #expect(other?.message.contains("request.query.limit[0] differs") == true)
    }

    @Test func playsEqualRequestsInTheirOrder() async throws {
        let exchanges = (1...3).map {
            RecordedExchange.json("GET", "\(Self.url)/n", response: "\($0)", started: Int64($0))
        }
        let engine = ReplayEngine(Recording(calls: exchanges.map(RecordedCall.init)))
        let system = try await startSystem(engine)
        for number in 1...3 { #expect(try await get("/n", system).body == Array("\(number)".utf8)) }
        let error = await #expect(throws: ClientError.self) { try await get("/n", system) }
        #expect(error?.message.contains("no more than the 3") == true)
        let repeating = try await startSystem(
            ReplayEngine(Recording(calls: exchanges.map(RecordedCall.init)), repeats: true))
        for number in [1, 2, 3, 3, 3] {
            #expect(try await get("/n", repeating).body == Array("\(number)".utf8))
        }
    }

    @Test func playsAThousandConcurrentCallsInOrder() async throws {
        let exchanges = (0..<1200).map {
            RecordedExchange.json("GET", "\(Self.url)/n", response: "\($0)", started: Int64($0))
        }
        let engine = ReplayEngine(Recording(calls: exchanges.map(RecordedCall.init)))
        let system = try await startSystem(engine)
        // Each wave of concurrent calls gets exactly the next responses.
        for wave in [0..<1, 1..<100, 100..<1100, 1100..<1200] {
            let bodies = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in wave {
                    group.addTask {
                        String(decoding: try await self.get("/n", system).body, as: UTF8.self)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(bodies) == Set(wave.map { "\($0)" }) && bodies.count == wave.count)
        }
        #expect(engine.unplayed.isEmpty)
    }

    @Test func givesResponsesTheIDsOfTheirRequests() async throws {
        let recorded = RecordedExchange.json(
            "POST", "https://api.example.com/rpc",
            request: #"{"jsonrpc":"2.0","method":"a","id":"recorded"}"#,
            response: #"{"jsonrpc":"2.0", "result":{"id":"recorded"}, "id":"recorded"}"#)
        let system = try await startSystem(ReplayEngine(Recording(recorded)))
        let response = try await system.call(RPCCall("a"), on: "orders")
        #expect(response.result?.value == ["id": "recorded"])
    }

    @Test func computesPinsFromTheRecordedChain() async throws {
        let pins = ["A", "B", "C"].map { "sha256/" + String(repeating: $0, count: 42) + "A=" }
        func system(wanting wanted: [String]) async throws -> NetworkSystem {
            var exchange = RecordedExchange.json("GET", "\(Self.url)/")
            exchange.pins = .init(seen: [pins[0]], wanted: [pins[0]], isMatch: true)
            let rule = try PinRule(
                host: "shop.example.com", pins: wanted.map { try Pin(parsing: $0) })
            return try await startSystem(
                ReplayEngine(Recording(exchange)),
                services: ["shop": .init(baseURL: Self.url, payloadProtocol: .rest)],
                policy: PinPolicy(rules: [rule]))
        }
        let trace = CallTrace()
        _ = try await system(wanting: [pins[0], pins[1]]).exchange(
            "shop", method: .get, target: "/", body: [], options: RequestOptions(trace: trace))
        #expect(trace.record?.attempts.first?.hops.first?.isPinned == true)
        let error = await #expect(throws: ClientError.self) {
            try await get("/", system(wanting: [pins[1], pins[2]]))
        }
        #expect(error?.code == .pinMismatch)
        // The refusal is recorded with its pins, and played also without a policy.
        let refusing = try await system(wanting: [pins[1], pins[2]])
        let recording = try await refusing.record(.anywhere) { _ = try? await get("/", refusing) }
        let refused = try #require(try Recording(har: recording.har()).exchanges.first)
        #expect(
            refused.pins == .init(seen: [pins[0]], wanted: [pins[1], pins[2]], isMatch: false))
        #expect(refused.failure == "pin-mismatch" && refused.message?.contains(pins[1]) == true)
        let replayed = await #expect(throws: ClientError.self) {
            try await get("/", startSystem(ReplayEngine(Recording(refused))))
        }
        #expect(replayed?.code == .pinMismatch)
    }

    @Test(arguments: ReplayEngine.Mode.allCases)
    func sendsWhatItsModeSays(_ mode: ReplayEngine.Mode) async throws {
        for isEmpty in [false, true] {
            let stub = StubEngine()
            stub.respond(with: .status(200, body: Array("live".utf8)))
            let known =
                isEmpty
                ? Recording() : Recording(.json("GET", "\(Self.url)/known", response: "recorded"))
            let engine = ReplayEngine(known, mode: mode, through: stub, options: .anywhere)
            let system = try await startSystem(engine)
            let bodies = [
                try? await get("/known", system).body, try? await get("/new", system).body,
            ].map { $0.map { String(decoding: $0, as: UTF8.self) } }
            let expected: [String?] =
                switch (mode, isEmpty) {
                case (.none, false), (.once, false): ["recorded", nil]
                case (.none, true): [nil, nil]
                case (.new, false): ["recorded", "live"]
                case (.all, _), (.once, true), (.new, true): ["live", "live"]
                }
            #expect(bodies == expected, "\(mode) \(isEmpty)")
            #expect(stub.requests.count == expected.count { $0 == "live" })
            let urls = engine.recording.exchanges.map { $0.request.url.dropFirst(Self.url.count) }
            #expect(
                Set(urls)
                    == Set(
                        zip(["/known", "/new"], expected).compactMap { $1 == nil ? nil : $0[...] }))
        }
    }

    /// A mock, or another program's recording, isn't redacted, and the request is.
    @Test func aMockMayHaveASecret() async throws {
        let mock = RecordedExchange.json(
            "GET", "\(Self.url)/a?access_token=q7Zr2mVx9LkT4bNw8sYc", response: "mocked")
        let engine = ReplayEngine(Recording(mock), as: .mock)
        let system = try await startSystem(engine)
        let response = try await get("/a?access_token=q7Zr2mVx9LkT4bNw8sYc", system)
        #expect(response.body == Array("mocked".utf8))
    }

    /// As a recorder, an engine that records is refused in production, before anything is sent.
    @Test(arguments: [ReplayEngine.Mode.new, .all, .once])
    func recordsInProductionOnlyIfAsked(_ mode: ReplayEngine.Mode) async throws {
        for (isAsked, isNamed) in [(false, false), (false, true), (true, false), (true, true)] {
            let stub = StubEngine()
            stub.respond(with: .status(200, body: Array("live".utf8)))
            let engine = ReplayEngine(
                Recording(), mode: mode, through: stub,
                options: isAsked ? .anywhere : RecordingOptions())
            let system = try await startSystem(isNamed ? StubEngine() : engine) {
                $0.runMode = .production
                $0.engines["replay"] = isNamed ? engine : nil
            }
            var options = RequestOptions()
            options.engine = isNamed ? EngineChoice("replay") : nil
            do throws(ClientError) {
                _ = try await system.exchange(
                    "shop", method: .get, target: "/", body: [], options: options)
                #expect(isAsked && stub.requests.count == 1)
            } catch {
                #expect(!isAsked && error.code == .recordingInProduction)
                #expect(error.message.contains(mode == .new ? "mode new" : "mode all"))
                #expect(stub.requests.isEmpty && engine.recording.calls.isEmpty)
            }
            await system.shutdown()
        }
    }

    @Test func playsInProduction() async throws {
        let engine = ReplayEngine(Recording(.json("GET", "\(Self.url)/", response: "recorded")))
        let system = try await startSystem(engine) { $0.runMode = .production }
        #expect(try await get("/", system).body == Array("recorded".utf8))
    }

    @Test func keepsTheLimitsOfWhatItRecords() async throws {
        let stub = StubEngine()
        stub.respond(with: .status(200, body: Array("live".utf8)))
        var options = RecordingOptions.anywhere
        options.limits.calls = 2
        let engine = ReplayEngine(Recording(), mode: .all, through: stub, options: options)
        let system = try await startSystem(engine)
        for number in 1...5 { _ = try await get("/\(number)", system) }
        #expect(engine.recording.exchanges.count == 2)
        #expect(engine.recording.exchanges.last?.request.url == "\(Self.url)/5")
        #expect(engine.recording.droppedCount == 3)
    }

    @Test func isChosenForAService() async throws {
        let stub = StubEngine()
        stub.respond(with: .result("live"))
        var shop = ServiceConfiguration(baseURL: Self.url, payloadProtocol: .rest)
        shop.options.engine = EngineChoice("replay")
        let engine = ReplayEngine(Recording(.json("GET", "\(Self.url)/", response: "recorded")))
        let system = try await startSystem(
            stub,
            services: [
                "shop": shop,
                "orders": .init(baseURL: "https://api.example.com/rpc", payloadProtocol: .jsonRPC2),
            ]
        ) { $0.engines["replay"] = engine }
        #expect(try await get("/", system).body == Array("recorded".utf8))
        let live = try await system.call(RPCCall("a"), on: "orders")
        #expect(live.result?.value == "live" && engine.requests.count == 1)
    }

    /// Signatures are made in a replay too, and can be asserted.
    @Test func hasTheSignaturesOfItsRequests() async throws {
        let secret = Array("0123456789abcdef0123456789abcdef".utf8)
        let keys = try KeySet(
            parsing: Array(
                #"{"keys":[{"kty":"oct","use":"sig","kid":"k","alg":"HS256","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"}]}"#
                    .utf8), source: "test")
        var shop = ServiceConfiguration(baseURL: Self.url, payloadProtocol: .rest)
        shop.signing = .init(scheme: "rfc9421", keyID: "k")
        let engine = ReplayEngine(Recording(.json("GET", "\(Self.url)/a")))
        let system = try await startSystem(engine, services: ["shop": shop], keys: keys)
        let trace = CallTrace()
        var options = RequestOptions(trace: trace)
        options.keepsContents = true
        _ = try await system.exchange(
            "shop", method: .get, target: "/a", body: [], options: options)
        let fields = try #require(engine.requests.first).headerFields
        let signature = try #require(fields[HTTPField.Name("Signature")!])
        #expect(fields[HTTPField.Name("Signature-Input")!]?.contains(#"keyid="k""#) == true)
        let base = try #require(trace.record?.counted.contents.compactMap(\.base).first)
        let tag = try HMACKey(.sha256, key: secret.span).tag(of: Array(base.text.utf8))
        #expect(signature == "sig1=:\(Base64.encode(tag, as: .standard)):")
    }

    @Test func isChosenForOneCall() async throws {
        let stub = StubEngine()
        stub.respond(with: .status(200, body: Array("live".utf8)))
        let engine = ReplayEngine(Recording(.json("GET", "\(Self.url)/", response: "recorded")))
        let system = try await startSystem(stub) { $0.engines["replay"] = engine }
        var options = RequestOptions()
        options.engine = EngineChoice("replay")
        let replayed = try await system.exchange(
            "shop", method: .get, target: "/", body: [], options: options)
        #expect(replayed.body == Array("recorded".utf8))
        #expect(try await get("/", system).body == Array("live".utf8))
    }

    @Test func playsFailures() async throws {
        var timeout = RecordedExchange.json("GET", "\(Self.url)/t")
        (timeout.response, timeout.failure) = (nil, "timeout")
        var lost = RecordedExchange.json("GET", "\(Self.url)/l")
        lost.response?.body = RecordedBody(bytes: [])
        lost.response?.body?.problem = "too large"
        var cut = RecordedExchange.json("GET", "\(Self.url)/c")
        cut.response?.body = RecordedBody(bytes: [])
        cut.response?.body?.problem = "the body ended early (cut-off)"
        (cut.failure, cut.message) = ("cut-off", "the connection ended early")
        // A status that the caller took for a failure is a response.
        var refused = RecordedExchange.json("GET", "\(Self.url)/r", status: 404)
        refused.failure = "http-status"
        refused.response?.body = nil
        let system = try await startSystem(ReplayEngine(Recording(timeout, lost, cut, refused))) {
            $0.callOptions.attempts = 1
        }
        let first = await #expect(throws: ClientError.self) { try await get("/t", system) }
        #expect(first?.code == .timeout)
        let second = await #expect(throws: ClientError.self) { try await get("/l", system) }
        #expect(second?.code == .notRecorded)
        let third = await #expect(throws: ClientError.self) { try await get("/c", system) }
        #expect(third?.code == .cutOff)
        #expect(third?.message.contains("the connection ended early") == true)
        #expect(try await get("/r", system).status == 404)
    }

    @Test func aStrangersRecordingSendsNothing() async throws {
        let recording = Recording(.json("GET", "http://127.0.0.1:1/x"))
        let engine = ReplayEngine(recording)
        let system = try await startSystem(engine)
        await #expect(throws: ClientError.self) { try await get("/x", system) }
        #expect(engine.requests.count == 1)
    }
}
