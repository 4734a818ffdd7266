import HTTPTypes
import SignetBase
import SignetCache
import SignetJSON
import SignetRPC
import SignetTesting
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// Calls that come while one is out, and leave as one batch.
@Suite struct CallMergingTests {
    private let fixture = MergingFixture()
    private var engine: HeldEngine { fixture.engine }
    private var clock: PauseClock { fixture.clock }

    // MARK: Batches

    @Test(.features("003-34"))
    func callsThatComeMeanwhileShareARequest() async throws {
        let system = try await fixture.system()
        let calls = try await fixture.begin([0, 1, 2, 3], on: system)
        engine.letGo()
        #expect(try await eventually { engine.count == 2 })
        // Those that come while the batch is out wait for it.
        let late = [MergingFixture.call(4, on: system), MergingFixture.call(5, on: system)]
        #expect(try await eventually { system.pipeline.merger.waitingCount == 2 })
        engine.letGo()
        #expect(try await eventually { engine.count == 3 })
        engine.letGo()
        for (number, call) in (calls + late).enumerated() {
            #expect(await MergingFixture.name(call.value) == "\(number)")
        }
        #expect(engine.sent.map(\.count) == [1, 3, 2] && engine.sent[1] == [1, 2, 3])
        #expect(engine.bodies[0].array == nil && engine.bodies[1].array?.count == 3)
        #expect(system.pipeline.merger.openCount == 0)
        await system.shutdown()
    }

    /// As a server on the wire counts them: 21 calls in two requests.
    @Test(.features("003-34"))
    func theHostGetsTwoRequests() async throws {
        let (server, port) = try await SocketServer.start("held-calls")
        var service = ServiceConfiguration(
            baseURL: "http://127.0.0.1:\(port)", payloadProtocol: .jsonRPC2)
        service.options.merging = CallMerging()
        let system = try await NetworkSystem.start(
            services: ["a": service], policy: .allowingAll())
        var calls = [MergingFixture.call(0, on: system)]
        #expect(try await eventually { server.received.count == 1 })
        calls += (1...20).map { MergingFixture.call($0, on: system) }
        #expect(try await eventually { system.pipeline.merger.waitingCount == 20 })
        let go = MergingFixture.call(21, on: system, method: "go") { $0.merging = .never }
        _ = try await go.value.get()
        for (number, call) in calls.enumerated() {
            #expect(await MergingFixture.name(call.value) == "\(number)")
        }
        #expect(server.received.count == 2)
        await system.shutdown()
        try await server.stop()
    }

    @Test func aCallThatWaitedAloneIsNoBatch() async throws {
        let system = try await fixture.system()
        let calls = try await fixture.begin([0, 1], on: system)
        engine.letGo()
        #expect(try await eventually { engine.count == 2 })
        #expect(engine.bodies[1].array == nil)
        engine.letGo()
        for call in calls { _ = try await call.value.get() }
        await system.shutdown()
    }

    @Test func withoutTheOptionNothingWaits() async throws {
        let system = try await fixture.system(.never)
        let calls = (0..<4).map { MergingFixture.call($0, on: system) }
        #expect(try await eventually { engine.heldCount == 4 })
        engine.open()
        for call in calls { _ = try await call.value.get() }
        #expect(engine.sent.allSatisfy { $0.count == 1 })
        await system.shutdown()
    }

    private struct NoSeven: ResponseCheck {
        func failure(in response: UnboxedResponse) -> String? {
            response.result?.value == 7 ? "found 7" : nil
        }
    }

    @Test func eachCallHasItsOwnOutcome() async throws {
        let system = try await fixture.system { $0.options.responseChecks = [NoSeven()] }
        let calls = try await fixture.begin([0, 1, -1, -2, 7, 8], on: system)
        engine.letGo()
        #expect(try await eventually { engine.count == 2 })
        engine.letGo()
        var names: [String] = []
        for call in calls { names.append(await MergingFixture.name(call.value)) }
        #expect(names == ["0", "1", "rpc-error", "batch-incomplete", "business-code", "8"])
        let error = await #expect(throws: ClientError.self) { try await calls[2].value.get() }
        #expect(error?.identity?.method == "n" && error?.serverError?.code == JSONNumber(-32000))
        await system.shutdown()
    }

    @Test func aFailedBatchFailsEachOfItsCalls() async throws {
        let system = try await fixture.system()
        let calls = try await fixture.begin([0, 1, 2], on: system)
        engine.letGo()
        #expect(try await eventually { engine.count == 2 })
        engine.letGo(failing: .tls)
        #expect(await MergingFixture.name(calls[0].value) == "0")
        var identities: Set<CallIdentity.ID> = []
        for call in calls[1...] {
            let error = await #expect(throws: ClientError.self) { try await call.value.get() }
            #expect(error?.code == .tls && error?.record?.work.mergedCount == 2)
            if let id = error?.identity?.id { identities.insert(id) }
        }
        #expect(identities.count == 2)
        await system.shutdown()
    }

    @Test func aRecordShowsTheRequestOfTheBatch() async throws {
        let system = try await fixture.system()
        let records = Mutex<[CallRecord]>([])
        let observation = system.addObserver(
            RecordNotes { record in
                records.withLock { $0.append(record) }
            })
        let calls = try await fixture.begin([0, 1, 2], on: system)
        engine.letGo()
        #expect(try await eventually { engine.count == 2 })
        engine.letGo()
        for call in calls { _ = try await call.value.get() }
        let all = records.withLock { $0 }.sorted { $0.identity.id.number < $1.identity.id.number }
        try #require(all.count == 3)
        #expect(all.map(\.work.mergedCount) == [0, 2, 2])
        #expect(all.map(\.work.joinedCall) == [nil, nil, all[1].identity.id])
        for record in all[1...] {
            #expect(record.status == 200 && record.work.attempts.count == 1)
            #expect(record.work.stages.contains { $0.name == .joining })
            #expect(record.request.bodySize == all[1].request.bodySize)
        }
        observation.remove()
        await system.shutdown()
    }

