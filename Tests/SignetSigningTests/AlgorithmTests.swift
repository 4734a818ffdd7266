import Foundation
import SignetJSON
import TestSupport
import Testing

@testable import SignetCrypto
@testable import SignetSigning

/// The six algorithms of RFC 9421, section 3.3, and how a key is bound to one.
@Suite struct AlgorithmTests {
    /// One key of each kind that RFC 9421 can use, and the algorithm it is bound to.
    static let keys: KeySet = {
        do {
            var jwks: [JSONValue] = []
            for (kind, id) in [
                (CryptoKey.Kind.hmac, "hmac-sha256"), (.ed25519, "ed25519"),
                (.p256, "ecdsa-p256-sha256"), (.p384, "ecdsa-p384-sha384"),
                (.rsa, "rsa-pss-sha512"), (.rsa, "rsa-v1_5-sha256"),
            ] {
                var jwk = try KeyFile.tree(kind, id: id)
                if id == "rsa-v1_5-sha256" { jwk["alg"] = "RS256" }
                jwks.append(.object(jwk))
            }
            let set: JSONValue = ["keys": .array(jwks)]
            return try KeySet(parsing: set.serialized(), source: "a test")
        } catch { preconditionFailure("\(error)") }
    }()

    static let publicKeys: KeySet = {
        do {
            return try KeySet(parsing: keys.publicHalves.serialized(), source: "a test")
        } catch { preconditionFailure("\(error)") }
    }()

    static let names = HTTPSignatureAlgorithm.all.map(\.name)

    private func signed(_ id: String, tag: String? = nil) throws -> SignableMessage {
        var message = try Sample.message()
        var options = MessageSigner.Options()
        options.tag = tag
        _ = try MessageSigner(scheme: .rfc9421, key: Self.keys.key(id: id), options: options)
            .sign(&message, now: Sample.now)
        return message
    }

    private func verify(
        _ message: SignableMessage, keys: KeySet = keys,
        _ policy: VerificationPolicy = VerificationPolicy()
    ) throws -> VerifiedMessage {
        try Verifier(keys: keys, policy: policy).verify(message, now: Sample.now)
    }

