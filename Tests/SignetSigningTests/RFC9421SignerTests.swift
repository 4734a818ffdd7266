import Foundation
import SignetSigning
import TestSupport
import Testing

/// Signing by RFC 9421.
@Suite struct RFC9421SignerTests {
    struct Appendix: Decodable, Sendable {
        let start: String
        let fields: [[String]]
        let body: String
        let jwk: String
        let created: Int64
        let label: String
        let covers: [String]
        let base: String
    }

    @Test(
        arguments: try VectorFile<Appendix>.load("rfc9421-b2", in: .module))
    func signsB25AndB26ByteForByte(_ vector: Appendix) throws {
        let unsigned = vector.fields.filter { !$0[0].hasPrefix("Signature") }
        let wanted = vector.fields.filter { $0[0].hasPrefix("Signature") }
        var message = try Sample.message(
            ([vector.start] + unsigned.map { "\($0[0]): \($0[1])" }).joined(separator: "\n")
                + "\n\n" + vector.body)
        let keys = try Sample.keySet([vector.jwk])
        var options = MessageSigner.Options()
        options.coveredComponents = try vector.covers.map { try ComponentIdentifier($0) }
        options.label = vector.label
        let result = try MessageSigner(scheme: .rfc9421, key: keys.keys[0], options: options)
            .sign(&message, now: vector.created)
        #expect(text(result.base) == vector.base)
        #expect(result.addedFields.map { [$0.name, text($0.value)] } == wanted)
    }

