import HTTPTypes
import SignetBase
import SignetJSON
import SignetRPC
import SignetTesting
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// Calls that share no request, and the configuration of merging.
@Suite struct UnmergedCallTests {
    private let fixture = MergingFixture()
    private var engine: HeldEngine { fixture.engine }

    private struct Silent: CallInterceptor, AttemptInterceptor {
        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            try await next(call)
        }

        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            try await next(call)
        }
    }

    @Test func whatCannotShareGoesAlone() async throws {
        let system = try await fixture.system {
            $0.scenarios["slow"] = RequestOptions()
            $0.sets["other"] = RequestDefaults(fields: [.accept: "x"], parameters: [:])
        }
        let first = try await fixture.begin([0], on: system)
        let changes: [(inout RequestOptions) -> Void] = [
            { $0.fields[.authorization] = "b" }, { $0.credentials = ScopedToken(scope: "b") },
            { $0.credentials = ScopedToken(scope: "c") }, { $0.sets = ["other"] },
            { $0.scenario = "slow" }, { $0.baseURL = "https://other.example.com" },
            { $0.interceptors = [Silent()] }, { $0.attemptInterceptors = [Silent()] },
            { $0.timeout = .seconds(1) }, { $0.idempotency = .always },
            { $0.progress = CallProgress() }, { $0.merging = .never },
            { $0.compression = .gzip() },
        ]
        var calls: [Task<MergingFixture.Outcome, Never>] = []
        for (number, change) in changes.enumerated() {
            calls.append(MergingFixture.call(Int64(number + 1), on: system, change: change))
            #expect(try await eventually { engine.heldCount == number + 2 }, "\(number)")
        }
        calls.append(MergingFixture.call(99, on: system, path: "/other"))
        #expect(try await eventually { engine.heldCount == changes.count + 2 })
        #expect(system.pipeline.merger.waitingCount == 0)
        engine.open()
        for call in first + calls { _ = try await call.value.get() }
        #expect(engine.sent.allSatisfy { $0.count == 1 })
        await system.shutdown()
    }

    /// Two users wait each for a call of their own, and share no request.
    @Test func eachUserHasABatch() async throws {
        let system = try await fixture.system()
        var calls: [Task<MergingFixture.Outcome, Never>] = []
        for number in 0..<6 {
            calls.append(
                MergingFixture.call(Int64(number), on: system) {
                    $0.credentials = ScopedToken(scope: number % 2 == 0 ? "even" : "odd")
                })
            let waiting = max(0, number - 1)
            #expect(
                try await eventually {
                    engine.heldCount == min(number + 1, 2)
                        && system.pipeline.merger.waitingCount == waiting
                })
        }
        engine.letGo()
        engine.letGo()
        #expect(try await eventually { engine.count == 4 })
        engine.open()
        for call in calls { _ = try await call.value.get() }
        #expect(Set(engine.sent) == [[0], [1], [2, 4], [3, 5]])
        for (numbers, fields) in zip(engine.sent, engine.fields) {
            #expect(
                fields[.authorization] == (numbers[0] % 2 == 0 ? "Bearer even" : "Bearer odd"))
        }
        await system.shutdown()
    }

    @Test func anInvalidCallFailsAlone() async throws {
        let system = try await fixture.system()
        let calls = try await fixture.begin([0, 1], on: system)
        #expect(
            await MergingFixture.name(MergingFixture.call(2, on: system, method: "rpc.x").value)
                == "reserved-method")
        engine.open()
        for call in calls { _ = try await call.value.get() }
        #expect(engine.sent == [[0], [1]])
        await system.shutdown()
    }

    /// An interceptor of the service makes a call of its own, for which it must not wait.
    @Test func anInterceptorsCallDoesNotWait() async throws {
        final class Asking: AttemptInterceptor {
            let system = Mutex<NetworkSystem?>(nil)
            func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
                if call.identity.tags.isEmpty, let system = system.withLock({ $0 }) {
                    _ = try await system.call(
                        RPCCall("n"), on: "a", options: RequestOptions(tags: ["inner"]))
                }
                return try await next(call)
            }
        }
        let asking = Asking()
        let system = try await fixture.system { $0.options.attemptInterceptors = [asking] }
        asking.system.withLock { $0 = system }
        engine.open()
        #expect(await MergingFixture.name(MergingFixture.call(1, on: system).value) == "1")
        #expect(engine.count == 2)
        asking.system.withLock { $0 = nil }
        await system.shutdown()
    }

    /// The interceptors of a service run around each call, and add to no other one's request.
    @Test func interceptorsRunAroundEachCall() async throws {
        final class Seeing: CallInterceptor {
            let seen = Mutex<[String]>([])
            func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
                let response = try await next(call)
                seen.withLock { $0.append(response.result.map { text($0.bytes) } ?? "") }
                return response
            }
        }
        let seeing = Seeing()
        let system = try await fixture.system { $0.options.interceptors = [seeing] }
        let calls = try await fixture.begin([0, 1, 2], on: system)
        engine.open()
        for call in calls { _ = try await call.value.get() }
        #expect(engine.sent.map(\.count) == [1, 2])
        #expect(seeing.seen.withLock { $0 }.sorted() == ["0", "1", "2"])
        await system.shutdown()
    }

    // MARK: Configuration

    @Test func keysSetTheLimits() async throws {
        var options = NetworkSystem.Options()
        options.engine = engine
        let system = try await NetworkSystem.start(
            Settings.configuration([
                "services.a.merging.maximumCalls": 7, "services.a.merging.maximumBytes": 900,
                "services.a.merging.maximumWait": 2,
            ]), options: options)
        #expect(
            try system.callOptions(for: "a").merging
                == CallMerging(maximumCalls: 7, maximumBytes: 900, maximumWait: .seconds(2)))
        await system.shutdown()
    }

    @Test(
        arguments: [
            ("services.a.merging.maximumCalls", 1), ("services.a.merging.maximumCalls", 101),
            ("services.a.merging.maximumBytes", 0), ("services.a.merging.maximumWait", 0),
        ] as [(String, JSONValue)])
    func wrongValuesAreRefused(_ key: String, _ value: JSONValue) async throws {
        var values: JSONObject = ["services.a.merging.maximumCalls": 7]
        values[key] = value
        let error = await #expect(throws: ClientError.self) {
            try await NetworkSystem.start(Settings.configuration(values))
        }
        #expect(error?.code == .invalidService && error?.message.contains(key) == true)
        let stray = await #expect(throws: ClientError.self) {
            try await NetworkSystem.start(
                Settings.configuration(["services.a.merging.maximumWait": 1]))
        }
        #expect(stray?.message.contains("maximumCalls") == true)
    }

    @Test func aServiceWithoutBatchesIsRefused() async throws {
        for payload in [ServiceConfiguration.PayloadProtocol.rest, .jsonRPC1] {
            let error = await #expect(throws: ClientError.self) {
                try await Pipeline.system(engine, payload: payload) { _ in
                } changeService: {
                    $0.options.merging = CallMerging()
                }
            }
            #expect(error?.code == .invalidService)
        }
        var options = RequestOptions()
        options.merging = CallMerging(maximumCalls: 1)
        let system = try await fixture.system()
        let given = options
        #expect(
            await MergingFixture.name(MergingFixture.call(1, on: system) { $0 = given }.value)
                == "invalid-options")
        await system.shutdown()
    }
}
