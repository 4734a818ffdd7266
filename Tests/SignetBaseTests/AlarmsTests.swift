import SignetBase
import Synchronization
import Testing

struct AlarmsTests {
    private let alarms = Alarms()

    @Test func anActionRunsOnceAfterItsTime() async {
        let start = ContinuousClock.now
        await withCheckedContinuation { continuation in
            _ = alarms.add(after: .milliseconds(30)) { continuation.resume() }
        }
        #expect(ContinuousClock.now - start >= .milliseconds(30))
        #expect(alarms.count == 0)
    }

    @Test(arguments: [Duration.zero, .seconds(-5), .nanoseconds(1)])
    func aTimeThatHasComeRunsTheActionSoon(_ time: Duration) async {
        await withCheckedContinuation { continuation in
            _ = alarms.add(after: time) { continuation.resume() }
        }
    }

    @Test func anEarlierAlarmRunsFirst() async {
        let order = Mutex<[Int]>([])
        await withCheckedContinuation { continuation in
            _ = alarms.add(after: .milliseconds(200)) {
                order.withLock { $0.append(200) }
                continuation.resume()
            }
            for time in [100, 20, 60] {
                _ = alarms.add(after: .milliseconds(time)) { order.withLock { $0.append(time) } }
            }
        }
        #expect(order.withLock { $0 } == [20, 60, 100, 200])
        #expect(alarms.sleepingCount == 0)
    }

    @Test func aCancelledAlarmNeverRuns() async {
        let hasRun = Mutex(false)
        let alarm = alarms.add(after: .milliseconds(20)) { hasRun.withLock { $0 = true } }
        alarm.cancel()
        alarm.cancel()
        await withCheckedContinuation { continuation in
            _ = alarms.add(after: .milliseconds(50)) { continuation.resume() }
        }
        #expect(!hasRun.withLock { $0 })
    }

    /// Cancelling an alarm releases the objects that its action holds.
    @Test func cancelledAlarmsLeaveNothing() {
        final class Held: Sendable {}
        weak var last: Held?
        for _ in 0..<10_000 {
            let held = Held()
            last = held
            alarms.add(after: .seconds(3600)) { _ = held }.cancel()
        }
        #expect(last == nil)
        #expect(alarms.count == 0)
        #expect(alarms.sleepingCount <= 1)
    }

    /// One task sleeps for many alarms, also if short ones are added repeatedly after long ones.
    @Test func fewTasksSleep() async {
        for _ in 0..<5 {
            _ = alarms.add(after: .seconds(3600)) {}
            await withCheckedContinuation { continuation in
                _ = alarms.add(after: .milliseconds(1)) { continuation.resume() }
            }
        }
        #expect(alarms.count == 5)
        #expect(alarms.sleepingCount == 1)
    }

    @Test func theLongestTimeIsTaken() {
        alarms.add(after: .seconds(Int64.max)) {}.cancel()
        #expect(alarms.count == 0)
    }
}
