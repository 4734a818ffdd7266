import SignetJSON
import TestSupport
import Testing

@testable import SignetCrypto

/// JWK Sets: the keys that are accepted and refused.
@Suite struct KeySetTests {
    private static let root = String(repeating: "A", count: 43)
    /// The Ed25519 point of a secret that is all zeros, as `root` is.
    private static let point = "O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik"

    @Test func readsKeysOfEachKind() throws {
        let set = try parse(
            #"{"keys":[{"kty":"oct","kid":"a","use":"sig","alg":"HS256","k":"c2VjcmV0"},"#
                + #"{"kty":"oct","kid":"b","use":"sig","alg":"HS512","k":"c2VjcmV0"},"#
                + #"{"kty":"oct","kid":"c","use":"enc","k":"\#(Self.root)"},"#
                + #"{"kty":"OKP","crv":"Ed25519","kid":"d","x":"\#(Self.point)"},"#
                + #"{"kty":"EC","crv":"P-256","kid":"e","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
                // The public key of RFC 7515, appendix A.3.
                + #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#
        )
        #expect(set.keys.map(\.id) == ["a", "b", "c", "d", "e"])
        #expect(set.keys.map(\.kind) == [.hmac, .hmac, .vault, .ed25519, .p256])
        #expect(set.keys.map(\.isPrivate) == [true, true, true, false, false])
        let wanted = try HMAC.tag(of: bytes("m").span, key: bytes("secret").span, using: .sha512)
        #expect(try set.key(id: "b").hmacKey().tag(of: bytes("m")) == wanted)
        #expect(try set.key(id: "a").hmacKey() === set.key(id: "a").hmacKey())
        #expect(try set.key(id: "c").withVaultRoot { $0.count } == 32)
    }

