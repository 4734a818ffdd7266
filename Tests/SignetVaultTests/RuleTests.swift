import SignetJSON
import SignetVault
import TestSupport
import Testing

/// Rules for elements, lengths and counts, and the types that accepted values are read as.
@Suite struct RuleTests {
    static let keys = #"""
        {"pauses":{"type":"array","visibility":"public","minItems":1,"maxItems":3,
                   "items":{"type":"duration","minimum":"10ms","maximum":"1m"}},
         "codes":{"type":"array","visibility":"public","items":{"type":"integer","minimum":100,"maximum":599}},
         "shares":{"type":"array","visibility":"public","items":{"type":"number"}},
         "flags":{"type":"array","visibility":"public","items":{"type":"boolean"}},
         "hosts":{"type":"array","visibility":"public","items":{"type":"url"}},
         "modes":{"type":"array","visibility":"public","items":{"type":"string","enum":["production","test"]}},
         "chunks":{"type":"array","visibility":"public","items":{"type":"bytes","maxLength":4}},
         "fields":{"type":"object","visibility":"public","maxProperties":2,"items":{"type":"string","pattern":"[a-z/]+"}},
         "limits":{"type":"object","visibility":"public","items":{"type":"integer","minimum":1}},
         "table":{"type":"array","visibility":"public","items":{"type":"array","items":{"type":"integer"}}},
         "any":{"type":"array","visibility":"public"},
         "free":{"type":"object","visibility":"public"},
         "price":{"type":"number","visibility":"public","minimum":0.01},
         "name":{"type":"string","visibility":"public","minLength":2,"maxLength":4},
         "salt":{"type":"bytes","minLength":2,"maxLength":2},
         "site":{"type":"url","maxLength":12}}
        """#

    func merged(_ text: String) throws -> GlobalConfiguration {
        try GlobalConfiguration(schema: schema(Self.keys), defaults: json(text))
    }

    @Test(arguments: [
        #"{"pauses":["1s"]}"#, #"{"pauses":["10ms",60,"1m"]}"#, #"{"codes":[]}"#,
        #"{"codes":[100,599]}"#,
        #"{"fields":{}}"#, #"{"fields":{"a":"x/y","b":"z"}}"#, #"{"limits":{"":1}}"#,
        #"{"table":[[],[1,2]]}"#,
        #"{"any":[1,"a",null,[],{},1e999]}"#, #"{"free":{"a":null}}"#, #"{"name":"ab"}"#,
        #"{"name":"e\u0301e\u0301"}"#,
        #"{"salt":"AAA="}"#, #"{"site":"http://a.bcd"}"#, #"{"chunks":["","AAAAAA=="]}"#,
        #"{"price":0.01}"#,
    ])
    func accepts(_ text: String) throws { _ = try merged(text) }

    @Test(arguments: [
        (#"{"pauses":[]}"#, "out-of-range"), (#"{"pauses":["1s","1s","1s","1s"]}"#, "out-of-range"),
        (#"{"pauses":["1s","1ms"]}"#, "out-of-range"), (#"{"pauses":["1s","2m"]}"#, "out-of-range"),
        (#"{"pauses":["soon"]}"#, "wrong-type"), (#"{"pauses":[null]}"#, "wrong-type"),
        (#"{"pauses":"1s"}"#, "wrong-type"), (#"{"codes":[200,99]}"#, "out-of-range"),
        (#"{"codes":[200,"200"]}"#, "wrong-type"), (#"{"codes":[200.0]}"#, "wrong-type"),
        (#"{"codes":[99999999999999999999]}"#, "out-of-range"),
        (#"{"codes":{"a":200}}"#, "wrong-type"),
        (#"{"modes":["test","debug"]}"#, "not-in-list"), (#"{"hosts":["/a"]}"#, "wrong-type"),
        (#"{"chunks":["AAAAAAA="]}"#, "out-of-range"), (#"{"chunks":["A"]}"#, "wrong-type"),
        (#"{"fields":{"a":"x","b":"X"}}"#, "pattern-mismatch"),
        (#"{"fields":{"a":1}}"#, "wrong-type"),
        (#"{"fields":{"a":"x","b":"x","c":"x"}}"#, "out-of-range"),
        (#"{"limits":{"a":0}}"#, "out-of-range"),
        (#"{"table":[1]}"#, "wrong-type"), (#"{"table":[[1],["1"]]}"#, "wrong-type"),
        (#"{"name":"a"}"#, "out-of-range"), (#"{"name":"abcde"}"#, "out-of-range"),
        (#"{"salt":"AA=="}"#, "out-of-range"), (#"{"salt":"AAAA"}"#, "out-of-range"),
        (#"{"site":"http://a.bcde"}"#, "out-of-range"), (#"{"price":0}"#, "out-of-range"),
        (#"{"price":0.00999999999999999999999999}"#, "out-of-range"),
        (#"{"hosts":["https://u:p@a.example"]}"#, "public-value-looks-secret"),
    ])
    func refuses(_ text: String, _ wanted: String) {
        #expect(code { _ = try merged(text) } == wanted)
    }

    @Test(.features("000-16")) func namesTheElementAndNeitherItsNameNorValue() {
        #expect(
            error { _ = try merged(#"{"table":[[1],[2,"ZZZZZZ"]]}"#) }?.message
                == #""table" in defaults: element 1: element 1: found a string, expected an integer (no fraction, no exponent)"#
        )
        #expect(
            error { _ = try merged(#"{"fields":{"ZZZZZZ":"A"}}"#) }?.message
                == #""fields" in defaults: the value of member 0: the value as a whole does not match the pattern"#
        )
    }

    @Test(arguments: [
        (#"{"type":"string","items":{"type":"string"}}"#, "\"items\" is for array and object"),
        (#"{"type":"array","items":[]}"#, "expected an object"),
        (#"{"type":"array","items":{}}"#, "\"type\" must be one of"),
        (#"{"type":"array","items":{"type":"string","visibility":"public"}}"#, "unknown member"),
        (#"{"type":"array","items":{"type":"string","setBy":["launch"]}}"#, "unknown member"),
        (#"{"type":"array","items":{"type":"string","minimum":1}}"#, "\"minimum\" is for"),
        (
            #"{"type":"array","items":{"type":"string","pattern":"("}}"#,
            "\"items\": \"pattern\" is not a"
        ),
        (#"{"type":"array","items":{"type":"integer","enum":[1,"a"]}}"#, "element 1 of \"enum\""),
        (
            #"{"type":"array","items":{"type":"integer","minimum":2},"enum":[[2],[1]]}"#,
            "element 1 of \"enum\": element 0"
        ),
        (#"{"type":"array","enum":[[1,2],[1,2]]}"#, "repeats an earlier one"),
        (#"{"type":"object","enum":[{"a":1,"b":2},{"b":2,"a":1}]}"#, "repeats an earlier one"),
        (
            #"{"type":"array","items":{"type":"number"},"enum":[[1],[1.0]]}"#,
            "repeats an earlier one"
        ),
        (#"{"type":"array","minItems":2,"maxItems":1}"#, "\"minItems\" is above"),
        (#"{"type":"array","minItems":-1}"#, "whole number of at least 0"),
        (#"{"type":"array","maxItems":1.5}"#, "whole number of at least 0"),
        (#"{"type":"array","maxItems":"1"}"#, "whole number of at least 0"),
        (#"{"type":"array","maxItems":99999999999999999999}"#, "whole number of at least 0"),
        (#"{"type":"array","maxItems":1,"enum":[[1,2]]}"#, "element 0 of \"enum\""),
        (#"{"type":"array","minProperties":1}"#, "\"minProperties\" is for object"),
        (#"{"type":"object","minItems":1}"#, "\"minItems\" is for array"),
        (#"{"type":"array","minLength":1}"#, "\"minLength\" is for"),
        (#"{"type":"integer","maxLength":1}"#, "\"maxLength\" is for"),
        (#"{"type":"string","minLength":3,"maxLength":2}"#, "\"minLength\" is above"),
        (#"{"type":"string","maxLength":2,"enum":["abc"]}"#, "element 0 of \"enum\""),
        (#"{"type":"string","pattern":"(a)\\1"}"#, "a backreference is not supported (character "),
        (#"{"type":"string","pattern":"(?=a)b"}"#, "lookahead is not supported"),
    ])
    func refusesASchemaThatContradictsItself(_ rule: String, _ reason: String) throws {
        let error = try #require(error { _ = try schema(#"{"the.key":\#(rule)}"#) })
        #expect(error.code == .malformedSchema)
        #expect(
            error.message.hasPrefix(#"key "the.key": "#) && error.message.contains(reason),
            "\(error)")
    }

    @Test func refusesRulesNestedWithoutEnd() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: #"{"type":"array","items":"#, count: depth) + #"{"type":"string"}"#
                + String(repeating: "}", count: depth)
        }
        _ = try schema(#"{"a":\#(nested(8))}"#)
        #expect(code { _ = try schema(#"{"a":\#(nested(9))}"#) } == "malformed-schema")
        #expect(code { _ = try schema(#"{"a":\#(nested(400))}"#) } == "malformed-schema")
    }

    enum Mode: String, ConfigurationValue { case production, test }
    enum Coded: String, Codable, ConfigurationValue { case production, test }

    func read<Value: ConfigurationValue>(
        _ name: String, _ text: String, as type: Value.Type = Value.self
    ) throws -> Value {
        try merged(text).public.value(for: ConfigurationKey<Value, PublicValue>(name))
    }

    @Test func readsListsOfEachType() throws {
        #expect(
            try read("pauses", #"{"pauses":["1s",0.5]}"#) == [
                Duration.seconds(1), .milliseconds(500),
            ])
        #expect(try read("codes", #"{"codes":[200,404]}"#) == [200, 404])
        #expect(try read("codes", #"{"codes":[200]}"#) == [Int64(200)])
        #expect(try read("codes", #"{"codes":[200]}"#) == [200.0])
        #expect(try read("shares", #"{"shares":[1,0.25]}"#) == [1, 0.25])
        #expect(
            try read("shares", #"{"shares":[0.10]}"#, as: [DecimalNumber].self).map(\.text) == [
                "0.10"
            ])
        #expect(try read("flags", #"{"flags":[true,false]}"#) == [true, false])
        #expect(
            try read("hosts", #"{"hosts":["https://a"]}"#, as: [ConfigurationURL].self).map(\.text)
                == ["https://a"])
        #expect(try read("hosts", #"{"hosts":["https://a"]}"#) == ["https://a"])
        #expect(try read("modes", #"{"modes":["test"]}"#) == [Mode.test])
        #expect(try read("modes", #"{"modes":["test"]}"#) == [Coded.test])
        #expect(try read("chunks", #"{"chunks":["AQI="]}"#) == [[UInt8(1), 2]])
        #expect(try read("table", #"{"table":[[1],[2,3]]}"#) == [[1], [2, 3]])
        #expect(try read("any", #"{"any":[1,2]}"#) == [1, 2])
        #expect(try read("any", #"{"any":["a"]}"#) == ["a"])
        #expect(
            try read("any", #"{"any":[null,1e999]}"#) == [
                JSONValue.null, .number(#require(JSONNumber(text: "1e999"))),
            ])
    }

    @Test func readsMaps() throws {
        #expect(try read("fields", #"{"fields":{"a":"x"}}"#) == ["a": "x"])
        #expect(try read("limits", #"{"limits":{"a":1,"b":2}}"#) == ["a": 1, "b": 2])
        #expect(try read("free", #"{"free":{"a":[1]}}"#) == ["a": [1]])
        #expect(try read("free", #"{"free":{"a":null}}"#, as: JSONObject.self) == ["a": nil])
        // Two names for JSON, one for a Swift dictionary: neither may be lost without a word.
        let forms = #"{"free":{"é":1,"e\u0301":2}}"#
        #expect(code { _ = try read("free", forms, as: [String: Int].self) } == "wrong-type")
        #expect(try read("free", forms, as: JSONObject.self).count == 2)
    }

    @Test(arguments: [
        (#"{"any":[1,"a"]}"#, "any"), (#"{"any":[null]}"#, "any"), (#"{"any":[1.5]}"#, "any"),
        (#"{"any":[300]}"#, "any"), (#"{"any":[true]}"#, "any"),
    ])
    func refusesListsThatMixTypes(_ text: String, _ name: String) {
        #expect(code { _ = try read(name, text, as: [UInt8].self) } == "wrong-type")
        #expect(code { _ = try read(name, text, as: [Duration].self) } == "wrong-type")
        #expect(code { _ = try read(name, text, as: [String].self) } == "wrong-type")
        #expect(code { _ = try read(name, text, as: [String: Int].self) } == "wrong-type")
    }

    struct Retry: Decodable, Equatable, ConfigurationValue {
        var attempts: Int
        var codes: [Int]
        var mode: Coded?
    }

    @Test func readsAStructFromAMap() throws {
        let good = #"{"free":{"attempts":2,"codes":[1],"mode":"test"}}"#
        #expect(try read("free", good) == Retry(attempts: 2, codes: [1], mode: .test))
        #expect(
            try read("any", #"{"any":[{"attempts":2,"codes":[]}]}"#) == [
                Retry(attempts: 2, codes: [])
            ])
        let error = error {
            _ = try read("free", #"{"free":{"attempts":"ZZZZZZ","codes":[]}}"#, as: Retry.self)
        }
        #expect(error?.code == .wrongType)
        #expect(
            error?.message.contains("attempts") == true
                && error?.message.contains("ZZZZZZ") == false)
        #expect(
            code { _ = try read("free", #"{"free":{"attempts":2}}"#, as: Retry.self) }
                == "wrong-type")
        #expect(
            code {
                _ = try read(
                    "free", #"{"free":{"attempts":2,"codes":[],"mode":"x"}}"#, as: Retry.self)
            } == "wrong-type")
    }

    @Test func decimalsKeepAllTheirDigits() throws {
        let price: DecimalNumber = try read("price", #"{"price":19.90000000000000000001}"#)
        #expect(price.text == "19.90000000000000000001" && price.units(places: 2) == nil)
        #expect(price.units(places: 20) == nil && price.double == 19.9)
        let table: [(String, Int, Int64?)] = [
            ("12.3", 2, 1230), ("12.30", 2, 1230), ("0", 2, 0), ("-0.0", 2, 0), ("-5", 0, -5),
            ("0.005", 2, nil), ("0.005", 3, 5), ("1e3", 0, 1000), ("1e-3", 3, 1), ("5", -1, nil),
            ("92233720368547758.07", 2, .max), ("92233720368547758.08", 2, nil),
            ("-92233720368547758.08", 2, .min), ("1e999999999999999999999", 2, nil),
            ("1e-999999999999999999999", 1000, nil), ("99999999999999999999", 0, nil),
        ]
        for (text, places, wanted) in table {
            #expect(DecimalNumber(text)?.units(places: places) == wanted, "\(text)")
        }
        #expect(DecimalNumber("1")! == DecimalNumber("10e-1")!)
        #expect(DecimalNumber("9007199254740992")! < DecimalNumber("9007199254740993")!)
        #expect(
            DecimalNumber("-2")! < DecimalNumber("-1.5")!
                && DecimalNumber("-0") == DecimalNumber("0"))
        for text in [
            "", "1.", ".5", "+1", "0x1", "NaN", "Infinity", "1e", " 1", "1 ", "01", "1_000",
        ] {
            #expect(DecimalNumber(text) == nil, "\(text)")
        }
        let coded = try StrictJSONEncoder().encode(["p": DecimalNumber("1.10")!])
        #expect(String(decoding: coded, as: UTF8.self) == #"{"p":1.10}"#)
        #expect(
            try StrictJSONDecoder().decode([String: DecimalNumber].self, from: coded)["p"]?.text
                == "1.10")
    }
}
