import SignetJSON
import SignetVault
import TestSupport
import Testing

/// Merging of the three inputs: precedence, origins, checks and errors.
@Suite struct MergeTests {
    static let shop = """
        {"host":{"type":"string","visibility":"public","pattern":"^[a-z.]+$"},
         "token":{"type":"string"},
         "attempts":{"type":"integer","visibility":"public","minimum":1,"maximum":9,"setBy":["defaults","launch"]},
         "mode":{"type":"string","visibility":"public","enum":["production","test"],"setBy":["defaults"]},
         "ratio":{"type":"number","visibility":"public","minimum":0,"maximum":1},
         "timeout":{"type":"duration","visibility":"public","minimum":"1ms","maximum":"1h"},
         "base":{"type":"url","visibility":"public"},
         "salt":{"type":"bytes"},
         "live":{"type":"boolean","visibility":"public"},
         "list":{"type":"array","visibility":"public"},
         "map":{"type":"object","visibility":"public"}}
        """

    func merge(
        _ defaults: String, launch: ConfigurationInput = .none, fetched: String = "{}"
    ) throws -> GlobalConfiguration {
        try GlobalConfiguration(
            schema: schema(Self.shop), defaults: json(defaults), launch: launch,
            fetched: json(fetched))
    }

    @Test(.features("000-06", "000-09")) func laterInputsWinAndOriginsAreKept() throws {
        let merged = try merge(
            #"{"mode":"test","attempts":1,"host":"a.example","token":"d"}"#,
            launch: .texts(["attempts=2", "host=b.example"]),
            fetched: #"{"host":"c.example"}"#)
        #expect(
            JSONValue.object(merged.publicValues).text
                == #"{"host":"c.example","attempts":2,"mode":"test"}"#)
        #expect(
            JSONValue.object(merged.publicOrigins).text
                == #"{"host":"fetched","attempts":"launch","mode":"defaults"}"#)
        #expect(merged.origin(of: "token") == .defaults)
        #expect(merged.origin(of: "list") == nil)
        #expect(merged.count == 4)
    }

    @Test(arguments: [
        (#"{"hosts":"a"}"#, "unknown-config-key"), (#"{"Host":"a"}"#, "unknown-config-key"),
        (#"{"host":1}"#, "wrong-type"), (#"{"host":null}"#, "wrong-type"),
        (#"{"host":["a"]}"#, "wrong-type"), (#"{"attempts":"1"}"#, "wrong-type"),
        (#"{"attempts":1.0}"#, "wrong-type"), (#"{"attempts":1e0}"#, "wrong-type"),
        (#"{"attempts":true}"#, "wrong-type"), (#"{"live":"true"}"#, "wrong-type"),
        (#"{"live":1}"#, "wrong-type"), (#"{"list":{}}"#, "wrong-type"),
        (#"{"map":[]}"#, "wrong-type"), (#"{"ratio":"0.5"}"#, "wrong-type"),
        (#"{"timeout":"1"}"#, "wrong-type"), (#"{"timeout":"1 s"}"#, "wrong-type"),
        (#"{"timeout":"-1s"}"#, "wrong-type"), (#"{"timeout":"1w"}"#, "wrong-type"),
        (#"{"timeout":""}"#, "wrong-type"), (#"{"timeout":"s"}"#, "wrong-type"),
        (#"{"timeout":"1.s"}"#, "wrong-type"), (#"{"timeout":"1e3s"}"#, "wrong-type"),
        (#"{"timeout":"0.1ns0.0000000001ns"}"#, "wrong-type"), (#"{"timeout":-1}"#, "wrong-type"),
        (#"{"timeout":1e1}"#, "wrong-type"), (#"{"timeout":"9999999999999s"}"#, "wrong-type"),
        (#"{"base":"/path"}"#, "wrong-type"), (#"{"base":"https://"}"#, "wrong-type"),
        (#"{"base":"https:///path"}"#, "wrong-type"), (#"{"base":"https://a b"}"#, "wrong-type"),
        (#"{"base":"https://a:99999"}"#, "wrong-type"),
        (#"{"base":"https://a/%zz"}"#, "wrong-type"),
        (#"{"base":"https://ä.example"}"#, "wrong-type"), (#"{"base":"1https://a"}"#, "wrong-type"),
        (#"{"base":"https://:80"}"#, "wrong-type"), (#"{"base":"https://[::1"}"#, "wrong-type"),
        (#"{"salt":"QQ"}"#, "wrong-type"), (#"{"salt":"QR=="}"#, "wrong-type"),
        (#"{"salt":"Q Q=="}"#, "wrong-type"), (#"{"salt":[1]}"#, "wrong-type"),
        (#"{"attempts":0}"#, "out-of-range"), (#"{"attempts":10}"#, "out-of-range"),
        (#"{"attempts":9223372036854775808}"#, "out-of-range"),
        (#"{"ratio":1.00000000000000000001}"#, "out-of-range"),
        (#"{"ratio":-0.00000000000000000001}"#, "out-of-range"),
        (#"{"ratio":1e400}"#, "out-of-range"), (#"{"timeout":"999us"}"#, "out-of-range"),
        (#"{"timeout":3600.001}"#, "out-of-range"), (#"{"timeout":"1h1ns"}"#, "out-of-range"),
        (#"{"host":"A.example"}"#, "pattern-mismatch"), (#"{"host":""}"#, "pattern-mismatch"),
        (#"{"host":"a.example\n"}"#, "pattern-mismatch"),
        (#"{"host":"a.example b"}"#, "pattern-mismatch"),
        (#"{"host":"a\u0301"}"#, "pattern-mismatch"),
        (#"{"mode":"debug"}"#, "not-in-list"), (#"{"mode":"Test"}"#, "not-in-list"),
        ("[]", "malformed-input"), ("", "malformed-input"), ("{", "malformed-input"),
        (#"{"host":"a","host":"b"}"#, "malformed-input"), (#"{"host":"a",}"#, "malformed-input"),
        ("\u{feff}{}", "malformed-input"), (#"{"host":"\ud800"}"#, "malformed-input"),
    ])
    func refusesDefaults(_ text: String, _ wanted: String) {
        let error = error { _ = try merge(text) }
        #expect(error?.code.name == wanted, "\(error?.message ?? "accepted")")
    }

    @Test(arguments: [
        #"{"host":"a.b"}"#, #"{"attempts":1}"#, #"{"attempts":9}"#, #"{"ratio":0}"#,
        #"{"ratio":1}"#,
        #"{"ratio":1.000}"#, #"{"ratio":0.1e-5}"#, #"{"timeout":"1ms"}"#, #"{"timeout":"59m60s"}"#,
        #"{"timeout":3600}"#, #"{"timeout":0.001}"#, #"{"base":"https://a.example:8443/x?y#z"}"#,
        #"{"base":"http://[::1]:80"}"#, #"{"salt":""}"#, #"{"salt":"QQ=="}"#, #"{"list":[]}"#,
        #"{"map":{}}"#, #"{"token":""}"#, "{}",
    ])
    func acceptsDefaults(_ text: String) throws {
        _ = try merge(text)
    }

    @Test func aHiddenValueIsCheckedToo() {
        let error = error {
            _ = try merge(#"{"attempts":0}"#, launch: .texts(["attempts=3"]))
        }
        #expect(error?.code == .outOfRange)
        #expect(error?.message == #""attempts" in defaults: below the schema's minimum"#)
    }

    @Test func anInputSetsOnlyWhatTheSchemaLetsIt() {
        #expect(code { _ = try merge("{}", fetched: #"{"attempts":2}"#) } == "source-not-allowed")
        #expect(code { _ = try merge("{}", launch: .texts(["mode=test"])) } == "source-not-allowed")
    }

    @Test(arguments: [
        (["attempts"], "malformed-input"), (["=1"], "malformed-input"), ([""], "malformed-input"),
        (["attempts=1", "attempts=2"], "malformed-input"), (["attempt=1"], "unknown-config-key"),
        (["attempts="], "wrong-type"), (["attempts=one"], "wrong-type"),
        (["attempts=1 2"], "wrong-type"), (["attempts=\"1\""], "wrong-type"),
        (["live=TRUE"], "wrong-type"), (["list=a,b"], "wrong-type"),
        ([#"map={"a":1,"a":2}"#], "wrong-type"), (["timeout=soon"], "wrong-type"),
        (["base=example.com"], "wrong-type"), (["attempts=10"], "out-of-range"),
        (["host=a=b"], "pattern-mismatch"), (["host=\"a\""], "pattern-mismatch"),
    ])
    func refusesLaunchTexts(_ texts: [String], _ wanted: String) {
        #expect(code { _ = try merge("{}", launch: .texts(texts)) } == wanted)
    }

    @Test func launchTextsAreTextForTextAndJSONForTheRest() throws {
        let merged = try merge(
            "{}",
            launch: .texts([
                "token=a=b=\"c\"", "attempts=3", "timeout=2.5", "base=https://a.example/?q=1",
                "live=true", "list=[1,\"x\"]", #"map={"a":null}"#, "salt=QQ==", "ratio=0.25",
            ]))
        #expect(
            JSONValue.object(merged.values).text == #"""
                {"token":"a=b=\"c\"","attempts":3,"ratio":0.25,"timeout":2.5,\#
                "base":"https://a.example/?q=1","salt":"QQ==","live":true,"list":[1,"x"],"map":{"a":null}}
                """#)
    }

    @Test func environmentVariablesAreNamedByPrefixAndKey() throws {
        let keys =
            #"{"orders.base-url":{"type":"url"},"n":{"type":"integer"},"x.y":{"type":"string"},"x-y":{"type":"string"}}"#
        func merged(_ variables: [String: String], _ prefix: String = "SHOP_") throws -> String {
            let configuration = try GlobalConfiguration(
                schema: schema(keys), defaults: .none,
                launch: .environment(prefix: prefix, variables: variables))
            return JSONValue.object(configuration.values).text
        }
        #expect(
            try merged(["SHOP_ORDERS_BASE_URL": "https://a", "SHOP_N": "4", "HOME": "/"])
                == #"{"orders.base-url":"https://a","n":4}"#)
        #expect(code { _ = try merged(["SHOP_M": "4"]) } == "unknown-config-key")
        #expect(code { _ = try merged(["SHOP_N": "four"]) } == "wrong-type")
        #expect(code { _ = try merged(["SHOP_X_Y": "a"]) } == "malformed-input")
        #expect(code { _ = try merged([:], "") } == "malformed-input")
    }

    @Test func namesAreComparedAsBytes() throws {
        for (name, other) in [("é", "e\u{301}"), ("e\u{301}", "é")] {
            let schema = try Schema(["keys": .object([name: ["type": "integer"]])])
            let input = ConfigurationInput.values([name: 1])
            #expect(try GlobalConfiguration(schema: schema, defaults: input).count == 1)
            #expect(
                code {
                    _ = try GlobalConfiguration(schema: schema, defaults: .values([other: 1]))
                } == "unknown-config-key")
        }
    }

    @Test func aMessageNamesKeyAndInputAndNeverTheValue() throws {
        let canary = "ZZZZZZcanaryZZZZZZ"
        for (text, key) in [
            (#"{"host":"\#(canary)"}"#, "host"), (#"{"attempts":"\#(canary)"}"#, "attempts"),
            (#"{"mode":"\#(canary)"}"#, "mode"), (#"{"base":"\#(canary)"}"#, "base"),
            (#"{"timeout":"\#(canary)"}"#, "timeout"), (#"{"salt":"\#(canary)"}"#, "salt"),
        ] {
            let error = try #require(error { _ = try merge(text) })
            #expect(error.message.contains("\"\(key)\" in defaults"))
            #expect(!"\(error)\(String(reflecting: error))".contains("ZZZZZZ"))
        }
        let launch = try #require(
            error { _ = try merge("{}", launch: .texts(["ZZZZZZ\(canary)"])) })
        #expect(!launch.message.contains("ZZZZZZ"))
    }

    @Test(.features("000-06")) func readsFilesAndNamesThoseItCannot() throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write(#"{"host":"a.example"}"#, to: "defaults.json", mode: 0o644)
        let merged = try GlobalConfiguration(schema: schema(Self.shop), defaults: .file(path))
        #expect(merged.count == 1)
        for missing in [folder.path("none.json"), folder.path] {
            let error = error {
                _ = try GlobalConfiguration(schema: schema(Self.shop), defaults: .file(missing))
            }
            #expect(error?.code == .unreadableFile)
            #expect(error?.message.contains(missing) == true)
        }
        try folder.write(
            [UInt8](repeating: 0x20, count: (16 << 20) + 1), to: "large.json")
        #expect(
            code {
                _ = try GlobalConfiguration(
                    schema: schema(Self.shop), defaults: .file(folder.path("large.json")))
            } != nil)
    }
}
