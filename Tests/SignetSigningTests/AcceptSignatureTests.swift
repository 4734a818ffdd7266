import Foundation
import SignetSigning
import TestSupport
import Testing

/// Accept-Signature: RFC 9421, section 5.
@Suite struct AcceptSignatureTests {
    private static let asked =
        #"sig1=("@method" "@target-uri" "@authority" "content-digest" "cache-control");keyid="orders-2026";created;tag="app-123", other=("@method");nonce="n-1";expires"#

    private func requests(_ text: String) throws -> [AcceptSignature] {
        try AcceptSignature.all(in: Sample.message("HTTP/1.1 401\nAccept-Signature: \(text)\n\n"))
    }

    private func answer(
        _ request: AcceptSignature, to text: String = Sample.text, key: String = "orders-2026",
        expires: Int64? = nil, nonce: String? = nil,
        _ change: (inout MessageSigner.Options) -> Void = { _ in }
    ) throws -> SignableMessage {
        var options = MessageSigner.Options()
        options.acceptSignature = request
        change(&options)
        var message = try Sample.message(text)
        _ = try MessageSigner(scheme: .rfc9421, key: Sample.keys.key(id: key), options: options)
            .sign(&message, now: Sample.now, expiration: expires, nonce: nonce)
        return message
    }

    private func input(_ message: SignableMessage) -> String {
        message.fields.first { $0.name == "Signature-Input" }.map { text($0.value) } ?? ""
    }

    @Test func readsMembersAsRFC9421Shows() throws {
        let all = try requests(Self.asked)
        #expect(all.map(\.label) == ["sig1", "other"])
        #expect(all[0].components.map(\.name).count == 5)
        #expect(all[0].requestsCreated && !all[0].requestsExpiration)
        #expect(all[0].keyID == "orders-2026")
        #expect(all[0].tag == "app-123")
        #expect(all[1].nonce == "n-1")
        #expect(!all[1].requestsCreated && all[1].requestsExpiration)
        #expect(try AcceptSignature.all(in: Sample.message()).isEmpty)
    }

    @Test func writesTheParsedValueUnchanged() throws {
        var request = AcceptSignature(
            label: "a", components: try ComponentIdentifier.list(parsing: #"@status,"@path";req"#))
        request.requestsExpiration = true
        request.keyID = "k\"1"
        request.algorithm = "ed25519"
        request.nonce = "n"
        request.tag = "t"
        let second = AcceptSignature(label: "b", components: [])
        let field = try AcceptSignature.field([request, second])
        #expect(field.name == "Accept-Signature")
        #expect(
            text(field.value)
                == #"a=("@status" "@path";req);created;expires;keyid="k\"1";alg="ed25519";nonce="n";tag="t", b=();created"#
        )
        #expect(try requests(text(field.value)) == [request, second])
    }

    @Test(
        arguments: [
            (["A"], "invalid-value"), ([""], "invalid-value"), (["a", "a"], "duplicate-label"),
        ])
    func refusesToWriteInvalidValues(_ labels: [String], _ wanted: String) {
        #expect(
            code {
                _ = try AcceptSignature.field(
                    labels.map { AcceptSignature(label: $0, components: []) })
            } == wanted)
        var request = AcceptSignature(label: "a", components: [])
        request.nonce = "\u{e9}"
        #expect(code { _ = try AcceptSignature.field([request]) } == "invalid-value")
    }

