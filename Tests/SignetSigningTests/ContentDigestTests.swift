import SignetSigning
import TestSupport
import Testing

/// The Content-Digest field of RFC 9530.
@Suite struct ContentDigestTests {
    private static let body = #"{"hello": "world"}"#
    private static let sha256 = "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:"
    private static let sha512 =
        "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:"

    @Test func isMadeAsRFC9530Shows() throws {
        let field = try ContentDigest.field(of: Array(Self.body.utf8))
        #expect(field.name == "Content-Digest")
        #expect(text(field.value) == Self.sha256)
    }

    private func check(_ lines: [String], body: String = body) throws {
        let fields = lines.map { "Content-Digest: \($0)\n" }.joined()
        try ContentDigest.check(
            Sample.message("POST / HTTP/1.1\nHost: h\n\(fields)\n\(body)"))
    }

    @Test(
        arguments: [
            [sha256], [sha512], [sha256, sha512], ["\(sha512), \(sha256)"],
            [sha256, "own-algorithm=:AAAA:"], ["own-algorithm=:AAAA:,\t\(sha256)"],
        ])
    func acceptsADigestThatFits(_ lines: [String]) throws { try check(lines) }

    @Test(
        arguments: [
            ([], "missing-component"),
            (["sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPF=:"], "malformed-digest"),
            (["sha-256=:Y48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:"], "digest-mismatch"),
            (["sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE:"], "malformed-digest"),
            (["sha-256=:X48E:"], "digest-mismatch"), (["sha-256=::"], "digest-mismatch"),
            (["sha-256=\"X48E\""], "malformed-digest"), (["sha-256"], "malformed-digest"),
            ([sha256, sha256], "malformed-digest"), (["\(sha256), \(sha256)"], "malformed-digest"),
            (["\(sha256),"], "malformed-digest"), (["\(sha256) \(sha512)"], "malformed-digest"),
            ([""], "malformed-digest"), (["SHA-256=:AAAA:"], "malformed-digest"),
            (["md5=:Sd/dVLAcvNLSq16eXua5uQ==:"], "unsupported-digest"),
            ([sha256, "md5=:Sd/dVLAcvNLSq16eXua5uQ==:"], "unsupported-digest"),
            (["sha=:AAAA:"], "unsupported-digest"), (["crc32c=:AAAA:"], "unsupported-digest"),
            (["adler=:AAAA:"], "unsupported-digest"), (["unixsum=:AAAA:"], "unsupported-digest"),
            (["own-algorithm=:AAAA:"], "unsupported-digest"),
            ([sha256, "sha-512=:AAAA:"], "digest-mismatch"),
        ])
    func refusesMalformedDigests(_ lines: [String], _ wanted: String) {
        #expect(code { try check(lines) } == wanted)
    }

    @Test func refusesAnotherBody() {
        #expect(code { try check([Self.sha256], body: "") } == "digest-mismatch")
        #expect(code { try check([Self.sha512], body: Self.body + " ") } == "digest-mismatch")
    }

    @Test func signerRefusesADigestThatDoesNotFit() throws {
        let head = "POST / HTTP/1.1\nHost: h\n"
        var message = try Sample.message("\(head)Content-Digest: \(Self.sha512)\n\n\(Self.body)")
        let result = try Sample.signer(covers: "content-digest").sign(&message, now: 1)
        #expect(result.addedFields.map(\.name) == ["Signature-Input", "Signature"])
        var other = try Sample.message("\(head)Content-Digest: \(Self.sha512)\n\nother")
        #expect(
            code { _ = try Sample.signer(covers: "content-digest").sign(&other, now: 1) }
                == "digest-mismatch")
        // One that is not covered proves nothing, so it is not looked at.
        _ = try Sample.signer(covers: "@method").sign(&other, now: 1)
    }
}
