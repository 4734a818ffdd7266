import Foundation
import SignetSigning
import TestSupport
import Testing

/// Verifying by RFC 9421.
@Suite struct VerifierTests {
    private let now = Sample.now

    @Test func returnsExactlyTheCoveredValues() throws {
        let message = try Sample.signed(nonce: "n1", expires: now + 60, tag: "t")
        let verified = try Sample.verifier().verify(message, now: now)
        #expect(verified.keyID == "orders-2026")
        #expect(verified.created == now)
        #expect(verified.expiration == now + 60)
        #expect(verified.nonce == "n1")
        #expect(verified.tag == "t")
        #expect(verified.scheme == .rfc9421)
        #expect(
            verified.covered.map { "\($0.identifier): \(text($0.value))" } == [
                "@method: POST", "@authority: api.example.com", "@path: /rpc", "@query: ?tea=2",
                "content-digest: sha-256=:/kY5bdPmFKiukahOUMNVSNil15QNdN0z3CDIbwQjKbw=:",
            ])
        #expect(verified["@path"].map(text) == "/rpc")
        #expect(verified["x-request-id"] == nil)
    }

    /// Every single byte of a signed message, changed: it is no longer a message, or it doesn't
    /// verify, or the byte was neither covered nor part of the signature.
    @Test func refusesEveryChangedByte() throws {
        let covers = "@method,@target-uri,host,content-type,x-request-id,content-digest"
        let message = try Sample.signed(covers: covers, nonce: "abc")
        let bytes = message.serialized()
        let policy = try Sample.policy(required: covers)
        let genuine = try Sample.verifier(.rfc9421, policy).verify(message, now: now)
        var accepted: [String] = []
        for index in bytes.indices {
            for flip in [0x01, 0x02, 0x20, 0x80] as [UInt8] {
                var changed = bytes
                changed[index] ^= flip
                guard
                    let verified = try? Sample.verifier(.rfc9421, policy).verify(
                        SignableMessage(parsing: changed), now: now)
                else { continue }
                // The case of field names, and white space around values, mean nothing in HTTP.
                #expect(verified.covered == genuine.covered)
                accepted.append(String(decoding: [bytes[index]], as: UTF8.self))
            }
        }
        #expect(
            accepted.allSatisfy {
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".contains($0)
            })
    }

    @Test func refusesEveryPrefixAndAppendedByte() throws {
        let bytes = try Sample.signed().serialized()
        for count in 0..<bytes.count {
            #expect(
                code {
                    _ = try Sample.verifier().verify(
                        SignableMessage(parsing: Array(bytes[..<count])), now: now)
                } != "no error")
        }
        #expect(
            code {
                _ = try Sample.verifier().verify(
                    SignableMessage(parsing: bytes + [0x0A]), now: now)
            } == "digest-mismatch")
    }

    @Test(
        arguments: [
            ("POST /rpc", "PUT /rpc", "signature-mismatch"),
            ("/rpc", "/rpd", "signature-mismatch"),
            ("tea=2", "tea=3", "signature-mismatch"),
            ("?tea=2", "", "signature-mismatch"),
            ("Host: api.example.com", "Host: api.example.org", "signature-mismatch"),
            ("Host: api.example.com", "Host: api.example.com:8443", "signature-mismatch"),
            ("Host: api.example.com\r\n", "", "missing-component"),
            ("\"id\":1", "\"id\":2", "digest-mismatch"),
            ("sha-256=:/", "sha-256=:+", "signature-mismatch"),
            ("created=1795228551", "created=1795228552", "signature-mismatch"),
            (";keyid=\"orders-2026\"", ";keyid=\"orders-2026\";tag=\"x\"", "signature-mismatch"),
            (
                ";keyid=\"orders-2026\"", ";keyid=\"orders-2026\";alg=\"hmac-sha256\"",
                "signature-mismatch"
            ),
            ("\"@method\" \"@authority\"", "\"@authority\" \"@method\"", "signature-mismatch"),
        ])
    func refusesAChangeAfterSigning(_ old: String, _ new: String, _ wanted: String) throws {
        let message = try Sample.signed().replacing(old, with: new)
        #expect(code { _ = try Sample.verifier().verify(message, now: now) } == wanted)
    }

    @Test(
        arguments: [
            // alg that contradicts the key, even if the signature would be valid.
            (
                ";keyid=\"orders-2026\"", ";keyid=\"orders-2026\";alg=\"ed25519\"",
                "algorithm-mismatch"
            ),
            (
                ";keyid=\"orders-2026\"", ";keyid=\"orders-2026\";alg=\"hmac-sha512\"",
                "algorithm-mismatch"
            ),
            (";keyid=\"orders-2026\"", ";keyid=\"orders-2026\";alg=hmac", "malformed-signature"),
            ("keyid=\"orders-2026\"", "keyid=\"orders-512\"", "algorithm-mismatch"),
            ("keyid=\"orders-2026\"", "keyid=\"root\"", "wrong-key-use"),
            ("keyid=\"orders-2026\"", "keyid=\"revoked\"", "key-revoked"),
            ("keyid=\"orders-2026\"", "keyid=\"expired\"", "key-expired"),
            ("keyid=\"orders-2026\"", "keyid=\"not-yet\"", "key-not-yet-valid"),
            ("keyid=\"orders-2026\"", "keyid=\"nobody\"", "unknown-key"),
            ("keyid=\"orders-2026\"", "keyid=\"\"", "unknown-key"),
            (";keyid=\"orders-2026\"", "", "missing-keyid"),
            ("keyid=\"orders-2026\"", "keyid=orders-2026", "malformed-signature"),
            (";created=1795228551", "", "missing-created"),
            ("created=1795228551", "created=1795228551.0", "malformed-signature"),
            ("created=1795228551", "created=\"1795228551\"", "malformed-signature"),
            ("created=1795228551", "created=@1795228551", "malformed-signature"),
            ("created=1795228551", "created=9999999999999999", "malformed-signature"),
            ("created=1795228551", "created=-1", "malformed-signature"),
            ("created=1795228551", "created=1795228551;created=1795228551", "malformed-signature"),
            ("created=1795228551", "created=1795228551;expires=x", "malformed-signature"),
            ("created=1795228551", "created=1795228551;own=1", "unsupported-parameter"),
            ("created=1795228551", "created=1795228551;Own=1", "malformed-signature"),
            // The covered list.
            (
                "sig1=(\"@method\" \"@authority\" \"@path\" \"@query\" \"content-digest\")",
                "sig1=()",
                "not-covered"
            ),
            (" \"@path\"", "", "not-covered"), ("\"@method\" ", "", "not-covered"),
            (" \"content-digest\"", "", "not-covered"),
            ("\"@query\"", "\"@method\"", "malformed-signature"),
            ("\"@query\"", "\"@query\" \"@query-param\";name=\"tea\"", "signature-mismatch"),
            ("\"@query\"", "\"@query\" \"@query\";req", "missing-component"),
            ("\"@query\"", "\"@nothing\"", "unsupported-component"),
            ("\"@query\"", "\"@signature-params\"", "unsupported-component"),
            ("\"@query\"", "\"@query\" \"@status\"", "missing-component"),
            ("\"@query\"", "\"@query\" \"x-absent\"", "missing-component"),
            ("\"@query\"", "\"Host\"", "malformed-signature"),
            ("\"@query\"", "\"\"", "malformed-signature"),
            ("\"@query\"", "query", "malformed-signature"),
            ("\"@query\"", "1", "malformed-signature"),
            ("\"@query\"", "\"@query", "malformed-signature"),
            // Labels and the two fields.
            ("Signature: sig1", "Signature: sig2", "malformed-signature"),
            ("Signature: sig1=:", "Signature: sig1=:AAAA:, sig1=:", "malformed-signature"),
            (
                "Signature: sig1=:", "Signature: sig1=:AAAA:\r\nSignature: sig1=:",
                "malformed-signature"
            ),
            (
                "Signature-Input: sig1=", "Signature-Input: sig1=();created=1, sig1=",
                "malformed-signature"
            ),
            (
                "Signature-Input: sig1=", "Signature-Input: sig1=()\r\nSignature-Input: sig1=",
                "malformed-signature"
            ),
            (
                "Signature-Input: sig1=", "Signature-Input: sig0=();created=1, sig1=",
                "malformed-signature"
            ),
            ("Signature-Input: sig1=", "Signature-Input: sig1", "malformed-signature"),
            ("Signature-Input: sig1=(", "Signature-Input: sig1=\"a\"(", "malformed-signature"),
            ("Signature-Input: ", "X-Input: ", "malformed-signature"),
            ("Signature: ", "X-Signature: ", "malformed-signature"),
            ("Signature: sig1=:", "Signature: sig1=\"", "malformed-signature"),
            ("Signature: sig1=:", "Signature: sig1=:=", "malformed-signature"),
            ("Signature: sig1=:", "Signature: sig1=:A", "malformed-signature"),
            ("Signature: sig1=:", "Signature: ,sig1=:", "malformed-signature"),
            ("Signature: sig1=:", "Signature: sig1=:AAAA:;a;a=:", "malformed-signature"),
            // A field twice.
            (
                "X-Request-Id", "Content-Digest: sha-256=:AAAA:\r\nX-Request-Id",
                "signature-mismatch"
            ),
        ])
    func refusesTheAttackTable(_ old: String, _ new: String, _ wanted: String) throws {
        let message = try Sample.signed().replacing(old, with: new)
        #expect(code { _ = try Sample.verifier().verify(message, now: now) } == wanted)
    }

    @Test func refusesAnEmptyListUnlessAllowed() throws {
        let message = try Sample.signed(covers: "")
        #expect(code { _ = try Sample.verifier().verify(message, now: now) } == "not-covered")
        let policy = try Sample.policy(required: "")
        #expect(try Sample.verifier(.rfc9421, policy).verify(message, now: now).covered.isEmpty)
    }

    @Test func requiresABodyToBeCovered() throws {
        let bare = "GET / HTTP/1.1\nHost: h\n\n"
        let message = try Sample.signed(text: bare, covers: "@method,@authority,@path")
        #expect(throws: Never.self) { _ = try Sample.verifier().verify(message, now: now) }
        var grown = message
        grown.setBody([0x61])
        #expect(code { _ = try Sample.verifier().verify(grown, now: now) } == "not-covered")
    }

    @Test func requiresTheStatusOfAResponse() throws {
        let message = try Sample.signed(text: "HTTP/1.1 200 OK\nX: y\n\nbody")
        #expect(try Sample.verifier().verify(message, now: now)["@status"] == Array("200".utf8))
        #expect(
            code {
                _ = try Sample.verifier().verify(
                    message.replacing("200 OK", with: "201 OK"), now: now)
            } == "signature-mismatch")
        let bare = try Sample.signed(text: "HTTP/1.1 200 OK\nX: y\n\n", covers: "x")
        #expect(code { _ = try Sample.verifier().verify(bare, now: now) } == "not-covered")
    }

    @Test func requiresTheComponentsOfThePolicy() throws {
        let message = try Sample.signed()
        let policy = try Sample.policy(required: "@method,x-request-id")
        #expect(
            code { _ = try Sample.verifier(.rfc9421, policy).verify(message, now: now) }
                == "not-covered")
    }

    @Test(
        arguments: [
            (0, "no error"), (300, "no error"), (301, "too-old"), (82_800, "too-old"),
            (Int64.max - 1_795_228_551, "invalid-time"), (-60, "no error"),
            (-61, "created-in-future"), (-3600, "created-in-future"),
            (-1_795_228_551, "created-in-future"), (-1_795_228_552, "invalid-time"),
        ])
    func limitsTheWindowOnBothSides(_ later: Int64, _ wanted: String) throws {
        let message = try Sample.signed()
        #expect(code { _ = try Sample.verifier().verify(message, now: now + later) } == wanted)
    }

    @Test func takesAWindowOfAnySize() throws {
        var policy = VerificationPolicy()
        policy.maximumAge = .max
        policy.clockSkew = .max
        let message = try Sample.signed(nonce: "n")
        let store = MemoryNonceStore()
        let verifier = try Sample.verifier(.rfc9421, policy, nonces: store)
        #expect(throws: Never.self) { _ = try verifier.verify(message, now: now) }
        policy.maximumAge = .min
        policy.clockSkew = .min
        #expect(throws: Never.self) {
            _ = try Sample.verifier(.rfc9421, policy).verify(message, now: now)
        }
        #expect(
            code { _ = try Sample.verifier(.rfc9421, policy).verify(message, now: now + 1) }
                == "too-old")
    }

    @Test func refusesAfterTheExpiration() throws {
        let message = try Sample.signed(expires: now + 10)
        #expect(throws: Never.self) { _ = try Sample.verifier().verify(message, now: now + 9) }
        for later in [10, 11, 299] as [Int64] {
            #expect(
                code { _ = try Sample.verifier().verify(message, now: now + later) } == "expired")
        }
    }

    @Test func selectsOneSignatureByTag() throws {
        var message = try Sample.signed(tag: "app")
        _ = try Sample.signer(label: "proxy", tag: "proxy").sign(&message, now: now)
        func code(tag: String?) -> String {
            SignetSigningTests.code {
                _ = try Sample.verifier(.rfc9421, Sample.policy(tag: tag)).verify(message, now: now)
            }
        }
        #expect(code(tag: "app") == "no error")
        #expect(code(tag: "proxy") == "no error")
        #expect(code(tag: nil) == "ambiguous-signature")
        #expect(code(tag: "none") == "no-signature")
        #expect(code(tag: "APP") == "no-signature")
        _ = try Sample.signer(label: "again", tag: "app").sign(&message, now: now)
        #expect(code(tag: "app") == "ambiguous-signature")
        #expect(code(tag: "proxy") == "no error")
    }

    @Test func refusesAMessageWithoutASignature() throws {
        let message = try Sample.message()
        #expect(code { _ = try Sample.verifier().verify(message, now: now) } == "no-signature")
        let salted = try Sample.signed(.saltedHMAC)
        #expect(code { _ = try Sample.verifier().verify(salted, now: now) } == "no-signature")
    }

    @Test func acceptsOtherSpellings() throws {
        let covers = "@method,@authority,@path,content-digest"
        let message = try Sample.signed(covers: covers)
        let verifier = try Sample.verifier(.rfc9421, Sample.policy(required: covers))
        for (old, new) in [
            ("sig1=(\"@method\" ", "sig1=( \"@method\"   "), ("sig1=(\"", "  sig1=(\""),
            (";created", "; created"), ("\r\nSignature: ", "\r\nsignature:  \t"),
            ("POST /rpc?tea=2 ", "POST https://API.example.com:443/rpc?tea=2 "),
            ("?tea=2", "?tea=3"), ("X-Request-Id: r-1", "X-Request-Id: r-2"),
        ] {
            let changed = try message.replacing(old, with: new)
            #expect(throws: Never.self, "\(new)") {
                _ = try verifier.verify(changed, now: now)
            }
        }
    }

    @Test func givesOneMessageForAllFailures() throws {
        #expect(!SigningError.publicMessage.contains("key"))
        let message = try Sample.signed()
        for (old, new) in [("\"id\":1", "\"id\":2"), ("keyid=\"orders-2026\"", "keyid=\"nobody\"")]
        {
            #expect {
                _ = try Sample.verifier().verify(message.replacing(old, with: new), now: now)
            } throws: { error in
                let words = "\(error)"
                return !words.contains("nobody") && !words.contains("AAEC")
            }
        }
    }

    @Test func worksOnManyThreads() async throws {
        let verifier = try Sample.verifier(.rfc9421, nonces: MemoryNonceStore())
        var options = MessageSigner.Options()
        options.addsNonce = true
        let signer = try MessageSigner(
            scheme: .rfc9421, key: Sample.keys.key(id: "orders-2026"), options: options)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<100 {
                        var message = try Sample.message()
                        _ = try signer.sign(&message, now: Sample.now)
                        _ = try await verifier.verify(message, now: Sample.now)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
