import HTTPTypes
import SignetCache
import SignetClient
import SignetPinning
import SignetTransport
import Synchronization
import TestSupport
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

    /// Two users make 10,000 calls with random directives; each response names its user.
    @Test func noResponseCrossesUsers() async throws {
        let random = Mutex(SplitMix(seed: 36))
        let origin = CachedOrigin { request, number in
            let user = request.request.headerFields[.authorization] ?? ""
            let directive = random.withLock { random in
                [
                    "public, max-age=5", "max-age=50, stale-while-revalidate=50", "private",
                    "no-cache", "private=\"\", max-age=20", "s-maxage=30, public", "no-store",
                    "max-age=1, stale-if-error=100", "immutable, max-age=9",
                ].randomElement(using: &random)!
            }
            let tag = "\"\(number % 3)\""
            if request.request.headerFields[.ifNoneMatch]?.contains(tag) == true {
                return .init(status: 304, fields: [.eTag: tag, .cacheControl: directive])
            }
            if number % 17 == 0 { return .init(status: 503) }
            return .init(
                fields: [
                    .cacheControl: directive, .eTag: tag, .vary: number % 5 == 0 ? "*" : "Accept",
                ], body: "\"\(user) \(request.request.path ?? "")\"")
        }
        let cached = try await CachedSystem(origin) { $0.callOptions.attempts = 1 }
        var hits = 0
        for _ in 0..<10_000 {
            let (user, path, isOwn, pause, mode) = random.withLock { random in
                (
                    Int.random(in: 0..<2, using: &random), Int.random(in: 0..<4, using: &random),
                    Bool.random(using: &random), Int64.random(in: 0..<3, using: &random),
                    [nil, "no-cache", "max-age=3", "max-stale=50", "only-if-cached"]
                        .randomElement(using: &random)!
                )
            }
            cached.clock.now += pause
            var options = RequestOptions()
            if isOwn {
                options.fields[.authorization] = "Bearer token-of-\(user)"
            } else {
                options.credentials = UserToken(scope: "\(user)")
            }
            if let mode { options.fields[.cacheControl] = mode }
            guard let (text, use) = try? await cached.get("/\(path)", on: "a", options) else {
                continue
            }
            if use?.decision == .hit { hits += 1 }
            guard text == "\"Bearer token-of-\(user) /v1/\(path)\"" else {
                Issue.record("user \(user) got \(text)")
                return
            }
        }
        #expect(hits > 500)
        await cached.system.shutdown()
    }
}
