import Foundation
import HTTPTypes
import SignetClient
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// 10,000 calls of each form, with cancels at any moment, owners and receivers that end, and a
/// shutdown while calls run.
@Suite(.timeLimit(.minutes(5))) struct StartedCallStormTests {
    private typealias Receiver = StartedCallTests.Receiver

    private static let count = 10_000
    private static let quick = RESTCall(RESTRequest(.get, "/quick"), on: "a")
    private static let endless = RESTCall(RESTRequest(.get, "/endless"), on: "a")
    private static let ends: [ClientError.Code?] = [nil, .cancelled, .notRunning]

    /// Counts the starts and ends of each call.
    private final class Seen: CallObserver {
        private let calls = Mutex<[CallIdentity.ID: (starts: Int, ends: Int)]>([:])
        var all: [(starts: Int, ends: Int)] { calls.withLock { Array($0.values) } }

        func receive(_ event: CallEvent) {
            calls.withLock { calls in
                switch event {
                case .started(let call): calls[call.id, default: (0, 0)].starts += 1
                case .finished(let record): calls[record.identity.id, default: (0, 0)].ends += 1
                default: break
                }
            }
        }
    }

    private let counter = CallCounter()
    private let seen = Seen()

    private func system() async throws -> NetworkSystem {
        let system = try await Pipeline.system(DelayingEngine())
        system.addObserver(counter)
        system.addObserver(seen)
        return system
    }

    /// Shuts a system down after nine tenths of its calls have been started.
    private func shutDown(_ system: NetworkSystem, at number: Int) {
        guard number == Self.count / 10 * 9 else { return }
        Task { await system.shutdown(gracePeriod: .milliseconds(5)) }
    }

    private func expectTheEnd(of system: NetworkSystem) async {
        await system.shutdown()
        #expect(system.runningCalls.isEmpty && counter.runningCount == 0)
        let all = seen.all
        #expect(all.allSatisfy { $0 == (1, 1) } && all.count == counter.count())
        #expect(all.count > Self.count / 2)
    }

    private static func pause(_ range: ClosedRange<Int>) async {
        let pause = Int.random(in: range)
        if pause > 0 { try? await Task.sleep(for: .microseconds(pause)) }
    }

    // MARK: Closures

    /// Another task cancels a third of them, before, while and after they run.
    @Test(.features("002-18", "004-18"))
    func aClosureRunsOnceUnlessCancelled() async throws {
        let system = try await system()
        var calls: [(CallHandle<UnboxedResponse>, Receiver, Task<Bool, Never>?)] = []
        for number in 0..<Self.count {
            let receiver = Receiver()
            let handle = system.start(Self.quick, deliver: receiver.take)
            var cancel: Task<Bool, Never>?
            if number % 3 == 0 {
                cancel = Task {
                    switch number % 9 {
                    case 0: break
                    case 3: await Self.pause(0...4000)
                    default: _ = try? await eventually { receiver.all.count == 1 }
                    }
                    return handle.cancel()
                }
            }
            calls.append((handle, receiver, cancel))
            shutDown(system, at: number)
        }
        var (inTime, late) = (0, 0)
        var wanted: [Int] = []
        for (handle, receiver, cancel) in calls {
            let wasInTime = await cancel?.value
            if let wasInTime {
                inTime += wasInTime ? 1 : 0
                late += wasInTime ? 0 : 1
            }
            wanted.append(wasInTime == true ? 0 : 1)
            let code = await handle.response.result.failureCode
            #expect(Self.ends.contains(code))
            let count = wanted.last
            #expect(try await eventually { receiver.all.count == count })
        }
        #expect(inTime > 0 && late > 0, "\(inTime) in time, \(late) late")
        await expectTheEnd(of: system)
        // None came later.
        #expect(calls.map { $0.1.all.count } == wanted)
    }

    // MARK: Queues

    /// The most calls of a queue that had a place when one of them began its attempt.
    private final class Places: CallObserver {
        private let queue: CallQueue
        private let most = Mutex(0)
        var maximum: Int { most.withLock { $0 } }

        init(_ queue: CallQueue) { self.queue = queue }

        func receive(_ event: CallEvent) {
            guard case .attempt = event else { return }
            let count = queue.runningCount
            most.withLock { $0 = max($0, count) }
        }
    }

    /// The queue is paused, resumed and emptied while handles cancel a third of the calls.
    @Test(.features("002-18", "004-18"))
    func aQueueDeliversEachCallOnce() async throws {
        let system = try await system()
        let queue = CallQueue(limit: 8)
        let places = Places(queue)
        system.addObserver(places)
        var calls: [(CallHandle<UnboxedResponse>, Receiver, Task<Bool, Never>?)] = []
        var resumption: Task<Void, Never>?
        var emptied = 0
        for number in 0..<Self.count {
            // 200 calls wait or run.
            if number >= 200 { _ = await calls[number - 200].0.response }
            let receiver = Receiver()
            var options = RequestOptions()
            options.queue = queue
            options.priority = [.low, .normal, .high].randomElement()
            // An endless call ends by its handle, by the queue, or by the shutdown.
            let handle = system.start(
                number % 9 == 0 ? Self.endless : Self.quick, options: options,
                deliver: receiver.take)
            var cancel: Task<Bool, Never>?
            if number % 3 == 0 {
                cancel = Task {
                    await Self.pause(0...4000)
                    return handle.cancel()
                }
            }
            calls.append((handle, receiver, cancel))
            if number % 250 == 100 {
                await resumption?.value
                queue.pause()
                resumption = Task {
                    await Self.pause(0...4000)
                    queue.resume()
                }
            }
            if number % 1000 == 500 { emptied += queue.cancelCalls() }
            shutDown(system, at: number)
        }
        await resumption?.value
        var wanted: [[ClientError.Code?]] = []
        for (number, (handle, receiver, cancel)) in calls.enumerated() {
            let wasInTime = await cancel?.value
            let code = await handle.response.result.failureCode
            // The shutdown began later.
            #expect(Self.ends.contains(code) && (code != .notRunning || number >= 8_800))
            let outcome = wasInTime == true ? [] : [code]
            wanted.append(outcome)
            #expect(try await eventually { receiver.all == outcome })
        }
        await expectTheEnd(of: system)
        // None came later.
        #expect(calls.map { $0.1.all } == wanted)
        // Only the queue ends a call so that its closure gets it.
        #expect(wanted.count { $0 == [.cancelled] } <= emptied)
        #expect((1...8).contains(places.maximum))
        #expect(queue.runningCount == 0 && queue.waitingCount == 0)
    }

    // MARK: Receivers

    /// Half of them are released, at once or later: they get nothing, and their calls, which would
    /// never end, are cancelled. The others get their outcome once.
    @Test(.features("003-03", "003-04", "002-18"))
    func aReceiverGetsOneOutcomeOrNone() async throws {
        let system = try await system()
        var calls: [(CallHandle<UnboxedResponse>, Receiver, isHeld: Bool)] = []
        var held: [Receiver] = []
        for number in 0..<Self.count {
            let (receiver, taken) = (Receiver(), Receiver())
            let isHeld = number % 2 == 0
            let call = isHeld ? Self.quick : Self.endless
            let handle = system.start(call, for: receiver) { _, result in taken.take(result) }
            if isHeld {
                held.append(receiver)
            } else if Bool.random() {
                Task {
                    await Self.pause(0...20_000)
                    withExtendedLifetime(receiver) {}
                }
            }
            calls.append((handle, taken, isHeld))
        }
        for (handle, taken, isHeld) in calls {
            let code = await handle.response.result.failureCode
            #expect(code == (isHeld ? nil : .cancelled))
            if isHeld { #expect(try await eventually { taken.all == [nil] }) }
        }
        #expect(system.runningCalls.isEmpty)
        // A shutdown ends others, and is delivered to receivers that are there.
        for isHeld in [true, false] {
            let (receiver, taken) = (Receiver(), Receiver())
            let handle = system.start(Self.endless, for: receiver) { taken.take($1) }
            if isHeld { held.append(receiver) }
            calls.append((handle, taken, isHeld))
        }
        await system.shutdown(gracePeriod: .zero)
        await expectTheEnd(of: system)
        for (handle, taken, isHeld) in calls.suffix(2) {
            let code = await handle.response.result.failureCode
            #expect(code == .notRunning || code == .cancelled && !isHeld)
            if isHeld { #expect(try await eventually { taken.all == [.notRunning] }) }
        }
        #expect(calls.map { $0.1.all.count } == calls.map { $0.isHeld ? 1 : 0 })
        withExtendedLifetime(held) {}
    }

    // MARK: Owners and tags

    /// How a part of the program that isn't the caller ends calls.
    enum End: CaseIterable {
        case ownerGone, ownerCancels, tag
    }

    @Test(.features("002-18", "003-03", "004-18"), arguments: End.allCases)
    func whatOthersEndIsDeliveredOnce(_ end: End) async throws {
        let system = try await system()
        var calls: [(CallHandle<UnboxedResponse>, Receiver)] = []
        // Others of the same system and form: one whose owner remains, and one whose owner doesn't.
        let remains = CallOwner()
        for (owner, call) in [(remains, Self.quick), (CallOwner(), Self.endless)] {
            let receiver = Receiver()
            let handle = system.start(
                call, options: RequestOptions(owner: owner), deliver: receiver.take)
            calls.append((handle, receiver))
        }
        _ = await calls[0].0.response
        var owners = [remains]
        for number in 0..<Self.count {
            let receiver = Receiver()
            let owner = CallOwner()
            var options = RequestOptions()
            if end == .tag {
                options.tags = ["\(number % 7)"]
            } else {
                options.owner = owner
            }
            // An endless call ends by its owner or tag, or by the shutdown.
            let isEndless = number % 5 == 0
            calls.append(
                (
                    system.start(
                        isEndless ? Self.endless : Self.quick, options: options,
                        deliver: receiver.take), receiver
                ))
            switch end {
            case .ownerGone: if number % 2 == 0 { owners.append(owner) }
            case .ownerCancels:
                owners.append(owner)
                if number % 2 == 0 {
                    Task {
                        await Self.pause(0...4000)
                        owner.cancelCalls()
                    }
                }
            case .tag:
                if number % 100 == 0 { system.cancelCalls(taggedWith: "\(number / 100 % 7)") }
            }
            if number % 1000 == 999, end == .ownerGone { owners = [] }
            shutDown(system, at: number)
        }
        var codes: Set<ClientError.Code?> = []
        for (handle, receiver) in calls {
            let code = await handle.response.result.failureCode
            codes.insert(code)
            #expect(try await eventually { receiver.all == [code] })
        }
        #expect(codes.isSubset(of: Self.ends) && codes.contains(nil) && codes.contains(.cancelled))
        await expectTheEnd(of: system)
        #expect(calls.allSatisfy { $0.1.all.count == 1 })
        withExtendedLifetime(owners) {}
    }

    // MARK: Awaited and blocking

    @Test(.features("002-18", "000-58"))
    func anAwaitedCallReturnsWhatItsTaskAllows() async throws {
        let system = try await system()
        var tasks: [(Task<ClientError.Code?, Never>, isCancelled: Bool)] = []
        for number in 0..<Self.count {
            let isCancelled = number % 4 == 0
            let call = isCancelled && number % 8 == 0 ? Self.endless : Self.quick
            let task = Task { await system.response(to: call).result.failureCode }
            if isCancelled {
                Task {
                    await Self.pause(0...4000)
                    task.cancel()
                }
            }
            tasks.append((task, isCancelled))
            shutDown(system, at: number)
        }
        var codes: Set<ClientError.Code?> = []
        for (task, isCancelled) in tasks {
            let code = await task.value
            codes.insert(code)
            #expect(isCancelled || code != .cancelled)
        }
        #expect(codes.isSubset(of: Self.ends) && codes.contains(nil) && codes.contains(.cancelled))
        await expectTheEnd(of: system)
    }

    /// Numbers from 0.
    private final class Numbers: Sendable {
        private let count = Atomic(0)
        func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
    }

    @Test(.features("002-18", "000-58")) func aThreadGetsEachOutcome() async throws {
        let system = try await system()
        let (numbers, taken) = (Numbers(), Receiver())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        Thread.detachNewThread {
                            while true {
                                let number = numbers.next()
                                guard number < Self.count else { break }
                                shutDown(system, at: number)
                                let result = Result { () throws(ClientError) in
                                    try system.wait(for: Self.quick)
                                }
                                taken.take(result)
                            }
                            continuation.resume()
                        }
                    }
                }
            }
        }
        await expectTheEnd(of: system)
        let all = taken.all
        #expect(all.count == Self.count)
        #expect(all.allSatisfy { $0 == nil || $0 == .notRunning })
        #expect(all.contains(nil) && all.contains(.notRunning))
    }
}
