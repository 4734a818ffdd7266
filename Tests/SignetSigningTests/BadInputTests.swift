import Foundation
import SignetCrypto
import SignetSigning
import Testing

/// Malformed and hostile input to RFC 9421, with the error code that refuses each.
@Suite struct BadInputTests {
    private let now = Sample.now

    private func verify(
        _ message: SignableMessage, at later: Int64 = 0,
        _ policy: VerificationPolicy = VerificationPolicy(), nonces: (any NonceStore)? = nil
    ) -> String {
        code {
            _ = try Sample.verifier(.rfc9421, policy, nonces: nonces).verify(
                message, now: now + later)
        }
    }

    /// A message with a valid signature and any parameters, as a holder of the key can send.
    private func forged(
        _ parameters: String, covers: [String] = ["@method", "@authority", "@path"],
        secret: [UInt8] = Sample.secret
    ) throws -> SignableMessage {
        let list = covers.map { "\"\($0)\"" }.joined(separator: " ")
        let values = ["@method": "GET", "@authority": "h", "@path": "/"]
        let base =
            covers.map { "\"\($0)\": \(values[$0] ?? "")\n" }.joined()
            + "\"@signature-params\": (\(list))\(parameters)"
        let tag = try HMACKey(.sha256, key: secret.span).tag(of: Array(base.utf8))
        return try Sample.message(
            "GET / HTTP/1.1\nHost: h\nSignature-Input: s=(\(list))\(parameters)\n"
                + "Signature: s=:\(Data(tag).base64EncodedString()):\n\n")
    }

