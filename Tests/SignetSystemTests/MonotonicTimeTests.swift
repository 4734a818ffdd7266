import Testing

@testable import SignetSystem

@Suite struct MonotonicTimeTests {
    @Test func neverGoesBack() {
        var last = MonotonicTime.now
        for _ in 0..<1000 {
            let now = MonotonicTime.now
            #expect(now >= last && now - last >= .zero)
            last = now
        }
    }

    @Test(arguments: [
        Duration.zero, .nanoseconds(1), .milliseconds(-3), .seconds(90), .seconds(86_400 * 365),
    ])
    func addsAndSubtracts(_ duration: Duration) {
        let start = MonotonicTime.now
        let end = start + duration
        #expect(end - start == duration)
        #expect((end < start) == (duration < .zero))
    }

    /// A limit that a program sets far too long is a long one, not an overflow.
    @Test(arguments: [Int64.max, Int64.max / 2, 10_000_000_000])
    func boundsADurationOfManyYears(_ seconds: Int64) {
        let start = MonotonicTime.now
        let century = Duration.seconds(100 * 366 * 86_400)
        #expect((start + .seconds(seconds)) - start == century)
        #expect((start + .seconds(-seconds)) - start == .zero - century)
    }
}
