import FuzzSupport
import SignetJSON
import SignetSigning

/// A scheme's document: it is refused, or is written as it was read, and what it signs it verifies.
private let messages: [SignableMessage] = {
    do {
        return try [
            "POST /rpc?tea=2&b=%20 HTTP/1.1\nHost: h\nContent-Type: application/json\n\n{\"id\":1}",
            "POST /x HTTP/1.1\nHost: h\n\n<xml><a>1</a></xml>",
            "POST /x HTTP/1.1\nHost: h\nContent-Type: application/x-www-form-urlencoded\n\na=1&b=%20",
        ].map { try SignableMessage(parsing: Array($0.utf8)) }
    } catch {
        broken("the messages cannot be read: \(error)")
    }
}()

private let keys: KeySet = {
    do { return try Fixture.keySet() } catch { broken("the keys cannot be read: \(error)") }
}()

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    var seeds: [(name: String, bytes: [UInt8])] = []
    for name in SigningScheme.names {
        guard let scheme = try? SigningScheme.Insecure.scheme(named: name) else {
            broken("\(name) is built in and cannot be read")
        }
        seeds.append((name, JSONValue.object(scheme.document).serialized()))
    }
    seeds += Seeds.files(in: "Tests/SignetSigningTests/Vectors", named: "scheme-documents.json")
    Seeds.write(seeds)
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let document = unsafe input(data, count)
    guard let scheme = try? SigningScheme.Insecure.scheme(document: document) else { return 0 }
    let written = JSONValue.object(scheme.document).serialized()
    guard let again = try? SigningScheme.Insecure.scheme(document: written), again == scheme else {
        broken("a document that was written is not read as it was")
    }
    let settings = Fixture.settings(of: scheme)
    for key in keys.keys {
        for message in messages { sign(scheme, key, settings, message) }
    }
    return 0
}

private func sign(
    _ scheme: SigningScheme, _ key: CryptoKey, _ settings: [String: String],
    _ message: SignableMessage
) {
    var options = MessageSigner.Options()
    options.settings = settings
    var policy = VerificationPolicy()
    policy.settings = settings
    var message = message
    guard let signer = try? MessageSigner(scheme: scheme, key: key, options: options),
        (try? signer.sign(&message, now: Fixture.now)) != nil,
        let verifier = try? Verifier(scheme: scheme, keys: keys, policy: policy)
    else { return }
    // A document may hold what cannot be read back, such as a secret's own length; that fails closed.
    _ = try? verifier.verify(message, now: Fixture.now)
    _ = verifier.explain(message, now: Fixture.now)
    var changed = message
    changed.setBody(message.body + [0x21])
    guard let proof = try? verifier.verify(changed, now: Fixture.now) else { return }
    // A parameter in the form that isn't signed can change; it isn't a part of the signed body.
    if proof.body == changed.body { broken("a body that was changed verifies, and is handed back") }
}