    @Test(arguments: ["nbf", "exp"])
    func refusesATimeAfterTheYear9999(_ name: String) throws {
        func outcome(_ time: String) -> KeyError.Code? {
            code {
                try parse(
                    #"{"keys":[{"kty":"oct","kid":"a","use":"sig","alg":"HS256","k":"c2VjcmV0","#
                        + #""\#(name)":\#(time)}]}"#)
            }
        }
        for time in ["0", "253402300799", "1.5", "253402300798.5", "-1"] {
            #expect(outcome(time) == nil, "\(time)")
        }
        for time in [
            "253402300800", "253402300799.5", "6700000000000", "9223372036854775807",
            "-9223372036854775808", "1e300", "-1e300", "99999999999999999999",
        ] {
            #expect(outcome(time) == .malformedKeys, "\(time)")
        }
    }

    @Test(arguments: [
        ("", ""), ("no JSON", "nope"), ("array", "[]"), ("text", #""keys""#), ("no keys", "{}"),
        ("keys no array", #"{"keys":{}}"#), ("one JWK", #"{"kty":"oct","kid":"a","k":"AA"}"#),
        ("two values", #"{"keys":[]}{"keys":[]}"#), ("byte order mark", "\u{feff}{\"keys\":[]}"),
        ("trailing comma", #"{"keys":[],}"#), ("member twice", #"{"keys":[],"keys":[]}"#),
        ("member twice, escaped", #"{"keys":[],"\u006beys":[]}"#),
        ("key no object", #"{"keys":[1]}"#),
    ])
    func refusesTheFile(_ name: String, _ text: String) {
        #expect(code { try parse(text) } == .malformedKeys, "\(name)")
    }

    @Test(arguments: [
        #""kty":"oct","k":"AA""#, #""kid":"","kty":"oct","k":"AA""#,
        #""kid":1,"kty":"oct","k":"AA""#,
        #""kid":null,"kty":"oct","k":"AA""#, #""kid":"a","k":"AA""#, #""kid":"a","kty":7,"k":"AA""#,
        #""kid":"a","kty":"oct""#, #""kid":"a","kty":"oct","k":1"#,
        #""kid":"a","kty":"oct","k":"""#,
        #""kid":"a","kty":"oct","k":"AB""#, #""kid":"a","kty":"oct","k":"AA==""#,
        #""kid":"a","kty":"oct","k":"A""#, #""kid":"a","kty":"oct","k":"AAA+""#,
        #""kid":"a","kty":"oct","k":"AA\n""#, #""kid":"a","kid":"a","kty":"oct","k":"AA""#,
        #""kid":"a","kty":"oct","k":"AA","k":"AA""#, #""kid":"a","kty":"oct","k":"AA","use":"enc""#,
        #""kid":"a","kty":"oct","k":"AA","revoked":"false""#,
        #""kid":"a","kty":"oct","k":"AA","revoked":0"#,
        #""kid":"a","kty":"oct","k":"AA","revoked":null"#,
        #""kid":"a","kty":"oct","k":"AA","nbf":"1""#, #""kid":"a","kty":"oct","k":"AA","exp":"1""#,
        #""kid":"a","kty":"oct","k":"AA","exp":null"#,
        #""kid":"a","kty":"oct","k":"AA","exp":true"#,
        #""kid":"a","kty":"oct","k":"AA","exp":1e400"#,
        #""kid":"a","kty":"oct","k":"AA","exp":1e300"#,
        #""kid":"a","kty":"oct","k":"AA","alg":1"#, #""kid":"a","kty":"oct","k":"AA","use":[]"#,
        #""kid":"a","kty":"oct","k":"AA","alg":"ES256""#,
        #""kid":"a","kty":"oct","k":"AA","alg":"EdDSA""#, #""kid":"a","kty":"OKP""#,
        #""kid":"a","kty":"OKP","crv":"Ed25519""#,
        #""kid":"a","kty":"OKP","crv":"Ed25519","x":"AA""#,
        #""kid":"a","kty":"EC","crv":"P-256","x":"AA","y":"AA""#, #""kid":"a","kty":"RSA""#,
        #""kid":"a","kty":"RSA","n":"AQAB","e":"AQAB""#,
    ])
    func refusesTheWholeFileForTheKey(_ members: String) {
        let good = #"{"kid":"good","kty":"oct","use":"sig","alg":"HS256","k":"c2VjcmV0"}"#
        #expect(code { try parse(#"{"keys":[\#(good),{\#(members)}]}"#) } == .malformedKeys)
    }

    @Test(arguments: [
        ("AQAB", true), ("Aw", true), ("", false), ("AQ", false), ("AAE", false), ("AAAAAQ", false),
        ("AAEAAQ", false), ("Ag", false), ("AQAA", false), ("AQAAAAAAAAAB", false),
    ])
    func checksTheRSAExponent(_ exponent: String, _ isValid: Bool) {
        let n = Base64.encode([UInt8](repeating: 0xFF, count: 256), as: .url)
        let key = #"{"kid":"a","kty":"RSA","n":"\#(n)","e":"\#(exponent)"}"#
        #expect(code { try parse(#"{"keys":[\#(key)]}"#) } == (isValid ? nil : .malformedKeys))
    }

    @Test(arguments: [0, 1, 16, 31, 33, 64])
    func refusesARootOfLength(_ count: Int) {
        let k = Base64.encode([UInt8](repeating: 0x5a, count: count), as: .url)
        let failure = error {
            try parse(#"{"keys":[{"kid":"a","kty":"oct","use":"enc","k":"\#(k)"}]}"#)
        }
        #expect(failure?.code == .malformedKeys)
        #expect(failure.map { !showsCanary($0) } == true)
    }

    @Test func refusesHS256OnAVaultRoot() {
        let text = #"{"kid":"a","kty":"oct","use":"enc","alg":"HS256","k":"\#(Self.root)"}"#
        #expect(code { try parse(#"{"keys":[\#(text)]}"#) } == .malformedKeys)
    }

    @Test func refusesTwoKeysOfOneIDButNotTwoSpellings() throws {
        func key(_ id: String) -> String { #"{"kid":"\#(id)","kty":"oct","k":"AA"}"# }
        #expect(code { try parse("{\"keys\":[\(key("a")),\(key("a"))]}") } == .malformedKeys)
        #expect(code { try parse("{\"keys\":[\(key("a")),\(key("\\u0061"))]}") } == .malformedKeys)
        // Swift's == treats these as equal, but their bytes differ.
        let set = try parse("{\"keys\":[\(key("\u{e9}")),\(key("e\u{301}"))]}")
        #expect(set.keys.count == 2)
        #expect(try set.key(id: "e\u{301}") === set.keys[1])
        #expect(try set.key(id: "\u{e9}") === set.keys[0])
    }

    @Test(arguments: ["", "A", "a ", "b", "a\u{0}", "\u{430}"])
    func namesTheIDThatIsUnknown(_ id: String) throws {
        let set = try parse(#"{"keys":[{"kid":"a","kty":"oct","k":"AA"}]}"#)
        #expect(code { try set.key(id: id) } == .unknownKey)
        #expect(set[id] == nil)
    }

    @Test func aKeyIsBoundToItsUse() throws {
        let set = try parse(
            #"{"keys":[{"kid":"sig","kty":"oct","use":"sig","alg":"HS256","k":"\#(Self.root)"},"#
                + #"{"kid":"enc","kty":"oct","use":"enc","k":"\#(Self.root)"},"#
                + #"{"kid":"none","kty":"oct","k":"\#(Self.root)"},"#
                + #"{"kid":"other","kty":"oct","alg":"A256GCM","k":"\#(Self.root)"},"#
                + #"{"kid":"wrapped","kty":"oct","use":"enc","alg":"A256KW","k":"\#(Self.root)"},"#
                + #"{"kid":"odd","kty":"oct","use":"tls","alg":"none","k":"\#(Self.root)"},"#
                + #"{"kid":"new","kty":"ML-DSA","alg":"ML-DSA-44"},"#
                + #"{"kid":"curve","kty":"OKP","crv":"X448","x":"AA"}]}"#)
        for id in ["enc", "none", "other", "wrapped", "odd", "new", "curve"] {
            #expect(code { try set.key(id: id).hmacKey() } == .wrongKeyUse, "\(id)")
        }
        for id in ["sig", "none", "other", "wrapped", "odd", "new", "curve"] {
            #expect(
                code { try set.key(id: id).withVaultRoot { $0.count } } == .wrongKeyUse, "\(id)")
        }
        for id in ["enc", "wrapped", "odd", "new", "curve"] {
            #expect(code { try set.key(id: id).withSigningSecret { $0.count } } == .wrongKeyUse)
        }
        #expect(try set.key(id: "sig").withSigningSecret { $0.count } == 32)
    }

    @Test(arguments: [
        ("", 0, nil), (#","nbf":100,"exp":200"#, 100, nil), (#","nbf":100,"exp":200"#, 199, nil),
        (#","nbf":100"#, 99, KeyError.Code.keyNotYetValid), (#","exp":200"#, 200, .keyExpired),
        (#","exp":200"#, Int64.max, .keyExpired), (#","nbf":100"#, Int64.min, .keyNotYetValid),
        (#","nbf":99.5"#, 99, .keyNotYetValid), (#","nbf":99.5"#, 100, nil),
        (#","exp":199.5"#, 199, nil), (#","exp":199.5"#, 200, .keyExpired),
        (#","revoked":true,"exp":200"#, 100, .keyRevoked), (#","revoked":false"#, 100, nil),
        (#","exp":1e2"#, 99, nil), (#","exp":1e2"#, 100, .keyExpired),
        (#","exp":-1"#, 0, .keyExpired),
    ])
    func isUsableInItsTime(_ members: String, _ now: Int64, _ wanted: KeyError.Code?) throws {
        let set = try parse(#"{"keys":[{"kid":"a","kty":"oct","k":"AA"\#(members)}]}"#)
        #expect(code { try set.keys[0].requireUsable(at: now) } == wanted)
    }

    @Test func publicHalvesContainNoSecretMember() throws {
        let set = try parse(
            #"{"keys":[{"kty":"oct","kid":"a","k":"AA"},"#
                + #"{"kty":"OKP","crv":"Ed25519","kid":"d","use":"sig","alg":"EdDSA","exp":9,"#
                + #""x":"\#(Self.point)","d":"\#(Self.root)","k":"AA","note":"private"},"#
                + #"{"kty":"EC","crv":"secp256k1","kid":"e","x":"AA","y":"AA","d":"AA"}]}"#)
        let wanted =
            #"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"d","use":"sig","alg":"EdDSA","exp":9,"#
            + #""x":"\#(Self.point)"}]}"#
        #expect(set.publicHalves.text == wanted)
        #expect(set.isPrivate)
        #expect(try !KeySet(parsing: bytes(set.publicHalves.text), source: "public").isPrivate)
    }

    @Test func aSecretNeverPrints() throws {
        let k = Base64.encode([UInt8](repeating: 0x5a, count: 32), as: .url)
        let set = try parse(
            #"{"keys":[{"kid":"a","kty":"oct","alg":"HS256","k":"\#(k)"},"#
                + #"{"kid":"b","kty":"oct","use":"enc","k":"\#(k)"},"#
                + #"{"kid":"c","kty":"OKP","crv":"Ed25519","d":"\#(k)","#
                + #""x":"DXVQdU4IAKXSN-71gmA1dmubPloVhoqUCrKJlYeI47A"}]}"#)
        #expect(!showsCanary(set))
        for key in set.keys { #expect(!showsCanary(key)) }
        for broken in ["\(k)=", "\(k)!", "\(k)\(k)A"] {
            let failure = error {
                try parse(#"{"keys":[{"kid":"a","kty":"oct","use":"enc","k":"\#(broken)"}]}"#)
            }
            #expect(failure.map { !showsCanary($0) } == true)
        }
        for text in [#"{"keys":["\#(k)]}"#, #"{"\#(k)":1,"\#(k)":2}"#, k] {
            #expect(error { try parse(text) }.map { !showsCanary($0) } == true)
        }
    }

    private func parse(_ text: String) throws -> KeySet {
        try KeySet(parsing: bytes(text), source: "test")
    }

    private func code(_ work: () throws -> Any) -> KeyError.Code? { error(work)?.code }

    private func error(_ work: () throws -> Any) -> KeyError? {
        do {
            _ = try work()
            return nil
        } catch {
            return error as? KeyError
        }
    }
}
