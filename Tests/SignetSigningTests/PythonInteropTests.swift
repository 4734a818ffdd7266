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
            "rfc9421-verify", stdin: Array(try JSONEncoder().encode(sent)))
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
            "rfc9421-sign", stdin: Array(try JSONEncoder().encode(items)))
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
