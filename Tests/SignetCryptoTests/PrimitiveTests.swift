import SignetJSON
import TestSupport
import Testing

@testable import SignetCrypto
@testable import SignetSystem

/// Digests, whole and in pieces.
@Suite struct DigestTests {
    @Test func knownAnswersHold() {
        let outcomes = SelfTest.run()
        #expect(outcomes.count == 14)
        for outcome in outcomes { #expect(outcome.passed, "\(outcome.name)") }
    }

    @Test(arguments: DigestAlgorithm.allCases)
    func piecesGiveTheDigestOfTheWhole(_ algorithm: DigestAlgorithm) throws {
        let message = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        var pieces = try IncrementalDigest(algorithm)
        try pieces.update(message.span.extracting(..<1))
        try pieces.update(Span())
        try pieces.update(message.span.extracting(1..<700))
        try pieces.update(message.span.extracting(700...))
        #expect(try pieces.finish() == Digest.of(message, using: algorithm))
    }

    @Test func anAbandonedDigestLeavesNothingInTheNext() throws {
        var abandoned = try IncrementalDigest()
        try abandoned.update(bytes("rubbish").span)
        _ = consume abandoned
        #expect(
            try Digest.of([])
                == bytes(ofHex: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
    }
}

/// HMAC tags, and their keys, which never print.
@Suite struct HMACTests {
    @Test(arguments: try VectorFile.load("rfc4231"))
    func producesTheTag(_ vector: JSONObject) throws {
        for (name, algorithm) in [
            ("sha256", DigestAlgorithm.sha256), ("sha384", .sha384), ("sha512", .sha512),
        ] {
            let wanted = vector.hex(name)
            let key = try HMACKey(algorithm, key: vector.hex("key").span)
            for _ in 0..<3 {
                #expect(
                    Array(try key.tag(of: vector.hex("message")).prefix(wanted.count)) == wanted)
            }
            let once = try HMAC.tag(
                of: vector.hex("message").span, key: vector.hex("key").span, using: algorithm)
            #expect(Array(once.prefix(wanted.count)) == wanted)
        }
    }

    @Test(
        .enabled(if: !VectorFile.wycheproof("hmac_sha256_test").isEmpty, "no shared vectors"),
        arguments: [("hmac_sha256_test", DigestAlgorithm.sha256), ("hmac_sha512_test", .sha512)])
    func agreesWithWycheproof(_ name: String, _ algorithm: DigestAlgorithm) throws {
        let vectors = VectorFile.wycheproof(name)
        #expect(vectors.count == 174)
        #expect(vectors.count { $0.text("result") == "valid" } == 66)
        for vector in vectors {
            let key = try HMACKey(algorithm, key: vector.hex("key").span)
            let tag = try key.tag(of: vector.hex("msg"))
            let holds = Array(tag.prefix(vector.number("tagSize") / 8)) == vector.hex("tag")
            #expect(holds == (vector.text("result") == "valid"), "tcId \(vector.number("tcId"))")
        }
    }

    @Test func manyThreadsShareOneKey() async throws {
        let key = try HMACKey(.sha256, key: bytes("shared").span)
        let wanted = try (0..<64).map {
            try HMAC.tag(of: bytes("message \($0)").span, key: bytes("shared").span)
        }
        let isRight = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    for round in 0..<500 {
                        let tag = try? key.tag(of: bytes("message \(round % 64)"))
                        if tag != wanted[round % 64] { return false }
                    }
                    return true
                }
            }
            return await group.allSatisfy { $0 }
        }
        #expect(isRight)
    }

    @Test func aKeyNeverPrints() throws {
        let key = try HMACKey(.sha256, key: [UInt8](repeating: 0x5a, count: 32).span)
        #expect(!showsCanary(key))
    }
}

/// HKDF and scrypt.
@Suite struct KeyDerivationTests {
    @Test(arguments: try VectorFile.load("rfc5869"))
    func derivesAsTheRFC(_ vector: JSONObject) throws {
        let key = try HKDF.extract(
            salt: vector.hex("salt").span, inputKey: vector.hex("inputKey").span)
        #expect(constantTimeEqual(copy(key), vector.hex("pseudorandomKey")))
        let output = try HKDF.expand(
            pseudorandomKey: key.bytes, info: vector.hex("info").span,
            count: vector.number("count"))
        #expect(copy(output) == vector.hex("output"))
    }

