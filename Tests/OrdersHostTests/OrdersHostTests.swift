import Foundation
import TestSupport
import Testing

/// The host accepts requests signed by http-message-signatures, over each of its interfaces.
@Suite struct OrdersHostResponses {
    @Test(arguments: [
        ["--http2", "--tls-max", "1.3", "2"], ["--http2", "--tls-max", "1.2", "2"],
        ["--http1.1", "--tls-max", "1.3", "1.1"], ["--http1.1", "--tls-max", "1.2", "1.1"],
    ])
    func acceptsThePeersSignatures(_ way: [String]) async throws {
        let response = try await SignedRequest().signed().send(way[0], way[1], way[2])
        #expect(response.status == 200, "\(response.body)")
        #expect(response.httpVersion == way[3])
        #expect(response.json.contains(#""item":"tea","quantity":2,"status":"created""#))
    }

    @Test func logsTheReceivedRequests() async throws {
        var request = try await SignedRequest().signed()
        request.target = "/rpc?logged"
        #expect(try await request.send().status == 200)
        let line = try await SignedRequest.logLine(of: "/rpc?logged")
        for part in [
            #""method":"POST""#, #""protocol":"HTTP/2.0""#, #""verdict":"verified""#,
            #""keyid":"orders-2026""#, #""status":200"#, #""tls":"TLSv1.3""#,
        ] { #expect(line.contains(part)) }
    }

    @Test(arguments: [
        ["@query"], ["@target-uri"], ["@scheme"], ["@request-target"], ["content-type"],
        ["x-twice", "host"],
        ["@query", "@target-uri", "@scheme", "@request-target", "content-type", "content-length"],
    ])
    func acceptsMoreComponents(_ more: [String]) async throws {
        var request = SignedRequest()
        request.target = "/rpc?a=1&b=%20"
        request.covers += more
        request.fields += ["X-Twice: one", "X-Twice:   two  "]
        request.fields += ["Host: localhost:\(try await SignedRequest.host.value.port)"]
        request.fields += ["Content-Length: \(request.body.utf8.count)"]
        let response = try await request.signed().send()
        let line = try await SignedRequest.logLine(of: request.target)
        #expect(response.status == 200, "\(line)")
    }

    @Test func acceptsOptionalParameters() async throws {
        var request = SignedRequest()
        request.expires = 60
        request.tag = "shop"
        request.includesAlgorithm = true
        #expect(try await request.signed().send().status == 200)
        request.expires = nil
        request.keyID = "without-use"
        request.age = 200
        #expect(try await request.signed().send().status == 200)
    }

    @Test func acceptsTheOneOfTwoSignaturesThatHolds() async throws {
        var request = try await SignedRequest().signed()
        request.replace("Signature: sig=", with: "Signature: other=:AAAA:, sig=")
        request.replace("Signature-Input: sig=", with: "Signature-Input: other=();created=1, sig=")
        #expect(try await request.send().status == 200)
    }

    @Test func speaksREST() async throws {
        var create = SignedRequest()
        create.target = "/orders"
        create.body = #"{"item":"coffee","quantity":3}"#
        let created = try await create.signed().send()
        #expect(created.status == 201)
        let order = created.json
        #expect(order.contains(#""item":"coffee","quantity":3,"status":"created""#))

        struct Order: Decodable { let id: Int }
        let id = try JSONDecoder().decode(Order.self, from: Data(created.body.utf8)).id
        var read = SignedRequest(
            method: "GET", target: "/orders/\(id)", body: "",
            covers: ["@method", "@authority", "@path"])
        #expect(try await read.signed().send().json == order)
        read.target = "/orders"
        #expect(try await read.signed().send().json.contains(order))
        read.target = "/orders/999999"
        #expect(try await read.signed().send().status == 404)
        read.target = "/elsewhere"
        #expect(try await read.signed().send().status == 404)
        read.target = "/rpc"
        #expect(try await read.signed().send().status == 405)
        create.body = #"{"item":"coffee","quantity":0}"#
        #expect(try await create.signed().send().status == 400)
    }

    static let badCalls = [
        (#"{"jsonrpc":"2.0","id":"a","method":"orders.none"}"#, -32601),
        (#"{"jsonrpc":"2.0","id":1,"method":"orders.create"}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"orders.create","params":{"item":"tea"}}"#, -32602),
        (
            #"{"jsonrpc":"2.0","id":1,"method":"orders.create","params":{"item":1,"quantity":1}}"#,
            -32602
        ),
        (#"{"jsonrpc":"2.0","id":1,"method":"orders.create","params":["tea",0]}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"orders.create","params":["tea",1,1]}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"orders.create","params":["tea",1.5]}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"orders.list","params":[1]}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"session.renew","params":[1]}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"orders.list","params":"x"}"#, -32600),
        (#"{"jsonrpc":"1.0","id":1,"method":"orders.list"}"#, -32600),
        (#"{"jsonrpc":"2.0","id":{},"method":"orders.list"}"#, -32600),
        (#"{"jsonrpc":"2.0","id":1}"#, -32600),
        ("[]", -32600), ("7", -32600), ("{", -32700),
    ]

    /// All of them signed by one Python process.
    static let signedBadCalls = Task {
        try await SignedRequest.signed(badCalls.map { SignedRequest(body: $0.0) })
    }

    @Test(arguments: badCalls.indices)
    func namesTheErrorOfABadCall(_ number: Int) async throws {
        let response = try await Self.signedBadCalls.value[number].send()
        #expect(response.status == 200)
        #expect(response.json.contains(#""code":\#(Self.badCalls[number].1),"#), "\(response.json)")
    }

    @Test func sendsNoResponseToANotification() async throws {
        let body = #"{"jsonrpc":"2.0","method":"orders.create","params":["sugar",1]}"#
        let response = try await SignedRequest(body: body).signed().send()
        #expect(response.status == 204)
        #expect(response.body == "")
        let list = #"{"jsonrpc":"2.0","id":2,"method":"orders.list"}"#
        let orders = try await SignedRequest(body: list).signed().send().json
        #expect(orders.contains(#""item":"sugar""#))
        #expect(orders.hasPrefix(#"{"id":2,"jsonrpc":"2.0","result":["#))
    }
}

/// Requests that must be refused: always with 401 and the same response; only the log has the
/// reason.
@Suite struct OrdersHostRefuses {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let reason: String
        var request = SignedRequest()
        let change: @Sendable (inout SignedRequest) -> Void
        var testDescription: String { name }

        init(
            _ name: String, _ reason: String,
            signing prepare: (inout SignedRequest) -> Void = { _ in },
            sending change: @escaping @Sendable (inout SignedRequest) -> Void = { _ in }
        ) {
            self.name = name
            self.reason = reason
            self.change = change
            prepare(&request)
        }
    }

    static let cases = [
        Case("no signature", "not-signed", sending: { $0.fields = [] }),
        Case(
            "a body changed by one byte", "content-digest-mismatch",
            sending: { $0.body = $0.body.replacingOccurrences(of: "2]", with: "3]") }),
        Case("a body made longer", "content-digest-mismatch", sending: { $0.body += " " }),
        Case(
            "a body and its digest changed", "signature-mismatch",
            sending: {
                $0.body = "{}"
                $0.fields.removeAll { $0.hasPrefix("Content-Digest") }
                $0.fields.append(
                    "Content-Digest: sha-256=:RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=:")
            }),
        Case(
            "a body added to a bodiless request", "coverage",
            signing: {
                $0.body = ""
                $0.covers.removeLast()
            }, sending: { $0.body = "{}" }),
        Case("another method", "signature-mismatch", sending: { $0.method = "PUT" }),
        Case(
            "another path", "signature-mismatch", signing: { $0.target = "/orders" },
            sending: { $0.target = "/orders/1" }),
        Case(
            "an escaped path", "signature-mismatch", signing: { $0.target = "/rpc" },
            sending: { $0.target = "/%72pc" }),
        Case(
            "another covered query", "signature-mismatch",
            signing: { $0.covers.append("@query") }),
        Case(
            "another covered field", "signature-mismatch",
            signing: { $0.covers.append("content-type") },
            sending: { $0.replace("application/json", with: "application/jsoN") }),
        Case(
            "another host", "signature-mismatch",
            sending: { $0.fields.append("Host: other.test") }),
        Case(
            "another parameter", "signature-mismatch",
            sending: { $0.replace(";keyid", with: ";tag=\"a\";keyid") }),
        Case(
            "a covered field that is gone", "covered-field-missing",
            signing: {
                $0.fields.insert("X-Trace: 1", at: 0)
                $0.covers.append("x-trace")
            }, sending: { $0.fields.removeFirst() }),
        Case(
            "a short tag", "signature-mismatch",
            sending: { request in
                request.fields.removeLast()
                request.fields.append("Signature: sig=:AAAA:")
            }),
        Case(
            "no tag", "signature-mismatch",
            sending: { request in
                request.fields.removeLast()
                request.fields.append("Signature: sig=::")
            }),
        Case("an old signature", "too-old", signing: { $0.age = 301 }),
        Case("a signature of tomorrow", "from-the-future", signing: { $0.age = -86_400 }),
        Case(
            "an expired signature", "expired",
            signing: {
                $0.age = 20
                $0.expires = 10
            }),
        Case("an unknown key", "unknown-key", signing: { $0.keyID = "nobody" }),
        Case("a revoked key", "unusable-key", signing: { $0.keyID = "revoked" }),
        Case("an expired key", "unusable-key", signing: { $0.keyID = "expired" }),
        Case("a key of tomorrow", "unusable-key", signing: { $0.keyID = "not-yet" }),
        Case("a vault's key", "unusable-key", signing: { $0.keyID = "for-a-vault" }),
        Case("a key of HS512", "unusable-key", signing: { $0.keyID = "other-algorithm" }),
        Case("method not covered", "coverage", signing: { $0.covers.remove(at: 0) }),
        Case("authority not covered", "coverage", signing: { $0.covers.remove(at: 1) }),
        Case("path not covered", "coverage", signing: { $0.covers.remove(at: 2) }),
        Case("digest not covered", "coverage", signing: { $0.covers.remove(at: 3) }),
        Case("nothing covered", "coverage", signing: { $0.covers = [] }),
        Case(
            "no created", "no-created",
            sending: { $0.fields = $0.fields.map { $0.replacing(/;created=\d+/, with: "") } }),
        Case(
            "created as a string", "bad-created",
            sending: {
                $0.fields = $0.fields.map {
                    $0.replacing(/;created=(\d+)/) { ";created=\"\($0.1)\"" }
                }
            }),
        Case("no keyid", "no-keyid", sending: { $0.replace(";keyid=\"orders-2026\"", with: "") }),
        Case(
            "another algorithm", "wrong-algorithm", signing: { $0.includesAlgorithm = true },
            sending: { $0.replace("\"hmac-sha256\"", with: "\"ed25519\"") }),
        Case(
            "a component twice", "component-twice",
            sending: { $0.replace("(\"@method\"", with: "(\"@method\" \"@method\"") }),
        Case(
            "a component parameter", "component-parameters-unsupported",
            sending: { $0.replace("\"@path\"", with: "\"@path\" \"x\";sf") }),
        Case(
            "an unknown component", "unknown-component",
            sending: { $0.replace("\"@path\"", with: "\"@path\" \"@status\"") }),
        Case(
            "an upper-case component", "bad-component",
            sending: { $0.replace("\"@path\"", with: "\"@path\" \"Host\"") }),
        Case(
            "a component that is no string", "bad-component",
            sending: { $0.replace("\"@path\"", with: "\"@path\" host") }),
        Case(
            "a label twice", "malformed-signature-input",
            sending: { $0.replace("Input: sig=", with: "Input: sig=();created=1, sig=") }),
        Case(
            "a tag twice", "malformed-signature",
            sending: { $0.replace("Signature: sig=", with: "Signature: sig=:AAAA:, sig=") }),
        Case(
            "a parameter twice", "malformed-signature-input",
            sending: { $0.replace(";keyid", with: ";created=1;keyid") }),
        Case(
            "two spaces are fine, a tab is not", "malformed-signature-input",
            sending: { $0.replace("\"@method\" ", with: "\"@method\"\t") }),
        Case(
            "no space between", "malformed-signature-input",
            sending: { $0.replace("\"@method\" ", with: "\"@method\"") }),
        Case(
            "an open list", "malformed-signature-input",
            sending: { $0.replace(")", with: "") }),
        Case(
            "a comma at the end", "malformed-signature-input",
            sending: { $0.replace("\"orders-2026\"", with: "\"orders-2026\",") }),
        Case(
            "base64 without its end", "malformed-signature",
            sending: { $0.replace("=:", with: ":") }),
        Case(
            "a tag that is a string", "no-such-signature",
            sending: { request in
                request.fields.removeLast()
                request.fields.append("Signature: sig=\"x\"")
            }),
        Case(
            "another label", "no-such-signature",
            sending: { $0.replace("Signature: sig=", with: "Signature: gis=") }),
        Case(
            "five signatures", "too-many-signatures",
            sending: {
                $0.replace("Input: sig=", with: "Input: a=(), b=(), c=(), d=(), sig=")
            }),
        Case(
            "a digest of another kind", "signature-mismatch",
            sending: { $0.replace("sha-256=", with: "sha-512=") }),
    ]

    /// All of them signed by one Python process.
    static let signed = Task { try await SignedRequest.signed(cases.map(\.request)) }

    @Test(arguments: Array(cases.enumerated()))
    func refuses(_ number: Int, _ refused: Case) async throws {
        var request = try await Self.signed.value[number]
        request.target += "?\(number)"
        refused.change(&request)
        if !request.target.contains("?") { request.target += "?\(number)" }
        let response = try await request.send()
        #expect(response.status == 401)
        #expect(
            response.body.hasPrefix(
                #"{"error":{"code":"signature-refused","message":"The request has no signature"#))
        let line = try await SignedRequest.logLine(of: request.target)
        #expect(line.contains(#""verdict":"refused","reason":"\#(refused.reason)""#), "\(line)")
    }

    @Test(.features("003-20")) func everyByteOfTheTagCounts() async throws {
        let request = try await SignedRequest().signed()
        let line = try #require(request.fields.last)
        let start = try #require(line.firstIndex(of: ":").map { line.index($0, offsetBy: 7) })
        var tag = try #require(
            Data(base64Encoded: String(line[start...].dropLast())), "\(line)")
        for index in tag.indices {
            tag[index] ^= 1
            var changed = request
            changed.fields[changed.fields.count - 1] =
                "Signature: sig=:\(tag.base64EncodedString()):"
            #expect(try await changed.send().status == 401)
            tag[index] ^= 1
        }
        #expect(try await request.send().status == 200)
    }

    @Test func aHostWithoutUsableFilesDoesNotStart() async throws {
        let folder = try TemporaryDirectory()
        let readable = try folder.write(#"{"keys":[]}"#, to: "keys", mode: 0o644)
        let error = await #expect(throws: TestSupportError.self) {
            _ = try await OrdersHost.start(keyFile: readable)
        }
        #expect(error?.description.contains("chmod 600 \(readable)") == true)
        await #expect(throws: TestSupportError.self) {
            _ = try await OrdersHost.start(keyFile: folder.path("none"))
        }
    }
}
