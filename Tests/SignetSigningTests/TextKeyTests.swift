import SignetBase
import SignetSigning
import Testing

/// Keys that a program makes of a text, and the system's clock as the time.
@Suite struct TextKeyTests {
    private let secret = "It's a Secret to Everybody"

    private func webhook(_ signature: String) throws -> SignableMessage {
        try SignableMessage(
            parsing: Array(
                """
                POST /hook HTTP/1.1\r\nHost: api.example.com\r\nX-Hub-Signature-256: sha256=\(signature)\r
                Content-Length: 13\r\n\r\nHello, World!
                """.utf8))
    }

    /// GitHub's own example.
    @Test func verifiesAWebhookWithOneText() async throws {
        let verifier = try Verifier(
            scheme: SigningScheme(named: "github"), key: .hmac(secret, id: "github"))
        let good = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
        let verified = try await verifier.verify(webhook(good))
        #expect(verified.body == Array("Hello, World!".utf8))
        for bad in [String(good.reversed()), String(good.dropLast()), good.uppercased() + "0", ""] {
            #expect(throws: SigningError.self) { try verifier.verify(try webhook(bad)) }
        }
        let other = try Verifier(
            scheme: SigningScheme(named: "github"), key: .hmac(secret + "!", id: "github"))
        #expect(throws: SigningError.self) { try other.verify(try webhook(good)) }
    }

    @Test(arguments: [
        ("", "a", "HS256", "malformed-keys"), ("secret\n", "a", "HS256", "malformed-keys"),
        ("secret\r\n", "a", "HS256", "malformed-keys"), ("secret", "", "HS256", "invalid-key-id"),
        ("secret", "a\nb", "HS256", "invalid-key-id"), ("secret", "a", "RS256", "malformed-keys"),
        ("-----BEGIN \("PRIVATE") KEY-----", "a", "HS256", "malformed-keys"),
    ])
    func refusesATextAsAKey(_ secret: String, id: String, algorithm: String, code: String) {
        let error = #expect(throws: KeyError.self) {
            try CryptoKey.hmac(secret, id: id, algorithm: algorithm)
        }
        #expect(error?.code.name == code)
        #expect(secret.isEmpty || error?.message.contains(secret) == false)
    }

    @Test func aKeyOfATextNeverPrints() throws {
        let key = try CryptoKey.hmac("ZZZZZZZZZZZZZZZZ", id: "a", algorithm: "HS512")
        var text = "\(key)\(String(reflecting: key))"
        dump(key, to: &text)
        dump(try Verifier(key: key), to: &text)
        for canary in ["ZZZZ", "WlpaWlpa", "5a5a5a", "90, 90"] { #expect(!text.contains(canary)) }
        #expect(key.id == "a" && key.algorithm == "HS512" && key.isPrivate)
    }

    @Test(arguments: [SigningScheme.rfc9421, .saltedHMAC])
    func aShortTextSignsNothing(_ scheme: SigningScheme) throws {
        let key = try CryptoKey.hmac("fifteen letters", id: "a")
        let error = #expect(throws: SigningError.self) {
            try MessageSigner(scheme: scheme, key: key)
        }
        #expect(error?.code == .keyTooShort)
    }

    @Test func theTimeIsTheSystemsIfNoneIsGiven() throws {
        func order() throws -> SignableMessage {
            try SignableMessage(
                parsing: Array("GET /orders HTTP/1.1\r\nHost: api.example.com\r\n\r\n".utf8))
        }
        let key = try CryptoKey.hmac("sixteen letters!", id: "a")
        let signer = try MessageSigner(scheme: .rfc9421, key: key)
        let verifier = try Verifier(key: key)
        var message = try order()
        _ = try signer.sign(&message)
        _ = try verifier.verify(message)
        _ = try verifier.verify(message, now: UnixTime.now())
        #expect(verifier.explain(message).reason == nil)
        for now in [0, UnixTime.now() - 86_400, UnixTime.now() + 86_400] as [Int64] {
            #expect(throws: SigningError.self) { try verifier.verify(message, now: now) }
        }
        var old = try order()
        _ = try signer.sign(&old, now: 1_000_000_000)
        #expect(throws: SigningError.self) { try verifier.verify(old) }
        #expect(verifier.explain(old).reason != nil)
    }
}
