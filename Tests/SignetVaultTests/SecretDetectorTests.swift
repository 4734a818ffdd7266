import Foundation
import SignetJSON
import SignetVault
import TestSupport
import Testing

/// Public values that are refused because they look like secrets, and harmless ones that are
/// accepted.
@Suite struct SecretDetectorTests {
    /// Whether a value is refused as a public one and accepted as a secret one.
    func isRefused(_ value: JSONValue) throws -> Bool {
        let type = value.array != nil ? "array" : value.object != nil ? "object" : "string"
        let input = ConfigurationInput.values(["k": value])
        _ = try GlobalConfiguration(
            schema: schema(#"{"k":{"type":"\#(type)"}}"#), defaults: input)
        let keys = #"{"k":{"type":"\#(type)","visibility":"public"}}"#
        let error = error {
            _ = try GlobalConfiguration(schema: schema(keys), defaults: input)
        }
        if let error { #expect(error.code == .publicValueLooksSecret) }
        return error != nil
    }

    static let base64Key = "3q2+7wABAgMEBQYHCAkKCwwNDg8Q/v3t7s7Zr4q1Xpc="
    static let base64URLKey = "p8Xn0M3sVvQ2fJkLr7yTzW1dGhBqCeUo5iAa9S4tFxE"
    static let hexKey = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    static let pem = "-----BEGIN EC PRIVATE\u{20}KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----\n"

    @Test(arguments: [
        pem, "-----BEGIN PRIVATE\u{20}KEY-----",
        "text before -----BEGIN ENCRYPTED PRIVATE\u{20}KEY-----",
        "-----BEGIN OPENSSH PRIVATE\u{20}KEY-----\nb3BlbnNzaA\n",
        "-----BEGIN PGP PRIVATE\u{20}KEY BLOCK-----",
        base64Key, base64URLKey, hexKey, hexKey.uppercased(), "Bearer \(base64URLKey)",
        "key=\(base64URLKey)", "a,b;\(hexKey)", "AKIAIOSFODNN7EXAMPLE",
        "ghp_abcdefghijklmnopqrstuvwxyz", "sk_live_abcdefghijkl", "whsec_aaaaaaaaaaaaaaaa",
        "AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQ",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
        "https://user:password@example.com/", "https://token@example.com/",
        "sha256/\(base64Key) \(base64Key)", "sha256/\(base64URLKey)", "sha1/\(base64Key)",
        #"{"kty":"oct","k":"c2VjcmV0"}"#, #" {"kty":"EC","crv":"P-256","d":"x"}"#,
        #"["a",{"b":"\#(hexKey)"}]"#, #""\#(base64URLKey)""#,
        #"{"json":"{\"kty\":\"OKP\",\"d\":\"x\"}"}"#, #"{"\#(hexKey)":1}"#, "{not JSON \(hexKey)",
    ])
    func refusesText(_ text: String) throws {
        #expect(try isRefused(.string(text)))
        #expect(try isRefused([1, [.string(text)]]))
        #expect(try isRefused(["a": ["b": [.string(text)]]]))
        #expect(try isRefused(.string(JSONValue.array([.string(text)]).text)))
    }

    @Test(
        arguments: [
            ["kty": "oct", "k": "c2VjcmV0"], ["kty": "RSA", "n": "x", "e": "AQAB", "d": "x"],
            ["kty": "RSA", "n": "x", "e": "AQAB", "dq": "x"], ["keys": [["kty": "OKP", "d": "x"]]],
            ["a": ["b": ["kty": "RSA", "oth": []]]],
        ] as [JSONValue])
    func refusesPrivateMembers(_ value: JSONValue) throws {
        #expect(try isRefused(value))
    }

    @Test(arguments: [
        "", "orders.example.com", "services.orders.timeoutInMilliseconds",
        "com.example.shop.orders",
        "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "sha256/\(base64Key) sha256/\(base64Key)",
        "https://example.com/\(base64URLKey)?page=2",
        "https://example.com:8443/v1/orders", "wss://example.com/a@b",
        #"^https://api\.example\.com/(orders|items)/[0-9]{1,10}$"#,
        "The quick brown fox jumps over the lazy dog, twice.", "application/json; charset=utf-8",
        "this-is-a-rather-long-name-with-many-dashes-in-it",
        "/api/v2/customers/orders/invoices/list",
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "2026-11-21T05:00:00Z",
        "00000000000000000000000000000000",
        "1234567890123456789012345678901234567890", "550e8400-e29b-41d4-a716-446655440000",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "-----BEGIN CERTIFICATE-----",
        "Überraschungsgeschenkverpackungspapier", "注文サービスのタイムアウト", "password",
        #"{"retry":{"attempts":3,"on":["timeout","connect"]}}"#, #"{"kty":"EC","crv":"P-256"}"#,
        "NetworkSystemConfigurationProvider", "en-GB,en;q=0.8,de;q=0.5",
    ])
    func acceptsText(_ text: String) throws {
        #expect(try !isRefused(.string(text)))
        #expect(try !isRefused(["a": [.string(text)]]))
    }

    @Test func findsRandomKeysOf256Bits() throws {
        var random = SplitMix(seed: 7)
        for _ in 0..<200 {
            let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(try isRefused(.string(Data(bytes).base64EncodedString())))
            #expect(try isRefused(.string(hex(bytes))))
        }
    }

    /// A text of `Vectors/secrets.json`: its name and its parts.
    struct Text: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        var testDescription: String { name }

        static func all(_ group: String) throws -> [Text] {
            try #require(vector("secrets.json")[group]?.array).map { parts in
                let parts = try #require([String].init(strings: parts))
                return Text(name: parts[0], text: parts.dropFirst().joined())
            }
        }
    }

    /// The error that a public value meets.
    func refusal(_ value: JSONValue, isNotSecret: Bool) -> VaultError? {
        let more = isNotSecret ? #","notSecret":true"# : ""
        let type = value.array == nil ? "string" : "array"
        let keys = #"{"k":{"type":"\#(type)","visibility":"public"\#(more)}}"#
        return error {
            _ = try GlobalConfiguration(
                schema: schema(keys), defaults: .values(["k": value]))
        }
    }

    @Test(arguments: try Text.all("certain"))
    func refusesASecretsFormInAnySchema(_ text: Text) throws {
        for value in [JSONValue.string(text.text), ["a", ["b": .string(text.text)]]] {
            #expect(refusal(value, isNotSecret: false)?.code == .publicValueLooksSecret)
            let error = try #require(refusal(value, isNotSecret: true))
            #expect(error.code == .publicValueLooksSecret)
            #expect(!error.message.contains("notSecret"))
            #expect(error.message.hasPrefix(#""k" in defaults: a public value that looks like"#))
        }
    }

    @Test(arguments: try Text.all("likely"))
    func refusesRandomTextUnlessDeclaredPublic(_ text: Text) throws {
        for value in [JSONValue.string(text.text), ["a", ["b": .string(text.text)]]] {
            let error = try #require(refusal(value, isNotSecret: false))
            #expect(error.code == .publicValueLooksSecret)
            #expect(error.message.contains(#"say "notSecret": true in the schema"#))
            #expect(!error.message.contains(text.text.suffix(12)))
            #expect(refusal(value, isNotSecret: true) == nil)
        }
    }

    @Test(arguments: try Text.all("harmless"))
    func letsHarmlessTextsPass(_ text: Text) {
        #expect(refusal(.string(text.text), isNotSecret: false)?.message == nil)
        #expect(refusal(["a", ["b": .string(text.text)]], isNotSecret: false)?.message == nil)
    }

    @Test func aCertainFindingIsNotHiddenByALikelyOne() {
        let pem = JSONValue.string(Self.pem)
        #expect(refusal([.string(Self.hexKey), pem], isNotSecret: true) != nil)
        #expect(refusal(.string("\(Self.hexKey) \(Self.pem)"), isNotSecret: true) != nil)
    }

    @Test(arguments: [
        #"{"k":{"type":"string","notSecret":true}}"#,
        #"{"k":{"type":"string","visibility":"secret","notSecret":true}}"#,
        #"{"k":{"type":"string","visibility":"public","notSecret":false}}"#,
        #"{"k":{"type":"string","visibility":"public","notSecret":"true"}}"#,
        #"{"k":{"type":"string","visibility":"public","notSecret":null}}"#,
    ])
    func refusesAPointlessNotSecret(_ keys: String) {
        #expect(code { _ = try schema(keys) } == "malformed-schema")
    }

    @Test func aSchemaListsItsExceptions() throws {
        let schema = try schema(
            #"{"k":{"type":"string","visibility":"public","meaning":"m","maxLength":9,"notSecret":true}}"#
        )
        #expect(schema.findings.map(\.code) == ["not-secret"])
        #expect(schema.findings[0].key == "k")
        #expect(schema.description(of: "k")?.isNotSecret == true)
    }

    @Test func checksURLValuesToo() throws {
        let keys = #"{"k":{"type":"url","visibility":"public"}}"#
        let error = error {
            _ = try GlobalConfiguration(
                schema: schema(keys), defaults: json(#"{"k":"https://u:p@example.com"}"#))
        }
        #expect(error?.code == .publicValueLooksSecret)
    }
}

extension [String] {
    /// The strings of a JSON array.
    init?(strings value: JSONValue) {
        guard let array = value.array else { return nil }
        self = array.compactMap(\.string)
    }
}