    @Test(.enabled(if: !VectorFile.wycheproof("hkdf_sha256_test").isEmpty, "no shared vectors"))
    func agreesWithWycheproof() throws {
        let vectors = VectorFile.wycheproof("hkdf_sha256_test")
        #expect(vectors.count == 86)
        #expect(vectors.count { $0.text("result") == "valid" } == 83)
        for vector in vectors {
            let output: [UInt8]? = try? {
                let key = try HKDF.extract(
                    salt: vector.hex("salt").span, inputKey: vector.hex("ikm").span)
                return copy(
                    try HKDF.expand(
                        pseudorandomKey: key.bytes, info: vector.hex("info").span,
                        count: vector.number("size")))
            }()
            let isValid = vector.text("result") == "valid"
            #expect((output == vector.hex("okm")) == isValid, "tcId \(vector.number("tcId"))")
        }
    }

    @Test(arguments: [-1, 8161, Int.max])
    func hkdfRefusesTheCount(_ count: Int) {
        #expect(throws: CryptoFailure.self) {
            try discard(
                HKDF.expand(
                    pseudorandomKey: [UInt8](repeating: 1, count: 32).span, info: Span(),
                    count: count))
        }
    }

    @Test(arguments: [0, 1, 31])
    func hkdfRefusesAShortKey(_ count: Int) {
        #expect(throws: CryptoFailure.self) {
            try discard(
                HKDF.expand(
                    pseudorandomKey: [UInt8](repeating: 1, count: count).span, info: Span(),
                    count: 32))
        }
    }

    @Test(arguments: [0, 1, 31, 32, 33, 64, 8160])
    func hkdfGivesTheCount(_ count: Int) throws {
        let key = try HKDF.expand(
            pseudorandomKey: [UInt8](repeating: 1, count: 32).span, info: Span(), count: count)
        #expect(key.count == count)
    }

    @Test(arguments: try VectorFile.load("rfc7914"))
    func scryptDerivesAsTheRFC(_ vector: JSONObject) throws {
        let key = try Scrypt.derive(
            passphrase: bytes(vector.text("passphrase")).span,
            salt: bytes(vector.text("salt")).span, logCost: vector.number("logCost"),
            blockSize: vector.number("blockSize"), parallelism: vector.number("parallelism"),
            count: 64)
        #expect(copy(key) == vector.hex("output"))
    }

    @Test func scryptTakesTheCostOfAVault() throws {
        let key = try Scrypt.derive(
            passphrase: bytes("correct horse").span, salt: bytes("salt").span, logCost: 17)
        #expect(key.count == 32)
    }

    @Test(arguments: [
        (0, 8, 1, 32), (-1, 8, 1, 32), (23, 8, 1, 32), (64, 8, 1, 32), (Int.max, 8, 1, 32),
        (14, 0, 1, 32), (14, 33, 1, 32), (14, 8, 0, 32), (14, 8, 65, 32), (14, 8, 1, 0),
        (14, 8, 1, -1), (14, 8, 1, 1025), (16, 1, 1, 32),
    ])
    func scryptRefuses(_ logCost: Int, _ blockSize: Int, _ parallelism: Int, _ count: Int) {
        #expect(throws: CryptoFailure.self) {
            try discard(
                Scrypt.derive(
                    passphrase: bytes("p").span, salt: bytes("s").span, logCost: logCost,
                    blockSize: blockSize, parallelism: parallelism, count: count))
        }
    }
}

/// Drops the result of a call that should have thrown.
func discard(_ secret: consuming SecretBytes) {}

/// The bytes of a secret that a test made up.
func copy(_ secret: borrowing SecretBytes) -> [UInt8] {
    secret.bytes.indices.map { secret.bytes[$0] }
}

/// Whether a value shows any of the bytes `Z` (90, 5a) when it is printed, reflected or dumped.
func showsCanary(_ value: Any) -> Bool {
    var text = "\(value) \(String(describing: value)) \(String(reflecting: value)) "
    dump(value, to: &text)
    for child in Mirror(reflecting: value).children { dump(child.value, to: &text) }
    return ["ZZZZZZ", "90, 90, 90", "5a5a5a", "5A5A5A", "WlpaWlpa"].contains { text.contains($0) }
}