    @Test(
        arguments: [
            (#";created=1795228551;keyid="orders-2026""#, "no error"),
            (#";keyid="orders-2026";created=1795228551;alg="hmac-sha256""#, "no error"),
            (#";created=1795228551;keyid="orders-2026";alg="ed25519""#, "algorithm-mismatch"),
            (
                #";created=1795228551;keyid="orders-2026";alg="rsa-v1_5-sha256""#,
                "algorithm-mismatch"
            ),
            (#";created=1795228551;keyid="orders-2026";alg="hmac-sha512""#, "algorithm-mismatch"),
            (#";created=1795228551;keyid="orders-2026";alg=hmac-sha256"#, "malformed-signature"),
            (#";created=1795228551;keyid="orders-2026";own="x""#, "unsupported-parameter"),
            (#";created=1795228551;keyid="orders-2026";own"#, "unsupported-parameter"),
            (
                #";created=1795228551;keyid="orders-2026";nonce="a";nonce="b""#,
                "malformed-signature"
            ),
            (#";created=1795228551"#, "missing-keyid"),
            (#";keyid="orders-2026""#, "missing-created"),
            (#";created=1795228551;keyid="orders-2026";expires=1795228551"#, "expired"),
            (#";created=-1;keyid="orders-2026""#, "malformed-signature"),
            (#";created=1795228551.5;keyid="orders-2026""#, "malformed-signature"),
            (#";created=@1795228551;keyid="orders-2026""#, "malformed-signature"),
            (#";created=1795145751;keyid="orders-2026""#, "too-old"),  // 23 hours
            (#";created=1763692551;keyid="orders-2026""#, "too-old"),  // a year
            (#";created=0;keyid="orders-2026""#, "too-old"),
            (#";created=1795232151;keyid="orders-2026""#, "created-in-future"),  // an hour
            (#";created=253402300799;keyid="orders-2026""#, "created-in-future"),
            (#";created=999999999999999;keyid="orders-2026""#, "malformed-signature"),
            (#";created=1795228551;keyid="orders-2026";nonce="""#, "malformed-signature"),
        ])
    func refusesBadParametersUnderAGoodSignature(_ parameters: String, _ wanted: String) throws {
        #expect(try verify(forged(parameters)) == wanted)
    }

    @Test func refusesAPathSwappedAfterSigning() throws {
        #expect(
            try verify(Sample.signed().replacing("/rpc", with: "/admin")) == "signature-mismatch")
    }

    @Test func refusesReplayedAndMissingNonces() throws {
        let store = MemoryNonceStore()
        let message = try Sample.signed(nonce: "n")
        #expect(verify(message, nonces: store) == "no error")
        #expect(verify(message, nonces: store) == "replayed-nonce")
        #expect(try verify(Sample.signed(), nonces: store) == "missing-nonce")
        #expect(
            try verify(Sample.signed(), Sample.policy(requiresNonce: true)) == "missing-nonce")
        // A forged signature uses no nonce up.
        let other = try Sample.signed(nonce: "m")
        #expect(
            try verify(other.replacing("/rpc", with: "/x"), nonces: store) == "signature-mismatch")
        #expect(verify(other, nonces: store) == "no error")
    }

    @Test func refusesAnEmptyListAndAnUncoveredBody() throws {
        let parameters = #";created=1795228551;keyid="orders-2026""#
        #expect(try verify(forged(parameters, covers: [])) == "not-covered")
        #expect(try verify(forged(parameters, covers: ["@method", "@path"])) == "not-covered")
        var grown = try forged(parameters)
        grown.setBody([0x61])
        #expect(verify(grown) == "not-covered")
        #expect(
            try verify(Sample.signed().replacing("\"id\":1", with: "\"id\":9")) == "digest-mismatch"
        )
        #expect(
            try verify(forged(parameters, covers: ["@method", "@authority", "@path", "@method"]))
                == "malformed-signature")
    }

    @Test func refusesControlCharactersInAValue() {
        for byte in (0..<0x20).filter({ $0 != 9 }) + [0x7F] as [UInt8] {
            #expect(
                code { _ = try SignableMessage.Field(name: "X", value: [0x61, byte, 0x62]) }
                    == "malformed-message")
        }
        for text in ["X: a\rb", "X: a\u{0}b", "X : a", "X\u{1}: a", ": a", "X"] {
            #expect(
                code { _ = try Sample.message("GET / HTTP/1.1\nHost: h\n\(text)\n\n") }
                    == "malformed-message")
        }
    }

    @Test func refusesLabelsThatClash() throws {
        let message = try Sample.signed()
        var again = message
        #expect(code { _ = try Sample.signer().sign(&again, now: now) } == "duplicate-label")
        #expect(again == message)
        for (old, new) in [
            ("Signature: sig1=:", "Signature: sig1=:AAAA:, sig1=:"),
            ("Signature-Input: sig1=(", "Signature-Input: sig1=(), sig1=("),
            ("Signature: sig1=:", "Signature: sig1=:AAAA:\r\nSignature: sig1=:"),
            ("Signature: sig1", "Signature: other"),
            ("Signature: sig1=:", "Signature: sig1=();x=:"),
            ("Signature: sig1=:", "X: :"), ("Signature-Input:", "X:"),
        ] {
            #expect(try verify(message.replacing(old, with: new)) == "malformed-signature")
        }
    }

    @Test func refusesToSignOverUnreadableFields() throws {
        for field in [
            "Signature: junk==", "Signature-Input: sig1=(", "Signature: sig1=:AA:, sig1=:AA:",
        ] {
            var message = try Sample.message("GET / HTTP/1.1\nHost: h\n\(field)\n\n")
            let before = message
            #expect(
                code { _ = try Sample.signer(label: "x").sign(&message, now: 1) }
                    == "malformed-signature")
            #expect(message == before)
        }
    }

    @Test func refusesAFieldOfAMegabyte() throws {
        let long = String(repeating: "a", count: 1 << 20)
        #expect(
            code { _ = try Sample.message("GET / HTTP/1.1\nHost: h\nX: \(long)\n\n") }
                == "malformed-message")
        // One that a program hands over is signed whole.
        var message = try Sample.message("GET / HTTP/1.1\nHost: h\n\n")
        try message.append(SignableMessage.Field(name: "X", value: Array(long.utf8)))
        let result = try Sample.signer(covers: "x").sign(&message, now: now)
        #expect(result.base.count > 1 << 20)
        #expect(
            try Sample.verifier(.rfc9421, Sample.policy(required: "x")).verify(message, now: now)[
                "x"]?.count == 1 << 20)
    }

    @Test(
        arguments: [
            (0..<60_000).map { "\"\($0)\"" }.joined(separator: " "),
            "\"x\"" + (0..<40_000).map { ";a\($0)" }.joined(),
        ])
    func readsEndlessListsInLinearTime(_ list: String) throws {
        var message = try Sample.message("GET / HTTP/1.1\nHost: h\n\n")
        let input = "s=(\(list));created=1795228551;keyid=\"orders-2026\""
        try message.append(
            SignableMessage.Field(name: "Signature-Input", value: Array(input.utf8)))
        try message.append(SignableMessage.Field(name: "Signature", value: Array("s=:AAAA:".utf8)))
        let clock = ContinuousClock()
        var reason = ""
        let spent = clock.measure { reason = verify(message) }
        #expect(reason == "malformed-signature")
        #expect(spent < .seconds(120))
        let labels = (0..<50_000).map { "s\($0)=()" }.joined(separator: ",")
        var many = try Sample.message("GET / HTTP/1.1\nHost: h\n\n")
        try many.append(SignableMessage.Field(name: "Signature-Input", value: Array(labels.utf8)))
        try many.append(SignableMessage.Field(name: "Signature", value: Array("s=:AAAA:".utf8)))
        let again = clock.measure { reason = verify(many) }
        #expect(reason == "malformed-signature")
        #expect(again < .seconds(120))
    }

    /// Such bytes are allowed in a body.
    @Test func refusesCoveredBytesThatAreNotUTF8() throws {
        let head = Array("POST / HTTP/1.1\nHost: h\nX: \u{e9}\n\n".utf8)
        var message = try SignableMessage(parsing: head + [0xFF, 0xFE])
        _ = try Sample.signer().sign(&message, now: now)
        #expect(verify(message) == "no error")
        var other = try SignableMessage(
            parsing: Array("GET / HTTP/1.1\nHost: h\nX: ".utf8) + [0xFF, 0x0A, 0x0A])
        #expect(
            code { _ = try Sample.signer(covers: "x").sign(&other, now: now) } == "non-ascii-value")
        #expect(
            code { _ = try Sample.signer(covers: "\"x\";bs").sign(&other, now: now) } == "no error")
        for target in [[0x2F, 0xFF], Array("/\u{e9}".utf8)] as [[UInt8]] {
            var odd = try SignableMessage(
                parsing: Array("GET ".utf8) + target + Array(" HTTP/1.1\nHost: h\n\n".utf8))
            #expect(
                code { _ = try Sample.signer().sign(&odd, now: now) } == "malformed-message")
        }
    }

    @Test(
        arguments: [-1, Int64.min, 1_000_000_000_000_000])
    func refusesTimesThatNoClockShows(_ now: Int64) throws {
        var message = try Sample.message()
        #expect(code { _ = try Sample.signer().sign(&message, now: now) } == "invalid-time")
        let signed = try Sample.signed()
        #expect(code { _ = try Sample.verifier().verify(signed, now: now) } == "invalid-time")
        #expect(try Sample.verifier().explain(signed, now: now).reason?.code == .invalidTime)
    }

    @Test(
        arguments: [
            #"{"kid":"k","kty":"oct","use":"sig","alg":"HS256","k":""}"#,
            #"{"kid":"k","kty":"OKP","crv":"Ed25519","x":"AAAA"}"#,
            #"{"kid":"k","kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"}"#,
            #"{"kid":"k","kty":"RSA","alg":"PS512","n":"AQAB","e":"AQAB"}"#,
            #"{"kid":"k","kty":"oct","use":"sig","alg":"PS512","k":"AAAA"}"#,
        ])
    func refusesKeysOfAWrongTypeOrSize(_ jwk: String) {
        #expect(throws: KeyError.self) { _ = try Sample.keySet([jwk]) }
    }
}
