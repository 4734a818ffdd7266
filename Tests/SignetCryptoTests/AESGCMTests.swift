import SignetJSON
import TestSupport
import Testing

@testable import SignetCrypto

/// AES-GCM, in place and with separate output.
@Suite struct AESGCMTests {
    private static let key = (0..<32).map { UInt8($0) }
    private static let nonce = [UInt8](repeating: 7, count: 12)

    @Test(.enabled(if: !VectorFile.wycheproof("aes_gcm_test").isEmpty, "no shared vectors"))
    func agreesWithWycheproof() throws {
        let vectors = VectorFile.wycheproof("aes_gcm_test")
        #expect(vectors.count == 316)
        var taken = 0
        var forged = 0
        for vector in vectors {
            let plaintext = try? AESGCM.open(
                ciphertext: vector.hex("ct").span, tag: vector.hex("tag").span,
                key: vector.hex("key").span, nonce: vector.hex("iv").span,
                authenticating: vector.hex("aad").span)
            let isOurs =
                vector.number("keySize") == 256 && vector.number("ivSize") == 96
                && vector.text("result") == "valid"
            #expect((plaintext != nil) == isOurs, "tcId \(vector.number("tcId"))")
            if vector.number("keySize") == 256, vector.number("ivSize") == 96, !isOurs {
                forged += 1
                #expect(
                    isRefusedAsForged {
                        try AESGCM.open(
                            ciphertext: vector.hex("ct").span, tag: vector.hex("tag").span,
                            key: vector.hex("key").span, nonce: vector.hex("iv").span,
                            authenticating: vector.hex("aad").span)
                    })
            }
            guard isOurs else { continue }
            taken += 1
            #expect(plaintext == vector.hex("msg"))
            let sealed = try AESGCM.seal(
                vector.hex("msg").span, key: vector.hex("key").span, nonce: vector.hex("iv").span,
                authenticating: vector.hex("aad").span)
            #expect(sealed.ciphertext == vector.hex("ct") && sealed.tag == vector.hex("tag"))
        }
        // The other 250 have keys and nonces of sizes that are refused before OpenSSL sees them.
        #expect(taken == 39 && forged == 27)
    }

    @Test(arguments: [0, 1, 15, 16, 17, 1000, 100_000])
    func opensItsOwnOutput(_ count: Int) throws {
        let plaintext = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let sealed = try seal(plaintext)
        #expect(sealed.ciphertext.count == count && sealed.tag.count == 16)
        #expect(try open(sealed.ciphertext, sealed.tag) == plaintext)
    }

    @Test func sealingInPlaceRefusesSizesToo() {
        for (keyCount, nonceCount) in [(16, 12), (33, 12), (32, 11), (32, 16), (0, 12), (32, 0)] {
            var text = bytes("text")
            #expect(throws: CryptoFailure.self) {
                try AESGCM.seal(
                    inPlace: &text, key: [UInt8](repeating: 1, count: keyCount).span,
                    nonce: [UInt8](repeating: 1, count: nonceCount).span, authenticating: Span())
            }
            #expect(text.isEmpty, "the plaintext was not wiped")
        }
    }

    @Test(arguments: [0, 1, 4, 8, 12, 15, 17, 32])
    func refusesATagOfLength(_ count: Int) throws {
        let sealed = try seal(bytes("configuration"))
        let tag = Array((sealed.tag + sealed.tag).prefix(count))
        #expect(throws: CryptoFailure.self) { try open(sealed.ciphertext, tag) }
    }

    @Test(arguments: [0, 1, 8, 11, 13, 16, 32])
    func refusesANonceOfLength(_ count: Int) {
        let nonce = [UInt8](repeating: 7, count: count)
        #expect(throws: CryptoFailure.self) {
            try AESGCM.seal(
                Span(), key: Self.key.span, nonce: nonce.span, authenticating: Span())
        }
        #expect(throws: CryptoFailure.self) {
            try AESGCM.open(
                ciphertext: Span(), tag: [UInt8](repeating: 0, count: 16).span,
                key: Self.key.span, nonce: nonce.span, authenticating: Span())
        }
    }

    @Test(arguments: [0, 16, 24, 31, 33, 64])
    func refusesAKeyOfLength(_ count: Int) {
        let key = [UInt8](repeating: 7, count: count)
        #expect(throws: CryptoFailure.self) {
            try AESGCM.seal(
                Span(), key: key.span, nonce: Self.nonce.span, authenticating: Span())
        }
    }

    @Test func refusesEveryChangedBit() throws {
        let sealed = try seal(bytes("text"))
        for bit in 0..<(16 * 8) {
            var tag = sealed.tag
            tag[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(isRefusedAsForged { try open(sealed.ciphertext, tag) })
        }
        for bit in 0..<(4 * 8) {
            var ciphertext = sealed.ciphertext
            ciphertext[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(isRefusedAsForged { try open(ciphertext, sealed.tag) })
        }
    }

    @Test(arguments: ["", "headeR", "header "])
    func refusesOtherAssociatedData(_ text: String) throws {
        let sealed = try seal(bytes("text"))
        #expect(isRefusedAsForged { try open(sealed.ciphertext, sealed.tag, header: text) })
    }

    @Test func refusesACutCiphertext() throws {
        let sealed = try seal(bytes("text"))
        #expect(isRefusedAsForged { try open(Array(sealed.ciphertext.dropLast()), sealed.tag) })
        #expect(isRefusedAsForged { try open([], sealed.tag) })
    }

    private func seal(_ plaintext: [UInt8]) throws -> (ciphertext: [UInt8], tag: [UInt8]) {
        try AESGCM.seal(
            plaintext.span, key: Self.key.span, nonce: Self.nonce.span,
            authenticating: bytes("header").span)
    }

    private func open(
        _ ciphertext: [UInt8], _ tag: [UInt8], header: String = "header"
    ) throws -> [UInt8] {
        try AESGCM.open(
            ciphertext: ciphertext.span, tag: tag.span, key: Self.key.span, nonce: Self.nonce.span,
            authenticating: bytes(header).span)
    }

    private func isRefusedAsForged(_ open: () throws -> [UInt8]) -> Bool {
        do {
            _ = try open()
            return false
        } catch {
            return (error as? CryptoFailure)?.isAuthenticationFailure == true
        }
    }
}

extension AESGCM {
    /// Seals a copy of a plaintext.
    fileprivate static func seal(
        _ plaintext: Span<UInt8>, key: Span<UInt8>, nonce: Span<UInt8>,
        authenticating associated: Span<UInt8>
    ) throws -> (ciphertext: [UInt8], tag: [UInt8]) {
        var text = plaintext.indices.map { plaintext[$0] }
        let tag = try seal(
            inPlace: &text, key: key, nonce: nonce, authenticating: associated)
        return (text, tag)
    }
}
