import Dispatch
import SignetClient
import SignetRPC
import Synchronization
import TestSupport
import Testing

/// Calls that are ended return at once, wherever they wait, and though what they wait for never
/// returns.
@Suite(.timeLimit(.minutes(5))) struct CancellationTests {
    /// One of so many calls shows what a machine with other work can't hide: a call that waits for
    /// more than the 100 ms does so each time.
    private static let tries = 20

    /// Cancels a call that waits in a place.
    ///
    /// - Returns: The time until it returned.
    private static func cancel(in place: WaitingPlace) async throws -> Duration {
        let hold = Hold()
        let system = try await WaitingPlace.system(hold)
        let call = place.call(on: system, hold)
        #expect(try await eventually { hold.count == 1 })
        let start = ContinuousClock.now
        call.cancel()
        let code = await call.value
        let time = ContinuousClock.now - start
        #expect(code == .cancelled)
        #expect(system.runningCalls.isEmpty)
        hold.letGo()
        await system.shutdown()
        return time
    }

    @Test(arguments: WaitingPlace.allCases)
    func aCancelledCallReturnsWithin100Ms(_ place: WaitingPlace) async throws {
        var best = Duration.seconds(3600)
        for _ in 0..<Self.tries where best >= .milliseconds(100) {
            best = min(best, try await Self.cancel(in: place))
        }
        #expect(best < .milliseconds(100))
    }

    @Test(arguments: WaitingPlace.allCases)
    func shutdownEndsACallWhereverItWaits(_ place: WaitingPlace) async throws {
        let hold = Hold()
        let system = try await WaitingPlace.system(hold)
        let call = place.call(on: system, hold)
        #expect(try await eventually { hold.count == 1 })
        await system.shutdown(gracePeriod: .zero)
        #expect(await call.value == .notRunning)
        #expect(system.runningCalls.isEmpty)
        hold.letGo()
    }

    /// Blocks the thread that cancels the first of several calls.
    private final class Blocking: CallInterceptor {
        let gate = Hold()
        let release = DispatchSemaphore(value: 0)
        /// The number of calls that have returned.
        let ended = Mutex(0)
        private let isFirst = Mutex(true)

        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            await withTaskCancellationHandler {
                // Not resumed by the cancellation: the task would wait for its handler, on another
                // thread.
                await gate.wait()
            } onCancel: {
                let blocks = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                if blocks { _ = release.wait(timeout: .now() + 300) }
            }
            throw CancellationError()
        }
    }

    /// The deadlines of many calls pass in the same 10 ms.
    @Test func aHandlerThatBlocksDelaysNoOtherCall() async throws {
        let blocking = Blocking()
        let system = try await Pipeline.system(RecordingEngine())
        var options = RequestOptions(deadline: .milliseconds(500))
        options.interceptors = [blocking]
        let given = options
        let calls = (0..<50).map { _ in
            Task {
                let code = await Pipeline.code { () async throws(ClientError) in
                    try await system.call(RESTRequest(.get, "/x"), on: "a", options: given)
                }
                blocking.ended.withLock { $0 += 1 }
                return code
            }
        }
        // The blocked one too.
        #expect(try await eventually { blocking.ended.withLock { $0 } == calls.count })
        blocking.release.signal()
        for call in calls { #expect(await call.value == .timeout) }
        blocking.gate.letGo()
        await system.shutdown()
    }
}
