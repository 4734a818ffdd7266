import Foundation
import SignetSigning
import TestSupport
import Testing

/// Covered Content-Digest and Repr-Digest fields, which the verifier recomputes.
@Suite struct ReprDigestTests {
    private static let body = #"{"hello": "world"}"#
    private static let sha256 = "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:"

    private func response(
        _ fields: [String], status: Int = 200, body: String = body, request: String? = nil
    ) throws -> SignableMessage {
        var message = try Sample.message(
            "HTTP/1.1 \(status) X\n" + fields.map { $0 + "\n" }.joined() + "\n" + body)
        if let request {
            try message.setRelatedRequest(Sample.message(request + " HTTP/1.1\nHost: h\n\n"))
        }
        return message
    }

    private func sign(_ message: SignableMessage, _ covers: String) throws -> SignableMessage {
        var message = message
        _ = try Sample.signer(covers: covers).sign(&message, now: Sample.now)
        return message
    }

    private func verify(
        _ message: SignableMessage, _ covers: String, checks: Bool = true
    ) throws -> VerifiedMessage {
        var policy = try Sample.policy(required: covers)
        policy.checksRepresentation = checks
        return try Sample.verifier(.rfc9421, policy).verify(message, now: Sample.now)
    }

    @Test func handlesReprDigestAsContentDigest() throws {
        let message = try sign(try response([]), "@status,repr-digest")
        let verified = try verify(message, "@status,repr-digest")
        #expect(verified["repr-digest"].map(text) == Self.sha256)
        var changed = message
        changed.setBody(Array("other".utf8))
        #expect(code { _ = try verify(changed, "@status,repr-digest") } == "digest-mismatch")
        #expect(
            code {
                _ = try sign(response(["Repr-Digest: \(Self.sha256)"], body: "x"), "repr-digest")
            }
                == "digest-mismatch")
    }

    /// The program may check the whole representation itself.
    @Test(
        arguments: [
            (206, "GET /", []), (304, "GET /", []), (200, "HEAD /", []),
            (200, "GET /", ["Content-Range: bytes 0-1/18"]),
        ] as [(Int, String, [String])])
    func provesNoWholeByAPart(_ status: Int, _ request: String, _ fields: [String]) throws {
        let part = try response(
            fields + ["Repr-Digest: \(Self.sha256)"], status: status, body: "{", request: request)
        #expect(code { _ = try sign(part, "repr-digest") } == "unsupported-digest")
        #expect(
            code { _ = try sign(response(fields, status: status, request: request), "repr-digest") }
                == "unsupported-digest")
        #expect(code { try ReprDigest.check(part) } == "unsupported-digest")
        #expect(code { try ReprDigest.check(part, of: Array(Self.body.utf8)) } == "no error")
        #expect(code { try ReprDigest.check(part, of: Array("other".utf8)) } == "digest-mismatch")
    }

    @Test func returnsTheDigestThatTheProgramChecks() throws {
        // Signed as a whole, then sent in part: only the status and the digest are covered.
        let whole = try sign(try response([]), "repr-digest")
        var part = whole
        part.setBody([0x7B])
        #expect(code { _ = try verify(part, "repr-digest") } == "digest-mismatch")
        let verified = try verify(part, "repr-digest", checks: false)
        #expect(verified["repr-digest"].map(text) == Self.sha256)
        #expect(code { try ReprDigest.check(part, of: Array(Self.body.utf8)) } == "no error")
    }

    @Test func makesSHA512OnRequest() throws {
        var options = MessageSigner.Options()
        options.coveredComponents = [ContentDigest.component, ReprDigest.component]
        options.digest = .sha512
        var message = try response([])
        let result = try MessageSigner(
            scheme: .rfc9421, key: Sample.keys.key(id: "orders-2026"), options: options
        ).sign(&message, now: Sample.now)
        #expect(
            result.addedFields.prefix(2).map(\.name) == ["Content-Digest", "Repr-Digest"])
        #expect(
            result.addedFields.prefix(2).allSatisfy {
                text($0.value).hasPrefix("sha-512=:WZDPaVn/")
            })
        #expect(try verify(message, "content-digest,repr-digest").covered.count == 2)
    }

    @Test(
        arguments: [
            "content-digest", #""content-digest";sf"#, #""content-digest";bs"#,
            #""content-digest";key="sha-256""#,
        ])
    func recomputesEverySpelling(_ component: String) throws {
        let text = "POST / HTTP/1.1\nHost: h\nContent-Digest: \(Self.sha256)\n\n\(Self.body)"
        let covers = "@method,@authority,@path," + component
        let message = try sign(try Sample.message(text), covers)
        #expect(try Sample.verifier().verify(message, now: Sample.now).covered.count == 4)
        var changed = message
        changed.setBody(Array("other".utf8))
        #expect(
            code { _ = try Sample.verifier().verify(changed, now: Sample.now) } == "digest-mismatch"
        )
        #expect(
            code {
                _ = try sign(try text.replacing(Self.body, with: "other"), covers)
            } == "digest-mismatch")
    }

    @Test func coversNoBodyByAnUnknownMember() throws {
        // The good digest is there, but not covered: an attacker who changes the body can change it
        // too.
        let text =
            "POST / HTTP/1.1\nHost: h\nContent-Digest: own=:AAAA:, \(Self.sha256)\n\n\(Self.body)"
        let message = try sign(
            try Sample.message(text), #"@method,@authority,@path,"content-digest";key="own""#)
        #expect(
            code { _ = try Sample.verifier().verify(message, now: Sample.now) } == "not-covered")
    }

    @Test func readsADigestAmongTheTrailers() throws {
        var message = try response(["Trailer: Content-Digest"])
        let field = try ContentDigest.field(of: Array(Self.body.utf8))
        message.appendTrailer(field)
        let covers = #"@status,"content-digest";tr"#
        let signed = try sign(message, covers)
        #expect(try verify(signed, covers)["\"content-digest\";tr"] == field.value)
        var changed = signed
        changed.setBody([])
        #expect(code { _ = try verify(changed, covers) } == "digest-mismatch")
        message.setBody([])
        #expect(code { _ = try sign(message, covers) } == "digest-mismatch")
        #expect(code { _ = try sign(try response([]), covers) } == "missing-component")
    }

    @Test func recomputesTheRequestsDigestOverItsBody() throws {
        var request = try Sample.message(
            "POST / HTTP/1.1\nHost: h\nContent-Digest: \(Self.sha256)\n\n\(Self.body)")
        let covers = #"@status,"content-digest";req"#
        var message = try response([], body: "")
        try message.setRelatedRequest(request)
        let signed = try sign(message, covers)
        let component = try ComponentIdentifier("content-digest", parameters: [.req])
        #expect(try verify(signed, covers)[component].map(text) == Self.sha256)
        request.setBody(Array("other".utf8))
        var other = signed
        try other.setRelatedRequest(request)
        #expect(code { _ = try verify(other, covers) } == "digest-mismatch")
    }
}

extension String {
    fileprivate func replacing(_ old: String, with new: String) throws -> SignableMessage {
        try Sample.message(replacingOccurrences(of: old, with: new))
    }
}
