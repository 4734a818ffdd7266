import Foundation
import SignetJSON
import SignetSigning
import TestSupport
import Testing

/// Bodies that are signed and verified in pieces.
@Suite struct StreamingTests {
    private static let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    private static let head = """
        POST /upload HTTP/1.1
        Host: api.example.com
        Content-Type: application/x-tar


        """
    private static let pieces = stride(from: 0, to: body.count, by: 7919).map {
        Array(body[$0..<min($0 + 7919, body.count)])
    }

    private static func digests(_ algorithms: Set<BodyDigest> = [.sha256]) throws -> BodyDigests {
        var digester = try BodyDigester(algorithms)
        for piece in pieces { try digester.update(piece) }
        return try digester.finish()
    }

    private static func aws(_ text: String = head) throws -> (MessageSigner, Verifier) {
        let scheme = try SigningScheme(named: "aws-sigv4")
        let settings = ["region": "eu-central-1", "service": "execute-api"]
        var options = MessageSigner.Options()
        options.settings = settings
        var policy = VerificationPolicy()
        policy.settings = settings
        return (
            try MessageSigner(
                scheme: scheme, key: Sample.keys.key(id: "orders-2026"), options: options),
            try Verifier(scheme: scheme, keys: Sample.keys, policy: policy)
        )
    }

    /// A head that is signed over a digest of the body, and the same message signed as a whole.
    private static func signed(
        _ scheme: String, nonce: String? = nil
    ) throws -> (head: SignableMessage, whole: SignableMessage, verifier: Verifier) {
        let signer: MessageSigner
        let verifier: Verifier
        if scheme == "aws-sigv4" {
            (signer, verifier) = try aws()
        } else {
            let known = try SigningScheme(named: scheme)
            signer = try Sample.signer(known)
            verifier = try Sample.verifier(known)
        }
        var whole = try Sample.message(head)
        whole.setBody(body)
        var streamed = try Sample.message(head)
        streamed.setBody(try digests(signer.bodyDigests(for: streamed)))
        _ = try signer.sign(&whole, now: Sample.now, nonce: nonce)
        _ = try signer.sign(&streamed, now: Sample.now, nonce: nonce)
        #expect(streamed.body.isEmpty)
        let received = try SignableMessage(parsing: streamed.serialized())
        return (received, whole, verifier)
    }

    private static func verify(
        _ head: SignableMessage, _ verifier: Verifier, _ body: [UInt8] = body,
        step: Int = 7919, trailers: [SignableMessage.Field] = [], end: Int64 = Sample.now
    ) throws -> VerifiedMessage {
        var stream = try verifier.startVerifying(head, now: Sample.now)
        for start in stride(from: 0, to: body.count, by: step) {
            try stream.update(Array(body[start..<min(start + step, body.count)]))
        }
        return try stream.finish(trailers: trailers, now: end)
    }

    @Test(arguments: ["rfc9421", "aws-sigv4"])
    func signsADigestAsTheWholeBody(_ scheme: String) throws {
        let (head, whole, verifier) = try Self.signed(scheme)
        var headOfWhole = whole
        headOfWhole.setBody([])
        #expect(head == headOfWhole)
        let verified = try verifier.verify(whole, now: Sample.now)
        #expect(verified.keyID == "orders-2026")
    }

