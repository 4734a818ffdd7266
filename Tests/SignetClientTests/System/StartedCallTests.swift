import Foundation
import SignetClient
import SignetRPC
import Synchronization
import TestSupport
import Testing

/// Calls that are started with a closure or for a receiver.
@Suite(.timeLimit(.minutes(5))) struct StartedCallTests {
    /// Takes outcomes.
    final class Receiver: Sendable {
        private let codes = Mutex<[ClientError.Code?]>([])
        var all: [ClientError.Code?] { codes.withLock { $0 } }

        func take<Value>(_ result: Result<Value, ClientError>) {
            var code: ClientError.Code?
            if case .failure(let error) = result { code = error.code }
            codes.withLock { $0.append(code) }
        }
    }

    /// Counts the calls that joined another one.
    private final class Joined: CallObserver {
        private let joined = Atomic(0)
        var count: Int { joined.load(ordering: .acquiring) }

        func receive(_ event: CallEvent) {
            if case .joined = event { joined.add(1, ordering: .acquiringAndReleasing) }
        }
    }

    private static let call = RESTCall(RESTRequest(.get, "/x"), on: "a")

    // MARK: Ends

    @Test(.features("002-18", "004-18", "001-13", "001-15"))
    func theClosureGetsTheValueOrTheError() async throws {
        let engine = RecordingEngine(responses: [.init(body: "7"), .init(status: 404, body: "{}")])
        let system = try await Pipeline.system(engine)
        let (values, taken) = AsyncStream.makeStream(of: Result<Int, ClientError>.self)
        system.start(Self.call, as: .decoding(Int.self)) { taken.yield($0) }
        for await value in values {
            #expect(try value.get() == 7)
            break
        }
        let receiver = Receiver()
        let failed = system.start(Self.call, deliver: receiver.take)
        let response = await failed.response
        #expect(response.raw?.status == 404 && response.identity?.id == failed.id)
        #expect(response.record?.attempts.count == 1)
        #expect(try await eventually { receiver.all == [.httpStatus] })
        await system.shutdown()
    }

    /// The call has its number and runs when `start` returns.
    @Test(.features("001-12", "002-25", "002-28")) func theNumberIsThereAtOnce() async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine)
        let receiver = Receiver()
        let handle = system.start(Self.call, deliver: receiver.take)
        #expect(system.runningCalls.map(\.id) == [handle.id])
        #expect(system.cancelCall(handle.id))
        #expect(await handle.response.result.failureCode == .cancelled)
        #expect(try await eventually { receiver.all == [.cancelled] })
        #expect(system.runningCalls.isEmpty)
        #expect(!handle.cancel(), "the closure has run")
        await system.shutdown()
    }

    @Test(.features("004-07", "001-06")) func aCancellationInTimeDeliversNothing() async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine)
        let receiver = Receiver()
        let handle = system.start(Self.call, deliver: receiver.take)
        #expect(handle.cancel() && !handle.cancel())
        #expect(await handle.response.result.failureCode == .cancelled)
        let later = system.start(Self.call, deliver: receiver.take)
        #expect(try await eventually { engine.count >= 1 })
        #expect(later.cancel())
        #expect(await later.response.result.failureCode == .cancelled)
        await system.shutdown()
        #expect(receiver.all.isEmpty)
    }

    /// The work waits in the queue, so that a cancellation is in time.
    @Test func aCancellationIsInTimeUntilTheClosureRuns() async throws {
        let system = try await Pipeline.system(RecordingEngine(responses: [.init(body: "1")]))
        let receiver = Receiver()
        let work = Mutex<[@Sendable () -> Void]>([])
        let queue = CallDelivery.queue { one in work.withLock { $0.append(one) } }
        let handle = system.start(Self.call, on: queue, deliver: receiver.take)
        #expect(try await handle.response.get().status == 200)
        #expect(handle.cancel())
        let second = system.start(Self.call, on: queue) { result in receiver.take(result) }
        _ = await second.response
        #expect(try await eventually { work.withLock { $0.count } == 2 })
        for one in work.withLock({ $0 }) { one() }
        #expect(receiver.all == [nil] && !second.cancel())
        await system.shutdown()
    }

    @Test func aClosureCannotCancelItsCall() async throws {
        let system = try await Pipeline.system(RecordingEngine(responses: [.init(body: "1")]))
        let work = Mutex<[@Sendable () -> Void]>([])
        let queue = CallDelivery.queue { one in work.withLock { $0.append(one) } }
        let running = Mutex<CallHandle<UnboxedResponse>?>(nil)
        let answers = Mutex<[Bool?]>([])
        let handle = system.start(Self.call, on: queue) { _ in
            let answer = running.withLock { $0 }?.cancel()
            answers.withLock { $0.append(answer) }
        }
        running.withLock { $0 = handle }
        #expect(await handle.response.result.failureCode == nil)
        #expect(try await eventually { work.withLock { $0.count } == 1 })
        for one in work.withLock({ $0 }) { one() }
        #expect(answers.withLock { $0 } == [false] && !handle.cancel())
        await system.shutdown()
    }

    @Test func anEndFromElsewhereIsDeliveredOnce() async throws {
        let engine = WaitingEngine(isStubborn: true)
        let system = try await Pipeline.system(engine)
        let receivers = (0..<6).map { _ in Receiver() }
        system.start(Self.call, options: RequestOptions(tags: ["t"]), deliver: receivers[0].take)
        var deadline = RequestOptions()
        deadline.deadline = .milliseconds(20)
        system.start(Self.call, options: deadline, deliver: receivers[1].take)
        let owner = CallOwner()
        system.start(Self.call, options: RequestOptions(owner: owner), deliver: receivers[2].take)
        var replaced = RequestOptions()
        replaced.duplicates = .replace(.text("x"))
        system.start(Self.call, options: replaced, deliver: receivers[3].take)
        // The deadline may pass before the engine is asked.
        #expect(
            try await eventually { engine.count >= 3 && receivers[1].all == [.timeout] })
        system.start(Self.call, options: replaced, deliver: receivers[4].take)
        system.start(
            RESTCall(RESTRequest(.get, "/x"), on: "none"), deliver: receivers[5].take)
        #expect(system.cancelCalls(taggedWith: "t") == 1)
        owner.cancelCalls()
        await system.shutdown(gracePeriod: .milliseconds(200))
        let late = system.start(Self.call, deliver: receivers[5].take)
        #expect(await late.response.result.failureCode == .notRunning)
        #expect(try await eventually { receivers[5].all == [.unknownService, .notRunning] })
        let codes = receivers[..<5].map(\.all)
        #expect(codes == [[.cancelled], [.timeout], [.cancelled], [.replaced], [.notRunning]])
        engine.letGo()
    }

    @Test(.features("002-18")) func duplicatesAreDeliveredOnce() async throws {
        let engine = WaitingEngine(isStubborn: true)
        let joined = Joined()
        let system = try await Pipeline.system(engine) { $0.observers = [joined] }
        let receivers = (0..<5).map { _ in Receiver() }
        func start(_ number: Int, _ policy: DuplicatePolicy) -> CallHandle<UnboxedResponse> {
            var options = RequestOptions()
            options.duplicates = policy
            return system.start(Self.call, options: options, deliver: receivers[number].take)
        }
        let first = start(0, .join)
        #expect(try await eventually { engine.count == 1 })
        let others = [start(1, .join), start(2, .join)]
        #expect(try await eventually { joined.count == 2 })
        // Calls that refuse know each other alone.
        let lone = start(3, .refuse(.equalCalls))
        #expect(try await eventually { engine.count == 2 })
        let refused = start(4, .refuse(.equalCalls))
        #expect(await refused.response.result.failureCode == .alreadyRunning)
        #expect(others[1].cancel())
        #expect(await others[1].response.result.failureCode == .cancelled)
        engine.letGo()
        for handle in [first, others[0], lone] {
            #expect(try await handle.response.get().status == 200)
        }
        let wanted: [[ClientError.Code?]] = [[nil], [nil], [], [nil], [.alreadyRunning]]
        #expect(try await eventually { receivers.map(\.all) == wanted })
        await system.shutdown()
        #expect(receivers.map(\.all) == wanted && engine.count == 2)
    }

    // MARK: Where

    @Test(.features("002-18", "004-18")) func itRunsWhereTheCallerWants() async throws {
        let system = try await Pipeline.system(RecordingEngine(responses: [.init(body: "1")]))
        let (places, came) = AsyncStream.makeStream(of: Bool.self)
        system.start(Self.call, on: .mainActor) { _ in
            MainActor.assumeIsolated { _ = came.yield(true) }
        }
        for await place in places {
            #expect(place)
            break
        }
        for (delivery, isOwn) in [(.executor(OwnThreads()), true), (.anyThread, false)]
            as [(CallDelivery, Bool)]
        {
            system.start(Self.call, on: delivery) { _ in came.yield(OwnThreads.isCurrent) }
            for await place in places {
                #expect(place == isOwn)
                break
            }
        }
        await system.shutdown()
    }

    // MARK: Receivers

    @Test(.features("003-03", "003-04", "002-18", "004-18"))
    func aReceiverThatHasGoneGetsNothing() async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine)
        let calls = Receiver()
        var receiver: Receiver? = Receiver()
        let handle = system.start(Self.call, for: try #require(receiver)) { _, result in
            calls.take(result)
        }
        #expect(try await eventually { engine.count == 1 })
        weak let released = receiver
        receiver = nil
        #expect(released == nil, "nothing of the system holds it")
        #expect(await handle.response.result.failureCode == .cancelled)
        #expect(system.runningCalls.isEmpty)
        await system.shutdown()
        #expect(calls.all.isEmpty)
    }

    @Test(.features("003-03")) func aReceiverGetsItsOutcome() async throws {
        let system = try await Pipeline.system(RecordingEngine(responses: [.init(body: "7")]))
        let receiver = Receiver()
        _ = await system.start(Self.call, for: receiver) { $0.take($1) }.response
        _ = await system.start(Self.call, as: .text, for: receiver) { $0.take($1) }.response
        #expect(try await eventually { receiver.all == [nil, nil] })
        await system.shutdown()
    }

    /// The session of the documentation of `CallOwner`.
    private final class Session: Sendable {
        private let owner = CallOwner()

        func load(_ system: NetworkSystem, ended: @escaping @Sendable (Bool) -> Void) {
            let options = RequestOptions(owner: owner)
            Task { [weak self] in
                _ = try? await system.call(RESTRequest(.get, "/x"), on: "a", options: options)
                ended(self == nil)
            }
        }
    }

    /// Released while its call runs, it ends its call within 100 ms.
    @Test(.features("003-03", "003-04")) func aSessionDoesNotKeepItselfAlive() async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine)
        let (ends, end) = AsyncStream.makeStream(of: Bool.self)
        var session: Session? = Session()
        session?.load(system) { end.yield($0) }
        #expect(try await eventually { engine.count == 1 })
        weak let released = session
        session = nil
        #expect(released == nil)
        for await isGone in ends {
            #expect(isGone)
            break
        }
        #expect(system.runningCalls.isEmpty)
        await system.shutdown()
    }
}

extension Result where Failure == ClientError {
    var failureCode: ClientError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}

/// Runs each job on a thread of its own, which it marks.
final class OwnThreads: TaskExecutor {
    static var isCurrent: Bool { Thread.current.threadDictionary["own"] != nil }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread {
            Thread.current.threadDictionary["own"] = true
            unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}
