import SignetClient
import SignetRPC
import Synchronization
import TestSupport
import Testing

/// Duplicate policies for an API whatever its parameters are, and for a text.
@Suite(.timeLimit(.minutes(2))) struct DuplicateScopeTests {
    /// A list that is filtered by kind and then by price.
    private struct Search: RESTEndpoint {
        typealias Success = Int
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .get }
        var path: PathTemplate { "/flats" }
        var policy: DuplicatePolicy = .replace(.sameAPI)
        var callOptions: RequestOptions {
            var options = RequestOptions()
            options.duplicates = policy
            return options
        }
        private enum CodingKeys: CodingKey { case kind, price }
        var kind: String
        var price: Int?
    }

    private static func start(
        _ system: NetworkSystem, _ call: Search, options: RequestOptions = RequestOptions()
    ) -> Task<ClientError.Code?, Never> {
        Task {
            await Pipeline.code { () async throws(ClientError) in
                try await system.send(call, options: options)
            }
        }
    }

    /// The newest filter wins; the service of another user isn't touched.
    @Test(.features("003-13", "003-14")) func theNewestFilterReplacesTheOneBefore() async throws {
        let engine = WaitingEngine(isStubborn: true)
        let system = try await Pipeline.system(engine)
        let kind = Self.start(system, Search(kind: "flat"))
        #expect(try await eventually { engine.count == 1 })
        let price = Self.start(system, Search(kind: "flat", price: 500))
        #expect(try await eventually { engine.count == 2 })
        #expect(await kind.value == .replaced)
        let again = Self.start(system, Search(kind: "house", price: 500))
        #expect(try await eventually { engine.count == 3 })
        #expect(await price.value == .replaced)
        engine.letGo()
        #expect(await again.value == nil)
        await system.shutdown()
    }

    @Test(.features("003-14")) func aRunningOneRefusesOtherParameters() async throws {
        let engine = WaitingEngine(isStubborn: true)
        let system = try await Pipeline.system(engine)
        let first = Self.start(system, Search(policy: .refuse(.sameAPI), kind: "flat"))
        #expect(try await eventually { engine.count == 1 })
        let second = Self.start(system, Search(policy: .refuse(.sameAPI), kind: "house"))
        #expect(await second.value == .alreadyRunning)
        engine.letGo()
        #expect(await first.value == nil)
        let third = Self.start(system, Search(policy: .refuse(.sameAPI), kind: "house"))
        #expect(try await eventually { engine.count == 2 })
        engine.letGo()
        #expect(await third.value == nil)
        await system.shutdown()
    }

    private struct User: CredentialSource {
        let scope: String
        func credential(
            replacing old: Credential?, for call: CallIdentity
        ) async throws -> Credential { .bearer("1") }
    }

    /// Equal calls, other users, other services and other paths run side by side.
    @Test func otherCallsAreOtherAPIs() async throws {
        let engine = WaitingEngine(isStubborn: true)
        let system = try await Pipeline.system(engine)
        var calls: [Task<ClientError.Code?, Never>] = []
        for user in ["ann", "bob"] {
            var options = RequestOptions()
            options.credentials = User(scope: user)
            calls.append(Self.start(system, Search(kind: "flat"), options: options))
        }
        calls.append(Self.start(system, Search(kind: "flat")))
        for path in ["/orders", "/shops"] as [RESTPath] {
            calls.append(Self.get(system, path, .replace(.sameAPI)))
        }
        // Equal calls are another scope.
        calls.append(Self.start(system, Search(policy: .replace, kind: "flat")))
        #expect(try await eventually { engine.count == calls.count })
        engine.letGo()
        for call in calls { #expect(await call.value == nil) }
        await system.shutdown()
    }

    private static func get(
        _ system: NetworkSystem, _ path: RESTPath, _ policy: DuplicatePolicy
    ) -> Task<ClientError.Code?, Never> {
        Task {
            var options = RequestOptions()
            options.duplicates = policy
            let given = options
            return await Pipeline.code { () async throws(ClientError) in
                try await system.call(RESTRequest(.get, path), on: "a", options: given)
            }
        }
    }

    @Test func aTextCountsWhateverTheCallsDo() async throws {
        let engine = WaitingEngine(isStubborn: true)
        let system = try await Pipeline.system(engine)
        let policy = DuplicatePolicy.replace(.text("screen"))
        let first = Self.get(system, "/orders", policy)
        #expect(try await eventually { engine.count == 1 })
        let other = Self.get(system, "/orders", .replace(.text("page")))
        #expect(try await eventually { engine.count == 2 })
        let second = Self.start(system, Search(policy: policy, kind: "flat"))
        #expect(await first.value == .replaced)
        #expect(try await eventually { engine.count == 3 })
        engine.letGo()
        #expect(await second.value == nil)
        #expect(await other.value == nil)
        await system.shutdown()
    }

    /// An interceptor that sends a call twice at once.
    private struct Twice: CallInterceptor {
        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            async let first = next(call)
            async let second = next(call)
            _ = try await first
            return try await second
        }
    }

    @Test(arguments: [
        DuplicatePolicy.join, .refuse, .replace, .replace(.sameAPI), .refuse(.text("x")),
    ])
    func aCallIsNotADuplicateOfItself(_ policy: DuplicatePolicy) async throws {
        let engine = WaitingEngine(isStubborn: true)
        let system = try await Pipeline.system(engine)
        var options = RequestOptions()
        options.interceptors = [Twice()]
        let call = Self.start(system, Search(policy: policy, kind: "flat"), options: options)
        #expect(try await eventually { engine.count == 2 })
        engine.letGo()
        #expect(await call.value == nil)
        // Nothing is left of it.
        let later = Self.start(system, Search(policy: .refuse(.sameAPI), kind: "flat"))
        #expect(try await eventually { engine.count == 3 })
        engine.letGo()
        #expect(await later.value == nil)
        await system.shutdown()
    }
}
