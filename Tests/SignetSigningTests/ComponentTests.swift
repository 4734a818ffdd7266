import Foundation
import SignetSigning
import TestSupport
import Testing

/// Covered components, with and without parameters.
@Suite struct ComponentTests {
    /// A response with all that a component may name, and the request that it responds to.
    private func response() throws -> SignableMessage {
        var message = try Sample.message(
            """
            HTTP/1.1 200 OK
            Cache-Status: ExampleCache; hit;fwd=miss ,  other
            Priority: u=1,   i
            Client-Cert: :AAE:
            Deprecation: @1659578233
            X-Text: %"caf%c3%a9"
            Set-Cookie: a=b; Expires=Wed, 09 Jun 2021 10:18:14 GMT
            Set-Cookie: c=d
            X-Name: caf\u{e9}
            X-Dict: a=1, b=2;x, a=3

            body
            """)
        message.appendTrailer(
            try SignableMessage.Field(name: "Expires", value: Array("soon".utf8)))
        message.appendTrailer(
            try SignableMessage.Field(name: "X-Dict", value: Array("t=(1  2)".utf8)))
        try message.setRelatedRequest(
            Sample.message("POST /p?a=1&a=2&b=%ff&c HTTP/1.1\nHost: h\nX-Dict: r=?0\n\n"))
        return message
    }

    private func base(
        _ covers: String, types: [String: StructuredFieldType] = [:]
    ) throws -> [String] {
        var options = MessageSigner.Options()
        options.coveredComponents = try ComponentIdentifier.list(parsing: covers)
        for (name, type) in types { options.fieldTypes[name] = type }
        var message = try response()
        let result = try MessageSigner(
            scheme: .rfc9421, key: Sample.keys.key(id: "orders-2026"), options: options
        ).sign(&message, now: 1)
        return text(result.base).split(separator: "\n").dropLast().map(String.init)
    }

