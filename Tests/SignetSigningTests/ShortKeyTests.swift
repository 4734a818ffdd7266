import SignetSigning
import Testing

/// HMAC keys of fewer than 16 bytes, which can be guessed.
@Suite struct ShortKeyTests {
    private let now = Sample.now

    private func keys(_ count: Int, alg: String = "HS256") throws -> KeySet {
        try Sample.keySet([
            Sample.jwk(
                "orders-2026", #""alg":"\#(alg)","use":"sig""#,
                [UInt8](repeating: 7, count: count))
        ])
    }

    @Test(
        arguments: [SigningScheme.rfc9421, .saltedHMAC], [1, 8, 15])
    func refusesToSignAndToVerify(_ scheme: SigningScheme, _ count: Int) throws {
        let short = try keys(count)
        let error = #expect(throws: SigningError.self) {
            _ = try MessageSigner(scheme: scheme, key: short.keys[0])
        }
        #expect(error?.code == .keyTooShort)
        #expect(
            error?.message
                == "the key \"orders-2026\" has \(count) bytes: expected at least 16 for HMAC")
        let message = try Sample.signed(scheme)
        let verifier = try Verifier(scheme: scheme, keys: short)
        #expect(code { _ = try verifier.verify(message, now: now) } == "key-too-short")
        #expect(verifier.explain(message, now: now).reason?.code == .keyTooShort)
    }

    @Test(arguments: [SigningScheme.rfc9421, .saltedHMAC], [16, 32, 200])
    func accepts16Bytes(_ scheme: SigningScheme, _ count: Int) throws {
        let keys = try keys(count)
        var message = try Sample.message()
        _ = try MessageSigner(scheme: scheme, key: keys.keys[0]).sign(&message, now: now)
        _ = try Verifier(scheme: scheme, keys: keys).verify(message, now: now)
    }

    @Test func acceptsAPartnersShortSecret() throws {
        let scheme = try SigningScheme(named: "stripe")
        var message = try Sample.message("POST / HTTP/1.1\nHost: h\n\n{}")
        _ = try MessageSigner(scheme: scheme, key: keys(8).keys[0]).sign(&message, now: now)
        _ = try Verifier(scheme: scheme, keys: keys(8)).verify(message, now: now)
    }
}
