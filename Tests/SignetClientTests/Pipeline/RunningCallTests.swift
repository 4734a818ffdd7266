import SignetClient
import SignetRPC
import TestSupport
import Testing

/// Ends that come from outside: cancellation, owners, deadlines, shutdown.
@Suite struct RunningCallTests {
    private static func start(
        _ system: NetworkSystem, _ options: RequestOptions = RequestOptions()
    ) -> Task<ClientError.Code?, Never> {
        Task {
            await Pipeline.code { () async throws(ClientError) in
                try await system.call(RESTRequest(.get, "/x"), on: "a", options: options)
            }
        }
    }

    @Test(.features("001-12", "002-25", "002-28"))
    func callsAreListedAndCancelledByIDTagAndService() async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine)
        let one = Self.start(system, RequestOptions(tags: ["one"]))
        #expect(try await eventually { engine.count == 1 })
        let two = Self.start(system, RequestOptions(tags: ["two"]))
        let three = Self.start(system)
        #expect(try await eventually { engine.count == 3 })
        let running = system.runningCalls
        #expect(running.count == 3 && running[0].tags == ["one"])
        #expect(Set(running.map(\.id)).count == 3)
        #expect(system.cancelCalls(taggedWith: "none") == 0)
        #expect(system.cancelCalls(of: "b") == 0)
        #expect(system.cancelCall(running[0].id))
        #expect(await one.value == .cancelled)
        #expect(system.cancelCalls(taggedWith: "two") == 1)
        #expect(await two.value == .cancelled)
        #expect(system.cancelCalls(of: "a") == 1)
        #expect(await three.value == .cancelled)
        #expect(system.runningCalls.isEmpty)
        #expect(!system.cancelCall(running[0].id))
        await system.shutdown()
    }

    @Test(.features("003-03", "003-04")) func anOwnersEndCancelsItsCallsAlone() async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine)
        var owner: CallOwner? = CallOwner()
        let owned = Self.start(system, RequestOptions(owner: owner))
        let other = Self.start(system)
        #expect(try await eventually { engine.count == 2 })
        let options = RequestOptions(owner: owner)
        owner = nil
        #expect(await owned.value == .cancelled)
        #expect(system.runningCalls.count == 1)
        // An owner that is gone starts no call.
        #expect(await Self.start(system, options).value == .cancelled)
        #expect(engine.count == 2)
        other.cancel()
        #expect(await other.value == .cancelled)
        await system.shutdown()
    }

    @Test(arguments: [false, true])
    func shutdownEndsWaitingCalls(_ isStubborn: Bool) async throws {
        let engine = WaitingEngine(isStubborn: isStubborn)
        let system = try await Pipeline.system(engine)
        let calls = (0..<20).map { _ in Self.start(system) }
        #expect(try await eventually { engine.count == 20 })
        await system.shutdown(gracePeriod: .zero)
        for call in calls { #expect(await call.value == .notRunning) }
        #expect(await Self.start(system).value == .notRunning)
        engine.letGo()
    }

    @Test func aCancelledCallReturnsWithoutItsEngine() async throws {
        let engine = WaitingEngine(isStubborn: true)
        let system = try await Pipeline.system(engine)
        let call = Self.start(system)
        #expect(try await eventually { engine.count == 1 })
        call.cancel()
        #expect(await call.value == .cancelled)
        #expect(system.runningCalls.isEmpty)
        engine.letGo()
        await system.shutdown()
    }

    @Test(arguments: [false, true])
    func theDeadlineEndsAllWork(_ isStubborn: Bool) async throws {
        let engine = WaitingEngine(isStubborn: isStubborn)
        let system = try await Pipeline.system(engine)
        #expect(
            await Self.start(system, RequestOptions(deadline: .milliseconds(20))).value == .timeout)
        engine.letGo()
        await system.shutdown()
    }

    @Test(.features("002-25")) func tenThousandCallsCancelledAtOnceEndOnce() async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine)
        let calls = (0..<10_000).map { _ in Self.start(system, RequestOptions(tags: ["all"])) }
        #expect(try await eventually { system.runningCalls.count == 10_000 })
        #expect(system.cancelCalls(taggedWith: "all") == 10_000)
        for call in calls { #expect(await call.value == .cancelled) }
        await system.shutdown()
    }
}
