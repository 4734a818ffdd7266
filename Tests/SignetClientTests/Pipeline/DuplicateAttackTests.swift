import HTTPTypes
import SignetJSON
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// Calls that were given up, replaced in a row or ended before they began.
@Suite struct DuplicateAttackTests {
    private final class Counter: Sendable {
        private let value = Mutex(0)
        var count: Int { value.withLock { $0 } }
        func add() { value.withLock { $0 += 1 } }
    }

    private static func start(
        _ system: NetworkSystem, _ policy: DuplicatePolicy = .allow, query: JSONObject = [:],
        change: (inout RequestOptions) -> Void = { _ in }
    ) -> Task<ClientError.Code?, Never> {
        var options = RequestOptions()
        options.duplicates = policy
        change(&options)
        let given = options
        return Task {
            await Pipeline.code { () async throws(ClientError) in
                try await system.call(
                    RESTRequest(.post, "/x", query: query), on: "a", options: given)
            }
        }
    }

    /// The work of the first call never returns, but the call is over.
    @Test(.features("003-12"), arguments: [DuplicatePolicy.refuse, .replace])
    func anAbandonedCallRefusesNoLaterOne(_ policy: DuplicatePolicy) async throws {
        let engine = WaitingEngine(isStubborn: true)
        let system = try await Pipeline.system(engine)
        let first = Self.start(system, policy)
        #expect(try await eventually { engine.count == 1 })
        first.cancel()
        #expect(await first.value == .cancelled)
        let second = Self.start(system, policy)
        #expect(try await eventually { engine.count == 2 })
        // The end of the first call's work doesn't end the second call's right.
        if policy == .refuse {
            #expect(await Self.start(system, policy).value == .alreadyRunning)
        }
        engine.letGo()
        #expect(await second.value == nil)
        await system.shutdown()
    }

    @Test(.features("003-13")) func aRowOfReplacementsLeavesTheLastOne() async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine)
        let events = system.events
        let over = Counter()
        let calls = (0..<200).map { _ in
            let call = Self.start(system, .replace)
            return Task {
                let code = await call.value
                over.add()
                return code
            }
        }
        #expect(try await eventually { over.count == 199 && engine.count >= 1 })
        #expect(system.runningCalls.count == 1)
        await system.shutdown(gracePeriod: .zero)
        var codes: [ClientError.Code?] = []
        for call in calls { codes.append(await call.value) }
        #expect(codes.count { $0 == .replaced } == 199)
        #expect(codes.count { $0 == .notRunning } == 1)
        var ends: [CallIdentity.ID: Int] = [:]
        for await case .finished(let record) in events {
            ends[record.identity.id, default: 0] += 1
        }
        #expect(ends.values.allSatisfy { $0 == 1 })
    }

    @Test func textsOfOtherBytesDoNotJoin() async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine)
        let calls = ["u\u{E9}", "ue\u{301}"].map {
            Self.start(system, .join, query: ["user": .string($0)])
        }
        #expect(try await eventually { engine.count == 2 })
        await system.shutdown(gracePeriod: .zero)
        for call in calls { #expect(await call.value == .notRunning) }
    }

    @Test(.features("001-06")) func aCallerThatIsCancelledBeforeSendsNothing()
        async throws
    {
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine)
        let calls = (0..<500).map { _ in
            Task {
                while !Task.isCancelled { await Task.yield() }
                return await Pipeline.code { () async throws(ClientError) in
                    try await system.call(RESTRequest(.post, "/x"), on: "a")
                }
            }
        }
        for call in calls { call.cancel() }
        for call in calls { #expect(await call.value == .cancelled) }
        #expect(engine.count == 0)
        await system.shutdown()
    }

    @Test func theLongestDeadlineIsNone() async throws {
        let engine = WaitingEngine(isStubborn: true)
        let system = try await Pipeline.system(engine)
        let call = Self.start(system) { $0.deadline = .seconds(Int64.max) }
        #expect(try await eventually { engine.count == 1 })
        engine.letGo()
        #expect(await call.value == nil)
        await system.shutdown()
    }

    /// An owner that outlives the system keeps no call.
    @Test func anOwnerKeepsNoCallThatWasNotTaken() async throws {
        let calls = RunningCalls()
        _ = calls.stop()
        let owner = CallOwner()
        let identity = CallIdentity(id: calls.nextID(), service: "a", method: "GET", tags: [])
        let limits = CallRecord.Limits(
            timeout: .seconds(1), attempts: 1, maximumResponseSize: 1, maximumRedirects: 0)
        let log = CallLog(
            identity, since: .now, mode: .production, limits: limits, scenario: nil)
        var kept: RunningCall? = RunningCall(
            log, isInternal: false, owner: WeakOwner(object: owner), hub: EventHub(), trace: nil)
        weak let call = kept
        let code = await Pipeline.code { [kept] () async throws(ClientError) in
            guard let kept else { return }
            try await calls.run(kept, began: {}, ended: { _ in true }, work: {})
        }
        #expect(code == .notRunning)
        kept = nil
        #expect(call == nil && owner.cancelCalls() == 0)
    }
}
