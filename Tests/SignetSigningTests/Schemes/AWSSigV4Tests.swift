import Foundation
import SignetCrypto
import SignetJSON
import TestSupport
import Testing

@testable import SignetSigning

/// The suite of awslabs/aws-c-auth (`tests/aws-signing-test-suite/v4`, Apache-2.0), 38 requests.
@Suite struct AWSSigV4Tests {
    struct Case: CustomTestStringConvertible {
        let folder: URL
        var testDescription: String { folder.lastPathComponent }

        static let all: [Case] = {
            guard let shared = SharedVectors.directory else { return [] }
            let suite = shared.appending(path: "aws-sigv4")
            let names = (try? FileManager.default.contentsOfDirectory(atPath: suite.path)) ?? []
            return names.sorted().map { Case(folder: suite.appending(path: $0)) }
        }()

        func bytes(_ name: String) throws -> [UInt8] {
            [UInt8](try Data(contentsOf: folder.appending(path: name)))
        }

        func text(_ name: String) throws -> String {
            String(decoding: try bytes(name), as: UTF8.self)
        }

        /// A file of the suite as a message; a head without a blank line gets one.
        func message(_ name: String) throws -> SignableMessage {
            var text = try bytes(name)
            let ends = [Array("\n\n".utf8), Array("\r\n\r\n".utf8)]
            if !ends.contains(where: { text.firstRange(of: $0) != nil }) {
                text += Array((text.last == 0x0A ? "\n" : "\n\n").utf8)
            }
            return try SignableMessage(parsing: text)
        }
    }

    struct Context {
        let settings: [String: String]
        let keys: KeySet
        let key: CryptoKey
        let time: Int64
        let lifetime: Int64

        init(_ test: Case, placement: String) throws {
            let document = try JSONValue(parsing: test.bytes("context.json"))
            let context = try #require(document.object)
            let credentials = try #require(context["credentials"]?.object)
            var settings = [
                "region": context["region"]?.string ?? "",
                "service": context["service"]?.string ?? "",
                "normalizePath": context["normalize"] == true ? "true" : "false",
                "signBody": context["sign_body"] == true ? "true" : "false",
                "placement": placement,
            ]
            if context["omit_session_token"] != true {
                settings["sessionToken"] = credentials["token"]?.string
            }
            let secret = Array((credentials["secret_access_key"]?.string ?? "").utf8)
            let set: JSONValue = [
                "keys": [
                    [
                        "kty": "oct", "kid": credentials["access_key_id"] ?? "",
                        "k": .string(Base64.encode(secret, as: .url)),
                    ]
                ]
            ]
            keys = try KeySet(parsing: set.serialized(), source: "test")
            key = keys.keys[0]
            time = try #require(
                SchemeTime.extended.time(of: Array((context["timestamp"]?.string ?? "").utf8)))
            lifetime = context["expiration_in_seconds"]?.number?.int64 ?? 3600
            self.settings = settings
        }

        func signer() throws -> MessageSigner {
            var options = MessageSigner.Options()
            options.settings = settings
            return try MessageSigner(
                scheme: SigningScheme(named: "aws-sigv4"), key: key, options: options)
        }
    }

    @Test(.enabled(if: !Case.all.isEmpty, "no shared vectors"))
    func theSuiteIsWhole() {
        #expect(Case.all.count == 38)
    }

    @Test(.enabled(if: !Case.all.isEmpty, "no shared vectors"), arguments: Case.all)
    func header(_ test: Case) throws {
        let context = try Context(test, placement: "header")
        var message = try test.message("request.txt")
        let result = try context.signer().sign(&message, now: context.time)
        #expect(
            try String(decoding: result.base, as: UTF8.self)
                == test.text("header-string-to-sign.txt"))
        let authorization = try #require(result.addedFields.last).value
        let wanted = try "Signature=" + test.text("header-signature.txt")
        #expect(String(decoding: authorization, as: UTF8.self).hasSuffix(wanted))
        try verify(message, context)
    }

    @Test(.enabled(if: !Case.all.isEmpty, "no shared vectors"), arguments: Case.all)
    func query(_ test: Case) throws {
        let context = try Context(test, placement: "query")
        var message = try test.message("request.txt")
        let result = try context.signer().sign(
            &message, now: context.time, expiration: context.time + context.lifetime)
        #expect(
            try String(decoding: result.base, as: UTF8.self)
                == test.text("query-string-to-sign.txt"))
        let signature = message.queryValues(of: Array("X-Amz-Signature".utf8))
        #expect(signature == [try test.bytes("query-signature.txt")])
        try verify(message, context)
    }

    /// A signed request verifies, and fails with a changed method, path or field.
    private func verify(_ message: SignableMessage, _ context: Context) throws {
        var policy = VerificationPolicy()
        policy.settings = context.settings
        let verifier = try Verifier(
            scheme: SigningScheme(named: "aws-sigv4"), keys: context.keys, policy: policy)
        let proof = try verifier.verify(message, now: context.time + 10)
        #expect(proof.keyID == context.key.id && proof.created == context.time)
        #expect(proof["@method"] != nil && proof["@authority"] != nil)
        var text = String(decoding: message.serialized(), as: UTF8.self)
        text =
            (text.hasPrefix("GET") ? "PUT" : "PUT ") + text.dropFirst(text.hasPrefix("GET") ? 3 : 5)
        let changed = try SignableMessage(parsing: Array(text.utf8))
        let error = #expect(throws: SigningError.self) {
            try verifier.verify(changed, now: context.time + 10)
        }
        #expect(error?.code == .signatureMismatch)
    }
}
