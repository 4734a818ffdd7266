import Foundation
import SignetSigning
import TestSupport
import Testing

/// The explanations of signers and verifiers: the base and its parts, without secrets.
@Suite struct ExplanationTests {
    private let now = Sample.now

    @Test(
        arguments: [
            SigningScheme.rfc9421, .saltedHMAC,
        ])
    func showsTheBaseAndEachPart(_ scheme: SigningScheme) throws {
        var message = try Sample.message()
        let result = try Sample.signer(scheme).sign(&message, now: now)
        let explanation = try Sample.verifier(scheme).explain(message, now: now)
        #expect(explanation.reason == nil)
        #expect(explanation.base == result.base)
        #expect(explanation.parts == result.parts)
        #expect(explanation.lines.first == "the signature is valid")
        for name in ["@method: POST", "@path: /rpc", "@authority: api.example.com"] {
            #expect(explanation.lines.contains("  \(name)"))
        }
    }

    @Test(
        arguments: [
            ("/rpc", "/rpd", "signature-mismatch"),
            ("keyid=\"orders-2026\"", "keyid=\"revoked\"", "key-revoked"),
            ("created=1795228551", "created=1", "too-old"),
            ("\"id\":1", "\"id\":2", "digest-mismatch"),
            (" \"@path\"", "", "not-covered"),
            (
                ";keyid=\"orders-2026\"", ";keyid=\"orders-2026\";alg=\"ed25519\"",
                "algorithm-mismatch"
            ),
        ])
    func showsTheBaseOfAChangedMessage(_ old: String, _ new: String, _ reason: String) throws {
        let message = try Sample.signed().replacing(old, with: new)
        let explanation = try Sample.verifier().explain(message, now: now)
        #expect(explanation.reason?.code.name == reason)
        let base = text(try #require(explanation.base))
        #expect(base.hasPrefix("\"@method\": POST\n"))
        #expect(old.contains("id") || new.isEmpty || base.contains(new))
        #expect(explanation.lines.first?.hasPrefix("not verified: \(reason)") == true)
    }

    @Test func explainsTheReadablePartOfAMessage() throws {
        let message = try Sample.signed(
            covers: "@method,@authority,@path,@query,content-digest,x-request-id"
        )
        .replacing("X-Request-Id: r-1\r\n", with: "")
        let explanation = try Sample.verifier().explain(message, now: now)
        #expect(explanation.reason?.code == .missingComponent)
        #expect(explanation.base == nil)
        #expect(
            explanation.parts.map(\.identifier) == [
                "@method", "@authority", "@path", "@query", "content-digest",
            ])
        #expect(explanation.lines.last == "no base could be computed")
        let unsigned = try Sample.verifier().explain(Sample.message(), now: now)
        #expect(unsigned.reason?.code == .noSignature)
        #expect(unsigned.base == nil)
        #expect(unsigned.parts.isEmpty)
    }

    @Test func usesNoNonceUp() throws {
        let message = try Sample.signed(nonce: "n")
        let store = MemoryNonceStore()
        let verifier = try Sample.verifier(.rfc9421, nonces: store)
        #expect(verifier.explain(message, now: now).reason == nil)
        #expect(store.count == 0)
        _ = try verifier.verify(message, now: now)
        #expect(verifier.explain(message, now: now).reason == nil)
        #expect(store.count == 1)
    }

    @Test(
        arguments: [
            SigningScheme.rfc9421, .saltedHMAC,
        ])
    func showsNoKeyAndNoExpectedMAC(_ scheme: SigningScheme) throws {
        let genuine = try Sample.signed(scheme)
        let field = try #require(genuine.fields.last)
        let expected = text(field.value).split(separator: ":").map(String.init)[1]
        #expect(Data(base64Encoded: expected)?.count == 32)
        // The sender does not know the key: the MAC is a wrong one.
        let forged = try genuine.replacing(expected, with: String(repeating: "A", count: 43) + "=")
        let explanation = try Sample.verifier(scheme).explain(forged, now: now)
        #expect(explanation.reason?.code == .signatureMismatch)
        let shown = explanation.lines.joined() + "\(explanation)"
        #expect(!shown.contains(expected.dropLast()))
        #expect(!shown.contains("AAEC"))
        #expect(!shown.contains("0, 1, 2, 3"))
    }
}
