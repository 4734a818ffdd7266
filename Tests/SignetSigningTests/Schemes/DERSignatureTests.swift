import Foundation
import SignetCrypto
import SignetJSON
import TestSupport
import Testing

@testable import SignetSigning

/// The DER form of ECDSA signatures.
@Suite struct DERSignatureTests {
    private static let der: [UInt8] = [0x30, 0x07, 0x02, 0x02, 0x00, 0x81, 0x02, 0x01, 0x05]

    @Test func readsAndWritesTheShortestForm() throws {
        var raw = [UInt8](repeating: 0, count: 64)
        raw[31] = 0x81
        raw[63] = 5
        #expect(DERSignature.der(ofRaw: raw) == Self.der)
        #expect(DERSignature(Self.der)?.raw(byteCount: 64) == raw)
        var random = SplitMix(seed: 3)
        for count in [64, 96] {
            for _ in 0..<200 {
                var raw = random.bytes(count...count)
                let zeros = Int.random(in: 0...3, using: &random)
                for index in 0..<zeros { raw[index] = 0 }
                #expect(DERSignature(DERSignature.der(ofRaw: raw))?.raw(byteCount: count) == raw)
            }
        }
    }

    @Test(
        arguments: [
            [], [0x30], [0x30, 0x00], [0x30, 0x03, 0x02, 0x01, 0x05],
            // A byte after it, inside and outside of the sequence.
            [0x30, 0x07, 0x02, 0x02, 0x00, 0x81, 0x02, 0x01, 0x05, 0x00],
            [0x30, 0x08, 0x02, 0x02, 0x00, 0x81, 0x02, 0x01, 0x05, 0x00],
            [0x30, 0x0A, 0x02, 0x02, 0x00, 0x81, 0x02, 0x01, 0x05, 0x02, 0x01, 0x05],
            // A length in two bytes, an indefinite length, and lengths that are too long or short.
            [0x30, 0x81, 0x07, 0x02, 0x02, 0x00, 0x81, 0x02, 0x01, 0x05],
            [0x30, 0x80, 0x02, 0x02, 0x00, 0x81, 0x02, 0x01, 0x05, 0x00, 0x00],
            [0x30, 0x08, 0x02, 0x02, 0x00, 0x81, 0x02, 0x01, 0x05],
            [0x30, 0x06, 0x02, 0x02, 0x00, 0x81, 0x02, 0x01, 0x05],
            [0x30, 0x07, 0x02, 0x02, 0x00, 0x81, 0x02, 0x02, 0x05],
            // Negative, zero, empty, and with a zero byte that isn't needed.
            [0x30, 0x06, 0x02, 0x01, 0x81, 0x02, 0x01, 0x05],
            [0x30, 0x06, 0x02, 0x01, 0x00, 0x02, 0x01, 0x05],
            [0x30, 0x05, 0x02, 0x00, 0x02, 0x01, 0x05],
            [0x30, 0x07, 0x02, 0x02, 0x00, 0x01, 0x02, 0x01, 0x05],
            // Other tags.
            [0x31, 0x07, 0x02, 0x02, 0x00, 0x81, 0x02, 0x01, 0x05],
            [0x30, 0x07, 0x03, 0x02, 0x00, 0x81, 0x02, 0x01, 0x05],
            [0x30, 0x07, 0x02, 0x02, 0x00, 0x81, 0x0A, 0x01, 0x05],
        ] as [[UInt8]])
    func refusesOtherEncodings(_ bytes: [UInt8]) {
        #expect(DERSignature(bytes) == nil)
    }

    @Test func refusesANumberThatIsTooLong() {
        let long = DERSignature.der(ofRaw: [UInt8](repeating: 0x7F, count: 96))
        #expect(DERSignature(long)?.raw(byteCount: 64) == nil)
        #expect(DERSignature(long)?.raw(byteCount: 96) != nil)
    }

    private static func signedEvent(
        _ kind: CryptoKey.Kind, _ algorithm: String
    ) throws -> (SigningScheme, KeySet, SignableMessage) {
        let document: JSONObject = [
            "signet-scheme": 1, "name": "der", "text": "{body}",
            "sign": ["key": [.string(algorithm)], "form": "der"], "signature": "base64",
            "place": [["header": "X-Sign", "value": "{signature}"]],
        ]
        let scheme = try SigningScheme(document: JSONValue.object(document).serialized())
        let tree = JSONValue.object(try KeyFile.tree(kind, id: "ec"))
        let keys = try Sample.keySet([String(decoding: tree.serialized(), as: UTF8.self)])
        var message = try Sample.message()
        _ = try MessageSigner(scheme: scheme, key: keys.key(id: "ec"))
            .sign(&message, now: Sample.now)
        return (scheme, keys, message)
    }

    @Test(arguments: [
        (CryptoKey.Kind.p256, "ecdsa-p256-sha256", 64), (.p384, "ecdsa-p384-sha384", 96),
    ])
    func verifiesNothingButDER(_ kind: CryptoKey.Kind, _ algorithm: String, _ size: Int) throws {
        let (scheme, keys, message) = try Self.signedEvent(kind, algorithm)
        let verifier = try Verifier(scheme: scheme, keys: keys)
        #expect(Partner.reason(verifier, message) == "no error")
        let field = try #require(message.field("X-Sign"))
        let der = try #require(Data(base64Encoded: field).map { [UInt8]($0) })
        let raw = try #require(DERSignature(der)?.raw(byteCount: size))
        var flipped = der
        flipped[der.count - 1] ^= 1
        for (bytes, wanted) in [
            (raw, "malformed-signature"), (der + [0], "malformed-signature"),
            (Array(der.dropLast()), "malformed-signature"),
            ([0x30, 0x81] + der.dropFirst(), "malformed-signature"),
            (flipped, "signature-mismatch"),
            (DERSignature.der(ofRaw: [UInt8](repeating: 0x7F, count: 96)), "signature-mismatch"),
        ] {
            let other = try message.replacing(
                field, with: Data(bytes).base64EncodedString())
            #expect(Partner.reason(verifier, other) == wanted)
        }
        #expect(
            try Partner.reason(verifier, message.replacing("\"id\":1", with: "\"id\":2"))
                == "signature-mismatch")
    }
}