    @Test func namesSixAlgorithmsAsTheRegistry() {
        #expect(
            Self.names.sorted() == [
                "ecdsa-p256-sha256", "ecdsa-p384-sha384", "ed25519", "hmac-sha256",
                "rsa-pss-sha512", "rsa-v1_5-sha256",
            ])
        for algorithm in HTTPSignatureAlgorithm.all {
            #expect(HTTPSignatureAlgorithm(name: algorithm.name) == algorithm)
        }
        #expect(HTTPSignatureAlgorithm(name: "hmac-sha512") == nil)
        #expect(HTTPSignatureAlgorithm(name: "ED25519") == nil)
    }

    /// Verifies with the pair and with its public half, and refuses a changed signature.
    @Test(arguments: names)
    func verifiesWithThePublicHalf(_ name: String) throws {
        let message = try signed(name)
        #expect(try verify(message).keyID == name)
        if name != "hmac-sha256" {
            #expect(try verify(message, keys: Self.publicKeys).keyID == name)
        }
        let other = try message.replacing("/rpc", with: "/rpd")
        #expect(code { _ = try verify(other) } == "signature-mismatch")
        // One bit of the signature, its first and last byte gone, and one more.
        let old = try #require(message.value(of: Array("signature".utf8)))
        let raw = try #require(Data(base64Encoded: text(Array(old.dropFirst(6).dropLast()))))
        var flipped = raw
        flipped[raw.count / 2] ^= 1
        for bytes in [
            flipped, raw.dropFirst(), raw.dropLast(), raw + [0], Data(count: raw.count), Data(),
        ] {
            let changed = try message.replacing(
                raw.base64EncodedString(), with: Data(bytes).base64EncodedString())
            #expect(code { _ = try verify(changed) } == "signature-mismatch")
        }
    }

    @Test(arguments: names)
    func refusesAnotherAlgorithmThanTheKeys(_ name: String) throws {
        let message = try signed(name)
        for other in Self.names + ["hmac-sha512", "none", "rsa-v1_5-sha512", "ED25519", ""] {
            let named = try message.replacing(
                ";keyid=\"\(name)\"", with: ";keyid=\"\(name)\";alg=\"\(other)\"")
            // The right name changes what is signed; each other one is refused before that.
            #expect(
                code { _ = try verify(named) }
                    == (other == name ? "signature-mismatch" : "algorithm-mismatch"))
        }
        for other in Self.names where other != name {
            let moved = try message.replacing("keyid=\"\(name)\"", with: "keyid=\"\(other)\"")
            #expect(code { _ = try verify(moved) } == "signature-mismatch")
        }
    }

    @Test func refusesAnHMACUnderAPublicKeysBytes() throws {
        // The classic: the verifier's public key used as a shared secret.
        let key = try #require(Self.publicKeys["ed25519"]?.publicHalf?["x"]?.string)
        let forged = try Sample.keySet([
            #"{"kty":"oct","kid":"ed25519","k":"\#(key)","alg":"HS256","use":"sig"}"#
        ])
        var message = try Sample.message()
        _ = try MessageSigner(scheme: .rfc9421, key: forged.keys[0]).sign(&message, now: Sample.now)
        #expect(
            code { _ = try verify(message, keys: Self.publicKeys) } == "signature-mismatch")
    }

    @Test(arguments: names.filter { $0 != "hmac-sha256" })
    func refusesToSignWithAPublicKey(_ name: String) throws {
        let key = try Self.publicKeys.key(id: name)
        #expect(code { _ = try MessageSigner(scheme: .rfc9421, key: key) } == "wrong-key-use")
    }

    /// An asymmetric key can't sign by salted-hmac-v1, and a key for encryption can't sign at all.
    @Test func refusesKeysForAnotherUse() throws {
        #expect(
            code { _ = try MessageSigner(scheme: .saltedHMAC, key: Self.keys.key(id: "ed25519")) }
                == "wrong-key-use")
        var jwk = try KeyFile.tree(.p256, id: "enc")
        jwk["use"] = "enc"
        jwk["alg"] = nil
        let set: JSONValue = ["keys": [.object(jwk)]]
        let keys = try KeySet(parsing: set.serialized(), source: "a test")
        #expect(
            code { _ = try MessageSigner(scheme: .rfc9421, key: keys.keys[0]) } == "wrong-key-use")
        // An RSA key must say which of its two algorithms it is for.
        jwk = try #require(Self.publicKeys["rsa-pss-sha512"]?.publicHalf)
        jwk["alg"] = nil
        let open: JSONValue = ["keys": [.object(jwk)]]
        let undecided = try KeySet(parsing: open.serialized(), source: "a test")
        #expect(
            code { _ = try verify(signed("rsa-pss-sha512"), keys: undecided) } == "wrong-key-use")
    }

    @Test(arguments: names)
    func acceptsTheAlgorithmsThatAPolicyNames(_ name: String) throws {
        let message = try signed(name)
        let algorithm = try #require(HTTPSignatureAlgorithm(name: name))
        var policy = VerificationPolicy()
        policy.algorithms = [algorithm]
        #expect(code { _ = try verify(message, policy) } == "no error")
        policy.allow([algorithm], forKey: name)
        #expect(code { _ = try verify(message, policy) } == "no error")
        policy.allow([], forKey: name)
        #expect(code { _ = try verify(message, policy) } == "algorithm-not-allowed")
        policy = VerificationPolicy()
        policy.allow([], forKey: "another")
        #expect(code { _ = try verify(message, policy) } == "no error")
        policy.algorithms = Set(HTTPSignatureAlgorithm.all).subtracting([algorithm])
        #expect(code { _ = try verify(message, policy) } == "algorithm-not-allowed")
    }

    private struct Wycheproof: Decodable {
        struct Group: Decodable {
            struct Test: Decodable {
                let tcId: Int
                let key: String?
                let msg: String
                let sig: String?
                let tag: String?
                let result: String
            }
            struct PublicKey: Decodable {
                let pk: String?
                let wx: String?
                let wy: String?
                let modulus: String?
                let publicExponent: String?
            }
            let publicKey: PublicKey?
            let tests: [Test]
        }
        let testGroups: [Group]
    }

    private static func bytes(_ hex: String, width: Int? = nil) -> [UInt8] {
        var bytes = TestSupport.bytes(ofHex: hex)
        guard let width else { return bytes }
        while bytes.count > width, bytes.first == 0 { bytes.removeFirst() }
        return [UInt8](repeating: 0, count: max(0, width - bytes.count)) + bytes
    }

    private static func jwk(
        _ group: Wycheproof.Group, _ test: Wycheproof.Group.Test, _ name: String
    ) -> String {
        func number(_ hex: String?, _ width: Int) -> String {
            Sample.base64url(bytes(hex ?? "", width: width))
        }
        let key = group.publicKey
        switch name {
        case "ed25519":
            return #"{"kid":"k","kty":"OKP","crv":"Ed25519","x":"\#(number(key?.pk, 32))"}"#
        case "ecdsa-p256-sha256":
            return
                #"{"kid":"k","kty":"EC","crv":"P-256","x":"\#(number(key?.wx, 32))","y":"\#(number(key?.wy, 32))"}"#
        case "ecdsa-p384-sha384":
            return
                #"{"kid":"k","kty":"EC","crv":"P-384","x":"\#(number(key?.wx, 48))","y":"\#(number(key?.wy, 48))"}"#
        case "hmac-sha256":
            return
                #"{"kid":"k","kty":"oct","use":"sig","alg":"HS256","k":"\#(Sample.base64url(bytes(test.key ?? "")))"}"#
        default:
            let isPSS = name == "rsa-pss-sha512"
            return
                #"{"kid":"k","kty":"RSA","alg":"\#(isPSS ? "PS512" : "RS256")","n":"\#(number(key?.modulus, isPSS ? 512 : 256))","e":"\#(number(key?.publicExponent, 1))"}"#
        }
    }

    /// The files' messages are arbitrary bytes and serve as bases: the test checks the verifier's
    /// comparison.
    @Test(
        .enabled(if: SharedVectors.directory != nil, "no shared vectors"),
        arguments: [
            ("hmac_sha256_test", "hmac-sha256"), ("ed25519_test", "ed25519"),
            ("ecdsa_secp256r1_sha256_p1363_test", "ecdsa-p256-sha256"),
            ("ecdsa_secp384r1_sha384_p1363_test", "ecdsa-p384-sha384"),
            ("rsa_pss_4096_sha512_mgf1_64_test", "rsa-pss-sha512"),
            ("rsa_signature_2048_sha256_test", "rsa-v1_5-sha256"),
        ])
    func agreesWithWycheproof(_ file: String, _ name: String) throws {
        let url = try #require(SharedVectors.directory).appending(path: "wycheproof/\(file).json")
        let groups = try JSONDecoder().decode(Wycheproof.self, from: Data(contentsOf: url))
            .testGroups
        var counts = (valid: 0, invalid: 0)
        for group in groups {
            for test in group.tests {
                // HMAC allows no empty key here, and RFC 9421 no shortened tag.
                if test.key?.isEmpty == true { continue }
                let key = try Sample.keySet([Self.jwk(group, test, name)]).keys[0].rfc9421Key()
                #expect(key.algorithm.name == name)
                let signature = Self.bytes(test.sig ?? test.tag ?? "")
                let isValid =
                    test.result == "valid" && (name != "hmac-sha256" || signature.count == 32)
                #expect(
                    try key.verifies(signature, of: Self.bytes(test.msg)) == isValid,
                    "\(file) \(test.tcId)")
                if isValid { counts.valid += 1 } else { counts.invalid += 1 }
            }
        }
        #expect(counts.valid > 5)
        #expect(counts.invalid > 40)
    }
}

extension KeyFile {
    /// A new key as a tree of values.
    static func tree(_ kind: CryptoKey.Kind, id: String) throws -> JSONObject {
        try #require(JSONValue(parsing: generate(kind, id: id).bytes).object)
    }
}