    @Test(
        arguments: [
            // Registered types.
            (#""cache-status";sf"#, "ExampleCache;hit;fwd=miss, other"),
            (#""priority";sf"#, "u=1, i"), (#""priority";key="i""#, "?1"),
            (#""priority";sf;key="u""#, "1"), (#""priority";key="u";sf"#, "1"),
            (#""client-cert";sf"#, ":AAE=:"), (#""deprecation";sf"#, "@1659578233"),
            // Trailers, the request of the response, and both.
            (#""expires";tr"#, "soon"), (#""x-dict";tr;key="t""#, "(1 2)"),
            (#""x-dict";key="r";req"#, "?0"), (#""@path";req"#, "/p"),
            (#""@query-param";name="c";req"#, ""), (#""@query-param";req;name="c""#, ""),
            // Of equal keys the last counts, in the first one's place (RFC 9651, section 3.2).
            (#""x-dict";key="a""#, "3"), (#""x-dict";key="b""#, "2;x"),
            // Bytes of any kind.
            (#""x-name";bs"#, ":Y2Fmw6k=:"),
            (
                #""set-cookie";bs"#,
                ":YT1iOyBFeHBpcmVzPVdlZCwgMDkgSnVuIDIwMjEgMTA6MTg6MTQgR01U:, :Yz1k:"
            ),
        ])
    func givesTheValuesOfTheRFC(_ component: String, _ value: String) throws {
        #expect(try base(component) == ["\(component): \(value)"])
    }

    @Test func prefersTheCallersTypeToTheRegistrys() throws {
        #expect(
            try base(#""x-dict";sf"#, types: ["X-Dict": .dictionary])
                == [#""x-dict";sf: a=3, b=2;x"#])
        #expect(
            try base(#""x-text";sf"#, types: ["x-text": .item]) == [#""x-text";sf: %"caf%c3%a9""#])
        #expect(
            code { _ = try base(#""priority";sf"#, types: ["priority": .item]) }
                == "malformed-field")
        #expect(
            code { _ = try base(#""x-dict";key="a""#, types: ["x-dict": .list]) }
                == "unsupported-component")
    }

    @Test(
        arguments: [
            // Combinations that are refused.
            (#""x";bs;sf"#, "unsupported-component"), (#""x";sf;bs"#, "unsupported-component"),
            (#""x";bs;key="a""#, "unsupported-component"),
            (#""@method";sf"#, "unsupported-component"),
            (#""@method";bs"#, "unsupported-component"),
            (#""@method";tr"#, "unsupported-component"),
            (#""@method";key="a""#, "unsupported-component"),
            (#""@query";name="a""#, "unsupported-component"),
            (#""x";name="a""#, "unsupported-component"),
            (#""@status";req"#, "unsupported-component"),
            (#""@query-param";name="a";sf"#, "unsupported-component"),
            (#""x";own"#, "unsupported-component"), (#""x";own=1"#, "unsupported-component"),
            (#""@signature-params";req"#, "unsupported-component"),
            // Flags and texts.
            (#""x";sf=?0"#, "malformed-component"), (#""x";sf=1"#, "malformed-component"),
            (#""x";sf="a""#, "malformed-component"), (#""x";key"#, "malformed-component"),
            (#""x";key=a"#, "malformed-component"), (#""x";key="A""#, "malformed-component"),
            (#""x";key="""#, "malformed-component"), (#""x";key=1"#, "malformed-component"),
            (#""@query-param";name"#, "malformed-component"),
            (#""@query-param";name=a"#, "malformed-component"),
            (#""x";sf;sf"#, "malformed-component"),
            (#""x";key="a";key="b""#, "malformed-component"),
            (#""x";Sf"#, "malformed-component"), (#"("x")"#, "malformed-component"),
            (#""x" "y""#, "malformed-component"), (#""x";sf)"#, "malformed-component"),
            (#""x");created=1"#, "malformed-component"),
            // Names of query parameters that are not encoded as RFC 9421 encodes them.
            (#""@query-param";name="a b""#, "malformed-component"),
            (#""@query-param";name="a+b""#, "malformed-component"),
            (#""@query-param";name="%c3%a4""#, "malformed-component"),
            (#""@query-param";name="%41""#, "malformed-component"),
            (#""@query-param";name="~""#, "malformed-component"),
            (#""@query-param";name="%""#, "malformed-component"),
            (#""@query-param";name="%FF""#, "malformed-component"),
            // Sets of which two name the same component.
            (#""priority";sf,"priority";sf"#, "duplicate-component"),
            (#""x-dict";key="a";req,"x-dict";req;key="a""#, "duplicate-component"),
            (#""x-dict";tr;key="t";sf,"x-dict";sf;tr;key="t""#, "duplicate-component"),
            // Missing components.
            (#""priority";key="z""#, "missing-component"),
            (#""absent";sf;key="a""#, "missing-component"),
            (#""absent";key="a""#, "missing-component"), (#""absent";bs"#, "missing-component"),
            (#""cache-status";tr"#, "missing-component"), (#""expires""#, "missing-component"),
            (#""priority";sf;req"#, "missing-component"),
            (#""x-dict";req;tr;key="a""#, "missing-component"),
            (#""@method""#, "missing-component"),
            (#""@query-param";name="c""#, "missing-component"),
            (#""@query-param";name="z";req"#, "missing-component"),
            // Components that are ambiguous or have another type.
            (#""@query-param";name="a";req"#, "repeated-parameter"),
            (#""@query-param";name="b";req"#, "non-utf8-value"),
            (#""x-dict";sf"#, "unknown-field-type"), (#""set-cookie""#, "unsupported-component"),
            (#""set-cookie";sf"#, "unsupported-component"),
            (#""set-cookie";key="a""#, "unsupported-component"),
            (#""cache-status";key="other""#, "unsupported-component"),
            (#""x-name";key="a""#, "malformed-field"), (#""x-name""#, "non-ascii-value"),
        ])
    func refusesWhatDoesNotFit(_ covers: String, _ wanted: String) {
        #expect(code { _ = try base(covers) } == wanted)
    }

    @Test func tellsComponentsApartByTheirParameters() throws {
        let lines = try base(
            #""x-dict";key="a","x-dict";key="b","x-dict";tr;key="t","x-dict";req;key="r","x-dict""#)
        #expect(lines.count == 5)
    }

    /// The order of parameters doesn't matter; every other byte does.
    @Test func comparesParametersInAnyOrder() throws {
        let first = try ComponentIdentifier("x", parameters: [.sf, .key("a"), .tr, .req])
        let second = try ComponentIdentifier("x", parameters: [.req, .tr, .key("a"), .sf])
        #expect(first == second)
        #expect(first.hashValue == second.hashValue)
        #expect(first.description == #""x";sf;key="a";tr;req"#)
        #expect(second.listed == #""x";req;tr;key="a";sf"#)
        #expect(try first != ComponentIdentifier("x", parameters: [.sf, .key("b"), .tr, .req]))
        #expect(try first != ComponentIdentifier("x", parameters: [.sf, .key("a"), .tr]))
        #expect(try ComponentIdentifier("x").listed == "x")
    }

    @Test(
        arguments: [
            "", "a=", "a b", "a=1,", ",", "a==1", "A=1", "a=\u{e9}", "a=:A:", "a=:A=A:", "a=:AB==:",
            "a=1.", "a=1.2345", "a=\"x", "a=%\"%zz\"", "a=@1.5", "a=(1", "a=1;B",
            "a=1234567890123456",
            (0..<1100).map { "k\($0)" }.joined(separator: ","),
            "a" + (0..<1100).map { ";k\($0)" }.joined(),
        ])
    func refusesMalformedStructuredFields(_ value: String) throws {
        for component in ["\"x\";key=\"a\"", "\"x\";sf"] {
            // The empty dictionary is one, but it has no members.
            let wanted =
                value.isEmpty
                ? component.hasSuffix("sf") ? "no error" : "missing-component" : "malformed-field"
            var options = MessageSigner.Options()
            options.coveredComponents = try ComponentIdentifier.list(parsing: component)
            options.fieldTypes["x"] = .dictionary
            let signer = try MessageSigner(
                scheme: .rfc9421, key: Sample.keys.key(id: "orders-2026"), options: options)
            var message = try Sample.message("GET / HTTP/1.1\nHost: h\nX: \(value)\n\n")
            #expect(code { _ = try signer.sign(&message, now: 1) } == wanted, "\(component)")
        }
    }

    @Test func needsTheRequestOfAResponse() throws {
        var request = try Sample.message()
        let response = try Sample.message("HTTP/1.1 200\n\n")
        #expect(code { try request.setRelatedRequest(request) } == "malformed-message")
        var other = response
        #expect(code { try other.setRelatedRequest(response) } == "malformed-message")
        #expect(other.relatedRequest == nil)
        // Components of the related request are refused without one, and on a request.
        for text in ["HTTP/1.1 200\n\n", Sample.text] {
            var message = try Sample.message(text)
            #expect(
                code { _ = try Sample.signer(covers: #""@path";req"#).sign(&message, now: 1) }
                    == "missing-component")
        }
    }
}
