import HTTPTypes
import SignetJSON
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

@Suite struct DuplicatePolicyTests {
    private static func start(
        _ system: NetworkSystem, _ policy: DuplicatePolicy, query: JSONObject = [:],
        method: HTTPRequest.Method = .get, path: RESTPath = "/x", service: ServiceName = "a",
        change: (inout RequestOptions) -> Void = { _ in }
    ) -> Task<ClientError.Code?, Never> {
        var options = RequestOptions()
        options.duplicates = policy
        change(&options)
        let given = options
        return Task {
            await Pipeline.code { () async throws(ClientError) in
                try await system.call(
                    RESTRequest(method, path, query: query), on: service, options: given)
            }
        }
    }

    @Test func tenThousandJoinedCallsMakeOneRequest() async throws {
        let engine = WaitingEngine(isStubborn: true)
        let system = try await Pipeline.system(engine)
        let calls = (0..<10_000).map { _ in Self.start(system, .join) }
        #expect(
            try await eventually {
                system.pipeline.duplicates.joinedCount == 10_000 && engine.count == 1
            })
        // Cancelling one, the first too, leaves the others.
        for call in calls[..<10] { call.cancel() }
        for call in calls[..<10] { #expect(await call.value == .cancelled) }
        engine.letGo()
        for call in calls[10...] { #expect(await call.value == nil) }
        #expect(engine.count == 1)
        await system.shutdown()
    }

    @Test func theRequestEndsWithItsLastCaller() async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine)
        let calls = (0..<3).map { _ in Self.start(system, .join) }
        #expect(
            try await eventually {
                system.pipeline.duplicates.joinedCount == 3 && engine.count == 1
            })
        for call in calls { call.cancel() }
        for call in calls { #expect(await call.value == .cancelled) }
        // The next one makes a request of its own.
        let next = Self.start(system, .join)
        #expect(try await eventually { engine.count == 2 })
        next.cancel()
        #expect(await next.value == .cancelled)
        await system.shutdown()
    }

    @Test func differentCallsNeverJoin() async throws {
        struct User: CredentialSource {
            let scope: String
            func credential(
                replacing old: Credential?, for call: CallIdentity
            ) async throws -> Credential { .bearer(scope) }
        }
        let engine = WaitingEngine()
        let service = ServiceConfiguration(
            baseURL: "https://api.example.com/v1", payloadProtocol: .rest)
        var settings = NetworkSystem.Options()
        settings.engine = engine
        let system = try await NetworkSystem.start(
            services: ["a": service, "b": service], policy: .allowingAll(), options: settings)
        let calls = [
            Self.start(system, .join), Self.start(system, .join, query: ["a": 1]),
            // Other libraries take no notice of the HTTP method.
            Self.start(system, .join, method: .head), Self.start(system, .join, method: .post),
            Self.start(system, .join, path: "/y"), Self.start(system, .join, service: "b"),
            Self.start(system, .join) { $0.fields[.authorization] = "a" },
            Self.start(system, .join) { $0.fields[.authorization] = "b" },
            Self.start(system, .join) { $0.credentials = User(scope: "a") },
            Self.start(system, .join) { $0.credentials = User(scope: "b") },
            Self.start(system, .join) { $0.engine = EngineChoice() },
            Self.start(system, .join) { $0.compression = .gzip() },
            Self.start(system, .join) { $0.redirects = .never },
            Self.start(system, .join) { $0.idempotency = .never },
            Self.start(system, .join) { $0.maximumResponseSize = 9 },
            Self.start(system, .join) { $0.json = JSONConventions(keys: .snakeCase) },
            Self.start(system, .allow),
        ]
        #expect(try await eventually { engine.count == calls.count })
        await system.shutdown(gracePeriod: .zero)
        for call in calls { #expect(await call.value == .notRunning) }
    }

    /// Interceptors of the call put the users' data into the request.
    @Test(arguments: [DuplicatePolicy.refuse, .replace])
    func aCallWithInterceptorsEqualsNoOther(_ policy: DuplicatePolicy) async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine)
        let calls = ["ann", "bob"].map { user in
            Self.start(system, policy) { $0.interceptors = [Adding(authorization: user)] }
        }
        #expect(try await eventually { engine.count == calls.count })
        await system.shutdown(gracePeriod: .zero)
        for call in calls { #expect(await call.value == .notRunning) }
    }

    private struct Adding: CallInterceptor, AttemptInterceptor {
        let authorization: String

        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            var call = call
            call.fields[.authorization] = authorization
            return try await next(call)
        }

        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            var call = call
            call.request.headerFields[.authorization] = authorization
            return try await next(call)
        }
    }

    /// Only its interceptors may know for whom a call is made.
    @Test(arguments: ["call", "attempt", "scenario"])
    func callsOfOtherInterceptorsNeverJoin(_ level: String) async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine) { options in
            for user in ["a", "b"] {
                options.scenarios[Scenario(user)] = RequestOptions()
                options.scenarios[Scenario(user)]?.interceptors = [Adding(authorization: user)]
            }
        }
        let calls = ["a", "b"].map { user in
            Self.start(system, .join) {
                switch level {
                case "call": $0.interceptors = [Adding(authorization: user)]
                case "attempt": $0.attemptInterceptors = [Adding(authorization: user)]
                default: $0.scenario = Scenario(user)
                }
            }
        }
        #expect(try await eventually { engine.count == 2 })
        await system.shutdown(gracePeriod: .zero)
        for call in calls { #expect(await call.value == .notRunning) }
    }

    private struct AlwaysFails: ResponseCheck {
        func failure(in response: UnboxedResponse) -> String? { "never" }
    }

    @Test(arguments: [false, true])
    func joinedCallsHaveTheirOwnChecks(_ isFirstChecked: Bool) async throws {
        let engine = WaitingEngine(isStubborn: true)
        let system = try await Pipeline.system(engine)
        let first = Self.start(system, .join) {
            $0.responseChecks = isFirstChecked ? [AlwaysFails()] : []
        }
        #expect(try await eventually { engine.count == 1 })
        let second = Self.start(system, .join) {
            $0.responseChecks = isFirstChecked ? [] : [AlwaysFails()]
        }
        #expect(try await eventually { system.pipeline.duplicates.joinedCount == 2 })
        engine.letGo()
        #expect(await first.value == (isFirstChecked ? .businessCode : nil))
        #expect(await second.value == (isFirstChecked ? nil : .businessCode))
        #expect(engine.count == 1)
        await system.shutdown()
    }

    @Test func aJoinedCallsFailureHasItsResponse() async throws {
        let engine = RecordingEngine(responses: [.init(status: 404, body: "{}")])
        let system = try await Pipeline.system(engine)
        var options = RequestOptions()
        options.duplicates = .join
        let response = await system.response(to: .get("/x", on: "a"), options: options)
        #expect(throws: ClientError.self) { try response.get() }
        #expect(response.raw?.status == 404 && response.text == "{}")
        await system.shutdown()
    }

    @Test func aLogKeepsAResponseOnlyIfItIsWanted() {
        func log() -> CallLog {
            CallLog(
                CallIdentity(id: .init(number: 1), service: "a", method: "m", tags: []),
                since: .now,
                mode: .production,
                limits: .init(
                    timeout: .zero, attempts: 1, maximumResponseSize: 1, maximumRedirects: 0),
                scenario: nil)
        }
        let raw = RawResponse(status: 200, body: [1])
        let (plain, wanted) = (log(), log())
        plain.setRaw(raw)
        #expect(plain.raw == nil)
        wanted.keepRaw()
        let shared = CallLog(sharedBy: plain)
        wanted.join(shared, of: .init(number: 1))
        shared.setRaw(raw)
        #expect(wanted.raw == raw && plain.raw == nil)
    }

    @Test func theProgressOfACallThatLeftStaysEnded() async throws {
        let engine = RecordingEngine(failingFirst: 1)
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let system = try await Pipeline.system(engine) {
            $0.clock.sleep = { _ in for await _ in gate {} }
        }
        let progress = CallProgress()
        let first = Self.start(system, .join) { $0.progress = progress }
        #expect(try await eventually { engine.count == 1 })
        let second = Self.start(system, .join)
        #expect(try await eventually { system.pipeline.duplicates.joinedCount == 2 })
        first.cancel()
        #expect(await first.value == .cancelled)
        opener.finish()
        #expect(await second.value == nil)
        #expect(engine.count == 2 && progress.state.hasEnded)
        await system.shutdown()
    }

    /// However it is sent, the same call isn't made twice.
    @Test func anotherEngineMakesNoOtherCall() async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine)
        let first = Self.start(system, .refuse)
        #expect(try await eventually { engine.count == 1 })
        let second = Self.start(system, .refuse) { $0.engine = EngineChoice() }
        #expect(await second.value == .alreadyRunning)
        first.cancel()
        #expect(await first.value == .cancelled)
        await system.shutdown()
    }

    @Test(.features("003-12")) func aSecondCallIsRefusedWhileTheFirstRuns() async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine)
        let first = Self.start(system, .refuse)
        #expect(try await eventually { engine.count == 1 })
        #expect(await Self.start(system, .refuse).value == .alreadyRunning)
        #expect(engine.count == 1)
        first.cancel()
        #expect(await first.value == .cancelled)
        let next = Self.start(system, .refuse)
        #expect(try await eventually { engine.count == 2 })
        next.cancel()
        _ = await next.value
        await system.shutdown()
    }

    @Test(.features("003-13")) func aLaterCallReplacesTheRunningOne() async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine)
        let first = Self.start(system, .replace)
        #expect(try await eventually { engine.count == 1 })
        let second = Self.start(system, .replace)
        #expect(await first.value == .replaced)
        #expect(try await eventually { engine.count == 2 })
        let third = Self.start(system, .replace)
        #expect(await second.value == .replaced)
        third.cancel()
        #expect(await third.value == .cancelled)
        await system.shutdown()
    }
}
