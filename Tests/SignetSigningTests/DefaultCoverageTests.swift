import SignetSigning
import Testing

/// The components that a verifier requires by default.
@Suite struct DefaultCoverageTests {
    private let now = Sample.now
    private static let request = "GET /a HTTP/1.1\nHost: h\n\n"
    private static let query = "GET /a?b=1 HTTP/1.1\nHost: h\n\n"

    private func outcome(_ message: SignableMessage, required: String? = nil) throws -> String {
        let verifier = try Sample.verifier(.rfc9421, Sample.policy(required: required))
        return code { _ = try verifier.verify(message, now: now) }
    }

    @Test(arguments: ["?admin=1", "?"])
    func refusesAQueryAddedAfterSigning(_ query: String) throws {
        let signed = try Sample.signed(text: Self.request)
        #expect(try outcome(signed) == "no error")
        let changed = try signed.replacing("GET /a ", with: "GET /a\(query) ")
        #expect(try outcome(changed) == "not-covered")
        // Whoever demands a list gets that list.
        #expect(try outcome(changed, required: "@method,@path") == "no error")
        #expect(try outcome(changed, required: "@query") == "not-covered")
    }

    @Test(
        arguments: [
            request, query, "GET /a? HTTP/1.1\nHost: h\n\n", Sample.text,
            "GET https://h/a?b HTTP/1.1\nHost: h\n\n", "HTTP/1.1 200 OK\n\n",
            "HTTP/1.1 200 OK\n\nbody",
        ])
    func acceptsTheSignersDefaults(_ text: String) throws {
        #expect(try outcome(Sample.signed(text: text)) == "no error")
    }

    @Test(
        arguments: [
            ("@method,@target-uri", "no error"), ("@method,@authority,@request-target", "no error"),
            ("@target-uri", "not-covered"), ("@method,@request-target", "not-covered"),
            ("@method,@authority,@query", "not-covered"),
            ("@method,@authority,@path", "not-covered"),
            ("@method,@authority,@scheme,@path", "not-covered"),
            ("@method,@authority,@path,\"@query-param\";name=\"b\"", "not-covered"),
        ])
    func countsTargetsAsTheirParts(_ covers: String, _ wanted: String) throws {
        let signed = try Sample.signed(text: Self.query, covers: covers)
        #expect(try outcome(signed) == wanted)
        // An explicit list is required unchanged.
        #expect(
            try outcome(signed, required: "@path,@query")
                == (covers.contains("@path,@query") ? "no error" : "not-covered"))
    }

    @Test func requiresTheBodyOfAResponse() throws {
        let signed = try Sample.signed(text: "HTTP/1.1 200 OK\n\n")
        #expect(try outcome(signed) == "no error")
        var grown = signed
        grown.setBody([0x61])
        #expect(try outcome(grown) == "not-covered")
        let bare = try Sample.signed(text: "HTTP/1.1 200 OK\n\nbody", covers: "@status")
        #expect(try outcome(bare) == "not-covered")
        #expect(try outcome(bare, required: "@status") == "no error")
    }
}
