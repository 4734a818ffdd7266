import SignetJSON
import TestSupport
import Testing

@testable import SignetCrypto

/// Signatures by keys of a JWK Set.
@Suite struct SignatureKeyTests {
    /// A JWK of a Wycheproof group: the members that its `publicKey` gives in hexadecimal digits.
    static func jwk(_ group: JSONObject, _ algorithm: SignatureAlgorithm) -> JSONValue {
        let key = group["publicKey"]?.object ?? [:]
        func number(_ name: String, width: Int) -> JSONValue {
            var bytes = key.hex(name)
            while bytes.count > width, bytes.first == 0 { bytes.removeFirst() }
            while bytes.count < width { bytes.insert(0, at: 0) }
            return .string(Base64.encode(bytes.span, as: .url))
        }
        switch algorithm {
        case .ed25519:
            return ["kid": "k", "kty": "OKP", "crv": "Ed25519", "x": number("pk", width: 32)]
        case .ecdsaP256SHA256:
            return [
                "kid": "k", "kty": "EC", "crv": "P-256", "x": number("wx", width: 32),
                "y": number("wy", width: 32),
            ]
        case .ecdsaP384SHA384:
            return [
                "kid": "k", "kty": "EC", "crv": "P-384", "x": number("wx", width: 48),
                "y": number("wy", width: 48),
            ]
        case .rsaPSSSHA512, .rsaPKCS1SHA256:
            let isPSS = algorithm == .rsaPSSSHA512
            return [
                "kid": "k", "kty": "RSA", "alg": isPSS ? "PS512" : "RS256",
                "n": number("modulus", width: isPSS ? 512 : 256),
                "e": number("publicExponent", width: 1),
            ]
        }
    }

    static func set(_ keys: [JSONValue]) throws -> KeySet {
        let object: JSONValue = ["keys": .array(keys)]
        return try KeySet(parsing: object.serialized(), source: "test")
    }

    @Test(
        .enabled(if: !VectorFile.wycheproofGroups("ed25519_test").isEmpty, "no shared vectors"),
        arguments: [
            ("ed25519_test", SignatureAlgorithm.ed25519, 88, 63),
            ("ecdsa_secp256r1_sha256_p1363_test", .ecdsaP256SHA256, 173, 89),
            ("ecdsa_secp384r1_sha384_p1363_test", .ecdsaP384SHA384, 193, 87),
            ("rsa_pss_4096_sha512_mgf1_64_test", .rsaPSSSHA512, 132, 47),
            ("rsa_signature_2048_sha256_test", .rsaPKCS1SHA256, 9, 250),
        ])
    func wycheproof(
        _ file: String, _ algorithm: SignatureAlgorithm, valid: Int, invalid: Int
    ) throws {
        var counts = (valid: 0, invalid: 0)
        for group in VectorFile.wycheproofGroups(file) {
            let (key, found) = try Self.set([Self.jwk(group, algorithm)]).key(id: "k")
                .signatureKey()
            #expect(found == algorithm)
            for test in (group["tests"]?.array ?? []).compactMap(\.object) {
                // "acceptable" is an old form of the padding, which we refuse.
                let isValid = test.text("result") == "valid"
                let signature = test.hex("sig")
                let message = test.hex("msg")
                let holds = try key.verifies(signature.span, of: message.span, by: algorithm)
                #expect(holds == isValid, "\(file) \(test.number("tcId"))")
                if isValid { counts.valid += 1 } else { counts.invalid += 1 }
            }
        }
        #expect(counts == (valid, invalid))
    }

    @Test(arguments: ["ed25519", "p256", "p384", "rsa"])
    func thePublicHalfVerifiesAPairsSignature(_ name: String) throws {
        let kind = try #require(CryptoKey.Kind(name: name))
        let pair = try Self.set([.object(try KeyFile.tree(kind, id: "a"))])
        let (key, algorithm) = try pair.key(id: "a").signatureKey()
        let message = bytes("a message")
        let signature = try key.sign(message.span, by: algorithm)
        #expect(signature.count == key.signatureByteCount)
        let half = try KeySet(parsing: pair.publicHalves.serialized(), source: "test")
        let (publicKey, same) = try half.key(id: "a").signatureKey()
        #expect(key.isPair && !publicKey.isPair && same == algorithm)
        #expect(try publicKey.verifies(signature.span, of: message.span, by: algorithm))
        let other = bytes("A message")
        #expect(try !publicKey.verifies(signature.span, of: other.span, by: algorithm))
        for index in [0, signature.count - 1] {
            var changed = signature
            changed[index] ^= 1
            #expect(try !publicKey.verifies(changed.span, of: message.span, by: algorithm))
        }
        for count in [0, signature.count - 1] {
            let short = Array(signature.prefix(count))
            #expect(try !publicKey.verifies(short.span, of: message.span, by: algorithm))
        }
        let long = signature + [0]
        #expect(try !publicKey.verifies(long.span, of: message.span, by: algorithm))
        #expect(throws: CryptoFailure.self) { try publicKey.sign(message.span, by: algorithm) }
        for wrong in SignatureAlgorithm.allCases where wrong.family != algorithm.family {
            #expect(throws: CryptoFailure.self) { try key.sign(message.span, by: wrong) }
        }
    }

    @Test(arguments: ["ed25519", "p256", "p384", "rsa"])
    func mismatchedHalvesAreRefused(_ name: String) throws {
        let kind = try #require(CryptoKey.Kind(name: name))
        let good = try KeyFile.tree(kind, id: "a")
        let other = try KeyFile.tree(kind, id: "a")
        var mixed = good
        for member in ["d", "p", "q", "dp", "dq", "qi"] { mixed[member] = other[member] }
        let error = #expect(throws: KeyError.self) { try Self.set([.object(mixed)]) }
        #expect(error?.code == .malformedKeys && error?.message.contains("\"a\"") == true)
        if name == "p256" || name == "p384" {
            var off = good
            off["d"] = nil
            off["y"] = other["y"]
            #expect(throws: KeyError.self) { try Self.set([.object(off)]) }
        }
        if name == "rsa" {
            var partial = good
            partial["qi"] = nil
            #expect(throws: KeyError.self) { try Self.set([.object(partial)]) }
            for member in ["p", "q", "dp", "dq", "qi"] { partial[member] = nil }
            let (key, algorithm) = try Self.set([.object(partial)]).key(id: "a").signatureKey()
            let message = bytes("m")
            let signature = try key.sign(message.span, by: algorithm)
            #expect(try key.verifies(signature.span, of: message.span, by: algorithm))
        }
    }

    @Test func aKeyIsBoundToItsAlgorithmAndUse() throws {
        var rsa = try KeyFile.tree(.rsa, id: "a")
        rsa["alg"] = nil
        var wrapped = try KeyFile.tree(.p256, id: "b")
        wrapped["alg"] = "ECDH-ES"
        wrapped["use"] = "enc"
        let keys = try Self.set([
            .object(rsa), .object(wrapped), .object(try KeyFile.tree(.hmac, id: "c")),
            .object(try KeyFile.tree(.vault, id: "d")),
        ])
        for id in ["a", "b", "c", "d"] {
            let error = #expect(throws: KeyError.self) { try keys.key(id: id).signatureKey() }
            #expect(error?.code == .wrongKeyUse)
        }
    }
}
