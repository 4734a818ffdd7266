import SignetCrypto
import SignetSigning
import Testing

/// Times after the year 9999, which can't be written as a date.
@Suite struct TimeRangeTests {
    private let now = Sample.now
    private static let latest: Int64 = 253_402_300_799

    /// A request with the fields of a partner's scheme, whose time isn't signed.
    private static func forged(_ scheme: String, time: Int64) -> String {
        let fields =
            switch scheme {
            case "tencent-tc3":
                "X-TC-Timestamp: \(time)\nAuthorization: TC3-HMAC-SHA256 Credential="
                    + "orders-2026/2026-01-01/cvm/tc3_request, SignedHeaders=content-type;host, "
                    + "Signature=\(String(repeating: "0", count: 64))"
            case "stripe":
                "Stripe-Signature: t=\(time),v1=\(String(repeating: "0", count: 64))"
            case "standard-webhooks":
                "webhook-id: a\nwebhook-timestamp: \(time)\n"
                    + "webhook-signature: v1,\(String(repeating: "A", count: 43))="
            default: ""
            }
        return "POST / HTTP/1.1\nHost: h\nContent-Type: text/plain\n\(fields)\n\nbody"
    }

    @Test(
        arguments: ["tencent-tc3", "stripe", "standard-webhooks"],
        [latest + 1, 6_700_000_000_000, 999_999_999_999_999, 999_999_999_999_999_999])
    func refusesThemInAMessage(_ scheme: String, _ time: Int64) throws {
        var policy = VerificationPolicy()
        if scheme == "tencent-tc3" { policy.settings["service"] = "cvm" }
        let verifier = try Verifier(
            scheme: SigningScheme(named: scheme), keys: Sample.keys, policy: policy)
        let message = try Sample.message(Self.forged(scheme, time: time))
        #expect(code { _ = try verifier.verify(message, now: now) } == "malformed-signature")
        let explanation = verifier.explain(message, now: now)
        #expect(explanation.reason?.code == .malformedSignature)
        let good = try Sample.message(Self.forged(scheme, time: Self.latest))
        #expect(code { _ = try verifier.verify(good, now: now) } == "created-in-future")
        #expect(verifier.explain(good, now: now).reason?.code == .createdInFuture)
    }

    @Test(
        arguments: [SigningScheme.rfc9421, .saltedHMAC],
        [latest + 1, 6_700_000_000_000, 999_999_999_999_999])
    func refusesThemInASignaturesParameters(_ scheme: SigningScheme, _ time: Int64) throws {
        let verifier = try Sample.verifier(scheme)
        let message = try Sample.signed(scheme).replacing("created=\(now)", with: "created=\(time)")
        #expect(code { _ = try verifier.verify(message, now: now) } == "malformed-signature")
        _ = verifier.explain(message, now: now)
        guard scheme == .rfc9421 else { return }
        let ending = try Sample.signed(expires: now + 9).replacing(
            "expires=\(now + 9)", with: "expires=\(time)")
        #expect(code { _ = try verifier.verify(ending, now: now) } == "malformed-signature")
    }

    @Test(
        arguments: [SigningScheme.rfc9421, .saltedHMAC], [-1, latest + 1, .max, .min])
    func refusesThemAsNowOrExpiration(_ scheme: SigningScheme, _ time: Int64) throws {
        var message = try Sample.message()
        #expect(code { _ = try Sample.signer(scheme).sign(&message, now: time) } == "invalid-time")
        let signed = try Sample.signed(scheme)
        #expect(
            code { _ = try Sample.verifier(scheme).verify(signed, now: time) } == "invalid-time")
        guard scheme == .rfc9421 else { return }
        #expect(
            code { _ = try Sample.signer().sign(&message, now: now, expiration: time) }
                == "invalid-time")
    }

    @Test(arguments: [300, Int64.max])
    func lifetimeNeverEndsAfterThem(_ seconds: Int64) throws {
        var options = MessageSigner.Options()
        options.lifetime = seconds
        var message = try Sample.message()
        let signer = try MessageSigner(
            scheme: .rfc9421, key: Sample.keys.key(id: "orders-2026"), options: options)
        _ = try signer.sign(&message, now: now)
        let verified = try Sample.verifier().verify(message, now: now)
        #expect(
            verified.expiration
                == min(
                    Self.latest,
                    now.addingReportingOverflow(seconds).overflow ? .max : now + seconds))
    }
}
