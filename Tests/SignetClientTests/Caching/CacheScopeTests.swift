import HTTPTypes
import SignetCache
import SignetClient
import SignetPinning
import SignetTransport
import Testing

/// The users of a stored response, and the policies under which it is used.
@Suite struct CacheScopeTests {
    private static let apiKey = HTTPField.Name("X-API-Key")!

    /// An origin that says who asked.
    private static func echo() -> CachedOrigin {
        CachedOrigin { request, _ in
            let fields = request.request.headerFields
            let names = [HTTPField.Name.authorization, .cookie, apiKey]
            let who = names.map { fields[$0] ?? "" }.joined(separator: "|")
            return .init(fields: [.cacheControl: "public, max-age=600"], body: "\"\(who)\"")
        }
    }

    @Test(arguments: [CachePolicy.http, .age(.seconds(600))])
    func usersNeverShareAResponse(_ policy: CachePolicy) async throws {
        let origin = Self.echo()
        let cached = try await CachedSystem(origin, policy)
        func options(_ user: Int) -> RequestOptions {
            var options = RequestOptions()
            switch user {
            case 0: break
            case 1, 2: options.credentials = UserToken(scope: "user\(user)")
            case 3, 4: options.fields[.authorization] = "Bearer \(user)"
            case 5, 6: options.fields[.cookie] = "session=\(user)"
            // The same text as another user's, in another field.
            case 7: options.fields[Self.apiKey] = "session=5"
            default: options.fields[Self.apiKey] = "Bearer \(user)"
            }
            return options
        }
        var texts: [String] = []
        for user in 0..<10 { texts.append(try await cached.get("/n", on: "a", options(user)).text) }
        #expect(Set(texts).count == 10)
        #expect(origin.count == 10)
        for user in 0..<10 {
            let (text, use) = try await cached.get("/n", on: "a", options(user))
            #expect(text == texts[user] && use?.decision == .hit)
        }
        #expect(origin.count == 10)
        // Neither the values nor the names of users are in the store.
        for response in cached.store.list() {
            #expect(!"\(response.id)".contains("user") && !"\(response.id)".contains("session"))
        }
        await cached.system.shutdown()
    }

    /// A field that the program marks as a secret.
    @Test(arguments: [CachePolicy.http, .age(.seconds(600))])
    func aMarkedFieldTellsUsersApart(_ policy: CachePolicy) async throws {
        let origin = CachedOrigin.counter()
        let cached = try await CachedSystem(origin, policy)
        func text(_ user: String) async throws -> String {
            var field = HTTPField(name: HTTPField.Name("X-Colour")!, value: user)
            field.indexingStrategy = .disallow
            return try await cached.text { $0.fields.append(field) }
        }
        #expect(try await [text("red"), text("blue"), text("red")] == ["1", "2", "1"])
        await cached.system.shutdown()
    }

    /// A cookie whose path is below the service's URL.
    @Test(arguments: [CachePolicy.http, .age(.seconds(600))])
    func cookiesOfAPathTellUsersApart(_ policy: CachePolicy) async throws {
        let origin = CachedOrigin { request, number in
            let who = request.request.headerFields[.cookie] ?? "nobody"
            guard request.request.method == .post else {
                return .init(fields: [.cacheControl: "max-age=600"], body: "\"\(who)\"")
            }
            let cookie = "user=\(number); Path=/v1/account"
            return .init(fields: [.setCookie: cookie], body: "\(number)")
        }
        let cookies = CookieStore()
        let cached = try await CachedSystem(
            origin, policy, changeService: { $0.cookies = cookies })
        var texts: [String] = []
        for _ in 0..<2 {
            cookies.removeAll()
            _ = try await cached.system.send(.post("/account/login", on: "a"))
            texts.append(try await cached.text("/account/me"))
        }
        #expect(texts == ["\"user=1\"", "\"user=3\""])
        await cached.system.shutdown()
    }

    @Test(arguments: [CachePolicy.http, .age(.seconds(600))])
    func usersOfAProxyDoNotShare(_ policy: CachePolicy) async throws {
        let origin = CachedOrigin.counter()
        var texts: [String] = []
        let store = MemoryCacheStore(byteLimit: 1 << 20)
        for user in ["alice", "bob", "alice"] {
            let proxy = try Proxy(
                parsing: "http://\(user):p@proxy.test:3128", allowsCredentials: true)
            let cached = try await CachedSystem(
                origin, policy,
                changeOptions: { ($0.proxies, $0.cacheStore) = (ProxyRules(proxy), store) })
            texts.append(try await cached.text())
            await cached.system.shutdown()
        }
        #expect(texts == ["1", "2", "1"])
    }

