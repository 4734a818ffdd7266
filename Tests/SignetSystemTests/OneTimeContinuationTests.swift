import SignetSystem
import Synchronization
import Testing

@Suite struct OneTimeContinuationTests {
    /// Keeps a continuation for another thread.
    private final class Keeper: Sendable {
        private let kept = Mutex<OneTimeContinuation?>(nil)

        func keep(_ continuation: consuming OneTimeContinuation) {
            var continuation: OneTimeContinuation? = continuation
            kept.withLock { $0 = continuation.take() }
        }

        /// Returns whether there was one.
        func resume() -> Bool {
            let continuation = kept.withLock { $0.take() }
            guard let continuation else { return false }
            continuation.resume()
            return true
        }
    }

    @Test func continuesAtOnce() async {
        await withOneTimeContinuation { $0.resume() }
    }

    @Test func continuesIfItIsDropped() async {
        await withOneTimeContinuation { _ in }
    }

    @Test func continuesOnceFromAnyThread() async {
        for _ in 0..<200 {
            let keeper = Keeper()
            async let count = withTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        // Until the continuation is there, or another task has had it.
                        for _ in 0..<100 where keeper.resume() { return true }
                        return false
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            await withOneTimeContinuation { continuation in
                keeper.keep(continuation)
                Task { _ = keeper.resume() }
            }
            #expect(await count <= 1)
        }
    }
}
