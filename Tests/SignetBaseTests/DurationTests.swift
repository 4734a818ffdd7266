import SignetBase
import Testing

@Suite struct DurationTests {
    @Test(
        arguments: [
            (Duration.zero, 1), (.seconds(-5), 1), (.nanoseconds(1), 1), (.milliseconds(1), 1),
            (.microseconds(1_001), 2), (.milliseconds(1_999), 1_999), (.seconds(60), 60_000),
            (.seconds(1_999_999), 1_999_999_000), (.seconds(2_000_000), 2_000_000_000),
            (.seconds(Int64.max), 2_000_000_000),
        ] as [(Duration, Int64)])
    func roundsUpToMilliseconds(_ duration: Duration, _ milliseconds: Int64) {
        #expect(duration.wholeMilliseconds == milliseconds)
    }
}
