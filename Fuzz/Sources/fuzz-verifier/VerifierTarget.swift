import FuzzSupport
import SignetSigning

/// A message's text, under every scheme: it is refused, or says what one of the signed ones said.
private let fixtures: [Fixture] = {
    do {
        let texts = [
            "POST /rpc?tea=2&b=%20 HTTP/1.1\nHost: api.example.com\nContent-Type: application/json\n"
                + "Cache-Status: a;hit, b\n\n{\"id\":1}",
            "GET / HTTP/1.1\nHost: h\n\n",
            "POST /f HTTP/1.1\nHost: h\nContent-Type: application/x-www-form-urlencoded\n\na=1&b=2",
            "POST /x HTTP/1.1\nHost: h\n\n<xml><a>1</a></xml>",
            "HTTP/1.1 200 OK\nContent-Type: text/plain\n\nhello",
        ]
        let messages = try texts.map { try SignableMessage(parsing: Array($0.utf8)) }
        var all = try SigningScheme.names.map {
            try Fixture(SigningScheme.Insecure.scheme(named: $0), messages)
        }
        for list in [
            "@method,@target-uri,@query,\"content-type\";bs",
            #""@query-param";name="tea","cache-status";sf,"cache-status";key="a","content-digest""#,
        ] {
            all.append(
                try Fixture(
                    .rfc9421, messages, covers: ComponentIdentifier.list(parsing: list)))
        }
        return all
    } catch {
        broken("the fixtures cannot be made: \(error)")
    }
}()

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    var seeds: [(name: String, bytes: [UInt8])] = []
    for (index, fixture) in fixtures.enumerated() {
        for (number, message) in fixture.signed.enumerated() {
            seeds.append(("signed-\(index)-\(number)", message.serialized()))
        }
    }
    seeds += Seeds.files(in: "../shared/vectors/rfc9421", named: ".http")
    seeds += Seeds.files(in: "../shared/vectors/aws-sigv4", named: "signed-request.txt")
    Seeds.write(seeds)
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = unsafe input(data, count)
    guard let message = try? SignableMessage(parsing: text) else { return 0 }
    guard let again = try? SignableMessage(parsing: message.serialized()), again == message else {
        broken("a message that was written is not read as it was")
    }
    if let requests = try? AcceptSignature.all(in: message) {
        for request in requests { _ = request.components.map(\.description) }
    }
    for fixture in fixtures {
        let name = fixture.verifier.scheme.name
        let proof = try? fixture.verifier.verify(message, now: Fixture.now)
        if let proof, !fixture.proofs.contains(proof.covered) {
            broken("\(name): a changed message verifies, and says what nobody signed")
        }
        let explanation = fixture.verifier.explain(message, now: Fixture.now)
        guard (explanation.reason == nil) == (proof != nil) else {
            broken("\(name): the explanation contradicts the verdict")
        }
        stream(message, fixture, proof)
    }
    return 0
}

/// A body that comes in pieces is judged as one that is there.
private func stream(_ message: SignableMessage, _ fixture: Fixture, _ whole: VerifiedMessage?) {
    var head = message
    head.setBody([])
    let middle = message.body.count / 2
    do throws(SigningError) {
        var stream = try fixture.verifier.startVerifying(head, now: Fixture.now)
        try stream.update(Array(message.body[..<middle]))
        try stream.update(Array(message.body[middle...]))
        _ = try stream.finish(now: Fixture.now)
        if whole == nil { broken("streamed, a message verifies that does not as a whole") }
    } catch {
        // Only a stream looks at Content-Length and refuses a body that nothing covers.
        let own = ["body-not-held", "body-cut", "not-covered", "malformed-message"]
        if whole != nil, !own.contains(error.code.name) {
            broken("streamed, a message is refused that verifies as a whole: \(error)")
        }
    }
}
