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

/// Random interleavings of merged calls with cancels, deadlines, failures and responses: each call
/// has one outcome, which is its own, and is sent at most once.
@Suite(.timeLimit(.minutes(5))) struct CallMergingOrderTests {
    private typealias Outcome = Result<UnboxedResponse, ClientError>

    private struct Running {
        let number: Int64
        let hasDeadline: Bool
        var isCancelled = false
        let task: Task<Outcome, Never>
    }

    private final class Ends: CallObserver {
        private let counts = Mutex<[CallIdentity.ID: Int]>([:])
        var all: [Int] { counts.withLock { Array($0.values) } }
        func receive(_ event: CallEvent) {
            guard case .finished(let record) = event else { return }
            counts.withLock { $0[record.identity.id, default: 0] += 1 }
        }
    }

    @Test(.features("003-34"))
    func aThousandInterleavings() async throws {
        let (engine, clock, ends) = (HeldEngine(), PauseClock(), Ends())
        let system = try await Pipeline.system(engine, payload: .jsonRPC2) { options in
            options.use(clock)
            options.observers = [ends]
        } changeService: {
            $0.options.merging = CallMerging(maximumCalls: 4, maximumWait: .seconds(2))
        }
        var (calls, batches) = (0, 0)
        for seed in 0..<1_000 {
            var generator = SplitMix(seed: UInt64(seed))
            engine.forget()
            let running = await round(seed, &generator, system, engine, clock)
            calls += running.count
            batches += engine.sent.count { $0.count > 1 }
            let sent = engine.sent.flatMap { $0 }
            #expect(Set(sent).count == sent.count, "seed \(seed): a call was sent twice")
            for call in running {
                switch await call.task.value {
                case .success(let response):
                    let isOwn = response.result?.value == .number(JSONNumber(call.number))
                    #expect(isOwn && sent.contains(call.number), "seed \(seed)")
                case .failure(let error):
                    let isRight =
                        switch error.code {
                        case .cancelled: call.isCancelled
                        case .timeout: call.hasDeadline
                        case .tls: sent.contains(call.number)
                        default: false
                        }
                    #expect(isRight, "seed \(seed): \(error)")
                }
            }
            #expect(system.pipeline.merger.openCount == 0, "seed \(seed)")
        }
        #expect(try await eventually { ends.all.count == calls })
        #expect(ends.all.allSatisfy { $0 == 1 })
        // The interleavings are of the kind that they are meant to be.
        #expect(batches > 500, "\(batches) batches of \(calls) calls")
        await system.shutdown()
    }

    /// Makes 3 to 12 calls in a random order with cancels, responses, failures and time.
    /// No two rounds share a number, because a request of an earlier round may come late.
    private func round(
        _ seed: Int, _ generator: inout SplitMix, _ system: NetworkSystem, _ engine: HeldEngine,
        _ clock: PauseClock
    ) async -> [Running] {
        let count = Int.random(in: 3...12, using: &generator)
        var running: [Running] = []
        while running.count < count {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                let hasDeadline = Int.random(in: 0..<4, using: &generator) == 0
                running.append(
                    Self.call(Int64(seed * 100 + running.count), hasDeadline, on: system))
            case 5:
                guard let index = running.indices.randomElement(using: &generator) else { break }
                running[index].isCancelled = true
                running[index].task.cancel()
            case 6, 7:
                engine.letGo(Int.random(in: 0...max(engine.heldCount, 1), using: &generator))
            case 8: engine.letGo(failing: .tls)
            default: clock.advance(by: .milliseconds(500))
            }
            for _ in 0..<Int.random(in: 0...20, using: &generator) { await Task.yield() }
        }
        // Until all have ended, what is held goes.
        let opener = Task {
            while !Task.isCancelled {
                engine.letGo()
                await Task.yield()
            }
        }
        for call in running { _ = await call.task.value }
        opener.cancel()
        await opener.value
        return running
    }

    private static func call(
        _ number: Int64, _ hasDeadline: Bool, on system: NetworkSystem
    ) -> Running {
        let options = RequestOptions(deadline: hasDeadline ? .seconds(1) : nil)
        let task = Task<Outcome, Never> {
            let call = RPCCall("n", parameters: .object(["n": .number(JSONNumber(number))]))
            do throws(ClientError) {
                return .success(try await system.call(call, on: "a", options: options))
            } catch {
                return .failure(error)
            }
        }
        return Running(number: number, hasDeadline: hasDeadline, task: task)
    }
}