    private struct RecordNotes: CallObserver {
        let note: @Sendable (CallRecord) -> Void
        func receive(_ event: CallEvent) { if case .finished(let record) = event { note(record) } }
    }

    @Test func eachResponseIsKept() async throws {
        let system = try await Pipeline.system(engine, payload: .jsonRPC2) { options in
            options.use(clock)
            options.cacheStore = MemoryCacheStore(byteLimit: 1 << 20)
        } changeService: {
            $0.options.merging = CallMerging()
            $0.options.cache = .age(.seconds(600))
        }
        let calls = try await fixture.begin([0, 1, 2], on: system)
        engine.open()
        for call in calls { _ = try await call.value.get() }
        #expect(engine.sent.map(\.count) == [1, 2])
        for number in 0...2 {
            let again = await MergingFixture.call(Int64(number), on: system).value
            #expect(MergingFixture.name(again) == "\(number)")
        }
        #expect(engine.count == 2)
        await system.shutdown()
    }

    @Test func notificationsMayBeMerged() async throws {
        let system = try await fixture.system()
        let first = try await fixture.begin([0], on: system)
        let others = (1...3).map { MergingFixture.call($0, on: system, isNotification: true) }
        #expect(try await eventually { system.pipeline.merger.waitingCount == 3 })
        engine.letGo()
        #expect(try await eventually { engine.count == 2 })
        engine.letGo()
        _ = try await first[0].value.get()
        for call in others { #expect(await MergingFixture.name(call.value) == "nothing") }
        #expect(engine.sent[1].count == 3)
        await system.shutdown()
    }

    // MARK: Limits

    @Test func aBatchHasSoManyCallsAtMost() async throws {
        let system = try await fixture.system(CallMerging(maximumCalls: 3))
        let calls = try await fixture.begin([0, 1, 2, 3, 4, 5, 6, 7], on: system)
        engine.letGo()
        #expect(try await eventually { engine.heldCount == 3 })
        #expect(Set(engine.sent) == [[0], [1, 2, 3], [4, 5, 6], [7]])
        engine.open()
        for call in calls { _ = try await call.value.get() }
        #expect(system.pipeline.merger.openCount == 0)
        await system.shutdown()
    }

    @Test func aBatchHasSoManyBytesAtMost() async throws {
        // A call has 50 bytes, more or less.
        let system = try await fixture.system(CallMerging(maximumBytes: 120))
        let calls = try await fixture.begin([0, 1, 2, 3], on: system)
        engine.letGo()
        #expect(try await eventually { engine.heldCount == 2 })
        #expect(Set(engine.sent) == [[0], [1, 2], [3]])
        engine.open()
        for call in calls { _ = try await call.value.get() }
        await system.shutdown()
    }

    @Test func nothingWaitsLongerThanItMay() async throws {
        let system = try await fixture.system(CallMerging(maximumWait: .milliseconds(300)))
        let calls = try await fixture.begin([0, 1, 2], on: system)
        clock.advance(by: .milliseconds(299))
        #expect(engine.count == 1)
        clock.advance(by: .milliseconds(1))
        #expect(try await eventually { engine.heldCount == 2 })
        #expect(engine.sent[1] == [1, 2])
        // The first is still out.
        engine.letGo(1)
        for call in calls[1...] { _ = try await call.value.get() }
        engine.letGo()
        _ = try await calls[0].value.get()
        #expect(system.pipeline.merger.openCount == 0)
        await system.shutdown()
    }

    // MARK: Ends

    @Test func aCallThatWaitsMayBeCancelled() async throws {
        let system = try await fixture.system()
        let calls = try await fixture.begin([0, 1, 2], on: system)
        calls[1].cancel()
        #expect(await MergingFixture.name(calls[1].value) == "cancelled")
        let late = MergingFixture.call(3, on: system) { $0.deadline = .milliseconds(200) }
        #expect(try await eventually { system.pipeline.merger.waitingCount == 2 })
        clock.advance(by: .milliseconds(200))
        #expect(await MergingFixture.name(late.value) == "timeout")
        engine.letGo()
        #expect(try await eventually { engine.count == 2 })
        #expect(engine.sent[1] == [2])
        engine.letGo()
        #expect(await MergingFixture.name(calls[2].value) == "2")
        await system.shutdown()
    }

    @Test func aCallOfABatchMayBeCancelled() async throws {
        let system = try await fixture.system()
        let calls = try await fixture.begin([0, 1, 2], on: system)
        engine.letGo()
        #expect(try await eventually { engine.heldCount == 1 && engine.count == 2 })
        calls[1].cancel()
        #expect(await MergingFixture.name(calls[1].value) == "cancelled")
        // The batch continues for the other one, and ends with it.
        #expect(engine.heldCount == 1)
        calls[2].cancel()
        #expect(await MergingFixture.name(calls[2].value) == "cancelled")
        #expect(try await eventually { engine.heldCount == 0 })
        #expect(system.pipeline.merger.openCount == 0)
        let next = try await fixture.begin([9], on: system)
        engine.letGo()
        #expect(await MergingFixture.name(next[0].value) == "9")
        await system.shutdown()
    }

    @Test func aShutdownEndsThoseThatWait() async throws {
        let system = try await fixture.system()
        let calls = try await fixture.begin([0, 1, 2], on: system)
        await system.shutdown(gracePeriod: .zero)
        for call in calls { #expect(await MergingFixture.name(call.value) == "not-running") }
        #expect(engine.count == 1)
    }
}
