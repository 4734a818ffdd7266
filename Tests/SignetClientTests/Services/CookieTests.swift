import HTTPTypes
import Logging
import SignetClient
import SignetJSON
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// The cookies of a service that has a store.
@Suite struct CookieTests {
    private static let now: Int64 = 1_700_000_000

    private static func sets(_ cookies: String..., status: Int = 200) -> RecordingEngine.Response {
        var fields = HTTPFields()
        fields[values: .setCookie] = cookies
        return .init(status: status, body: "{}", fields: fields)
    }

    private static func system(
        _ engine: any HTTPEngine, _ store: CookieStore?, url: String = "https://a.test/",
        clock: (@Sendable () -> Int64)? = nil,
        change: (inout ServiceConfiguration) -> Void = { _ in }
    ) async throws -> NetworkSystem {
        var service = ServiceConfiguration(baseURL: url, payloadProtocol: .rest)
        service.cookies = store
        change(&service)
        var options = NetworkSystem.Options()
        options.engine = engine
        options.clock.now = clock ?? { now }
        return try await NetworkSystem.start(
            services: [
                "a": service,
                "b": ServiceConfiguration(baseURL: "https://b.test/", payloadProtocol: .rest),
            ], policy: .allowingAll(), options: options)
    }

    private static func get(
        _ system: NetworkSystem, _ target: String = "/", of service: ServiceName = "a",
        fields: HTTPFields = [:]
    ) async throws {
        _ = try await system.exchange(
            service, method: .get, target: target, fields: fields, body: [])
    }

    /// Returns the Cookie field of a second request after the first one's response set cookies.
    private static func sent(
        after cookies: [String], from first: String = "/", to second: String = "/",
        url: String = "https://a.test/"
    ) async throws -> String? {
        var fields = HTTPFields()
        fields[values: .setCookie] = cookies
        let engine = RecordingEngine(responses: [
            .init(body: "{}", fields: fields), .init(body: "{}"),
        ])
        let system = try await system(engine, CookieStore(), url: url)
        try await get(system, first)
        try await get(system, second)
        await system.shutdown()
        #expect(engine.requests[0].request.headerFields[.cookie] == nil)
        return engine.requests[1].request.headerFields[.cookie]
    }

