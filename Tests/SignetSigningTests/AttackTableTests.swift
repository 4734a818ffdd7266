import Foundation
import SignetCrypto
import SignetSigning
import TestSupport
import Testing

/// One row for each weakness known from other libraries and for each invalid input, with the
/// error code that refuses it. A row is one message. `BadInputTests`, `NonceStoreTests` and
/// `VerifierTests` have those that need a store, a load or many messages; `KeySetTests` has those
/// of keys.
@Suite struct AttackTableTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let code: String
        let run: @Sendable () throws -> Void

        init(_ name: String, _ code: String, _ run: @escaping @Sendable () throws -> Void) {
            self.name = name
            self.code = code
            self.run = run
        }

        var testDescription: String { name }
    }

    @Test(arguments: probes + badInput)
    func refuses(_ row: Row) {
        #expect(code { try row.run() } == row.code)
    }

    /// The messages that the rows change are good ones.
    @Test func theOriginalMessagePasses() throws {
        let now = Sample.now
        _ = try Sample.verifier().verify(Sample.signed(), now: now)
        _ = try Sample.verifier(.saltedHMAC).verify(Sample.signed(.saltedHMAC), now: now)
        for name in ["standard-webhooks", "stripe"] {
            let (message, verifier) = try webhook(name)
            _ = try verifier.verify(message, now: now)
        }
        let ed25519 = try ed25519(#";alg="ed25519""#)
        _ = try ed25519.verifier.verify(ed25519.message, now: now)
    }
}

private typealias Row = AttackTableTests.Row

