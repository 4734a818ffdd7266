import SignetClient
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
}
