import HTTPTypes
import SignetJSON
import SignetRPC
import SignetTesting
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// The attempts of a batch, and the parts of others that a call must not have.
@Suite struct MergedAttemptTests {
    private enum User { @TaskLocal static var name = "nobody's" }

    private final class Seeing: AttemptInterceptor {
        let users = Mutex<[String]>([])
        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            users.withLock { $0.append(User.name) }
            return try await next(call)
        }
    }

    private let fixture = MergingFixture()
    private var engine: HeldEngine { fixture.engine }
    private var clock: PauseClock { fixture.clock }

    /// Lets the first call go and the batch of the others fail, and ends one of them in the pause.
    private func sentAfterPause(
        _ code: TransportError.Code, _ idempotency: Idempotency?
    ) async throws -> [[Int64]] {
        let system = try await fixture.system { $0.options.idempotency = idempotency }
        let calls = try await fixture.begin([0, 1, 2, 3], on: system)
        engine.letGo()
        #expect(try await eventually { engine.count == 2 && engine.heldCount == 1 })
        engine.letGo(failing: code)
        await clock.waitForPauses(1)
        calls[2].cancel()
        #expect(await MergingFixture.name(calls[2].value) == "cancelled")
        engine.open()
        clock.advance(by: .seconds(5))
        #expect(await MergingFixture.name(calls[1].value) == "1")
        #expect(await MergingFixture.name(calls[3].value) == "3")
        #expect(system.pipeline.merger.openCount == 0)
        await system.shutdown()
        return engine.sent
    }

    @Test func anEndedCallIsNotSentAfterThePause() async throws {
        #expect(try await sentAfterPause(.connect, nil) == [[0], [1, 2, 3], [1, 3]])
    }

    @Test func whatMayHaveArrivedIsRepeatedAsItWas() async throws {
        #expect(try await sentAfterPause(.cutOff, .always) == [[0], [1, 2, 3], [1, 2, 3]])
        #expect(engine.bodies[1] == engine.bodies[2])
    }

    @Test func theFirstCallsTaskCarriesTheBatch() async throws {
        let seeing = Seeing()
        let system = try await fixture.system { $0.options.attemptInterceptors = [seeing] }
        var calls: [Task<MergingFixture.Outcome, Never>] = []
        for (number, user) in ["a", "b", "c"].enumerated() {
            calls.append(
                User.$name.withValue(user) { MergingFixture.call(Int64(number), on: system) })
            #expect(
                try await eventually {
                    engine.heldCount == 1 && system.pipeline.merger.waitingCount == number
                })
        }
        engine.open()
        for call in calls { _ = try await call.value.get() }
        #expect(engine.sent.map(\.count) == [1, 2])
        #expect(seeing.users.withLock { $0 } == ["a", "b"])
        await system.shutdown()
    }

    /// Interceptors of attempts see the tags.
    @Test func callsOfOtherTagsGoAlone() async throws {
        let system = try await fixture.system { $0.options.attemptInterceptors = [Seeing()] }
        let first = try await fixture.begin([0], on: system)
        let other = MergingFixture.call(1, on: system) { $0.tags = ["x"] }
        #expect(try await eventually { engine.heldCount == 2 })
        engine.open()
        for call in first + [other] { _ = try await call.value.get() }
        await system.shutdown()
    }

    @Test func theAdapterLimitsABatch() async throws {
        let system = try await fixture.system { service in
            var adapter = JSONRPCAdapter()
            adapter.maximumBatchCount = 2
            service.adapter = adapter
        }
        let calls = try await fixture.begin([0, 1, 2, 3], on: system)
        engine.open()
        for call in calls { _ = try await call.value.get() }
        #expect(Set(engine.sent) == [[0], [1, 2], [3]])
        await system.shutdown()
    }

    @Test func aRecordHasNothingOfTheOthers() async throws {
        let system = try await fixture.system { $0.options.keepsContents = true }
        let records = Mutex<[CallRecord]>([])
        let observation = system.addObserver(
            Notes { record in
                records.withLock { $0.append(record) }
            })
        let calls = try await fixture.begin([0, 77_001, 77_002], on: system)
        engine.open()
        for call in calls { _ = try await call.value.get() }
        let all = records.withLock { $0 }.sorted { $0.identity.id.number < $1.identity.id.number }
        try #require(all.count == 3 && engine.sent.map(\.count) == [1, 2])
        for (record, own, other) in [(all[1], "77001", "77002"), (all[2], "77002", "77001")] {
            let text = "\(record.counted.contents)"
            #expect(text.contains(own) && !text.contains(other), "\(text)")
        }
        observation.remove()
        await system.shutdown()
    }

    private struct Notes: CallObserver {
        let note: @Sendable (CallRecord) -> Void
        func receive(_ event: CallEvent) { if case .finished(let record) = event { note(record) } }
    }
}
