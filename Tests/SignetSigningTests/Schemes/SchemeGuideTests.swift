import Foundation
import SignetCrypto
import SignetSigning
import TestSupport
import Testing

/// The code and the documents of the article "Writing a scheme for a partner", unchanged.
@Suite struct SchemeGuideTests {
    private static func blocks(in language: String) throws -> [String] {
        try Article("Sources/SignetSigning/SignetSigning.docc/Writing-a-scheme-for-a-partner.md")
            .blocks(in: language).map { $0.joined(separator: "\n") }
    }

    @Test func signsAndVerifiesByTheGuidesDocument() throws {
        let document = Array(try #require(Self.blocks(in: "json").last).utf8)
        let keys = try Partner.keys([("shop-7", "leaf-and-bud")])
        let request = Array(
            "POST /orders?tea=oolong&amount=2 HTTP/1.1\nHost: h\n\n{\"note\":\"dry\"}\n".utf8)
        let now: Int64 = 1_767_225_600

        let scheme = try SigningScheme(document: document)
        var options = MessageSigner.Options()
        options.settings = ["app": "shop"]
        let signer = try MessageSigner(
            scheme: scheme, key: keys.key(id: "shop-7"), options: options)
        var message = try SignableMessage(parsing: request)
        let signed = try signer.sign(&message, now: now)

        #expect(
            signed.addedFields.map(\.name) == [
                "X-Tea-App", "X-Tea-Time", "X-Tea-Nonce", "X-Tea-Sign",
            ])

        var policy = VerificationPolicy()
        policy.settings = ["app": "shop"]
        let verifier = try Verifier(
            scheme: scheme, keys: keys, policy: policy, nonces: MemoryNonceStore())
        let verified = try verifier.verify(message, now: now)

        #expect(
            verified.keyID == "shop-7" && verified["body"] == Array("{\"note\":\"dry\"}\n".utf8))
        #expect(verified.nonce?.utf8.count == 32)
        #expect(Partner.reason(verifier, message, at: now) == "replayed-nonce")
        for (old, new) in [
            ("amount=2", "amount=9"), ("POST", "PUT"), ("/orders", "/order"), ("dry", "wet"),
            ("X-Tea-App: shop", "X-Tea-App: shoq"),
            ("X-Tea-Time: 1767225600000", "X-Tea-Time: 1767225600001"),
        ] {
            let other = try message.replacing(old, with: new)
            #expect(Partner.reason(verifier, other, at: now) == "signature-mismatch", "\(new)")
        }
    }

    @Test func keepsThePartnersMilliseconds() throws {
        let document = Array(try #require(Self.blocks(in: "json").last).utf8)
        let keys = try Partner.keys([("shop-7", "leaf-and-bud")])
        var policy = VerificationPolicy()
        policy.settings = ["app": "shop"]
        let verifier = try Verifier(
            scheme: SigningScheme(document: document), keys: keys, policy: policy)
        let hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        for (time, wanted) in [
            ("1767225600007", "no error"), ("1767225600999", "no error"),
            ("1767225661000", "created-in-future"), ("1767225299999", "too-old"),
            ("01767225600007", "malformed-signature"), ("1767225600", "too-old"),
        ] {
            let base = "shop\n\(time)\nn\nGET\n/\n\n\(hash)"
            let secret = Array("leaf-and-bud".utf8)
            let tag = try HMACKey(.sha256, key: secret.span).tag(of: Array(base.utf8))
            let message = try Sample.message(
                "GET / HTTP/1.1\nHost: h\nX-Tea-App: shop\nX-Tea-Time: \(time)\nX-Tea-Nonce: n\n"
                    + "X-Tea-Sign: shop-7:\(hex(tag).uppercased())\n\n")
            #expect(Partner.reason(verifier, message, at: 1_767_225_600) == wanted, "\(time)")
        }
    }

    /// Every word of the guide's code is in this file, in the same order.
    @Test func guideShowsThisCode() throws {
        func words(_ text: String) -> String {
            text.split { $0.isWhitespace }.joined(separator: " ")
        }
        let source = words(try String(contentsOfFile: #filePath, encoding: .utf8))
        let blocks = try Self.blocks(in: "swift")
        #expect(blocks.count == 2)
        var rest = source[...]
        for block in blocks {
            let range = try #require(rest.range(of: words(block)), "\(block)")
            rest = rest[range.upperBound...]
        }
    }
}
