import SignetBase
import Testing

/// A value that is set once.
@Suite struct LatchTests {
    @Test func givesEveryWaiterTheFirstValue() async {
        let latch = Latch<Int>()
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { await latch.wait() } }
            group.addTask {
                latch.set(1)
                latch.set(2)
                return 1
            }
            for await value in group { #expect(value == 1) }
        }
        #expect(await latch.wait() == 1)
    }

    @Test func waitsUntilItIsSet() async {
        let latch = Latch<String>()
        let waiter = Task { await latch.wait() }
        for _ in 0..<100 { await Task.yield() }
        latch.set("done")
        #expect(await waiter.value == "done")
    }
}