    /// Derived components of RFC 9421, section 2.2, and their values for unusual targets.
    @Test(
        arguments: [
            ("GET /p?q HTTP/1.1\nHost: h", "@method", "GET"),
            ("get /p?q HTTP/1.1\nHost: h", "@method", "get"),
            ("GET / HTTP/1.1\nHost: WWW.Example.com", "@authority", "www.example.com"),
            ("GET / HTTP/1.1\nHost: example.com:443", "@authority", "example.com"),
            ("GET / HTTP/1.1\nHost: example.com:", "@authority", "example.com"),
            ("GET / HTTP/1.1\nHost: example.com:80", "@authority", "example.com:80"),
            ("GET / HTTP/1.1\nHost: [2001:DB8::1]:8443", "@authority", "[2001:db8::1]:8443"),
            ("GET http://Example.com:80/p HTTP/1.1\nHost: h", "@authority", "example.com"),
            ("CONNECT example.com:80 HTTP/1.1\nHost: h", "@authority", "example.com:80"),
            ("GET / HTTP/1.1\nHost: h", "@scheme", "https"),
            ("GET http://h/ HTTP/1.1\nHost: h", "@scheme", "http"),
            ("GET /p?q HTTP/1.1\nHost: H:443", "@target-uri", "https://h/p?q"),
            ("GET https://H:443?q HTTP/1.1\nHost: h", "@target-uri", "https://h/?q"),
            ("GET /p?q HTTP/1.1\nHost: h", "@request-target", "/p?q"),
            ("GET https://H:443/p HTTP/1.1\nHost: h", "@request-target", "https://H:443/p"),
            ("OPTIONS * HTTP/1.1\nHost: h", "@request-target", "*"),
            ("OPTIONS * HTTP/1.1\nHost: h", "@path", "/"),
            ("GET /a%20b/../c?q HTTP/1.1\nHost: h", "@path", "/a%20b/../c"),
            ("GET https://h HTTP/1.1\nHost: h", "@path", "/"),
            ("GET /p?a=b&c HTTP/1.1\nHost: h", "@query", "?a=b&c"),
            ("GET /p? HTTP/1.1\nHost: h", "@query", "?"),
            ("GET /p HTTP/1.1\nHost: h", "@query", "?"),
            ("GET /p?a?b HTTP/1.1\nHost: h", "@query", "?a?b"),
            ("HTTP/1.1 200 OK\nX: y", "@status", "200"),
            ("GET / HTTP/1.1\nHost: h\nX-A:  one \nx-a: two", "x-a", "one, two"),
            ("GET / HTTP/1.1\nHost: h\nX-A:", "x-a", ""),
            ("GET / HTTP/1.1\nHost: h\nX-A: a\n b", "x-a", "a b"),
            ("GET / HTTP/1.1\nHost: H", "host", "H"),
        ])
    func derivesComponents(_ head: String, _ component: String, _ value: String) throws {
        var message = try Sample.message(head + "\n\n")
        let result = try Sample.signer(covers: component).sign(&message, now: 7)
        #expect(
            text(result.base)
                == "\"\(component)\": \(value)\n\"@signature-params\": (\"\(component)\");created=7"
                + ";keyid=\"orders-2026\"")
    }

    @Test func writesParametersInTheirOrder() throws {
        var message = try Sample.message("GET / HTTP/1.1\nHost: h\n\n")
        let result = try Sample.signer(covers: "", label: "own", tag: "t\"").sign(
            &message, now: 1, expiration: 2, nonce: "n\\")
        #expect(
            text(result.addedFields[0].value)
                == #"own=();created=1;expires=2;keyid="orders-2026";nonce="n\\";tag="t\"""#)
        #expect(
            text(result.base)
                == #""@signature-params": ();created=1;expires=2;keyid="orders-2026";nonce="n\\";tag="t\"""#
        )
    }

    @Test func coversTheVerifiersComponents() throws {
        func covered(_ text: String) throws -> String {
            var message = try Sample.message(text)
            let result = try Sample.signer().sign(&message, now: 1)
            let input = try #require(result.addedFields.first { $0.name == "Signature-Input" })
            return String(decoding: input.value, as: UTF8.self)
        }
        let end = #";created=1;keyid="orders-2026""#
        let core = #"sig1=("@method" "@authority" "@path""#
        #expect(try covered("GET / HTTP/1.1\nHost: h\n\n") == core + ")" + end)
        #expect(try covered("GET /?a HTTP/1.1\nHost: h\n\n") == core + #" "@query")"# + end)
        #expect(try covered("GET / HTTP/1.1\nHost: h\n\nb") == core + #" "content-digest")"# + end)
        #expect(
            try covered("GET /? HTTP/1.1\nHost: h\n\nb")
                == core + #" "@query" "content-digest")"# + end)
        #expect(try covered("HTTP/1.1 200\n\n") == #"sig1=("@status")"# + end)
        #expect(try covered("HTTP/1.1 200\n\nb") == #"sig1=("@status" "content-digest")"# + end)
    }

    @Test func keepsOtherSignatures() throws {
        var message = try Sample.message()
        _ = try Sample.signer(covers: "@method", label: "a", tag: "one").sign(&message, now: 1)
        _ = try Sample.signer(covers: "@path", label: "b", tag: "two").sign(&message, now: 1)
        for (tag, component) in [("one", "@method"), ("two", "@path")] {
            let verified = try Sample.verifier(.rfc9421, Sample.policy(required: "", tag: tag))
                .verify(message, now: 1)
            #expect(verified.covered.map(\.identifier) == [component])
        }
        let before = message
        #expect(
            code { _ = try Sample.signer(label: "a").sign(&message, now: 1) } == "duplicate-label")
        #expect(message == before)
    }

    @Test func lifetimeSetsTheExpiration() throws {
        var options = MessageSigner.Options()
        options.lifetime = 30
        options.addsNonce = true
        options.coveredComponents = []
        let signer = try MessageSigner(
            scheme: .rfc9421, key: Sample.keys.key(id: "orders-2026"), options: options)
        var message = try Sample.message()
        let input = try signer.sign(&message, now: 100).addedFields[0]
        #expect(text(input.value).hasPrefix(#"sig1=();created=100;expires=130;keyid="#))
        #expect(text(input.value).contains(#";nonce=""#))
    }

    @Test(
        arguments: [
            ("x-absent", "missing-component"), ("@status", "missing-component"),
            ("@query-param", "malformed-component"), ("@unknown", "unsupported-component"),
            ("@signature-params", "unsupported-component"), ("@", "unsupported-component"),
            ("\"@query-param\";name=\"q\"", "missing-component"),
            ("\"x\";sf", "unknown-field-type"), ("\"x\";bs", "missing-component"),
            ("\"@method\";req", "missing-component"),
            ("\"x\";key=\"a\"", "missing-component"),
            ("\"x\";tr", "missing-component"),
            ("@method,@method", "duplicate-component"),
            ("content-type,Content-Type", "duplicate-component"),
            ("@method,,@path", "malformed-component"), (",", "malformed-component"),
            ("x y", "malformed-component"), ("\"X-Upper\"", "malformed-component"),
            ("\"open", "malformed-component"), ("\"a\"b", "malformed-component"),
            ("\"a\\\"b\"", "malformed-component"), ("x\u{e9}", "malformed-component"),
        ])
    func refusesUncoverableComponents(_ covers: String, _ wanted: String) throws {
        var message = try Sample.message()
        let before = message
        #expect(
            code { _ = try Sample.signer(covers: covers).sign(&message, now: 1) } == wanted)
        #expect(message == before)
    }

    @Test(
        arguments: [
            ("GET /a b HTTP/1.1\nHost: h\n\n", "malformed-message"),
            ("GET /caf\u{e9} HTTP/1.1\nHost: h\n\n", "malformed-message"),
            ("GET /%zz HTTP/1.1\nHost: h\n\n", "malformed-message"),
            ("GET /% HTTP/1.1\nHost: h\n\n", "malformed-message"),
            ("GET /a#b HTTP/1.1\nHost: h\n\n", "malformed-message"),
            ("GET /a?\"b\" HTTP/1.1\nHost: h\n\n", "malformed-message"),
            ("GET a HTTP/1.1\nHost: h\n\n", "malformed-message"),
            ("GET ftp://h/ HTTP/1.1\nHost: h\n\n", "malformed-message"),
            ("GET / HTTP/1.1\nHost: a@h\n\n", "malformed-message"),
            ("GET / HTTP/1.1\nHost: h:99999\n\n", "malformed-message"),
            ("GET / HTTP/1.1\nHost: h:x\n\n", "malformed-message"),
            ("GET / HTTP/1.1\nHost: h:0443\n\n", "malformed-message"),
            ("GET / HTTP/1.1\nHost: [::1\n\n", "malformed-message"),
            ("GET / HTTP/1.1\nHost: a/b\n\n", "malformed-message"),
            ("GET / HTTP/1.1\nHost:\n\n", "malformed-message"),
            ("GET / HTTP/1.1\nX: y\n\n", "missing-component"),
            ("GET https:/// HTTP/1.1\nX: y\n\n", "malformed-message"),
            ("GET https://u:p@h/ HTTP/1.1\nX: y\n\n", "malformed-message"),
        ])
    func refusesMessagesThatABaseCannotHold(_ text: String, _ wanted: String) throws {
        var message = try Sample.message(text)
        #expect(code { _ = try Sample.signer().sign(&message, now: 1) } == wanted)
    }

    @Test func refusesCoveredValuesThatAreNotASCII() throws {
        var message = try Sample.message("GET / HTTP/1.1\nHost: h\nX-Name: caf\u{e9}\n\n")
        #expect(
            code { _ = try Sample.signer(covers: "x-name").sign(&message, now: 1) }
                == "non-ascii-value")
        _ = try Sample.signer(covers: "@method").sign(&message, now: 1)
    }

    /// The options: label, nonce, tag and times.
    @Test func refusesOptionsThatCannotBeWritten() throws {
        var message = try Sample.message()
        for label in ["", "Sig", "1a", "a b", "\u{e9}", String(repeating: "a", count: 65)] {
            #expect(code { _ = try Sample.signer(label: label) } == "invalid-value")
        }
        for tag in ["", "\u{e9}", "a\nb", String(repeating: "a", count: 257)] {
            #expect(code { _ = try Sample.signer(tag: tag) } == "invalid-value")
            #expect(
                code { _ = try Sample.signer().sign(&message, now: 1, nonce: tag) }
                    == "invalid-value")
        }
        for now in [-1, .min, 1_000_000_000_000_000, .max] as [Int64] {
            #expect(code { _ = try Sample.signer().sign(&message, now: now) } == "invalid-time")
        }
        for expires in [-1, 0, 9, 10, .max] as [Int64] {
            #expect(
                code { _ = try Sample.signer().sign(&message, now: 10, expiration: expires) }
                    == "invalid-time")
        }
        #expect(try message == Sample.message())
    }

    @Test(
        arguments: [
            ("root", "wrong-key-use"), ("orders-512", "algorithm-mismatch"),
            ("revoked", "key-revoked"), ("expired", "key-expired"),
            ("not-yet", "key-not-yet-valid"),
        ])
    func refusesKeysOfAnotherUseAlgorithmOrTime(_ id: String, _ wanted: String) throws {
        var message = try Sample.message()
        #expect(
            code { _ = try Sample.signer(key: id).sign(&message, now: Sample.now) } == wanted)
    }

    @Test(arguments: ["rfc9421", "salted-hmac-v1"])
    func findsSchemesByName(_ name: String) throws {
        #expect(try SigningScheme(named: name).name == name)
    }

    @Test(arguments: ["", "RFC9421", "rfc9421 ", "x\u{0}"])
    func refusesUnknownSchemes(_ name: String) {
        #expect {
            _ = try SigningScheme(named: name)
        } throws: { error in
            let error = error as? SigningError
            return error?.code == .unknownScheme
                && error?.message.contains("rfc9421, salted-hmac-v1") == true
        }
    }
}
