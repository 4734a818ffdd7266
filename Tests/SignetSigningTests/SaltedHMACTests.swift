import Foundation
import SignetSigning
import TestSupport
import Testing

/// The scheme salted-hmac-v1.
@Suite struct SaltedHMACTests {
    private let now = Sample.now

    /// The results of Python's hmac and hashlib for the definition.
    struct Vector: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        let alg: String
        let key: Data
        let keyid: String
        let created: Int64
        let nonce: String
        let salt: Data
        let covers: [String]
        let message: Data
        let text: Data
        let field: String

        var testDescription: String { name }

        var keys: KeySet {
            get throws {
                try Sample.keySet([Sample.jwk(keyid, #""alg":"\#(alg)","use":"sig""#, [UInt8](key))]
                )
            }
        }
    }

    @Test(
        .features("003-21"),
        arguments: try VectorFile<Vector>.load("salted-hmac-v1", in: .module))
    func signsAsDefined(_ vector: Vector) throws {
        var message = try SignableMessage(parsing: Array(vector.message))
        var options = MessageSigner.Options()
        options.coveredComponents = try vector.covers.map { try ComponentIdentifier($0) }
        let result = try MessageSigner(
            scheme: .saltedHMAC, key: vector.keys.keys[0], options: options
        ).sign(&message, now: vector.created, nonce: vector.nonce, salt: Array(vector.salt))
        #expect(result.base == Array(vector.text))
        #expect(result.addedFields.map(\.name) == ["Signet-Signature"])
        #expect(text(result.addedFields[0].value) == vector.field)
    }

    @Test(arguments: try VectorFile<Vector>.load("salted-hmac-v1", in: .module))
    func verifiesTheDefinitionsExamples(_ vector: Vector) throws {
        var message = try SignableMessage(parsing: Array(vector.message))
        try message.append(.init(name: "Signet-Signature", value: Array(vector.field.utf8)))
        let verifier = try Verifier(scheme: .saltedHMAC, keys: vector.keys)
        let verified = try verifier.verify(message, now: vector.created)
        #expect(verified.keyID == vector.keyid)
        #expect(verified.nonce == vector.nonce)
        #expect(
            verified.covered.map(\.identifier)
                == ["@method", "@authority", "@path", "@query"] + vector.covers + ["body-digest"])
        message.setBody(message.body + [0])
        #expect(
            code { _ = try verifier.verify(message, now: vector.created) } == "signature-mismatch")
    }

    @Test(.features("003-21")) func drawsSaltAndNonceAtRandom() throws {
        var seen: Set<String> = []
        for _ in 0..<20 {
            let message = try Sample.signed(.saltedHMAC)
            let field = text(try #require(message.fields.last).value)
            let match = try #require(
                field.firstMatch(of: /;nonce="([A-Za-z0-9_-]{22})";salt=:([A-Za-z0-9+\/]{22}==):;/))
            seen.insert(String(match.1))
            seen.insert(String(match.2))
        }
        #expect(seen.count == 40)
    }

    @Test(
        arguments: [
            ("POST /rpc", "PUT /rpc", "signature-mismatch"),
            ("/rpc", "/rpd", "signature-mismatch"), ("tea=2", "tea=3", "signature-mismatch"),
            ("/rpc?tea=2", "/rpc?", "signature-mismatch"),
            // The parts are netstrings: moving a border changes the text.
            ("/rpc?tea=2", "/rpctea=2?", "signature-mismatch"),
            ("Host: api.example.com", "Host: api.example.org", "signature-mismatch"),
            ("Content-Type: application/json", "Content-Type: text/plain", "signature-mismatch"),
            ("Content-Type: application/json\r\n", "", "missing-component"),
            ("X-Request-Id", "Content-Type: x\r\nX-Request-Id", "signature-mismatch"),
            ("\"id\":1", "\"id\":2", "signature-mismatch"),
            ("created=1795228551", "created=1795228552", "signature-mismatch"),
            ("created=1795228551", "created=1", "too-old"),
            ("created=1795228551", "created=1795229551", "created-in-future"),
            ("created=1795228551", "created=-1", "malformed-signature"),
            ("created=1795228551", "created=1.5", "malformed-signature"),
            ("nonce=\"abc\"", "nonce=\"abd\"", "signature-mismatch"),
            ("nonce=\"abc\"", "nonce=\"\"", "malformed-signature"),
            (";nonce=\"abc\"", "", "malformed-signature"),
            ("keyid=\"orders-2026\"", "keyid=\"orders-512\"", "algorithm-mismatch"),
            ("keyid=\"orders-2026\"", "keyid=\"nobody\"", "unknown-key"),
            ("keyid=\"orders-2026\"", "keyid=\"revoked\"", "key-revoked"),
            ("keyid=\"orders-2026\"", "keyid=\"root\"", "wrong-key-use"),
            ("alg=\"hmac-sha256\"", "alg=\"hmac-sha512\"", "algorithm-mismatch"),
            ("alg=\"hmac-sha256\"", "alg=\"none\"", "algorithm-mismatch"),
            ("alg=\"hmac-sha256\";", "", "malformed-signature"),
            ("fields=\"content-type\"", "fields=\"\"", "signature-mismatch"),
            ("fields=\"content-type\"", "fields=\"Content-Type\"", "malformed-signature"),
            (
                "fields=\"content-type\"", "fields=\"content-type content-type\"",
                "malformed-signature"
            ),
            ("fields=\"content-type\"", "fields=\"content-type  host\"", "malformed-signature"),
            ("fields=\"content-type\"", "fields=\" content-type\"", "malformed-signature"),
            ("fields=\"content-type\"", "fields=\"@method\"", "malformed-signature"),
            ("fields=\"content-type\"", "fields=\"content-type host\"", "signature-mismatch"),
            ("fields=\"content-type\"", "fields=\"content-type x-absent\"", "missing-component"),
            ("fields=\"content-type\"", "fields=content-type", "malformed-signature"),
            (
                "salt=:AAECAwQFBgcICQoLDA0ODw==:", "salt=:AAECAwQFBgcICQoLDA0O:",
                "malformed-signature"
            ),
            ("salt=:AAECAwQFBgcICQoLDA0ODw==:", "salt=::", "malformed-signature"),
            (
                "salt=:AAECAwQFBgcICQoLDA0ODw==:", "salt=:AAECAwQFBgcICQoLDA0ODx==:",
                "malformed-signature"
            ),
            (
                "salt=:AAECAwQFBgcICQoLDA0ODw==:", "salt=:AAECAwQFBgcICQoLDA0OEA==:",
                "signature-mismatch"
            ),
            ("v1=:", "v2=:", "malformed-signature"), ("v1=:", "v1=:A", "malformed-signature"),
            ("v1=:", "v1=:AAAA:, v1=:", "malformed-signature"),
            ("v1=:", "v0=:AAAA:, v1=:", "malformed-signature"),
            (";alg", ";own=1;alg", "malformed-signature"),
            (";alg", ";alg=\"hmac-sha256\";alg", "malformed-signature"),
            (
                "Signet-Signature: ", "Signet-Signature: v1=:AAAA:\r\nSignet-Signature: ",
                "malformed-signature"
            ),
            ("Signet-Signature", "X-Signature", "no-signature"),
        ])
    func refusesAChangeAfterSigning(_ old: String, _ new: String, _ wanted: String) throws {
        var message = try Sample.message()
        _ = try Sample.signer(.saltedHMAC, covers: "content-type").sign(
            &message, now: now, nonce: "abc", salt: Array(0..<16))
        let changed = try message.replacing(old, with: new)
        #expect(code { _ = try Sample.verifier(.saltedHMAC).verify(changed, now: now) } == wanted)
    }

    @Test func refusesEveryChangedByte() throws {
        var message = try Sample.message()
        _ = try Sample.signer(.saltedHMAC, covers: "content-type,x-request-id").sign(
            &message, now: now, nonce: "abc")
        let bytes = message.serialized()
        let verifier = try Sample.verifier(.saltedHMAC)
        let genuine = try verifier.verify(message, now: now)
        for index in bytes.indices {
            for flip in [0x01, 0x20] as [UInt8] {
                var changed = bytes
                changed[index] ^= flip
                guard
                    let verified = try? verifier.verify(SignableMessage(parsing: changed), now: now)
                else { continue }
                #expect(verified.covered == genuine.covered, "byte \(index)")
            }
        }
    }

    @Test func requiresTheFieldsOfThePolicy() throws {
        let message = try Sample.signed(.saltedHMAC, covers: "content-type")
        let policy = try Sample.policy(required: "content-type")
        #expect(throws: Never.self) {
            _ = try Sample.verifier(.saltedHMAC, policy).verify(message, now: now)
        }
        let more = try Sample.policy(required: "content-type,x-request-id")
        #expect(
            code { _ = try Sample.verifier(.saltedHMAC, more).verify(message, now: now) }
                == "not-covered")
    }

    @Test func takesANonceOnce() throws {
        let message = try Sample.signed(.saltedHMAC)
        let verifier = try Sample.verifier(.saltedHMAC, nonces: MemoryNonceStore())
        #expect(throws: Never.self) { _ = try verifier.verify(message, now: now) }
        #expect(code { _ = try verifier.verify(message, now: now) } == "replayed-nonce")
    }

    @Test func refusesOptionsOfOtherSchemes() throws {
        #expect(code { _ = try Sample.signer(.saltedHMAC, label: "a") } == "unsupported-option")
        #expect(code { _ = try Sample.signer(.saltedHMAC, tag: "a") } == "unsupported-option")
        #expect(
            code { _ = try Sample.signed(.saltedHMAC, expires: now + 9) } == "unsupported-option")
        #expect(
            code { _ = try Sample.signer(.saltedHMAC, covers: "@method") }
                == "unsupported-component")
        #expect(
            code { _ = try Sample.signer(.saltedHMAC, covers: "signet-signature") }
                == "unsupported-component")
        #expect(
            code { _ = try Sample.verifier(.saltedHMAC, Sample.policy(tag: "a")) }
                == "unsupported-option")
        #expect(
            code { _ = try Sample.verifier(.saltedHMAC, Sample.policy(required: "@path")) }
                == "unsupported-component")
        #expect(code { _ = try Sample.signer(.saltedHMAC, key: "root") } == "wrong-key-use")
    }

    @Test func refusesMessagesThatItCannotSign() throws {
        #expect(
            code { _ = try Sample.signed(.saltedHMAC, covers: "x-absent") } == "missing-component")
        #expect(
            code { _ = try Sample.signed(.saltedHMAC, text: "HTTP/1.1 200\n\n") }
                == "missing-component")
        #expect(
            code { _ = try Sample.signed(.saltedHMAC, text: "GET / HTTP/1.1\nX: y\n\n") }
                == "missing-component")
        var twice = try Sample.signed(.saltedHMAC)
        #expect(
            code { _ = try Sample.signer(.saltedHMAC).sign(&twice, now: now) } == "duplicate-label")
    }
}
