import HTTPTypes
import SignetBase
import SignetCache
import SignetJSON
import SignetRPC
import SignetTransport
import TestSupport
import Testing

@testable import SignetClient

/// Calls that the program's own rules cache.
@Suite struct CallCacheTests {
    /// An endpoint with one declaration.
    private struct News: Endpoint {
        struct Success: Decodable, Sendable { var n: Int }
        var page = 1
        var service: ServiceName { "a" }
        var method: RPCMethod { "news.list" }
        var callOptions: RequestOptions {
            var options = RequestOptions()
            options.cache = .age(.seconds(180))
            return options
        }
    }

    /// A JSON-RPC service whose results count.
    private static func counter() -> CachedOrigin {
        CachedOrigin { _, number in
            .init(body: #"{"jsonrpc":"2.0","id":1,"result":{"n":\#(number)}}"#)
        }
    }

    private static func system(
        _ origin: any HTTPEngine, _ policy: CachePolicy? = .age(.seconds(180)),
        change: (inout NetworkSystem.Options) -> Void = { _ in }
    ) async throws -> CachedSystem {
        try await CachedSystem(origin, policy, payload: .jsonRPC2, changeOptions: change)
    }

    private func number(
        _ cached: CachedSystem, _ parameters: RPCParameters? = nil, on service: ServiceName = "a",
        _ method: RPCMethod = "m", change: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Int64? {
        var options = RequestOptions()
        change(&options)
        let response = try await cached.system.call(
            RPCCall(method, parameters: parameters), on: service, options: options)
        return response.result?.value["n"]?.number?.int64
    }

    @Test(.features("000-32", "001-07", "001-16", "002-13", "002-32", "003-27", "003-29"))
    func oneDeclarationKeepsAResponseForThreeMinutes() async throws {
        let origin = Self.counter()
        let cached = try await Self.system(origin, nil)
        for _ in 0..<5 {
            #expect(try await cached.system.send(News()).n == 1)
            cached.clock.now += 36
        }
        #expect(origin.count == 1)
        #expect(try await cached.system.send(News()).n == 2)
        #expect(try await cached.system.send(News(page: 2)).n == 3)
        await cached.system.shutdown()
    }

    @Test func aClockThatIsSetBackIsAMiss() async throws {
        let cached = try await Self.system(Self.counter())
        #expect(try await number(cached) == 1)
        cached.clock.now -= 1
        #expect(try await number(cached) == 2)
        await cached.system.shutdown()
    }

    @Test(.features("002-14")) func anotherVersionIsAMiss() async throws {
        let cached = try await Self.system(Self.counter())
        func number(_ api: String?, _ app: String?) async throws -> Int64? {
            try await self.number(cached) { $0.cache = .version(api: api, app: app) }
        }
        #expect(try await number("1", nil) == 1)
        cached.clock.now += 1_000_000
        #expect(try await number("1", nil) == 1)
        #expect(try await number("2", nil) == 2)
        #expect(try await number("1", "7") == 3)
        #expect(try await number("1", "8") == 4)
        #expect(try await number("2", nil) == 2)
        #expect(try await number("1", "7") == 3)
        await cached.system.shutdown()
    }

    @Test(.features("003-29")) func aSizeKeepsTheLastUsedOfAnAPI() async throws {
        let origin = CachedOrigin { _, number in
            let text = String(repeating: "x", count: 10_000)
            return .init(
                body: #"{"jsonrpc":"2.0","id":1,"result":{"n":\#(number),"t":"\#(text)"}}"#)
        }
        let cached = try await Self.system(origin, .size(60_000))
        for page in 1...4 {
            #expect(
                try await number(cached, .array([.number(JSONNumber(Int64(page)))])) == Int64(page))
        }
        // Another API has its own size.
        #expect(try await number(cached, "other") == 5)
        #expect(try await number(cached, .array([4])) == 4)
        #expect(try await number(cached, .array([1])) == 6)
        #expect(try await number(cached, "other") == 5)
        await cached.system.shutdown()
    }

    private func number(_ cached: CachedSystem, _ method: RPCMethod) async throws -> Int64? {
        try await number(cached, nil, on: "a", method)
    }

    @Test(.features("003-28")) func theKeyIsMadeOfTheAPIAndItsParameters() async throws {
        let origin = Self.counter()
        let cached = try await Self.system(origin)
        #expect(try await number(cached, .object(["a": 1, "b": ["c": 2, "d": 3]])) == 1)
        #expect(try await number(cached, .object(["b": ["d": 3, "c": 2], "a": 1])) == 1)
        let others: [RPCParameters?] = [
            .object(["a": 1, "b": ["c": 2, "d": 4]]), .object(["a": "1", "b": ["c": 2, "d": 3]]),
            .array([1]), nil, .object([:]), .array([]),
            // Equal as binary64.
            .object(["a": 9_007_199_254_740_993]), .object(["a": 9_007_199_254_740_992]),
        ]
        var last: Int64 = 1
        for parameters in others {
            last += 1
            #expect(try await number(cached, parameters) == last)
        }
        for change in Self.changes {
            last += 1
            #expect(try await number(cached, nil, change: change) == last)
        }
        #expect(try await number(cached, nil, on: "b") == last + 1)
        #expect(origin.count == Int(last) + 1)
        // The key is a keyed digest of 128 bits in hexadecimal.
        let keys = cached.store.list().map(\.id.key)
        #expect(Set(keys.map(\.origin)) == ["call:a/m", "call:b/m"])
        #expect(keys.allSatisfy { $0.url.utf8.count == $0.origin.utf8.count + 33 })
        await cached.system.shutdown()
    }

    private static let changes: [@Sendable (inout RequestOptions) -> Void] = [
        { $0.fields[.acceptLanguage] = "de" }, { $0.baseURL = "https://api.example.com/v2" },
        { $0.credentials = UserToken(scope: "u") }, { $0.fields[.cookie] = "a=1" },
    ]

    @Test(.features("003-31")) func neverWinsOverAllLevels() async throws {
        let never = CachePolicy.never
        let age = CachePolicy.age(.seconds(9))
        for (system, service, call) in [(never, age, age), (age, never, age), (age, age, never)] {
            let cached = try await CachedSystem(Self.counter(), system, payload: .jsonRPC2) { _ in
            } changeService: {
                $0.options.cache = service
            }
            #expect(try await number(cached) { $0.cache = call } == 1)
            #expect(try await number(cached) { $0.cache = call } == 2)
            #expect(cached.store.count == 0)
            await cached.system.shutdown()
        }
    }

    @Test(.features("000-35")) func theRecordHasTheResolvedRules() async throws {
        let cached = try await CachedSystem(Self.counter(), .http, payload: .jsonRPC2) { _ in
        } changeService: {
            $0.options.cache = .version(api: "3").lasting(.seconds(60))
        }
        var uses: [CacheUse] = []
        for mode in [CacheMode.standard, .standard, .refresh] {
            let trace = CallTrace()
            _ = try await number(cached) {
                $0.trace = trace
                $0.cacheMode = mode
            }
            uses.append(try #require(trace.record?.work.cache))
            cached.clock.now += 5
        }
        #expect(uses.map(\.decision) == [.miss, .hit, .miss])
        #expect(uses.map(\.reason) == ["uri-miss", nil, "request"])
        #expect(uses.map(\.age) == [nil, 5, nil])
        #expect(uses.map(\.isStored) == [true, false, true])
        #expect(Set(uses.map(\.key)).count == 1 && uses[0].key?.utf8.count == 32)
        #expect(uses[0].policy.description == "age 60.0 seconds, API version 3")
        await cached.system.shutdown()
    }

    // MARK: What is stored

    @Test func aHitIsTheResponseThatWasStored() async throws {
        let origin = CachedOrigin { _, _ in
            .init(fields: [.eTag: "\"ü\"", .server: "s"], body: #"  {"a": 1e400} "#)
        }
        let cached = try await CachedSystem(origin, .age(.seconds(60)))
        let one = try await cached.system.send(.get("/n", on: "a"))
        let two = try await cached.system.send(.get("/n", on: "a"))
        #expect(origin.count == 1)
        #expect(one == two && two.raw == one.raw && one.result?.bytes == two.result?.bytes)
        #expect(two.fields[.server] == "s")
        await cached.system.shutdown()
    }

    @Test(arguments: [
        #"{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"no"}}"#, "{", "",
    ])
    func failuresAreNotStored(_ body: String) async throws {
        let cached = try await Self.system(CachedOrigin { _, _ in .init(body: body) })
        _ = try? await number(cached)
        #expect(cached.store.count == 0)
        await cached.system.shutdown()
    }

    private struct OddOnly: ResponseCheck {
        func failure(in response: UnboxedResponse) -> String? {
            response.result?.value["n"]?.number?.int64.map { $0 % 2 == 0 ? "even" : nil } ?? nil
        }
    }

    @Test func theChecksRunOnAHitToo() async throws {
        let cached = try await Self.system(
            CachedOrigin { _, _ in .init(body: #"{"jsonrpc":"2.0","id":1,"result":{"n":2}}"#) })
        #expect(try await number(cached) == 2)
        let code = await Pipeline.code { () throws(ClientError) in
            var options = RequestOptions()
            options.responseChecks = [OddOnly()]
            _ = try await cached.system.call(RPCCall("m"), on: "a", options: options)
        }
        #expect(code == .businessCode)
        await cached.system.shutdown()
    }

    private struct Answering: CallInterceptor {
        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            UnboxedResponse(result: RPCResult(["n": 7]), status: 200)
        }
    }

    @Test func interceptedResponsesAreNotStored() async throws {
        let cached = try await Self.system(Self.counter()) {
            $0.callOptions.interceptors = [Answering()]
        }
        _ = try? await number(cached)
        #expect(cached.store.count == 0)
        await cached.system.shutdown()
    }

    @Test func notificationsAreNotStored() async throws {
        let cached = try await Self.system(CachedOrigin { _, _ in .init(status: 204, body: "") })
        _ = try await cached.system.call(RPCCall("m", isNotification: true), on: "a")
        #expect(cached.store.count == 0)
        await cached.system.shutdown()
    }

    @Test func joinedCallsLookOnce() async throws {
        let gate = Latch<Bool>()
        let origin = CachedOrigin { _, number in
            _ = await gate.wait()
            return .init(body: #"{"jsonrpc":"2.0","id":1,"result":{"n":\#(number)}}"#)
        }
        let store = CountingStore()
        let cached = try await Self.system(origin) {
            $0.callOptions.duplicates = .join
            $0.cacheStore = store
        }
        try await withThrowingTaskGroup(of: Int64?.self) { group in
            for _ in 0..<20 { group.addTask { try await number(cached) } }
            #expect(try await eventually { cached.system.pipeline.duplicates.joinedCount == 20 })
            gate.set(true)
            for try await value in group { #expect(value == 1) }
        }
        await cached.system.shutdown()
        #expect(origin.count == 1 && store.lookCount == 1 && store.count == 1)
    }

    // MARK: Removing, and both responses

    @Test(.features("001-17")) func theStoredResponseComesFirst() async throws {
        let cached = try await Self.system(Self.counter(), nil)
        func responses() async -> [(CallRecord.Response.Source?, Int?)] {
            var found: [(CallRecord.Response.Source?, Int?)] = []
            for await response in cached.system.storedThenCurrent(News()) {
                found.append(
                    (response.record?.response?.source, try? response.get().n))
            }
            return found
        }
        let first = await responses()
        #expect(first.map(\.0) == [.server] && first.map(\.1) == [1])
        cached.clock.now += 100_000
        let second = await responses()
        #expect(second.map(\.0) == [.cache, .server])
        #expect(second.map(\.1) == [1, 2])
        await cached.system.shutdown()
    }

    @Test(.features("001-17")) func storedResponsesCanBeRemoved() async throws {
        let cached = try await Self.system(Self.counter())
        func fill() async throws {
            await cached.system.clearCache()
            _ = try await cached.system.send(News())
            _ = try await cached.system.send(News(page: 2))
            _ = try await number(cached, nil, on: "b") {
                $0.credentials = UserToken(scope: "ann")
            }
            _ = try await number(cached) { $0.credentials = UserToken(scope: "bob") }
            #expect(cached.store.count == 4)
        }
        try await fill()
        await cached.system.clearCache(of: News())
        #expect(cached.store.count == 2)
        try await fill()
        await cached.system.clearCache(of: "a")
        #expect(cached.store.count == 1)
        try await fill()
        await cached.system.clearCache(ofUser: "bob")
        await cached.system.clearCache(ofUser: "bo")
        #expect(cached.store.count == 3)
        await cached.system.clearCache()
        #expect(cached.store.count == 0)
        await cached.system.shutdown()
    }

    // MARK: Configuration

    @Test(
        .features("000-32"),
        arguments: [
            (["cache.rule": "http"], "http"), (["cache.rule": "never"], "never"),
            (["cache.age": 180], "age 180.0 seconds"),
            (
                [
                    "cache.age": 60, "cache.apiVersion": "2", "cache.appVersion": "1.4",
                    "cache.bytes": 9,
                ],
                "age 60.0 seconds, API version 2, app version 1.4, 9 bytes"
            ),
            (["cache.bytes": 100], "100 bytes"), ([:], nil),
        ] as [([String: JSONValue], String?)])
    func aServiceHasARule(_ values: [String: JSONValue], _ text: String?) async throws {
        let all = JSONObject(values.map { (name: "services.a.\($0.key)", value: $0.value) })
        let system = try await NetworkSystem.start(
            Settings.configuration(all), options: Self.recording())
        #expect(try system.callOptions(for: "a").cache?.description == text)
        await system.shutdown()
    }

    @Test func aMethodHasARule() async throws {
        let system = try await NetworkSystem.start(
            Settings.configuration([
                "services.a.cache.rule": "http", "services.a.methods.m.cache": "never",
                "services.a.methods.n.cacheAge": 5,
            ]), options: Self.recording())
        #expect(try system.callOptions(for: "a", method: "m").cache == .never)
        #expect(try system.callOptions(for: "a", method: "n").cache == .age(.seconds(5)))
        #expect(try system.callOptions(for: "a", method: "o").cache == .http)
        await system.shutdown()
    }

    @Test(
        arguments: [
            ["cache.rule": "always"], ["cache.age": 0], ["cache.age": -1], ["cache.bytes": 0],
            ["cache.rule": "http", "cache.age": 1], ["cache.rule": "never", "cache.bytes": 1],
            ["cache.rule": "http", "cache.apiVersion": "1"], ["methods.m.cache": "x"],
            ["methods.m.cache": "http", "methods.m.cacheAge": 1],
        ] as [[String: JSONValue]])
    func anInvalidRuleIsRefused(_ values: [String: JSONValue]) async throws {
        let all = JSONObject(values.map { (name: "services.a.\($0.key)", value: $0.value) })
        let configuration = try Settings.configuration(all)
        let code = await Pipeline.code { () throws(ClientError) in
            try await NetworkSystem.start(configuration, options: Self.recording())
        }
        #expect(code == .invalidService)
    }

    private static func recording() -> NetworkSystem.Options {
        var options = NetworkSystem.Options()
        options.engine = RecordingEngine()
        return options
    }

    @Test(arguments: [CachePolicy.age(.zero), .age(.seconds(-1)), .size(0), .never.lasting(.zero)])
    func anInvalidRuleOfACallIsRefused(_ policy: CachePolicy) async throws {
        let cached = try await Self.system(Self.counter(), nil)
        let code = await Pipeline.code { () throws(ClientError) in
            var options = RequestOptions()
            options.cache = policy
            _ = try await cached.system.call(RPCCall("m"), on: "a", options: options)
        }
        #expect(code == (policy == .never ? nil : .invalidOptions))
        await cached.system.shutdown()
    }
}
