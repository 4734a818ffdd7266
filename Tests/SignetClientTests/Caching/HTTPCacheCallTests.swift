import HTTPTypes
import SignetCache
import SignetClient
import SignetPinning
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// Calls through the HTTP cache.
@Suite struct HTTPCacheCallTests {
    // MARK: Hits

    @Test(.features("000-26", "000-41", "003-27"))
    func aFreshResponseIsServedWithoutARequest() async throws {
        let origin = CachedOrigin.counter()
        let cached = try await CachedSystem(origin)
        let trace = CallTrace()
        #expect(try await cached.text() == "1")
        cached.clock.now += 59
        #expect(try await cached.text { $0.trace = trace } == "1")
        let record = try #require(trace.record)
        #expect(record.attempts.isEmpty)
        #expect(record.response?.source == .cache)
        #expect(record.status == 200)
        let use = try #require(record.work.cache)
        #expect(use.decision == .hit && use.age == 59 && use.policy == .http)
        #expect(record.work.stages.map(\.name).contains(.cache))
        #expect(!record.work.stages.map(\.name).contains(.attempt))
        cached.clock.now += 1
        #expect(try await cached.text() == "2")
        #expect(origin.count == 2)
        await cached.system.shutdown()
    }

    /// A record keeps the hash of the key, and shows neither the URL nor the scope.
    @Test func theKeyOfARecordIsAHash() async throws {
        let cached = try await CachedSystem(CachedOrigin.counter())
        var keys: [String] = []
        for path in ["/tea", "/tea", "/m"] as [RESTPath] {
            let use = try #require(try await cached.get(path).use)
            keys.append(try #require(use.key))
            var shown = ""
            dump(use, to: &shown)
            #expect(!"\(shown)\(use)".contains("tea") && shown.contains(use.key ?? "-"))
        }
        #expect(keys[0] == keys[1] && keys[0] != keys[2] && keys[0].utf8.count == 32)
        await cached.system.shutdown()
    }

    @Test func aResponseTellsHowItWasHandled() async throws {
        let cached = try await CachedSystem(CachedOrigin.counter())
        func status(_ path: String = "/v1/n") async throws -> (String?, String?) {
            let raw = try await cached.system.exchange("a", method: .get, target: path)
            let name = HTTPField.Name("Cache-Status")!
            return (raw.fields[name], raw.fields[.age])
        }
        #expect(try await status() == ("signet;fwd=uri-miss;fwd-status=200;stored", nil))
        cached.clock.now += 7
        #expect(try await status() == ("signet;hit;ttl=53", "7"))
        await cached.system.shutdown()
    }

    @Test func aStaleResponseIsValidated() async throws {
        let origin = CachedOrigin { request, number in
            let tag = request.request.headerFields[.ifNoneMatch]
            guard tag == nil else {
                return .init(status: 304, fields: [.eTag: "\"a\"", .cacheControl: "max-age=60"])
            }
            return .init(fields: [.eTag: "\"a\"", .cacheControl: "max-age=10"], body: "\(number)")
        }
        let cached = try await CachedSystem(origin)
        #expect(try await cached.get().use?.decision == .miss)
        cached.clock.now += 11
        let (text, use) = try await cached.get()
        #expect(text == "1" && use?.decision == .validated && use?.isStored == true)
        #expect(origin.requests.last?.request.headerFields[.ifNoneMatch] == "\"a\"")
        cached.clock.now += 59
        #expect(try await cached.get().use?.decision == .hit)
        #expect(origin.count == 2)
        await cached.system.shutdown()
    }

    @Test func variantsHaveTheirOwnResponses() async throws {
        let origin = CachedOrigin { request, _ in
            .init(
                fields: [.vary: "Accept-Language", .cacheControl: "max-age=60"],
                body: "\"\(request.request.headerFields[.acceptLanguage] ?? "")\"")
        }
        let cached = try await CachedSystem(origin)
        for _ in 0..<2 {
            for language in ["de", "en"] {
                let text = try await cached.text { $0.fields[.acceptLanguage] = language }
                #expect(text == "\"\(language)\"")
            }
        }
        #expect(origin.count == 2)
        await cached.system.shutdown()
    }

    @Test func aRangeIsServedFromTheWhole() async throws {
        let origin = CachedOrigin { _, _ in
            .init(fields: [.cacheControl: "max-age=60", .eTag: "\"a\""], body: "0123456789")
        }
        let cached = try await CachedSystem(origin)
        _ = try await cached.system.exchange("a", method: .get, target: "/v1/n")
        let raw = try await cached.system.exchange(
            "a", method: .get, target: "/v1/n", fields: [.range: "bytes=2-4"])
        #expect(raw.status == 206 && raw.body == Array("234".utf8))
        #expect(origin.count == 1)
        await cached.system.shutdown()
    }

    @Test func aMissingPartIsFetchedAlone() async throws {
        let origin = CachedOrigin { request, number in
            let range = request.request.headerFields[.range]
            guard number > 1 else {
                return .init(
                    status: 206,
                    fields: [
                        .eTag: "\"a\"", .contentRange: "bytes 0-3/10", .cacheControl: "max-age=60",
                    ], body: "0123")
            }
            return .init(
                status: 206,
                fields: [
                    .eTag: "\"a\"", .contentRange: "bytes 4-9/10", .cacheControl: "max-age=60",
                ], body: range == "bytes=4-" ? "456789" : "wrong!")
        }
        let cached = try await CachedSystem(origin)
        func get(_ fields: HTTPFields = [:]) async throws -> RawResponse {
            try await cached.system.exchange("a", method: .get, target: "/v1/n", fields: fields)
        }
        _ = try await get([.range: "bytes=0-3"])
        let whole = try await get()
        #expect(whole.status == 200 && whole.body == Array("0123456789".utf8))
        #expect(try await get().body == whole.body)
        #expect(origin.count == 2)
        await cached.system.shutdown()
    }

    // MARK: Without a cache

    @Test(.features("000-26"), arguments: [nil, CachePolicy.never])
    func byDefaultNothingIsStored(_ policy: CachePolicy?) async throws {
        let origin = CachedOrigin.counter()
        let cached = try await CachedSystem(origin, policy)
        #expect(try await cached.text() == "1")
        #expect(try await cached.text() == "2")
        #expect(cached.store.count == 0)
        #expect(try await cached.get().use == nil)
        await cached.system.shutdown()
    }

    @Test(arguments: ["no-store", "", "max-age=0"])
    func theServerDecides(_ directives: String) async throws {
        let origin = CachedOrigin { _, number in
            .init(fields: directives.isEmpty ? [:] : [.cacheControl: directives], body: "\(number)")
        }
        let cached = try await CachedSystem(origin)
        #expect(try await cached.text() == "1")
        #expect(try await cached.text() == "2")
        await cached.system.shutdown()
    }

    private struct Passing: AttemptInterceptor {
        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            try await next(call)
        }
    }