    @Test(
        arguments: [
            ("", "malformed-signature"), ("a", "malformed-signature"),
            ("a=1", "malformed-signature"), ("a=(),a=()", "malformed-signature"),
            ("a=();created=1", "malformed-signature"), ("a=();expires=?0", "malformed-signature"),
            ("a=();keyid=k", "malformed-signature"), ("a=();nonce", "malformed-signature"),
            ("a=();own", "unsupported-parameter"), ("a=(x)", "malformed-component"),
            (#"a=("X")"#, "malformed-component"), (#"a=("x" "x")"#, "duplicate-component"),
            (#"a=("@what")"#, "unsupported-component"),
        ])
    func refusesMalformedMembers(_ value: String, _ wanted: String) {
        #expect(code { _ = try requests(value) } == wanted)
    }

    @Test func signsWithTheRequestedParameters() throws {
        let all = try requests(
            #"s=("@method" "x-request-id" "@query-param";name="tea");tag="t";nonce="n";keyid="orders-2026";alg="hmac-sha256";expires;created"#
        )
        let message = try answer(all[0], expires: Sample.now + 9)
        #expect(
            input(message)
                == #"s=("@method" "x-request-id" "@query-param";name="tea");created=1795228551;expires=1795228560;keyid="orders-2026";nonce="n";tag="t";alg="hmac-sha256""#
        )
        let policy = VerificationPolicy(acceptSignature: all[0])
        let verified = try Sample.verifier(.rfc9421, policy).verify(message, now: Sample.now)
        #expect(verified.nonce == "n")
        // The requester refuses a response that signs something else.
        for change in [
            { $0.nonce = "m" }, { $0.tag = "u" }, { $0.algorithm = "ed25519" },
            { $0.algorithm = "unknown" }, { $0.components.append(RFC.path) },
        ] as [(inout AcceptSignature) -> Void] {
            var other = all[0]
            change(&other)
            let verifier = try Sample.verifier(.rfc9421, VerificationPolicy(acceptSignature: other))
            let reason = code { _ = try verifier.verify(message, now: Sample.now) }
            #expect(
                ["nonce-mismatch", "no-signature", "algorithm-not-allowed", "not-covered"].contains(
                    reason))
        }
        let without = try answer(AcceptSignature(label: "s", components: []))
        var wanted = VerificationPolicy()
        wanted.coveredComponents = []
        wanted.nonce = "n"
        #expect(
            code {
                _ = try Sample.verifier(.rfc9421, wanted).verify(without, now: Sample.now)
            } == "missing-nonce")
    }

    private enum RFC {
        static var path: ComponentIdentifier {
            do { return try ComponentIdentifier("@path") } catch { preconditionFailure("\(error)") }
        }
    }

    /// Adds `alg` and a nonce only if they are asked for, and a lifetime if an expiration is.
    @Test func addsOnlyTheParametersThatAreAskedFor() throws {
        let request = try requests("s=();expires")[0]
        let message = try answer(request) { $0.lifetime = 5 }
        #expect(
            input(message) == #"s=();created=1795228551;expires=1795228556;keyid="orders-2026""#)
    }

    @Test func usesTheNonceThatIsAskedFor() throws {
        let message = try answer(try requests(#"s=();nonce="n""#)[0]) { $0.addsNonce = true }
        #expect(input(message).contains(#";nonce="n""#))
    }

    @Test(
        arguments: [
            (#"s=();keyid="another""#, "unanswerable-request"),
            (#"s=();expires"#, "unanswerable-request"),
            (#"s=();nonce="n";tag="t""#, "unanswerable-request"),
            (#"s=();alg="ed25519""#, "algorithm-mismatch"),
            (#"s=();alg="x""#, "algorithm-mismatch"),
            (#"s=("x-absent")"#, "missing-component"), (#"s=("@status")"#, "missing-component"),
            (#"s=("@path";req)"#, "missing-component"), (#"s=("x";sf)"#, "unknown-field-type"),
            (#"s=();nonce="""#, "invalid-value"), (#"s=();tag="""#, "invalid-value"),
            (#"s=("signature")"#, "unsupported-component"),
            (#"s=("signature";key="s")"#, "unsupported-component"),
        ])
    func namesUnsupportedRequests(_ value: String, _ wanted: String) {
        #expect(code { _ = try answer(requests(value)[0], nonce: "mine") } == wanted)
    }

    /// The peer chooses label, components and tag, and can't ask for a salted HMAC.
    @Test func refusesOptionsThatThePeerChooses() throws {
        let request = AcceptSignature(label: "s", components: [])
        for change in [
            { $0.label = "s" }, { $0.coveredComponents = [] }, { $0.tag = "t" },
        ] as [(inout MessageSigner.Options) -> Void] {
            #expect(code { _ = try answer(request, change) } == "unsupported-option")
        }
        var options = MessageSigner.Options()
        options.acceptSignature = request
        #expect(
            code {
                _ = try MessageSigner(
                    scheme: .saltedHMAC, key: Sample.keys.key(id: "orders-2026"), options: options)
            } == "unsupported-option")
    }

    @Test func refusesALabelThatIsTaken() throws {
        let signed = text(try Sample.signed().serialized())
        #expect(
            code { _ = try answer(AcceptSignature(label: "sig1", components: []), to: signed) }
                == "duplicate-label")
    }
}