/// A webhook signed by a document, and its verifier.
private func webhook(
    _ name: String, id: String? = nil, body: [UInt8] = Array("{}".utf8),
    nonces: (any NonceStore)? = nil, policy: VerificationPolicy = VerificationPolicy()
) throws -> (SignableMessage, Verifier) {
    let scheme = try SigningScheme(named: name)
    let signer = try MessageSigner(scheme: scheme, key: Sample.keys.key(id: "orders-2026"))
    var message = try Sample.message("POST /hook HTTP/1.1\nHost: h\n\n")
    message.setBody(body)
    _ = try signer.sign(&message, now: Sample.now, nonce: id)
    let keys = try Sample.keySet([Sample.jwk("orders-2026", #""alg":"HS256","use":"sig""#)])
    return (
        message, try Verifier(scheme: scheme, keys: keys, policy: policy, nonces: nonces)
    )
}

/// A message signed by the key of RFC 8032, section 7.1, test 1, with parameters of one's own.
private func ed25519(_ more: String) throws -> (message: SignableMessage, verifier: Verifier) {
    let keys = try KeySet(
        parsing: Array(
            (#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"e","#
                + #""d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","#
                + #""x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#).utf8),
        source: "RFC 8032")
    let parameters = #"("@method" "@authority" "@path");created=\#(Sample.now);keyid="e"\#(more)"#
    let base = """
        "@method": GET
        "@authority": h
        "@path": /
        "@signature-params": \(parameters)
        """
    let (key, algorithm) = try keys.key(id: "e").signatureKey()
    let tag = try key.sign(Array(base.utf8).span, by: algorithm)
    let message = try Sample.message(
        "GET / HTTP/1.1\nHost: h\nSignature-Input: s=\(parameters)\n"
            + "Signature: s=:\(Data(tag).base64EncodedString()):\n\n")
    return (message, try Verifier(keys: keys))
}

private func rfc9421(
    _ old: String = "", _ new: String = "", at later: Int64 = 0, covers: String? = nil,
    required: String? = nil
) throws {
    var message = try Sample.signed(covers: covers)
    if !old.isEmpty { message = try message.replacing(old, with: new) }
    _ = try Sample.verifier(.rfc9421, Sample.policy(required: required)).verify(
        message, now: Sample.now + later)
}

private func salted(_ old: String = "", _ new: String = "", at later: Int64 = 0) throws {
    var message = try Sample.signed(.saltedHMAC)
    if !old.isEmpty { message = try message.replacing(old, with: new) }
    _ = try Sample.verifier(.saltedHMAC).verify(message, now: Sample.now + later)
}

private func webhook(
    _ name: String, _ old: String, _ new: String, at later: Int64 = 0
) throws {
    let (message, verifier) = try webhook(name, id: name == "stripe" ? nil : "msg-1")
    let changed = old.isEmpty ? message : try message.replacing(old, with: new)
    _ = try verifier.verify(changed, now: Sample.now + later)
}

/// Messages that other libraries accepted with their default settings.
private let probes: [Row] = {
    var rows: [Row] = []
    func add(_ name: String, _ code: String, _ run: @escaping @Sendable () throws -> Void) {
        rows.append(Row(name, code, run))
    }
    add("path swapped after signing", "signature-mismatch") { try rfc9421("/rpc", "/admin") }
    add("path swapped after signing, salted", "signature-mismatch") { try salted("/rpc", "/x") }
    add("alg contradicts the key", "algorithm-mismatch") {
        let (message, verifier) = try ed25519(#";alg="hmac-sha256""#)
        _ = try verifier.verify(message, now: Sample.now)
    }
    add("alg contradicts the key, by another asymmetric one", "algorithm-mismatch") {
        let (message, verifier) = try ed25519(#";alg="ecdsa-p256-sha256""#)
        _ = try verifier.verify(message, now: Sample.now)
    }
    add("alg contradicts the key, salted", "algorithm-mismatch") {
        try salted("hmac-sha256", "hmac-sha512")
    }
    add("same nonce replayed", "replayed-nonce") {
        let verifier = try Sample.verifier(nonces: MemoryNonceStore())
        let message = try Sample.signed(nonce: "n")
        for _ in 0..<2 { _ = try verifier.verify(message, now: Sample.now) }
    }
    add("same nonce replayed, salted", "replayed-nonce") {
        let verifier = try Sample.verifier(.saltedHMAC, nonces: MemoryNonceStore())
        let message = try Sample.signed(.saltedHMAC)
        for _ in 0..<2 { _ = try verifier.verify(message, now: Sample.now) }
    }
    add("empty covered list", "not-covered") { try rfc9421(covers: "") }
    add("body tampered with, its digest covered", "digest-mismatch") { try rfc9421("1}", "2}") }
    add("body tampered with, its digest not covered", "not-covered") {
        try rfc9421("1}", "2}", covers: "@method,@authority,@path")
    }
    add("body and digest tampered with", "signature-mismatch") {
        var message = try Sample.signed().replacing("Content-Digest", with: "X-Was")
        try message.append(ContentDigest.field(of: Array("{}".utf8)))
        message.setBody(Array("{}".utf8))
        _ = try Sample.verifier().verify(message, now: Sample.now)
    }
    add("signature of 23 hours ago", "too-old") { try rfc9421(at: 23 * 3600) }
    add("signature of 23 hours ago, salted", "too-old") { try salted(at: 23 * 3600) }
    add("signature of an hour ahead", "created-in-future") { try rfc9421(at: -3600) }
    add("webhook: id replayed", "replayed-nonce") {
        let (message, verifier) = try webhook(
            "standard-webhooks", id: "msg-1", nonces: MemoryNonceStore())
        for _ in 0..<2 { _ = try verifier.verify(message, now: Sample.now) }
    }
    add("webhook: a dot in an id, signing", "invalid-value") {
        _ = try webhook("standard-webhooks", id: "msg.1")
    }
    add("webhook: a dot in an id, verifying", "malformed-signature") {
        try webhook("standard-webhooks", "msg-1", "msg.1")
    }
    add("webhook: another id", "signature-mismatch") {
        try webhook("standard-webhooks", "msg-1", "msg-2")
    }
    add("webhook: malformed entry of the list", "no-signature") {
        try webhook("standard-webhooks", "v1,", "v1")
    }
    add("webhook: an entry that is no base64", "malformed-signature") {
        try webhook("standard-webhooks", "v1,", "v1,!")
    }
    add("webhook: a body that is not UTF-8, changed", "signature-mismatch") {
        var (message, verifier) = try webhook("standard-webhooks", id: "m", body: [0xFF, 0xFE])
        message.setBody([0xFE, 0xFF])
        _ = try verifier.verify(message, now: Sample.now)
    }
    add("webhook: a year old", "too-old") {
        try webhook("standard-webhooks", "", "", at: 365 * 86_400)
    }
    add("stripe: an hour ahead", "created-in-future") { try webhook("stripe", "", "", at: -3600) }
    add("stripe: a year old", "too-old") { try webhook("stripe", "", "", at: 365 * 86_400) }
    add("stripe: no time", "malformed-signature") { try webhook("stripe", "t=", "s=") }
    add("stripe: body changed", "signature-mismatch") { try webhook("stripe", "{}", "{ }") }
    return rows
}()

/// Messages that a verifier or a signer must refuse from every sender.
private let badInput: [Row] = {
    var rows: [Row] = []
    func add(_ name: String, _ code: String, _ run: @escaping @Sendable () throws -> Void) {
        rows.append(Row(name, code, run))
    }
    add("a CR in a value", "malformed-message") {
        _ = try SignableMessage.Field(name: "X", value: Array("a\rb".utf8))
    }
    add("an LF in a value", "malformed-message") {
        _ = try SignableMessage.Field(name: "X", value: Array("a\n\"@method\": DELETE".utf8))
    }
    add("a bare CR in a message's text", "malformed-message") {
        _ = try Sample.message("GET / HTTP/1.1\nHost: h\nX: a\rb\n\n")
    }
    add("duplicate components, signing", "duplicate-component") {
        _ = try Sample.signed(covers: "@method,@method")
    }
    add("duplicate components in another order of parameters", "duplicate-component") {
        _ = try Sample.signed(covers: #""x";tr;req,"x";req;tr"#)
    }
    add("duplicate components, verifying", "malformed-signature") {
        try rfc9421("(\"@method\"", "(\"@method\" \"@method\"")
    }
    add("a missing field, signing", "missing-component") {
        _ = try Sample.signed(covers: "x-none")
    }
    add("a missing field, verifying", "missing-component") {
        try rfc9421("X-Request-Id: r-1\r\n", "", covers: "x-request-id", required: "x-request-id")
    }
    add("a field that is not covered, and must be", "not-covered") {
        try rfc9421(required: "x-request-id")
    }
    add("a covered field with another line", "signature-mismatch") {
        try rfc9421(
            "X-Request-Id: r-1", "X-Request-Id: r-1\r\nX-Request-Id: r-2",
            covers: "@method,@authority,@path,@query,content-digest,x-request-id")
    }
    add("a covered digest of a broken hash", "unsupported-digest") {
        _ = try Sample.signed(
            text: "POST / HTTP/1.1\nHost: h\nContent-Digest: md5=:AAAA:\n\nx",
            covers: "content-digest")
    }
    add("a covered digest that does not match, signing", "digest-mismatch") {
        let wrong = "sha-256=:\(Data(repeating: 0, count: 32).base64EncodedString()):"
        _ = try Sample.signed(
            text: "POST / HTTP/1.1\nHost: h\nContent-Digest: \(wrong)\n\nx",
            covers: "content-digest")
    }
    add("an unknown parameter", "unsupported-parameter") { try rfc9421(";keyid", ";mine=1;keyid") }
    add("an unknown parameter, salted", "malformed-signature") {
        try salted(";keyid", ";mine=1;keyid")
    }
    add("a parameter twice", "malformed-signature") { try rfc9421(";keyid", ";created=1;keyid") }
    add("labels that clash, signing", "duplicate-label") {
        var message = try Sample.signed()
        _ = try Sample.signer().sign(&message, now: Sample.now)
    }
    add("labels that clash, verifying", "malformed-signature") {
        try rfc9421("Signature: sig1", "Signature: sig1=:AAAA:, sig1")
    }
    add("a second signature, and no tag to choose by", "ambiguous-signature") {
        var message = try Sample.signed()
        _ = try Sample.signer(label: "sig2").sign(&message, now: Sample.now)
        _ = try Sample.verifier().verify(message, now: Sample.now)
    }
    add("two fields of salted-hmac-v1", "malformed-signature") {
        try salted("Signet-Signature: ", "Signet-Signature: v1=:AAAA:\r\nSignet-Signature: ")
    }
    add("two Host fields", "malformed-message") { try rfc9421("Host:", "Host: evil\r\nHost:") }
    add("a field of a megabyte in a message's text", "malformed-message") {
        try rfc9421("r-1", String(repeating: "r", count: 1 << 20))
    }
    add("a signature of a megabyte", "malformed-message") {
        try rfc9421("sig1=:", "sig1=:" + String(repeating: "A", count: 1 << 20))
    }
    add("a covered value that is not UTF-8", "non-ascii-value") {
        var message = try SignableMessage(
            parsing: Array("GET / HTTP/1.1\nHost: h\nX: ".utf8) + [0xFF, 0x0A, 0x0A])
        _ = try Sample.signer(covers: "x").sign(&message, now: Sample.now)
    }
    add("a query parameter that is not UTF-8", "non-utf8-value") {
        _ = try Sample.signed(
            text: "GET /?q=%FF HTTP/1.1\nHost: h\n\n", covers: #""@query-param";name="q""#)
    }
    add("a target with a quote and a space", "malformed-message") {
        try rfc9421("/rpc?tea=2", "/rpc?tea=\"2 3\"")
    }
    add("a key of the wrong type", "algorithm-mismatch") {
        _ = try Sample.signer(key: "orders-512")
    }
    add("a key for another use", "wrong-key-use") { _ = try Sample.signer(key: "root") }
    add("a revoked key named by the message", "key-revoked") {
        try rfc9421("orders-2026", "revoked")
    }
    add("a key that is not there", "unknown-key") { try rfc9421("orders-2026", "nobody") }
    add("no key named", "missing-keyid") { try rfc9421(";keyid=\"orders-2026\"", "") }
    add("no time named", "missing-created") { try rfc9421(";created=\(Sample.now)", "") }
    add("a signature cut by a byte", "signature-mismatch") {
        var message = try Sample.signed()
        let field = try #require(message.fields.last)
        let bytes = try #require(
            Data(base64Encoded: Data(text(field.value).dropFirst(6).dropLast().utf8)))
        message = try message.replacing(
            bytes.base64EncodedString(), with: bytes.dropLast().base64EncodedString())
        _ = try Sample.verifier().verify(message, now: Sample.now)
    }
    add("an empty signature", "signature-mismatch") {
        let message = try Sample.signed()
        let value = text(try #require(message.fields.last).value)
        _ = try Sample.verifier().verify(
            message.replacing(value, with: "sig1=::"), now: Sample.now)
    }
    add("a clock before 1970, signing", "invalid-time") {
        var message = try Sample.message()
        _ = try Sample.signer().sign(&message, now: -1)
    }
    add("a clock before 1970, verifying", "invalid-time") { try rfc9421(at: -Sample.now - 1) }
    add("a clock before 1970, salted", "invalid-time") { try salted(at: -Sample.now - 1) }
    add("a clock before 1970, webhook", "invalid-time") {
        try webhook("stripe", "", "", at: -Sample.now - 1)
    }
    add("a signature made before 1970", "malformed-signature") {
        try rfc9421("created=\(Sample.now)", "created=-1")
    }
    return rows
}()
