import Foundation
import SignetSigning
import TestSupport
import Testing

/// Signing and verifying in both directions with PyPI's http-message-signatures 3.0.
@Suite struct PythonInteropTests {
    private static let covers =
        "@method,@authority,@scheme,@target-uri,@request-target,@path,@query,content-type,"
        + "content-digest,x-list"

    private static let paths = [
        "/", "/rpc", "/a%20b/~c;d=e", "/rpc?", "/rpc?a=b&c=%C3%BC", "/x?a?b",
    ]

    /// Reads `{"requests": …}`, verifies each with the peer, and prints its verdict for each.
    private static let verifying = """
        import sys, json, base64, datetime, types, http_message_signatures as hms
        from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver, algorithms
        class Keys(HTTPSignatureKeyResolver):
            def resolve_public_key(self, key_id): return bytes(range(32))
            def resolve_private_key(self, key_id): return bytes(range(32))
        verifier = HTTPMessageVerifier(signature_algorithm=algorithms.HMAC_SHA256, key_resolver=Keys())
        verdicts = []
        for item in json.load(sys.stdin):
            request = types.SimpleNamespace(
                method=item["method"], url="https://api.example.com" + item["target"],
                headers=item["fields"], body=base64.b64decode(item["body"]))
            try:
                results = verifier.verify(request, max_age=datetime.timedelta(days=36500))
                verdicts.append("ok " + " ".join(results[0].covered_components))
            except hms.exceptions.InvalidSignature as error:
                verdicts.append("invalid")
        json.dump(verdicts, sys.stdout)
        """

    private static let signing = """
        import sys, json, base64, hashlib, datetime, types
        from http_message_signatures import HTTPMessageSigner, HTTPSignatureKeyResolver, algorithms
        class Keys(HTTPSignatureKeyResolver):
            def resolve_public_key(self, key_id): return bytes(range(32))
            def resolve_private_key(self, key_id): return bytes(range(32))
        signer = HTTPMessageSigner(signature_algorithm=algorithms.HMAC_SHA256, key_resolver=Keys())
        signed = []
        for item in json.load(sys.stdin):
            body = base64.b64decode(item["body"])
            request = types.SimpleNamespace(
                method=item["method"], url="https://api.example.com" + item["target"],
                headers=item["fields"], body=body)
            digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
            request.headers["Content-Digest"] = "sha-256=:" + digest + ":"
            signer.sign(
                request, key_id="orders-2026", covered_component_ids=item["covers"].split(","),
                created=datetime.datetime.fromtimestamp(1795228551), nonce="n-1", tag="t",
                include_alg=item["alg"], use_existing_digest=True)
            head = item["method"] + " " + item["target"] + " HTTP/1.1\\r\\nHost: api.example.com\\r\\n"
            for name, value in request.headers.items(): head += name + ": " + value + "\\r\\n"
            signed.append(base64.b64encode(head.encode() + b"\\r\\n" + body).decode())
        json.dump(signed, sys.stdout)
        """

    private struct Item: Codable {
        var method = "POST"
        var target: String
        var fields: [String: String]
        var body: Data
        var covers = PythonInteropTests.covers
        var alg = false
    }

    private func items() -> [Item] {
        Self.paths.enumerated().map { index, path in
            Item(
                target: path,
                fields: ["Content-Type": "application/json", "X-List": "a, b;c=\"d\""],
                body: Data((0..<(index * 40 + 1)).map { UInt8(truncatingIfNeeded: $0 * 7) }))
        }
    }

    private func message(_ item: Item) throws -> SignableMessage {
        let head =
            "\(item.method) \(item.target) HTTP/1.1\r\nHost: api.example.com\r\n"
            + item.fields.map { "\($0): \($1)\r\n" }.joined() + "\r\n"
        return try SignableMessage(parsing: Array(head.utf8) + Array(item.body))
    }

    @Test func peerVerifiesOurSignatures() async throws {
        var sent: [Item] = []
        for item in items() {
            var message = try message(item)
            let result = try Sample.signer(covers: item.covers, tag: "t").sign(
                &message, now: Sample.now, nonce: "n")
            var signed = item
            for field in result.addedFields { signed.fields[field.name] = text(field.value) }
            sent.append(signed)
            signed.target += "x"
            sent.append(signed)
            signed.target = item.target
            signed.fields["X-List"] = "a, b;c=\"e\""
            sent.append(signed)
        }
        let output = try await PythonPeer.run(
            Self.verifying, stdin: Array(try JSONEncoder().encode(sent)))
        #expect(output.exit == 0, "\(output.stderr)")
        let verdicts = try JSONDecoder().decode([String].self, from: Data(output.stdout))
        let wanted =
            "ok " + Self.covers.split(separator: ",").map { "\"\($0)\"" }.joined(separator: " ")
        for (index, verdict) in verdicts.enumerated() {
            #expect(
                index % 3 == 0 ? verdict.hasPrefix(wanted) : verdict == "invalid", "\(sent[index])")
        }
    }

    @Test(arguments: [false, true])
    func verifiesThePeersSignatures(_ namesAlgorithm: Bool) async throws {
        let items = items().map { item in
            var item = item
            item.alg = namesAlgorithm
            return item
        }
        let output = try await PythonPeer.run(
            Self.signing, stdin: Array(try JSONEncoder().encode(items)))
        #expect(output.exit == 0, "\(output.stderr)")
        let policy = try Sample.policy(required: Self.covers, tag: "t")
        let verifier = try Sample.verifier(.rfc9421, policy)
        let signed = try JSONDecoder().decode([Data].self, from: Data(output.stdout))
        #expect(signed.count == items.count)
        for bytes in signed {
            let message = try SignableMessage(parsing: Array(bytes))
            let verified = try await verifier.verify(message, now: Sample.now)
            #expect(verified.nonce == "n-1")
            #expect(verified.covered.count == 10)
            var changed = message
            changed.setBody(message.body + [0])
            #expect(code { _ = try verifier.verify(changed, now: Sample.now) } == "digest-mismatch")
            let other = try message.replacing("POST ", with: "PUT ")
            #expect(
                code { _ = try verifier.verify(other, now: Sample.now) } == "signature-mismatch")
        }
    }
}