    @Test(
        arguments: [
            (["a=1"], "a=1"), (["a=1; Path=/; Secure; HttpOnly; SameSite=Lax"], "a=1"),
            (["a=1", "b=2"], "a=1; b=2"), (["a=1", "a=2"], "a=2"), (["a="], "a="),
            (["a=b=c"], "a=b=c"), (["  a = 1 2 ; x"], "a=1 2"), ([#"a="x y""#], #"a="x y""#),
            (["a=1; Max-Age=60"], "a=1"), (["a=1; Max-Age=0"], nil), (["a=1; Max-Age=-5"], nil),
            (["a=1; Max-Age=x"], "a=1"), (["a=1; Max-Age=99999999999999999999"], "a=1"),
            (["a=1", "a=; Max-Age=0"], nil), (["a=1; Max-Age=0; Max-Age=9"], "a=1"),
            (["a=1; Expires=Wed, 15 Nov 2023 22:13:20 GMT"], "a=1"),
            (["a=1; Expires=Wed, 15-Nov-23 22:13:20 GMT"], "a=1"),
            (["a=1; expires=15 nov 2023 1:2:3"], "a=1"),
            (["a=1; Expires=Tue, 14 Nov 2023 22:13:20 GMT"], nil),
            (["a=1; Expires=Thu, 01-Jan-1970 00:00:01 GMT"], nil),
            (["a=1; Expires=Mon, 30 Feb 1970 00:00:01 GMT"], "a=1"),
            (["a=1; Expires=never"], "a=1"),
            (["a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60"], "a=1"),
            (["a=1; Domain=a.test"], "a=1"), (["a=1; Domain=.A.Test"], "a=1"),
            (["a=1; Domain="], "a=1"), (["a=1; Domain=test"], "a=1"),
            (["a=1; Domain=.test"], "a=1"),
            (["a=1; Domain=est"], nil),
            (["a=1; Domain=b.test"], nil), (["a=1; Domain=x.a.test"], nil),
            (["a=1; Domain=a.test:443"], nil), (["a=1; Domain=a b"], nil),
            (["a=1; Domain=b.test; Domain=a.test"], "a=1"),
            (["__Host-a=1; Secure; Path=/"], "__Host-a=1"), (["__Host-a=1; Secure"], nil),
            (["__Host-a=1; Path=/"], nil), (["__Host-a=1; Secure; Path=/x"], nil),
            (["__Host-a=1; Secure; Path=/; Domain=a.test"], nil),
            (["__HOST-a=1; Path=/"], nil), (["__Secure-a=1; Secure"], "__Secure-a=1"),
            (["__Secure-a=1"], nil), (["__secure-a=1"], nil),
            (["a=1; SameSite=None"], "a=1"), (["a=1; SameSite=None; Secure"], "a=1"),
            (["=1"], "1"), (["a"], "a"), ([""], nil), (["="], nil), ([";"], nil),
            ([" ; Path=/"], nil),
            (["a b=1"], "a b=1"), (["a,b=1"], "a,b=1"), (["a[b]=1"], "a[b]=1"),
            (["a=\u{e9}"], "a=\u{e9}"), (["\u{e9}=1"], "\u{e9}=1"),
            ([#"a={"b":1}"#], #"a={"b":1}"#),
            (["=__Host-a=1; Secure; Path=/"], nil), (["__Secure-a; Secure"], nil),
            (
                ["a=" + String(repeating: "x", count: 4095)],
                "a=" + String(repeating: "x", count: 4095)
            ),
            (["a=" + String(repeating: "x", count: 4096)], nil),
        ] as [([String], String?)])
    func theNextRequestHasTheAllowedCookies(_ cookies: [String], _ field: String?) async throws {
        #expect(try await Self.sent(after: cookies) == field)
    }

    @Test(
        arguments: [
            ("/x/y", "a=1", "/x/z", "a=1"), ("/x/y", "a=1", "/x", "a=1"), ("/x/y", "a=1", "/", nil),
            ("/x/y", "a=1", "/xy", nil), ("/x", "a=1", "/y", "a=1"), ("/x/", "a=1", "/x/y", "a=1"),
            ("/x/y?z=/q/", "a=1", "/x/y?p=1", "a=1"), ("/", "a=1; Path=/x", "/x", "a=1"),
            ("/", "a=1; Path=/x", "/x/y", "a=1"), ("/", "a=1; Path=/x/", "/x", nil),
            ("/", "a=1; Path=/x", "/xy", nil), ("/", "a=1; Path=/x", "/X", nil),
            ("/x/y", "a=1; Path=x", "/x/z", "a=1"), ("/x/y", "a=1; Path=", "/", nil),
        ] as [(String, String, String, String?)])
    func aPathHasItsCookies(
        _ first: String, _ cookie: String, _ second: String, _ field: String?
    ) async throws {
        #expect(try await Self.sent(after: [cookie], from: first, to: second) == field)
    }

    @Test func longerPathsComeFirst() async throws {
        let field = try await Self.sent(
            after: ["a=1; Path=/", "b=2; Path=/x/y", "c=3; Path=/x", "d=4; Path=/x/y"], to: "/x/y")
        #expect(field == "b=2; d=4; c=3; a=1")
    }

    @Test func withoutTLSNothingIsSecure() async throws {
        let field = try await Self.sent(
            after: ["a=1; Secure", "__Host-b=1; Secure; Path=/", "c=1"], url: "http://a.test/")
        #expect(field == "c=1")
    }

    @Test func withoutAStoreNothingIsKept() async throws {
        let engine = RecordingEngine(responses: [Self.sets("a=1")])
        let system = try await Self.system(engine, nil)
        try await Self.get(system)
        try await Self.get(system)
        await system.shutdown()
        #expect(engine.requests[1].request.headerFields[.cookie] == nil)
    }

    @Test func aCookieEndsWithItsTime() async throws {
        let engine = RecordingEngine(responses: [
            Self.sets("a=1; Max-Age=100", "b=2; Max-Age=999999999", "c=3"), .init(body: "{}"),
        ])
        let store = CookieStore()
        let box = ClockBox(Self.now)
        let system = try await Self.system(engine, store, clock: { box.time })
        for (seconds, field) in [
            (0, nil), (99, "a=1; b=2; c=3"), (100, "b=2; c=3"), (34_559_999, "b=2; c=3"),
            (34_560_000, "c=3"),
        ] as [(Int64, String?)] {
            box.time = Self.now + seconds
            try await Self.get(system)
            #expect(engine.requests.last?.request.headerFields[.cookie] == field, "\(seconds)")
        }
        #expect(store.count == 1)
        store.removeAll()
        try await Self.get(system)
        #expect(engine.requests.last?.request.headerFields[.cookie] == nil)
        await system.shutdown()
    }

    @Test func theCallsOwnCookieStays() async throws {
        let engine = RecordingEngine(responses: [Self.sets("a=1", "b=2"), .init(body: "{}")])
        let system = try await Self.system(engine, CookieStore())
        try await Self.get(system)
        try await Self.get(system, fields: [.cookie: "b=own; c=3"])
        #expect(
            engine.requests[1].request.headerFields[values: .cookie] == ["b=own; c=3; a=1"])
        await system.shutdown()
    }

    @Test func aStoreHoldsSoManyAndNoMore() async throws {
        let store = CookieStore()
        var fields = HTTPFields()
        fields[values: .setCookie] = (0..<60).map { "n\($0)=1" }
        let large = String(repeating: "x", count: 4000)
        var more = HTTPFields()
        more[values: .setCookie] = (0..<9).map { "m\($0)=\(large)" }
        let engine = RecordingEngine(responses: [
            .init(body: "{}", fields: fields), .init(body: "{}", fields: more), .init(body: "{}"),
        ])
        let system = try await Self.system(engine, store)
        try await Self.get(system)
        #expect(store.count == 50)
        try await Self.get(system)
        #expect(store.count == 4)
        try await Self.get(system)
        let second = engine.requests[1].request.headerFields[.cookie] ?? ""
        #expect(second.hasPrefix("n10=1; ") && second.hasSuffix("; n59=1"))
        #expect(engine.requests[2].request.headerFields[.cookie]?.hasPrefix("m5=x") == true)
        await system.shutdown()
    }

    @Test func eachHopAndAttemptOfTheOriginHasThem() async throws {
        func moved(_ location: String, _ cookie: String) -> RecordingEngine.Response {
            .init(
                status: 302, body: "", fields: [.location: location, .setCookie: cookie])
        }
        let busy = RecordingEngine.Response(status: 503, body: "", fields: [.setCookie: "e=5"])
        let engine = RecordingEngine(responses: [
            busy, moved("/second", "a=1"), moved("https://b.test/third", "b=2"),
            moved("https://a.test/fourth", "c=3"), Self.sets("d=4"), .init(body: "{}"),
        ])
        let store = CookieStore()
        let system = try await Self.system(
            engine, store,
            change: {
                $0.options.retry = RetryStrategy()
                $0.options.retry?.firstPause = .zero
            })
        try await Self.get(system)
        try await Self.get(system)
        try await Self.get(system, of: "b")
        await system.shutdown()
        #expect(
            engine.requests.map { $0.request.headerFields[.cookie] }
                == [nil, "e=5", "e=5; a=1", nil, nil, "e=5; a=1; b=2", nil])
        #expect(engine.requests[4].request.path == "/fourth")
        #expect(store.count == 3)
    }

    @Test func anotherPortIsAnotherOrigin() async throws {
        let store = CookieStore()
        let engine = RecordingEngine(responses: [Self.sets("a=1"), .init(body: "{}")])
        for (url, field) in [
            ("https://a.test/", nil), ("https://a.test:8443/", nil), ("http://a.test/", nil),
            ("https://A.test:443/", "a=1"),
        ] as [(String, String?)] {
            let system = try await Self.system(engine, store, url: url)
            try await Self.get(system)
            await system.shutdown()
            #expect(engine.requests.last?.request.headerFields[.cookie] == field, "\(url)")
        }
    }

    @Test func aConfigurationChangeKeepsCookies() async throws {
        let engine = RecordingEngine(responses: [
            .init(fields: [.setCookie: "a=1"]), .init(),
        ])
        var options = NetworkSystem.Options()
        options.engine = engine
        options.clock.now = { Self.now }
        let system = try await NetworkSystem.start(
            Settings.configuration(["services.a.cookies": true]), options: options)
        _ = try await system.call(RPCCall("m"), on: "a")
        try system.update(
            Settings.configuration(["services.a.cookies": true, "services.a.attempts": 2]))
        _ = try await system.call(RPCCall("m"), on: "a")
        try system.update(Settings.configuration(["services.a.cookies": false]))
        _ = try await system.call(RPCCall("m"), on: "a")
        await system.shutdown()
        #expect(
            engine.requests.map { $0.request.headerFields[.cookie] } == [nil, "a=1", nil])
    }

    @Test func noLogOrErrorContainsACookie() async throws {
        let log = RecordingLog()
        let engine = RecordingEngine(responses: [
            Self.sets("sid=ZZZZZZ", "bad=ZZZZZZ\u{e9}; Domain=ZZZZZZ"),
            .init(status: 500, body: ""),
        ])
        let store = CookieStore()
        var service = ServiceConfiguration(baseURL: "https://a.test/", payloadProtocol: .rest)
        service.cookies = store
        var options = NetworkSystem.Options()
        options.engine = engine
        options.clock.now = { Self.now }
        options.logger = Logger(label: "test") { _ in log }
        let system = try await NetworkSystem.start(
            services: ["a": service], policy: .allowingAll(), options: options)
        let trace = CallTrace()
        try await Self.get(system)
        let error = await #expect(throws: ClientError.self) {
            try await system.call(RPCCall("GET"), on: "a", options: RequestOptions(trace: trace))
        }
        await system.shutdown()
        #expect(engine.requests[1].request.headerFields[.cookie] == "sid=ZZZZZZ")
        var text = "\(store) \(service) \(error as Any) \(trace.attempts) \(log.text)"
        dump(store, to: &text)
        dump(service, to: &text)
        dump(error, to: &text)
        #expect(!text.contains("ZZZZZZ"))
    }

    @Test func aRealServersCookieIsReturned() async throws {
        let host = try await RouteServer([
            "/login": "200 OK\r\nSet-Cookie: sid=1; Path=/\r\nSet-Cookie: theme=dark\r\n\r\n{}",
            "/orders": "200 OK\r\n\r\n{}",
        ])
        var service = ServiceConfiguration(baseURL: host.url, payloadProtocol: .rest)
        service.cookies = CookieStore()
        let system = try await NetworkSystem.start(
            services: ["a": service], policy: .allowingAll())
        try await Self.get(system, "/login")
        try await Self.get(system, "/orders")
        await system.shutdown()
        let requests = host.requests.map { $0.lowercased() }
        #expect(requests.count == 2 && !requests[0].contains("cookie"))
        #expect(requests.last?.contains("cookie: sid=1; theme=dark\r\n") == true)
    }
}

/// A clock that a test sets.
private final class ClockBox: Sendable {
    private let seconds: Mutex<Int64>
    init(_ seconds: Int64) { self.seconds = Mutex(seconds) }
    var time: Int64 {
        get { seconds.withLock { $0 } }
        set { seconds.withLock { $0 = newValue } }
    }
}