    @Test func interceptorsOfAttemptsBypassTheCache() async throws {
        let origin = CachedOrigin.counter()
        let cached = try await CachedSystem(origin) {
            $0.callOptions.attemptInterceptors = [Passing()]
        }
        #expect(try await cached.text() == "1")
        let (text, use) = try await cached.get()
        #expect(text == "2" && use?.decision == .bypassed)
        #expect(cached.store.count == 0)
        await cached.system.shutdown()
    }

    @Test func madeUpResponsesAreNeverStored() async throws {
        let origin = CachedOrigin { _, number in
            .init(fields: [.cacheControl: "max-age=60"], body: "\(number)", isMadeUp: true)
        }
        for policy in [CachePolicy.http, .age(.seconds(60))] {
            let cached = try await CachedSystem(origin, policy)
            _ = try await cached.text()
            #expect(cached.store.count == 0)
            await cached.system.shutdown()
        }
    }

    @Test func aResponseThatIsReplacedIsNotStored() async throws {
        let origin = CachedOrigin { _, number in
            .init(
                status: number == 1 ? 503 : 200, fields: [.cacheControl: "max-age=60"],
                body: "\(number)")
        }
        let cached = try await CachedSystem(origin)
        #expect(try await cached.text() == "2")
        #expect(try await cached.text() == "2")
        #expect(origin.count == 2)
        await cached.system.shutdown()
    }

    @Test(arguments: ["length", "cut", "digest"])
    func aResponseThatIsNotWholeIsNotStored(_ fault: String) async throws {
        let origin = CachedOrigin { _, number in
            var reply = CachedOrigin.Reply(fields: [.cacheControl: "max-age=60"], body: "\(number)")
            switch fault {
            case "length": reply.fields[.contentLength] = "9"
            case "cut": reply.cut = TransportError(.malformedResponse, "not HTTP")
            default:
                reply.fields[.contentEncoding] = "gzip"
                reply.body = "not gzip"
            }
            return reply
        }
        let cached = try await CachedSystem(origin) { $0.decoding = ContentDecoding() }
        for _ in 0..<2 { _ = try? await cached.text() }
        #expect(origin.count >= 2)
        #expect(cached.store.count == 0)
        await cached.system.shutdown()
    }

