import SignetJSON
import Testing

@testable import SignetVault

/// Schemas that are accepted and schemas that are refused.
@Suite struct SchemaTests {
    @Test func findsTheKeysBelowAName() throws {
        let schema = try Schema(
            parsing: Array(
                #"{"keys":{"a.b.c":{"type":"string"},"ab.c":{"type":"string"},"a.b":{"type":"string"},"a.d":{"type":"string"}}}"#
                    .utf8))
        #expect(schema.keys(below: "a") == ["a.b.c", "a.b", "a.d"])
        #expect(schema.keys(below: "a.b") == ["a.b.c"])
        for name in ["", "a.", "a.b.c", "b", "A", "a\u{301}"] {
            #expect(schema.keys(below: name).isEmpty)
        }
    }

    @Test(arguments: [
        (
            #""type":"array of string""#,
            #"found "type":"array of string", expected "type":"array","items":{"type":"string"}"#
        ),
        (
            #""type":"object of duration""#,
            #"found "type":"object of duration", expected "type":"object","items":{"type":"duration"}"#
        ),
        (#""type":"string of array""#, #""type" must be one of string"#),
        (#""type":"array of text""#, #""type" must be one of string"#),
        (
            #""type":"array","items":"string""#,
            #""items": found a string, expected an object, such as "items":{"type":"string"}"#
        ),
        (#""type":"array","items":"text""#, #""items": found a string, expected an object"#),
    ])
    func saysHowToWriteAList(_ rule: String, message: String) throws {
        let problem = try #require(error { _ = try schema(#"{"a":{\#(rule)}}"#) })
        #expect(problem.code == .malformedSchema && problem.message.contains(message), "\(problem)")
    }

    @Test(arguments: [
        "{}",
        #"{"a":{"type":"string"}}"#,
        #"{"a":{"type":"string","visibility":"public","setBy":["defaults","fetched"],"pattern":"^[a-z.]+$","meaning":"m"}}"#,
        #"{"a":{"type":"integer","minimum":1,"maximum":1,"enum":[1]}}"#,
        #"{"a":{"type":"number","minimum":-1.5,"maximum":1e3,"enum":[1,2.5]}}"#,
        #"{"a":{"type":"duration","minimum":"1ms","maximum":60,"enum":["1s"]}}"#,
        #"{"a":{"type":"boolean","enum":[true]}}"#,
        #"{"a":{"type":"array","enum":[[],[1]]},"b":{"type":"object"},"c":{"type":"url"},"d":{"type":"bytes"}}"#,
        #"{"é":{"type":"string"},"e":{"type":"integer"}}"#,
    ])
    func reads(_ keys: String) throws {
        _ = try schema(keys)
    }

    @Test(arguments: [
        "", "null", "[]", "{}", #"{"keys":[]}"#, #"{"keys":{},"more":1}"#, #"{"Keys":{}}"#,
        #"{"keys":{}} x"#, #"{"keys":{},}"#, #"{"keys":{},"keys":{}}"#, "\u{feff}{\"keys\":{}}",
    ])
    func refusesTheDocument(_ text: String) {
        #expect(code { _ = try Schema(parsing: Array(text.utf8)) } == "malformed-schema")
    }

    @Test(arguments: [
        #"{"a":null}"#, #"{"a":"string"}"#, #"{"a":{}}"#, #"{"a":{"type":"text"}}"#,
        #"{"a":{"type":null}}"#, #"{"a":{"type":"String"}}"#, #"{"a":{"type":["string"]}}"#,
        #"{"a":{"type":"string","more":1}}"#, #"{"a":{"type":"string","default":"x"}}"#,
        #"{"a":{"type":"string","type":"string"}}"#,
        #"{"a":{"type":"string"},"a":{"type":"string"}}"#,
        #"{"é":{"type":"string"},"e\u0301":{"type":"string"}}"#,
        #"{"a\u200db":{"type":"string"}}"#, #"{"a\u202eb":{"type":"string"}}"#,
        #"{"a\u0085":{"type":"string"}}"#, #"{"a\u0000":{"type":"string"}}"#,
        #"{"":{"type":"string"}}"#, #"{"a\n":{"type":"string"}}"#,
        #"{"a":{"type":"string","visibility":"Public"}}"#,
        #"{"a":{"type":"string","visibility":true}}"#,
        #"{"a":{"type":"string","visibility":null}}"#,
        #"{"a":{"type":"string","setBy":[]}}"#, #"{"a":{"type":"string","setBy":"launch"}}"#,
        #"{"a":{"type":"string","setBy":["launch","launch"]}}"#,
        #"{"a":{"type":"string","setBy":["environment"]}}"#,
        #"{"a":{"type":"string","setBy":[1]}}"#,
        #"{"a":{"type":"string","meaning":1}}"#,
        #"{"a":{"type":"string","minimum":1}}"#, #"{"a":{"type":"boolean","maximum":1}}"#,
        #"{"a":{"type":"array","minimum":1}}"#, #"{"a":{"type":"bytes","maximum":1}}"#,
        #"{"a":{"type":"integer","minimum":"1"}}"#, #"{"a":{"type":"integer","minimum":1.5}}"#,
        #"{"a":{"type":"integer","maximum":null}}"#, #"{"a":{"type":"number","maximum":1e400}}"#,
        #"{"a":{"type":"duration","maximum":"1 s"}}"#, #"{"a":{"type":"duration","maximum":-1}}"#,
        #"{"a":{"type":"integer","minimum":2,"maximum":1}}"#,
        #"{"a":{"type":"number","minimum":1.0000000000000000000001,"maximum":1}}"#,
        #"{"a":{"type":"duration","minimum":"1m","maximum":"59s"}}"#,
        #"{"a":{"type":"string","pattern":"("}}"#, #"{"a":{"type":"string","pattern":"[z-a]"}}"#,
        #"{"a":{"type":"string","pattern":1}}"#, #"{"a":{"type":"string","pattern":null}}"#,
        #"{"a":{"type":"integer","pattern":"[0-9]+"}}"#, #"{"a":{"type":"object","pattern":"a"}}"#,
        #"{"a":{"type":"duration","pattern":"a"}}"#,
        #"{"a":{"type":"string","enum":[]}}"#, #"{"a":{"type":"string","enum":"a"}}"#,
        #"{"a":{"type":"string","enum":["a",1]}}"#, #"{"a":{"type":"string","enum":["a","a"]}}"#,
        #"{"a":{"type":"integer","enum":[1,"2"]}}"#, #"{"a":{"type":"integer","enum":[1.5]}}"#,
        #"{"a":{"type":"number","enum":[1,1.0]}}"#,
        #"{"a":{"type":"duration","enum":["90s","1m30s"]}}"#,
        #"{"a":{"type":"integer","maximum":5,"enum":[6]}}"#,
        #"{"a":{"type":"integer","minimum":5,"enum":[4]}}"#,
        #"{"a":{"type":"string","pattern":"[a-z]+","enum":["A"]}}"#,
        #"{"a":{"type":"string","visibility":"public","enum":["-----BEGIN PRIVATE\u0020KEY-----"]}}"#,
    ])
    func refusesAKey(_ keys: String) {
        let error = error { _ = try schema(keys) }
        #expect(error?.code.name == "malformed-schema", "\(error?.message ?? "accepted")")
    }

    @Test func namesTheKeyAndEscapesControls() {
        let error = error { _ = try schema(#"{"a\u202eb":{"type":"text"}}"#) }
        #expect(error?.message.contains(#""a\u{202e}b""#) == true)
    }

    @Test func aKeyIsSecretAndSetByAnyInputByDefault() throws {
        let rule = try #require(try schema(#"{"a":{"type":"string"}}"#).rule(named: "a"))
        #expect(!rule.isPublic)
        #expect(rule.setBy == [.defaults, .launch, .fetched])
    }
}
