import Foundation
import SignetSigning
import TestSupport
import Testing

/// Signatures in the trailers, after the body.
@Suite struct TrailerSignatureTests {
    private static let head = """
        PUT /upload?part=1 HTTP/1.1
        Host: api.example.com
        Trailer: Content-Digest, Signature-Input, Signature


        """
    private static let body = Array("what is read once".utf8)

    private static func sign(
        _ signer: MessageSigner, trailers: [SignableMessage.Field] = []
    ) throws -> MessageSigner.Result {
        var signing = try signer.startSigning(try Sample.message(head))
        try signing.update(Array(body.prefix(5)))
        try signing.update(Array(body.dropFirst(5)))
        return try signing.finish(trailers: trailers, now: Sample.now, nonce: "n-1")
    }

    private static func verify(
        _ trailers: [SignableMessage.Field], _ body: [UInt8] = body, head: String = head,
        now: Int64 = Sample.now, nonces: (any NonceStore)? = nil
    ) throws -> VerifiedMessage {
        var stream = try Sample.verifier(nonces: nonces).startVerifying(
            try Sample.message(head), now: Sample.now)
        let isHeadVerified = stream.isHeadVerified
        #expect(!isHeadVerified)
        try stream.update(body)
        return try stream.finish(trailers: trailers, now: now)
    }

    @Test func signsInTheTrailers() throws {
        let result = try Self.sign(try Sample.signer())
        #expect(
            result.addedFields.map(\.name) == ["Content-Digest", "Signature-Input", "Signature"])
        #expect(
            text(result.addedFields[1].value)
                == #"sig1=("@method" "@authority" "@path" "@query" "content-digest";tr);"#
                + #"created=1795228551;keyid="orders-2026";nonce="n-1""#)
        let verified = try Self.verify(result.addedFields)
        #expect(
            verified[#""content-digest";tr"#] == result.addedFields[0].value)
        // The same message, whole.
        var whole = try Sample.message(Self.head)
        whole.setBody(Self.body)
        for field in result.addedFields { whole.appendTrailer(field) }
        _ = try Sample.verifier().verify(whole, now: Sample.now)
    }

    @Test func checksPolicyDigestAndTimeAfterTheBody() throws {
        let fields = try Self.sign(try Sample.signer()).addedFields
        #expect(code { _ = try Self.verify([]) } == "no-signature")
        #expect(code { _ = try Self.verify(Array(fields.dropLast())) } == "malformed-signature")
        #expect(code { _ = try Self.verify(Array(fields.dropFirst())) } == "missing-component")
        #expect(code { _ = try Self.verify(fields, Array("other".utf8)) } == "digest-mismatch")
        #expect(code { _ = try Self.verify(fields, []) } == "digest-mismatch")
        #expect(code { _ = try Self.verify(fields + [fields[0]]) } == "signature-mismatch")
        #expect(code { _ = try Self.verify(fields + [fields[1]]) } == "malformed-signature")
        #expect(code { _ = try Self.verify(fields, now: Sample.now + 301) } == "too-old")
        let swapped = Self.head.replacingOccurrences(of: "/upload", with: "/admin")
        #expect(code { _ = try Self.verify(fields, head: swapped) } == "signature-mismatch")
        let store = MemoryNonceStore()
        #expect(
            code { _ = try Self.verify(fields, Array("other".utf8), nonces: store) }
                == "digest-mismatch")
        _ = try Self.verify(fields, nonces: store)
        #expect(code { _ = try Self.verify(fields, nonces: store) } == "replayed-nonce")
    }

    @Test func coversOtherTrailersIfListed() throws {
        let covers = #"@method,@authority,@path,@query,"content-digest";tr,"expires";tr"#
        let signer = try Sample.signer(covers: covers)
        let expires = try SignableMessage.Field(name: "Expires", value: Array("never".utf8))
        let fields = [expires] + (try Self.sign(signer, trailers: [expires])).addedFields
        let verified = try Self.verify(fields)
        #expect(verified[#""expires";tr"#].map(text) == "never")
        let other = try SignableMessage.Field(name: "Expires", value: Array("now".utf8))
        #expect(
            code { _ = try Self.verify([other] + fields.dropFirst()) } == "signature-mismatch")
        #expect(code { _ = try Self.sign(signer) } == "missing-component")
        let digest = try ContentDigest.field(of: Self.body)
        #expect(
            code { _ = try Self.sign(signer, trailers: [expires, digest]) } == "duplicate-field")
    }

    @Test func requiresTheBodyInALaterList() throws {
        let head = try Sample.message(Self.head)
        for covers in ["@method", "@method,content-digest", ""] {
            #expect(
                code { _ = try Sample.signer(covers: covers).startSigning(head) }
                    == "unsupported-component")
        }
        #expect(
            code {
                let covers = #""content-digest";tr,"signature";tr"#
                _ = try Sample.signer(covers: covers).startSigning(head)
            } == "unsupported-component")
        #expect(
            code { _ = try Sample.signer(.saltedHMAC).startSigning(head) } == "unsupported-option")
        var held = head
        held.setBody([0])
        #expect(code { _ = try Sample.signer().startSigning(held) } == "malformed-message")
        #expect(
            code { _ = try Sample.verifier().startVerifying(held, now: Sample.now) }
                == "malformed-message")
    }

    @Test func countsALabelOnceInHeadAndTrailers() throws {
        var head = try Sample.message(Self.head)
        _ = try Sample.signer(covers: "@method").sign(&head, now: Sample.now)
        let fields = try Self.sign(try Sample.signer()).addedFields
        var both = head
        both.setBody(Self.body)
        for field in fields { both.appendTrailer(field) }
        #expect(
            code { _ = try Sample.verifier().verify(both, now: Sample.now) }
                == "malformed-signature")
        var second = try Sample.signer().startSigning(head)
        try second.update(Self.body)
        do throws(SigningError) {
            _ = try second.finish(now: Sample.now)
            Issue.record("a label was given twice")
        } catch {
            #expect(error.code == .duplicateLabel)
        }
    }
}
