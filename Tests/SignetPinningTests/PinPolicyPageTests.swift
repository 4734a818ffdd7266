import SignetCrypto
import SignetPinning
import TestSupport
import Testing

/// The examples of Documentation/pin-policy.md.
@Suite struct PinPolicyPageTests {
    private static func examples() throws -> [[UInt8]] {
        try Article("Documentation/pin-policy.md").blocks(in: "json")
            .map { Array($0.joined(separator: "\n").utf8) }
    }

    @Test func thePoliciesAreValid() throws {
        let examples = try Self.examples()
        try #require(examples.count == 3)
        let first = try PinPolicy(parsing: examples[0])
        #expect(
            first.rules.map(\.pattern.description) == ["api.example.com", "status.example.com"])
        #expect(first.rules[0].mode == .report && first.rules[1].isExclusion)
        let second = try PinPolicy(parsing: examples[1])
        #expect(
            second.rules.map(\.pattern.description) == ["**.example.org", "*.shops.example.org"])
        #expect(second.unlisted == .allow)
    }

    @Test func theSignedPolicyVerifies() throws {
        // The public key of RFC 8037, appendix A.2.
        let keys = #"""
            {"keys":[{"kty":"OKP","crv":"Ed25519","kid":"pins-2026",
                      "x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}
            """#
        let verifier = try PinUpdateVerifier(
            keys: KeySet(parsing: Array(keys.utf8), source: "the page"))
        let document = try #require(Self.examples().last)
        #expect(try verifier.verify(document, now: 1_795_228_551).serial == 8)
    }
}
