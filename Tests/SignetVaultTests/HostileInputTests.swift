import SignetJSON
import SignetVault
import Testing

/// Inputs made to be slow, to be misread, or to be read in two ways. An input that hangs fails the
/// test run.
@Suite struct HostileInputTests {
    static let keys = #"""
        {"text":{"type":"string","visibility":"public","pattern":"[a-z ]*"},"plain":{"type":"string"},
         "open":{"type":"string","visibility":"public"},
         "count":{"type":"integer"},"share":{"type":"number","minimum":-1,"maximum":1},
         "pause":{"type":"duration"},"list":{"type":"array"},"map":{"type":"object"},"raw":{"type":"bytes"}}
        """#

    func merged(_ text: String) throws -> GlobalConfiguration {
        try GlobalConfiguration(schema: schema(Self.keys), defaults: json(text))
    }

    @Test(arguments: [
        (#"{"count":9223372036854775808}"#, "out-of-range"),
        (#"{"count":-9223372036854775809}"#, "out-of-range"),
        (#"{"count":NaN}"#, "malformed-input"), (#"{"count":Infinity}"#, "malformed-input"),
        (#"{"count":-}"#, "malformed-input"), (#"{"count":01}"#, "malformed-input"),
        (#"{"count":+1}"#, "malformed-input"),
        (#"{"count":1e2}"#, "wrong-type"), (#"{"count":0x10}"#, "malformed-input"),
        (#"{"count":1_0}"#, "malformed-input"),
        (#"{"share":1e999999999}"#, "out-of-range"), (#"{"share":-1e999999999}"#, "out-of-range"),
        (#"{"share":1e99999999999999999999999999}"#, "out-of-range"),
        (#"{"pause":1e999999999}"#, "wrong-type"),
        (#"{"pause":"1e999999999s"}"#, "wrong-type"),
        (#"{"pause":"99999999999999999999999d"}"#, "wrong-type"),
        (#"{"pause":"-0s"}"#, "wrong-type"), (#"{"pause":-0}"#, "wrong-type"),
        (#"{"text":"a\u0000"}"#, "pattern-mismatch"), ("{\"text\":\"a\0\"}", "malformed-input"),
        (#"{"plain":"\ud800"}"#, "malformed-input"),
        (#"{"plain":"\udc00\ud800"}"#, "malformed-input"),
        (#"{"plain":1,"plain":2}"#, "malformed-input"),
        (#"{"plain":"a","pl\u0061in":"b"}"#, "malformed-input"),
        (#"{"map":{"a":1,"a":2}}"#, "malformed-input"),
        (#"{"list":[{"a":{"b":1,"b":1}}]}"#, "malformed-input"),
        ("{}{}", "malformed-input"), ("{\"a\":1]", "malformed-input"), ("null", "malformed-input"),
    ])
    func refuses(_ text: String, _ wanted: String) {
        #expect(code { _ = try merged(text) } == wanted)
    }

    @Test(arguments: [
        #"{"count":-0}"#, #"{"count":9223372036854775807}"#, #"{"count":-9223372036854775808}"#,
        #"{"share":-0.0}"#,
        #"{"share":1e-999999999}"#, #"{"share":0e999999999}"#,
        #"{"share":-1e-99999999999999999999999}"#,
        #"{"plain":"a\u0000b"}"#, #"{"plain":"😀"}"#, #"{"list":[1e999999999]}"#,
    ])
    func accepts(_ text: String) throws { _ = try merged(text) }

    @Test func aDuplicateIsNamedByItsOffset() {
        let error = error { _ = try merged(#"{"plain":"ZZZZZZ","plain":"ZZZZZZ"}"#) }
        #expect(
            error?.message
                == "defaults: not JSON: at byte 18: duplicate member name")
        let launch = SignetVaultTests.error {
            _ = try GlobalConfiguration(
                schema: schema(Self.keys), defaults: .none,
                launch: .texts([#"map={"a":"ZZZZZZ","a":"ZZZZZZ"}"#]))
        }
        #expect(launch?.code == .wrongType && launch?.message.contains("at byte 14: ") == true)
        #expect(launch?.message.contains("ZZZZZZ") == false)
        // A name may be a secret in the wrong place, and in a map it is part of the value.
        for text in [#"{"ZZZZZZ":1,"ZZZZZZ":2}"#, #"{"map":{"ZZZZZZ":01}}"#] {
            let error = SignetVaultTests.error { _ = try merged(text) }
            #expect(error?.code == .malformedInput)
            #expect(error?.message.contains("ZZZZZZ") == false)
        }
    }

    @Test func readsNumbersOfAMillionDigits() throws {
        let digits = String(repeating: "9", count: 1_000_000)
        #expect(code { _ = try merged(#"{"count":\#(digits)}"#) } == "out-of-range")
        #expect(code { _ = try merged(#"{"share":\#(digits)}"#) } == "out-of-range")
        _ = try merged(#"{"share":0.\#(digits)}"#)
        #expect(code { _ = try merged(#"{"share":1.\#(digits)}"#) } == "out-of-range")
        #expect(code { _ = try merged(#"{"share":1e\#(digits)}"#) } == "out-of-range")
    }

    @Test func readsTextsOfTenMillionBytes() throws {
        let text = String(repeating: "a secret ", count: 1_100_000)
        let merged = try merged(
            #"{"plain":"\#(text)","raw":"\#(String(repeating: "AAAA", count: 1_000_000))"}"#)
        #expect(merged.count == 2)
        let large = String(repeating: "lorem ipsum ", count: 90_000)
        #expect(try self.merged(#"{"text":"\#(large)"}"#).count == 1)
        // Nothing hides at the end of a long public text.
        let hidden = String(repeating: "lorem ", count: 90_000) + SecretDetectorTests.hexKey
        #expect(
            code { _ = try self.merged(#"{"open":"\#(hidden)"}"#) } == "public-value-looks-secret")
        let run =
            String(repeating: "a", count: 300_000)
            + String(repeating: SecretDetectorTests.base64URLKey, count: 100)
        #expect(code { _ = try self.merged(#"{"open":"\#(run)"}"#) } == "public-value-looks-secret")
    }

    @Test func refusesMoreThan16MiB() {
        let text = #"{"plain":"\#(String(repeating: "a", count: 16 << 20))"}"#
        #expect(code { _ = try merged(text) } == "malformed-input")
    }

    @Test func readsAHundredThousandKeys() throws {
        let names = (0..<100_000).map { "key.\($0)" }
        let keys = names.map { #""\#($0)":{"type":"integer","visibility":"public"}"# }
        let values = names.map { #""\#($0)":1"# }
        let schema = try schema("{\(keys.joined(separator: ","))}")
        let merged = try GlobalConfiguration(
            schema: schema, defaults: json("{\(values.joined(separator: ","))}"))
        #expect(merged.count == 100_000)
        #expect(merged.public[ConfigurationKey<Int, PublicValue>("key.99999")] == 1)
        #expect(try merged.changing(.launch, with: ["key.0": 2]).origin(of: "key.0") == .launch)
        #expect(merged.public.entries.count == 100_000)
    }

    @Test func refusesTooDeepNesting() throws {
        func nested(_ depth: Int) -> String {
            #"{"list":"# + String(repeating: "[", count: depth)
                + String(repeating: "]", count: depth) + "}"
        }
        _ = try merged(nested(511))
        #expect(code { _ = try merged(nested(512)) } == "malformed-input")
        #expect(code { _ = try merged(nested(1_000_000)) } == "malformed-input")
    }

    @Test func laterOfJoinedInputsWinAndAllAreChecked() throws {
        let joined = ConfigurationInput.joined([
            json(#"{"plain":"a","count":1}"#), .texts(["plain=b"]),
            .environment(prefix: "SHOP_", variables: ["SHOP_PLAIN": "c"]),
        ])
        let merged = try GlobalConfiguration(
            schema: schema(
                Self.keys.replacing(
                    #""plain":{"type":"string"}"#,
                    with: #""plain":{"type":"string","visibility":"public"}"#)),
            defaults: .none, launch: joined)
        #expect(merged.public.values == ["plain": "c"])
        let bad = ConfigurationInput.joined([json(#"{"count":"1"}"#), .texts(["count=2"])])
        #expect(
            code {
                _ = try GlobalConfiguration(schema: schema(Self.keys), defaults: .none, launch: bad)
            } == "wrong-type")
    }

    @Test func aSecretInAKeysPlaceIsNotRepeated() {
        for text in ["\(SecretDetectorTests.base64Key)", "\(SecretDetectorTests.hexKey)=x"] {
            let error = error {
                _ = try GlobalConfiguration(
                    schema: schema(Self.keys), defaults: .none, launch: .texts([text]))
            }
            #expect(error?.code == .unknownConfigKey)
            #expect(
                error?.message == "a name that looks like a secret in launch: not in the schema")
        }
    }
}
