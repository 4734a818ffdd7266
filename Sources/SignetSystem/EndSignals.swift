import Dispatch
import Glibc
import Synchronization

/// Work before the process is ended by a signal.
package enum EndSignals {
    /// A source, which is only kept, and thread-safe by itself.
    private struct Kept: @unchecked Sendable {
        let source: any DispatchSourceSignal
    }

    private static let sources = Mutex<[Kept]>([])
    private static let isEnding = Atomic(false)

    /// Runs work when `SIGINT`, `SIGTERM` or `SIGHUP` arrives, and then ends the process by that
    /// signal. A second one ends it at once. A signal that the process ignores already stays
    /// ignored.
    package static func beforeEnding(_ work: @escaping @Sendable () async -> Void) {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            var action = sigaction()
            guard unsafe sigaction(number, nil, &action) == 0,
                unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) != 1
            else { continue }
            _ = signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                guard !isEnding.exchange(true, ordering: .acquiringAndReleasing) else {
                    return end(by: number)
                }
                Task {
                    await work()
                    end(by: number)
                }
            }
            source.resume()
            let kept = Kept(source: source)
            sources.withLock { $0.append(kept) }
        }
    }

    /// Waits for the end of the process, if a signal is about to end it, so that it doesn't exit
    /// with another status before.
    package static func waitForEnd() async {
        guard isEnding.load(ordering: .acquiring) else { return }
        await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }

    private static func end(by number: Int32) {
        _ = signal(number, SIG_DFL)
        kill(getpid(), number)
    }
}
