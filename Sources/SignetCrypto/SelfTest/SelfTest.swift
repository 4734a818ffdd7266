/// Known-answer tests of every primitive, to run before trusting the installed OpenSSL.
package enum SelfTest {
    /// The outcome of one test.
    package struct Outcome: Sendable, Hashable {
        package let name: String
        package let passed: Bool
    }

    /// Runs all tests, which takes a few milliseconds.
    ///
    /// - Returns: The outcomes, in a fixed order.
    package static func run() -> [Outcome] {
        tests.map { test in
            Outcome(name: test.name, passed: (try? test.passes()) ?? false)
        }
    }

    private struct Test: Sendable {
        let name: String
        let passes: @Sendable () throws -> Bool
    }

    private static let tests: [Test] = [
        Test(name: "SHA-256", passes: { try digest(.sha256, equals: KnownAnswers.sha256) }),
        Test(name: "SHA-384", passes: { try digest(.sha384, equals: KnownAnswers.sha384) }),
        Test(name: "SHA-512", passes: { try digest(.sha512, equals: KnownAnswers.sha512) }),
        Test(name: "HMAC-SHA-256", passes: { try mac(.sha256, equals: KnownAnswers.hmacSHA256) }),
        Test(name: "HMAC-SHA-384", passes: { try mac(.sha384, equals: KnownAnswers.hmacSHA384) }),
        Test(name: "HMAC-SHA-512", passes: { try mac(.sha512, equals: KnownAnswers.hmacSHA512) }),
        Test(name: "HKDF-SHA-256", passes: hkdf),
        Test(name: "scrypt", passes: scrypt),
        Test(name: "AES-256-GCM", passes: seal),
        Test(name: "AES-256-GCM refuses a changed tag", passes: refusesChangedTag),
        Test(name: "AES-256-GCM refuses a short tag", passes: refusesShortTag),
        Test(name: "base64", passes: base64),
        Test(name: "constant-time comparison", passes: comparison),
        Test(name: "random bytes", passes: random),
    ]

    private static func digest(_ algorithm: DigestAlgorithm, equals known: String) throws -> Bool {
        try Digest.of(Array("abc".utf8), using: algorithm) == KnownAnswers.bytes(known)
    }

    private static func mac(_ algorithm: DigestAlgorithm, equals known: String) throws -> Bool {
        let key = Array("Jefe".utf8)
        let message = Array("what do ya want for nothing?".utf8)
        let keyed = try HMACKey(algorithm, key: key.span)
        let expected = KnownAnswers.bytes(known)
        // Twice, because the second call reuses a context.
        return try keyed.tag(of: message) == expected && keyed.tag(of: message) == expected
            && HMAC.tag(of: message.span, key: key.span, using: algorithm) == expected
    }

    @Sendable private static func hkdf() throws -> Bool {
        let prk = try HKDF.extract(
            salt: KnownAnswers.bytes("000102030405060708090a0b0c").span,
            inputKey: [UInt8](repeating: 0x0b, count: 22).span)
        let okm = try HKDF.expand(
            pseudorandomKey: prk.bytes, info: KnownAnswers.bytes("f0f1f2f3f4f5f6f7f8f9").span,
            count: 42)
        return constantTimeEqual(prk.bytes, KnownAnswers.bytes(KnownAnswers.hkdfPRK).span)
            && constantTimeEqual(okm.bytes, KnownAnswers.bytes(KnownAnswers.hkdfOKM).span)
    }

    @Sendable private static func scrypt() throws -> Bool {
        let key = try Scrypt.derive(
            passphrase: Span(), salt: Span(), logCost: 4, blockSize: 1, parallelism: 1, count: 64)
        return constantTimeEqual(key.bytes, KnownAnswers.bytes(KnownAnswers.scrypt).span)
    }

    private static let zeroKey = [UInt8](repeating: 0, count: AESGCM.keyByteCount)
    private static let zeroNonce = [UInt8](repeating: 0, count: AESGCM.nonceByteCount)

    @Sendable private static func seal() throws -> Bool {
        let plaintext = [UInt8](repeating: 0, count: 16)
        var text = plaintext
        let tag = try AESGCM.seal(
            inPlace: &text, key: zeroKey.span, nonce: zeroNonce.span, authenticating: Span())
        let opened = try AESGCM.open(
            ciphertext: text.span, tag: tag.span, key: zeroKey.span, nonce: zeroNonce.span,
            authenticating: Span())
        return text == KnownAnswers.bytes(KnownAnswers.gcmCiphertext)
            && tag == KnownAnswers.bytes(KnownAnswers.gcmTag) && opened == plaintext
    }

    @Sendable private static func refusesChangedTag() throws -> Bool {
        var tag = KnownAnswers.bytes(KnownAnswers.gcmTag)
        tag[15] ^= 1
        return !opens(tag: tag)
    }

    @Sendable private static func refusesShortTag() throws -> Bool {
        !opens(tag: Array(KnownAnswers.bytes(KnownAnswers.gcmTag).prefix(12)))
    }

    private static func opens(tag: [UInt8]) -> Bool {
        let opened = try? AESGCM.open(
            ciphertext: KnownAnswers.bytes(KnownAnswers.gcmCiphertext).span, tag: tag.span,
            key: zeroKey.span, nonce: zeroNonce.span, authenticating: Span())
        return opened != nil
    }

    @Sendable private static func base64() throws -> Bool {
        let bytes = (0...255).map { UInt8($0) }
        return Base64.decode(Base64.encode(bytes, as: .url), from: .url) == bytes
            && Base64.encode([0xfb, 0xff], as: .standard) == "+/8="
            && Base64.encode([0xfb, 0xff], as: .url) == "-_8"
            && Base64.decode("-_9", from: .url) == nil
    }

    @Sendable private static func comparison() throws -> Bool {
        constantTimeEqual([1, 2, 3], [1, 2, 3]) && !constantTimeEqual([1, 2, 3], [1, 2, 4])
            && !constantTimeEqual([1, 2], [1, 2, 3])
    }

    @Sendable private static func random() throws -> Bool {
        try RandomBytes.bytes(32) != RandomBytes.bytes(32)
    }
}
