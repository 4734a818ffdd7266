import Foundation
import SignetJSON
import TestSupport
import Testing

@testable import SignetCrypto
@testable import SignetSigning

/// All six algorithms in both directions with PyPI's http-message-signatures, on random messages
/// of a fixed seed.
@Suite struct PythonAlgorithmTests {
    private static let covers = [
        "@method", "@authority", "@target-uri", "@query", #""@query-param";name="a%20b""#,
        "x-list", #""x-dict";key="b""#, #""priority";sf"#, #""x-list";bs"#,
    ]

    private struct Item: Codable {
        let method: String
        let target: String
        var fields: [String: String]
        let names: Bool
    }

    private func items(_ count: Int, seed: UInt64) -> [Item] {
        var random = SplitMix(seed: seed)
        func word() -> String {
            String(
                (0..<Int.random(in: 1...9, using: &random)).map { _ in
                    "abcXYZ019-._*".randomElement(using: &random) ?? "a"
                })
        }
        return (0..<count).map { _ in
            Item(
                method: ["GET", "POST", "DELETE"].randomElement(using: &random) ?? "GET",
                target: "/\(word())/\(word())?a+b=\(word())%20~\(word())+%c3%bc&\(word())",
                fields: [
                    "X-List": "\(word()),  \(word());q=\"\(word())\"",
                    "X-Dict": "a=1,   b=(\"\(word())\"   7);x=?0, c",
                    "Priority": "u=\(Int.random(in: 0...7, using: &random)),i",
                ], names: Bool.random(using: &random))
        }
    }

    private func message(_ item: Item) throws -> SignableMessage {
        try Sample.message(
            "\(item.method) \(item.target) HTTP/1.1\nHost: api.example.com\n"
                + item.fields.map { "\($0): \($1)\n" }.joined() + "\n")
    }

    private func ask(_ name: String, _ jwk: JSONObject, _ items: [Item]) async throws -> [[String:
        String]]
    {
        let messages = String(decoding: try JSONEncoder().encode(items), as: UTF8.self)
        let covers = String(
            decoding: try JSONEncoder().encode(
                Self.covers.map { $0.hasPrefix("\"") ? $0 : "\"\($0)\"" }), as: UTF8.self)
        let key = String(decoding: JSONValue.object(jwk).serialized(), as: UTF8.self)
        let task =
            #"{"algorithm":"\#(name)","jwk":\#(key),"covers":\#(covers),"messages":\#(messages)}"#
        let output = try await PythonPeer.run("rfc9421-algorithms", stdin: Array(task.utf8))
        #expect(output.exit == 0, "\(output.stderr)")
        return try JSONDecoder().decode([[String: String]].self, from: Data(output.stdout))
    }

    @Test(arguments: AlgorithmTests.names)
    func agreesWithThePeerBothWays(_ name: String) async throws {
        let kinds: [String: CryptoKey.Kind] = [
            "hmac-sha256": .hmac, "ed25519": .ed25519, "ecdsa-p256-sha256": .p256,
            "ecdsa-p384-sha384": .p384, "rsa-pss-sha512": .rsa, "rsa-v1_5-sha256": .rsa,
        ]
        var jwk = try KeyFile.tree(try #require(kinds[name]), id: "k")
        if name == "rsa-v1_5-sha256" { jwk["alg"] = "RS256" }
        let set: JSONValue = ["keys": [.object(jwk)]]
        let keys = try KeySet(parsing: set.serialized(), source: "a test")
        let list = try ComponentIdentifier.list(parsing: Self.covers.joined(separator: ","))
        var options = MessageSigner.Options()
        options.coveredComponents = list
        let signer = try MessageSigner(scheme: .rfc9421, key: keys.key(id: "k"), options: options)
        var sent: [Item] = []
        for item in items(20, seed: 9421) {
            var message = try message(item)
            var signed = item
            for field in try signer.sign(&message, now: Sample.now).addedFields {
                signed.fields[field.name] = text(field.value)
            }
            sent.append(signed)
            signed.fields["Priority"] = "u=9"
            sent.append(signed)
        }
        let verdicts = try await ask(name, jwk, sent).map { $0["verdict"] }
        #expect(verdicts == sent.indices.map { $0.isMultiple(of: 2) ? "ok" : "invalid" })

        var policy = VerificationPolicy()
        policy.coveredComponents = list
        let verifier = try Verifier(keys: keys, policy: policy)
        let asked = items(20, seed: 9651)
        let answers = try await ask(name, jwk, asked)
        #expect(answers.count == asked.count)
        for (item, fields) in zip(asked, answers) {
            var signed = item
            signed.fields = fields
            let message = try message(signed)
            #expect(try await verifier.verify(message, now: Sample.now).covered.count == list.count)
            signed.fields["Priority"] = "u=9"
            let other = try self.message(signed)
            #expect(
                await code { _ = try await verifier.verify(other, now: Sample.now) }
                    == "signature-mismatch")
        }
    }
}
