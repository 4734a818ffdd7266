import FuzzSupport

@testable import SignetSigning

/// A message is refused with a message, or is written and read as it was, within the limits. What it says of
/// signatures and digests is refused with a message, or is the same again.

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    Seeds.write(
        Seeds.files(in: "../shared/vectors/rfc9421", named: ".http")
            + Seeds.files(in: "../shared/vectors/aws-sigv4", named: "request.txt")
            + Seeds.texts([
                "POST https://h:8443/a?b HTTP/1.1\r\nHost: h:8443\r\nContent-Length: 2\r\n\r\n{}",
                "GET /a HTTP/1.1\nHost: h\nAccept-Signature: s=(\"@method\" \"a\";sf);created;keyid=\"k\"\n\n",
                "HTTP/1.1 200 OK\nContent-Digest: sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:\n\n",
                "GET /a HTTP/1.1\nHost: h\nSignature-Input: s=(\"@path\");created=1;tag=\"t\"\n"
                    + "Signature: s=:AAEC:\n\n",
                "GET /a HTTP/1.1\nHost: h\nSignet-Signature: v1=:AAEC:;alg=\"hmac-sha256\";created=1;"
                    + "keyid=\"k\";nonce=\"n\";salt=:AAECAwQFBgcICQoLDA0ODw==:;fields=\"host\"\n\n",
                "GET /x HTTP/1.0\nA: b\n c\n\n", "CONNECT h:443 HTTP/1.1\n\n",
                "OPTIONS * HTTP/1.1\n\n",
            ]))
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe input(data, count)
    for plainHTTP in [false, true] {
        let message: SignableMessage
        do throws(SigningError) {
            message = try SignableMessage(parsing: input, plainHTTP: plainHTTP)
        } catch {
            checkMessage(error.message, of: "a message")
            continue
        }
        guard message.fields.count <= SignableMessage.maximumFieldCount,
            let again = try? SignableMessage(parsing: message.serialized(), plainHTTP: plainHTTP),
            again == message
        else { broken("a message that was written is not read as it was") }
        signatures(message)
    }
    return 0
}

private func signatures(_ message: SignableMessage) {
    func attempt(_ what: String, _ body: () throws(SigningError) -> Void) {
        do throws(SigningError) {
            try body()
        } catch {
            checkMessage(error.message, of: what)
        }
    }
    attempt("a signature") { () throws(SigningError) in
        _ = try ReceivedSignature(message, tag: nil)
    }
    attempt("a salted MAC") { () throws(SigningError) in
        guard try SaltedHMACSignature(message).salt.count >= SaltedHMACText.minimumSaltSize else {
            broken("a salt that is too short")
        }
    }
    attempt("digests") { () throws(SigningError) in
        try ContentDigest.check(message)
        try ReprDigest.check(message)
    }
    attempt("a request for signatures") { () throws(SigningError) in
        let requests = try AcceptSignature.all(in: message)
        guard !requests.isEmpty, let field = try? AcceptSignature.field(requests) else { return }
        guard
            var other = try? SignableMessage(parsing: Array("GET / HTTP/1.1\nHost: h\n\n".utf8)),
            (try? other.append(field)) != nil,
            let again = try? AcceptSignature.all(in: other), again == requests
        else { broken("a request for signatures is not read as it was written") }
    }
}
