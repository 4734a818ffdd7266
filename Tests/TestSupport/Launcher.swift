import Foundation
import Synchronization

/// Starts every program of the tests from one thread that lives as long as the process.
///
/// Two reasons. `setpriv --pdeathsig` ends a child when the *thread* that started it ends, so a
/// thread of a pool would end servers at random. And Foundation hands a pipe or file that is open
/// at the wrong moment to a child that was started at the same time; one after another, it cannot.
final class Launcher: Sendable {
    static let shared = Launcher()

    private let condition = NSCondition()
    private let waiting = Mutex<[@Sendable () -> Void]>([])

    private init() {
        let thread = Thread { [self] in
            while true {
                condition.lock()
                while waiting.withLock({ $0.isEmpty }) { condition.wait() }
                let job = waiting.withLock { $0.removeFirst() }
                condition.unlock()
                job()
            }
        }
        thread.name = "test launcher"
        thread.start()
    }

    /// Does the work on the launching thread and waits until it is done.
    func perform(_ work: @escaping @Sendable () throws -> Void) throws {
        let done = DispatchSemaphore(value: 0)
        let outcome = Mutex<(any Error)?>(nil)
        condition.lock()
        waiting.withLock {
            $0.append {
                do { try work() } catch { outcome.withLock { $0 = error } }
                done.signal()
            }
        }
        condition.signal()
        condition.unlock()
        done.wait()
        if let error = outcome.withLock({ $0 }) { throw error }
    }
}