    // MARK: When the origin fails

    @Test(arguments: [
        (TransportError.Code.connect, true), (.unresolvedHost, true), (.timeout, true),
        (.cutOff, true),
        (.tls, false), (.malformedResponse, false), (.pinMismatch, false),
    ])
    func aStaleResponseHelpsAfterAFailure(_ code: TransportError.Code, _ helps: Bool) async throws {
        let origin = CachedOrigin { _, number in
            number == 1
                ? .init(fields: [.cacheControl: "max-age=1, stale-if-error=100"], body: "1")
                : .init(failure: TransportError(code, "down"))
        }
        let cached = try await CachedSystem(origin)
        _ = try await cached.text()
        cached.clock.now += 50
        let response = try? await cached.get()
        #expect((response?.text == "1") == helps)
        if helps { #expect(response?.use?.decision == .stale) }
        cached.clock.now += 100
        #expect((try? await cached.text()) == nil)
        await cached.system.shutdown()
    }

    @Test func aStaleResponseHelpsAfterA503() async throws {
        let origin = CachedOrigin { _, number in
            number == 1
                ? .init(fields: [.cacheControl: "max-age=1, stale-if-error=100"], body: "1")
                : .init(status: 503, body: "down")
        }
        let cached = try await CachedSystem(origin) { _ in
        } changeService: {
            $0.attempts = 2
        }
        _ = try await cached.text()
        cached.clock.now += 50
        let (text, use) = try await cached.get()
        #expect(text == "1" && use?.decision == .stale)
        #expect(origin.count == 3)
        await cached.system.shutdown()
    }

    @Test func theCallersDeadlineLeadsToNoStoredResponse() async throws {
        let origin = CachedOrigin { _, number in
            if number > 1, (try? await Task.sleep(for: .seconds(60))) == nil {
                return .init(failure: TransportError(.timeout, "the task was cancelled"))
            }
            return .init(fields: [.cacheControl: "max-age=1, stale-if-error=100"], body: "1")
        }
        let cached = try await CachedSystem(origin)
        _ = try await cached.text()
        cached.clock.now += 50
        let code = await Pipeline.code { () throws(ClientError) in
            try await cached.system.send(
                .get("/n", on: "a"), options: RequestOptions(deadline: .milliseconds(30)))
        }
        #expect(code == .timeout)
        await cached.system.shutdown(gracePeriod: .zero)
    }

    // MARK: Modes, streams

    @Test func theModeDecidesWhoIsAsked() async throws {
        let origin = CachedOrigin.counter()
        let cached = try await CachedSystem(origin)
        func text(_ mode: CacheMode) async throws -> String {
            try await cached.text { $0.cacheMode = mode }
        }
        let code = await Pipeline.code { () throws(ClientError) in
            var options = RequestOptions()
            options.cacheMode = .only
            _ = try await cached.system.send(.get("/n", on: "a"), options: options)
        }
        #expect(code == .notCached && origin.count == 0)
        #expect(try await text(.standard) == "1")
        #expect(try await text(.refresh) == "2")
        #expect(try await text(.standard) == "2")
        cached.clock.now += 1000
        // A stale one, too.
        #expect(try await text(.only) == "2")
        #expect(origin.count == 2)
        await cached.system.shutdown()
    }

    @Test func aStreamIsStoredWhileItIsRead() async throws {
        let origin = CachedOrigin.counter()
        let cached = try await CachedSystem(origin)
        for _ in 0..<2 {
            let response = try await cached.system.stream(.get("/n", on: "a"))
            var bytes: [UInt8] = []
            for try await chunk in response.body { bytes += chunk }
            #expect(bytes == Array("1".utf8))
        }
        #expect(origin.count == 1)
        await cached.system.shutdown()
    }

    @Test(.features("000-21")) func theEventsOfAHitAreInOrder() async throws {
        let cached = try await CachedSystem(CachedOrigin.counter())
        for expected in [
            ["started", "cache", "attempt", "reading", "success"], ["started", "cache", "success"],
        ] {
            let trace = CallTrace()
            let events = trace.events
            _ = try await cached.text { $0.trace = trace }
            var names: [String] = []
            for await event in events { names.append(CallOrderTests.name(event)) }
            #expect(names == expected)
        }
        await cached.system.shutdown()
    }
}
