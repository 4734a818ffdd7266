import SignetClient
import SignetCrypto
import SignetPinning
import Testing

/// The pause before the next update.
@Suite struct PinUpdatePauseTests {
    @Test func spreadsLooksAndWaitsLongerAfterFailures() throws {
        let keys = """
            {"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}
            """
        let verifier = try PinUpdateVerifier(
            keys: KeySet(parsing: Array(keys.utf8), source: "test"))
        var plan = PinUpdatePlan(url: "https://a.test/", verifier: verifier, file: "x")
        plan.interval = .seconds(1000)
        plan.retryPause = .seconds(10)
        func seconds(_ failures: Int, _ random: Double) -> Int64 {
            plan.pause(afterFailures: failures, random: random).components.seconds
        }
        #expect(seconds(0, 0) == 900 && (1099...1100).contains(seconds(0, 1)))
        #expect(seconds(1, 0) == 5 && seconds(1, 1) == 10)
        #expect(seconds(2, 1) == 20 && seconds(4, 1) == 80)
        #expect(seconds(8, 1) == 1000 && seconds(1_000_000, 1) == 1000)
    }
}