    @Test(
        arguments: ["rfc9421", "salted-hmac-v1", "aws-sigv4"], [1, 4096, 99_999, 200_000])
    func verifiesABodyInPiecesOfAnySize(_ scheme: String, _ step: Int) throws {
        let (head, _, verifier) = try Self.signed(scheme)
        let body = step == 1 ? Array(Self.body.prefix(2000)) : Self.body
        guard step == 1 else {
            let verified = try Self.verify(head, verifier, body, step: step)
            #expect(verified.body == nil)
            #expect(
                verified["content-digest"] != nil || verified["body-digest"] != nil)
            return
        }
        #expect(code { _ = try Self.verify(head, verifier, body, step: 1) } != "no error")
    }

    @Test(
        arguments: ["rfc9421", "salted-hmac-v1", "aws-sigv4"])
    func refusesACutOrChangedBody(_ scheme: String) throws {
        let (head, _, verifier) = try Self.signed(scheme)
        let wanted = scheme == "rfc9421" ? "digest-mismatch" : "signature-mismatch"
        var changed = Self.body
        changed[77_777] ^= 1
        for body in [Array(Self.body.dropLast()), Self.body + [0], changed, []] {
            #expect(code { _ = try Self.verify(head, verifier, body) } == wanted)
        }
    }

    /// Fails at the first byte beyond the length, and at the end of a shorter body.
    @Test func holdsABodyToItsContentLength() throws {
        func signed(_ length: String) throws -> SignableMessage {
            var message = try Sample.message(Self.head)
            try message.append(.init(name: "Content-Length", value: Array(length.utf8)))
            message.setBody(try Self.digests())
            _ = try Sample.signer().sign(&message, now: Sample.now)
            message.setBody([])
            return message
        }
        let verifier = try Sample.verifier()
        _ = try Self.verify(signed("100000"), verifier)
        #expect(code { _ = try Self.verify(signed("100001"), verifier) } == "body-cut")
        var stream = try verifier.startVerifying(try signed("99999"), now: Sample.now)
        try stream.update(Array(Self.body.dropLast()))
        #expect(throws: SigningError.self) { try stream.update([0]) }
        #expect(throws: SigningError.self) { try stream.update([]) }
        do throws(SigningError) {
            _ = try stream.finish(now: Sample.now)
            Issue.record("a body that went on was taken")
        } catch {
            #expect(error.code == .bodyCut)
        }
        for length in ["", "1e5", "-1", "1, 1", "9999999999999999999"] {
            #expect(
                code { _ = try verifier.startVerifying(signed(length), now: Sample.now) }
                    != "no error")
        }
    }

    private static func isHeadVerified(
        _ head: SignableMessage, _ verifier: Verifier
    ) throws -> Bool {
        try verifier.startVerifying(head, now: Sample.now).isHeadVerified
    }

    @Test func judgesTheHeadBeforeTheBody() throws {
        let (head, _, verifier) = try Self.signed("rfc9421")
        #expect(try Self.isHeadVerified(head, verifier))
        let forged = try head.replacing("/upload", with: "/admin")
        #expect(
            code { _ = try verifier.startVerifying(forged, now: Sample.now) }
                == "signature-mismatch")
        #expect(code { _ = try verifier.startVerifying(head, now: Sample.now + 301) } == "too-old")
        let salted = try Self.signed("salted-hmac-v1")
        #expect(try !Self.isHeadVerified(salted.head, salted.verifier))
        #expect(
            code { _ = try salted.verifier.startVerifying(salted.head, now: Sample.now - 61) }
                == "created-in-future")
        let aws = try Self.signed("aws-sigv4")
        #expect(
            code { _ = try aws.verifier.startVerifying(aws.head, now: Sample.now + 301) }
                == "too-old")
    }

    @Test func readsNoByteOfAnUncoveredBody() throws {
        var message = try Sample.message(Self.head)
        _ = try Sample.signer(covers: "@method,@authority,@path").sign(&message, now: Sample.now)
        for policy in [VerificationPolicy(), try Sample.policy(required: "@method")] {
            let verifier = try Sample.verifier(.rfc9421, policy)
            _ = try Self.verify(message, verifier, [])
            #expect(code { _ = try Self.verify(message, verifier) } == "not-covered")
            #expect(code { _ = try Self.verify(message, verifier, [0]) } == "not-covered")
        }
        let required = try Sample.verifier(.rfc9421, Sample.policy(required: "content-digest"))
        #expect(code { _ = try required.startVerifying(message, now: Sample.now) } == "not-covered")
    }

    /// A late verdict is checked against the time window.
    @Test func takesANonceForOneStreamAtATime() throws {
        let (head, _, _) = try Self.signed("rfc9421", nonce: "n-1")
        let store = MemoryNonceStore()
        let verifier = try Sample.verifier(nonces: store)
        _ = try verifier.startVerifying(head, now: Sample.now)
        #expect(code { _ = try verifier.startVerifying(head, now: Sample.now) } == "replayed-nonce")
        let salted = try Self.signed("salted-hmac-v1", nonce: "n-2").head
        let late = try Sample.verifier(.saltedHMAC, nonces: store)
        _ = try Self.verify(salted, late, end: Sample.now + 300)
        #expect(
            code { _ = try Self.verify(salted, late, end: Sample.now + 300) } == "replayed-nonce")
        #expect(code { _ = try Self.verify(salted, late, end: Sample.now + 301) } == "too-old")
    }

    /// They need the body in memory, and the error comes before its first byte.
    @Test func refusesSchemesThatSignTheBodyItself() throws {
        let scheme = try SigningScheme(named: "github")
        let signer = try MessageSigner(
            scheme: scheme, key: Sample.keys.key(id: "orders-2026"))
        var message = try Sample.message(Self.head)
        message.setBody(try Self.digests())
        #expect(code { _ = try signer.sign(&message, now: Sample.now) } == "body-not-held")
        message.setBody(Self.body)
        _ = try signer.sign(&message, now: Sample.now)
        message.setBody([])
        let verifier = try Verifier(scheme: scheme, keys: Sample.keys)
        #expect(
            code { _ = try verifier.startVerifying(message, now: Sample.now) } == "body-not-held")
    }

    /// Digests are computed beforehand for the body itself, not for what a scheme makes of it.
    @Test func refusesAStreamedBodyInAJoin() throws {
        let scheme = try SchemeLintTests.scheme([
            "text": [
                "join": [
                    "{method}", "{host}", "{target}", "{time}", "{nonce}",
                    ["hash": "sha256", "of": ["join": ["{body}"], "with": ""], "as": "hex"],
                ],
                "with": "\n",
            ]
        ])
        let signer = try MessageSigner(scheme: scheme, key: Sample.keys.key(id: "orders-2026"))
        var message = try Sample.message(Self.head)
        message.setBody(try Self.digests())
        #expect(code { _ = try signer.sign(&message, now: Sample.now) } == "body-not-held")
        message.setBody(Self.body)
        _ = try signer.sign(&message, now: Sample.now)
    }

    @Test func refusesADigestOfAnotherAlgorithm() throws {
        var message = try Sample.message(Self.head)
        message.setBody(try Self.digests([.sha512]))
        for scheme in [SigningScheme.rfc9421, .saltedHMAC] {
            let signer = try Sample.signer(scheme)
            #expect(signer.bodyDigests(for: message) == [.sha256])
            #expect(
                code { _ = try signer.sign(&message, now: Sample.now) } == "unsupported-digest")
        }
        #expect(
            try Sample.signer(.saltedHMAC, key: "orders-512").bodyDigests(for: message) == [.sha512]
        )
        #expect(
            code { _ = try BodyDigests(byteCount: 1, digests: [.sha256: [0]]) }
                == "malformed-digest")
        #expect(code { _ = try BodyDigests(byteCount: 1, digests: [:]) } == "malformed-digest")
    }

    @Test func digestsFilesAndSequencesAlike() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "body").path
        try Data(Self.body).write(to: URL(filePath: path))
        let all = Set(BodyDigest.allCases)
        let wanted = try Self.digests(all)
        #expect(try BodyDigests(ofFile: path, algorithms: all) == wanted)
        let chunks = AsyncStream { continuation in
            for piece in Self.pieces { continuation.yield(piece) }
            continuation.finish()
        }
        #expect(try await BodyDigests(of: chunks, algorithms: all) == wanted)
        #expect(
            try ContentDigest.field(of: wanted, algorithm: .sha512)
                == ContentDigest.field(of: Self.body, algorithm: .sha512))
        #expect(code { _ = try BodyDigests(ofFile: path + "-gone") } == "unreadable-body")
        #expect(code { _ = try BodyDigests(ofFile: folder.url.path) } == "unreadable-body")
    }

    /// An error of the sequence ends it without a verdict.
    @Test func verifiesASequenceWhileItIsRead() async throws {
        let (head, _, verifier) = try Self.signed("rfc9421")
        func chunks(failing: Bool) -> AsyncThrowingStream<[UInt8], any Error> {
            AsyncThrowingStream { continuation in
                for piece in Self.pieces { continuation.yield(piece) }
                continuation.finish(throwing: failing ? CancellationError() : nil)
            }
        }
        var received: [UInt8] = []
        let verified = try await verifier.verify(
            head, body: chunks(failing: false), now: Sample.now, atEnd: { (Sample.now + 900, []) },
            receive: { received += $0 })
        #expect(verified["@path"].map(text) == "/upload")
        #expect(received == Self.body)
        await #expect(throws: CancellationError.self) {
            _ = try await verifier.verify(
                head, body: chunks(failing: true), now: Sample.now, atEnd: { (Sample.now, []) },
                receive: { _ in })
        }
    }
}
