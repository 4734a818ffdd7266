import HTTPTypes
import SignetBase
import SignetClient
import SignetJSON
import SignetRPC
import TestSupport
import Testing

@testable import SignetCrypto

/// Responses that a server, or someone on the way, makes to get past the sealing.
@Suite struct SealedResponseAttackTests {
    /// A response, its name, and the code it ends with.
    struct Attack: Sendable, CustomStringConvertible {
        let description: String
        let code: ClientError.Code
        var status = 200
        var type = "application/jose"
        let body: @Sendable (SealingHost) throws -> [UInt8]
    }

    private static let text = Array(#"{"paid":true}"#.utf8)
    private static let header = #"{"alg":"A256KW","enc":"A256GCM","kid":"ours"}"#

    /// The parts of a valid response.
    private struct Parts {
        var header = SealedResponseAttackTests.header
        var key: [UInt8]
        var nonce: [UInt8]
        var text: [UInt8]
        var tag: [UInt8]

        /// Seals a text under a header, with the key that is named or another one.
        init(_ host: SealingHost, header: String, by id: String = "ours") throws {
            self.header = header
            let secret = [UInt8](repeating: 9, count: 32)
            nonce = [UInt8](repeating: 3, count: 12)
            let sealed = try JWEContent(
                sealing: SealedResponseAttackTests.text, header: Array(header.utf8),
                key: secret.span, nonce: nonce)
            (text, tag) = (sealed.ciphertext, sealed.tag)
            key = try host.keys.key(id: id).withSecret { key throws(KeyError) in
                try KeyEncryption.wrap(secret.span, by: key, wraps: true)
            }
        }

        var bytes: [UInt8] {
            let parts = [Array(header.utf8), key, nonce, text, tag]
            return Array(parts.map { Base64.encode($0, as: .url) }.joined(separator: ".").utf8)
        }
    }

    private static func forged(
        _ name: String, _ code: ClientError.Code = .malformedResponse, header: String
    ) -> Attack {
        Attack(description: name, code: code) { try Parts($0, header: header).bytes }
    }

    private static func changed(
        _ name: String, _ code: ClientError.Code = .malformedResponse,
        by id: String = "ours", _ change: @escaping @Sendable (inout Parts) -> Void
    ) -> Attack {
        Attack(description: name, code: code) { host in
            var parts = try Parts(host, header: header, by: id)
            change(&parts)
            return parts.bytes
        }
    }

    private static func text(
        _ name: String, _ code: ClientError.Code = .malformedResponse,
        _ change: @escaping @Sendable (String) -> String
    ) -> Attack {
        Attack(description: name, code: code) { host in
            Array(change(String(decoding: host.sealed(text), as: UTF8.self)).utf8)
        }
    }

    private static func plain(
        _ name: String, _ code: ClientError.Code, status: Int = 200,
        type: String = "application/json", _ body: String
    ) -> Attack {
        Attack(description: name, code: code, status: status, type: type) { _ in Array(body.utf8) }
    }

    static let attacks: [Attack] = [
        plain("JSON in the clear", .notSealed, #"{"paid":true}"#),
        plain(
            "JSON that says it is sealed", .notSealed, type: "application/jose", #"{"paid":true}"#),
        plain("a body that was removed", .notSealed, type: "application/jose", ""),
        plain("a page", .notSealed, type: "text/html", "<html>paid</html>"),
        plain("a sealed body in JSON form", .notSealed, #"{"protected":"eyJ9","ciphertext":"AA"}"#),
        plain("an error in the clear", .httpStatus, status: 500, #"{"error":"send again"}"#),
        plain("a refusal in the clear", .httpStatus, status: 403, #"{"error":"log in"}"#),
        plain("a signed text", .malformedResponse, "eyJhbGciOiJub25lIn0.eyJwYWlkIjp0cnVlfQ."),
        plain("only a header", .malformedResponse, "eyJhbGciOiJkaXIifQ."),
        changed("another key under our id", .tampered, by: "theirs") { _ in },
        forged(
            "another key", .unknownKey,
            header: #"{"alg":"A256KW","enc":"A256GCM","kid":"theirs"}"#),
        forged(
            "an unknown key", .unknownKey, header: #"{"alg":"A256KW","enc":"A256GCM","kid":"x"}"#),
        forged(
            "a key that signs", .unknownKey,
            header: #"{"alg":"A256KW","enc":"A256GCM","kid":"sign"}"#),
        changed("a changed text", .tampered) { $0.text[0] ^= 1 },
        changed("a cut text", .tampered) { $0.text.removeLast() },
        changed("a longer text", .tampered) { $0.text.append(0) },
        changed("an empty text", .tampered) { $0.text = [] },
        changed("a changed tag", .tampered) { $0.tag[15] ^= 1 },
        changed("a changed nonce", .tampered) { $0.nonce[0] ^= 1 },
        changed("a changed key", .tampered) { $0.key[0] ^= 1 },
        changed("a changed header", .tampered) {
            $0.header = #"{"enc":"A256GCM","alg":"A256KW","kid":"ours"}"#
        },
        changed("a tag of 4 bytes") { $0.tag = Array($0.tag.prefix(4)) },
        changed("a tag of 8 bytes") { $0.tag = Array($0.tag.prefix(8)) },
        changed("a tag of 12 bytes") { $0.tag = Array($0.tag.prefix(12)) },
        changed("a tag of 15 bytes") { $0.tag = Array($0.tag.prefix(15)) },
        changed("no tag") { $0.tag = [] },
        changed("a tag of 17 bytes") { $0.tag.append(0) },
        changed("a nonce of 16 bytes") { $0.nonce = [UInt8](repeating: 3, count: 16) },
        changed("no nonce") { $0.nonce = [] },
        changed("no key") { $0.key = [] },
        changed("a key of 32 bytes") { $0.key = Array($0.key.prefix(32)) },
        changed("a key of 4 KiB") { $0.key = [UInt8](repeating: 0, count: 4096) },
        changed("a header of 20 KiB") { $0.header += String(repeating: " ", count: 20_000) },
        forged("crit", header: #"{"alg":"A256KW","enc":"A256GCM","kid":"ours","crit":["exp"]}"#),
        forged("an empty crit", header: #"{"alg":"A256KW","enc":"A256GCM","crit":[]}"#),
        forged("compressed", header: #"{"alg":"A256KW","enc":"A256GCM","zip":"DEF"}"#),
        forged("zip null", header: #"{"alg":"A256KW","enc":"A256GCM","zip":null}"#),
        forged("the wrong alg", header: #"{"alg":"A128KW","enc":"A256GCM","kid":"ours"}"#),
        forged("no encryption", header: #"{"alg":"none","enc":"A256GCM","kid":"ours"}"#),
        forged("RSA1_5", header: #"{"alg":"RSA1_5","enc":"A256GCM","kid":"ours"}"#),
        forged(
            "a password", header: #"{"alg":"PBES2-HS512+A256KW","enc":"A256GCM","p2c":99999999}"#),
        forged("CBC", header: #"{"alg":"A256KW","enc":"A256CBC-HS512","kid":"ours"}"#),
        forged("an ephemeral key", header: #"{"alg":"A256KW","enc":"A256GCM","epk":{}}"#),
        forged("two algs", header: #"{"alg":"none","alg":"A256KW","enc":"A256GCM"}"#),
        forged("a list as header", .notSealed, header: #"["A256KW","A256GCM"]"#),
        forged("a broken header", header: #"{"alg":"A256KW","enc":"A256GCM""#),
        forged("a number as kid", header: #"{"alg":"A256KW","enc":"A256GCM","kid":1}"#),
        forged("a deep header", header: String(repeating: #"{"a":"#, count: 60) + "1"),
        text("a line break") { $0 + "\n" },
        text("padding") { $0 + "==" },
        text("a sixth part") { $0 + ".AAAA" },
        text("a space before it", .notSealed) { " " + $0 },
        text("upper case", .notSealed) { $0.uppercased() },
        Attack(description: "too large", code: .responseTooLarge) { host in
            host.sealed([UInt8](repeating: 32, count: 70_000))
        },
        Attack(description: "sealed, but not JSON", code: .malformedResponse) { host in
            host.sealed(Array("paid".utf8))
        },
        Attack(description: "a sealed error", code: .httpStatus, status: 500) { host in
            host.sealed(text)
        },
    ]

    @Test(arguments: attacks) func refuses(_ attack: Attack) async throws {
        let host = SealingHost(ours: ["ours": "", "theirs": ""])
        host.answer(attack.status, [.contentType: attack.type], raw: try attack.body(host))
        let system = try await host.system(.rest) {
            $0.options.maximumResponseSize = 65_536
            $0.attempts = 1
        }
        do throws(ClientError) {
            _ = try await system.call(RESTRequest(.get, "/orders"), on: "bank")
            Issue.record("it was taken")
        } catch {
            #expect(error.code == attack.code, "\(error.code.name): \(error.message)")
            #expect(!error.message.contains("paid"), "\(error.message)")
        }
        await system.shutdown()
    }

    @Test func thereAreForty() { #expect(Self.attacks.count >= 40) }

    /// There is no body where there can't be one.
    @Test(arguments: [204, 205]) func takesAResponseWithoutContent(_ status: Int) async throws {
        let host = SealingHost()
        host.answer(status, [:], raw: [])
        let system = try await host.system(.rest)
        let response = try await system.call(RESTRequest(.delete, "/orders/7"), on: "bank")
        #expect(response.status == status)
        await system.shutdown()
    }

    @Test func takesAResponseWithoutKeyID() async throws {
        let host = SealingHost()
        let header = #"{"alg":"A256KW","enc":"A256GCM","typ":"JOSE","iat":7}"#
        host.answer(200, [:], raw: try Parts(host, header: header).bytes)
        let system = try await host.system(.rest)
        let response = try await system.call(RESTRequest(.get, "/orders"), on: "bank")
        #expect(response.result?.value == ["paid": true])
        await system.shutdown()
    }
}