    @Test func aGetWithABodyIsNotCached() async throws {
        let origin = CachedOrigin.counter()
        let cached = try await CachedSystem(origin)
        for body in ["q1", "q2"] {
            let response = try await cached.system.exchange(
                "a", method: .get, target: "/v1/n", fields: [:],
                body: HTTPRequestBody(Array(body.utf8)))
            #expect(response.status == 200)
        }
        #expect(origin.count == 2 && cached.store.count == 0)
        await cached.system.shutdown()
    }

    @Test(arguments: [CachePolicy.http, .age(.seconds(600))])
    func servicesAndSystemsDoNotShare(_ policy: CachePolicy) async throws {
        let origin = CachedOrigin.counter()
        let cached = try await CachedSystem(origin, policy)
        #expect(try await cached.text("/n", on: "a") == "1")
        #expect(try await cached.text("/n", on: "b") == "2")
        // Another system with the same store connects to other addresses.
        var options = NetworkSystem.Options()
        options.engine = origin
        options.cacheStore = cached.store
        options.clock = cached.clock.clock
        options.callOptions.cache = policy
        options.connectTo = [try .init(parsing: "api.example.com:443:127.0.0.1:8443")]
        let other = try await NetworkSystem.start(
            services: [
                "a": ServiceConfiguration(
                    baseURL: "https://api.example.com/v1", payloadProtocol: .rest)
            ], policy: .allowingAll(), options: options)
        _ = try await other.send(.get("/n", on: "a"))
        #expect(origin.count == 3)
        await cached.system.shutdown()
        await other.shutdown()
    }

    private static func policy(_ pins: [UInt8], expires: String? = nil) throws -> PinPolicy {
        try PinPolicy(rules: [
            PinRule(host: "api.example.com", pins: pins.map { try Pin.of($0) }, expires: expires)
        ])
    }

    @Test(arguments: [CachePolicy.http, .age(.seconds(600))])
    func aHitNeedsThePresentPins(_ rule: CachePolicy) async throws {
        let origin = CachedOrigin.counter("max-age=600")
        origin.keys = [try .of(1), try .of(2)]
        let cached = try await CachedSystem(
            origin, rule, pins: try Self.policy([2, 9]))
        #expect(try await cached.text() == "1")
        #expect(try await cached.text() == "1")
        for (pins, text) in [([1, 7], "1"), ([7, 8], "2"), ([2, 9], "1")] as [([UInt8], String)] {
            // What is stored stays; whether it is used depends on the policy of the call.
            if text == "2" { origin.keys = [try .of(7)] }
            try cached.system.update(policy: Self.policy(pins))
            let (found, use) = try await cached.get()
            if pins == [2, 9] {
                #expect(use?.decision == .miss)  // It was replaced under the other policy.
            } else {
                #expect(found == text)
            }
        }
        await cached.system.shutdown()
    }

    @Test func aValidationKeepsTheCommonKeys() async throws {
        let origin = CachedOrigin { request, number in
            request.request.headerFields[.ifNoneMatch] == nil
                ? .init(fields: [.eTag: "\"a\"", .cacheControl: "max-age=1"], body: "\(number)")
                : .init(status: 304, fields: [.eTag: "\"a\"", .cacheControl: "max-age=600"])
        }
        origin.keys = [try .of(1), try .of(2)]
        let cached = try await CachedSystem(origin, pins: try Self.policy([1, 2, 3]))
        #expect(try await cached.text() == "1")
        cached.clock.now += 10
        origin.keys = [try .of(3), try .of(2)]
        #expect(try await cached.get().use?.decision == .validated)
        // The content came by 1 and 2, the metadata by 3 and 2.
        for pins in [[1, 9], [3, 9]] as [[UInt8]] {
            let stored = cached.store.list().first?.publicKeys ?? []
            #expect(stored == [try Pin.of(2).text])
            #expect(try Self.policy(pins).rule(for: .canonical("api.example.com")) != nil)
        }
        try cached.system.update(policy: Self.policy([3, 9]))
        #expect(try await cached.get().use?.decision == .miss)
        await cached.system.shutdown()
    }
}
