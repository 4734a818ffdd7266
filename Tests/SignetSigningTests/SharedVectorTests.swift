import Foundation
import SignetJSON
import SignetSigning
import TestSupport
import Testing

private enum AppendixB {
    static let url: URL? = {
        let url = SharedVectors.directory?.appending(path: "rfc9421/examples.json")
        return url.flatMap { FileManager.default.fileExists(atPath: $0.path) ? $0 : nil }
    }()
}

/// The signed messages of RFC 9421, Appendix B, next to the checkout.
@Suite(.enabled(if: AppendixB.url != nil))
struct SharedVectorTests {
    private struct File: Decodable {
        let now: Int64
        let keys: [[String: String]]
        let examples: [Example]
    }

    private struct Example: Decodable {
        let id: String
        let start: String
        let fields: [[String]]
        let body: String
        let covers: String
        let keyid: String
        let valid: Bool

        func message() throws -> SignableMessage {
            try SignableMessage(
                parsing: Array(
                    ([start] + fields.map { "\($0[0]): \($0[1])" }).joined(separator: "\n").utf8)
                    + Array("\n\n\(body)".utf8))
        }
    }

    private func file() throws -> File {
        try JSONDecoder().decode(File.self, from: Data(contentsOf: #require(AppendixB.url)))
    }

    /// Compares verdicts with key pairs and with their public halves.
    @Test func agreesWithTheRFCsVerdicts() throws {
        let file = try file()
        let jwks = file.keys.map { key in
            "{\(key.map { #""\#($0)":"\#($1)""# }.joined(separator: ","))}"
        }
        let pairs = try Sample.keySet(jwks)
        let halves = try KeySet(parsing: pairs.publicHalves.serialized(), source: "a test")
        var judged = 0
        for example in file.examples {
            let policy = try Sample.policy(required: example.covers)
            for keys in [pairs, halves]
            where keys[example.keyid] != nil {
                let verifier = try Verifier(keys: keys, policy: policy)
                let reason = code { _ = try verifier.verify(example.message(), now: file.now) }
                #expect(
                    reason == (example.valid ? "no error" : "signature-mismatch"), "\(example.id)")
                judged += 1
            }
        }
        #expect(judged > 20)
    }

    @Test func verifiesNoMessageUnderAnotherKey() throws {
        let file = try file()
        for example in file.examples {
            let secret = Sample.jwk(example.keyid, #""alg":"HS256","use":"sig""#)
            let verifier = try Verifier(
                keys: Sample.keySet([secret]), policy: Sample.policy(required: ""))
            let reason = code { _ = try verifier.verify(example.message(), now: file.now) }
            #expect(reason == "signature-mismatch", "\(example.id)")
        }
    }
}
