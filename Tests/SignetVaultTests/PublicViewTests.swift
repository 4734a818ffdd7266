import SignetJSON
import SignetVault
import Testing

/// The public part as a program's own type, as JSON, and as a list for tools.
@Suite struct PublicViewTests {
    func configuration(_ more: String = "") throws -> GlobalConfiguration {
        try GlobalConfiguration(
            schema: schema(
                #"""
                {"app.mode":{"type":"string","visibility":"public","enum":["production","test"],"meaning":"How it runs."},
                 "orders.baseURL":{"type":"url","visibility":"public","setBy":["defaults","fetched"]},
                 "orders.timeout":{"type":"duration","visibility":"public"},
                 "orders.attempts":{"type":"integer","visibility":"public","minimum":1,"maximum":9},
                 "orders.price":{"type":"number","visibility":"public"},
                 "orders.salt":{"type":"bytes","visibility":"public","notSecret":true},
                 "orders.pauses":{"type":"array","visibility":"public","items":{"type":"duration"}},
                 "orders.token":{"type":"string","enum":["ZZZZZZcanaryZZZZZZ"],"meaning":"The token."}\#(more)}
                """#),
            defaults: json(
                #"""
                {"app.mode":"test","orders.baseURL":"https://a.example","orders.timeout":"1m30.25s",
                 "orders.price":19.90,"orders.salt":"AQI=","orders.pauses":["1s",2],"orders.token":"ZZZZZZcanaryZZZZZZ"}
                """#))
    }

    enum Mode: String, Decodable { case production, test }

    struct Orders: Decodable {
        var baseURL: ConfigurationURL
        var timeout: Duration
        var attempts: Int?
        var price: DecimalNumber
        var salt: [UInt8]
        var pauses: [Duration]
    }

    struct Settings: Decodable {
        struct App: Decodable { var mode: Mode }
        var app: App
        var orders: Orders
    }

    @Test func decodesNestedNames() throws {
        let settings = try configuration().public.decode(Settings.self)
        #expect(settings.app.mode == .test)
        #expect(settings.orders.baseURL.text == "https://a.example")
        #expect(settings.orders.timeout == .milliseconds(90_250) && settings.orders.attempts == nil)
        #expect(settings.orders.price.text == "19.90" && settings.orders.salt == [1, 2])
        #expect(settings.orders.pauses == [.seconds(1), .seconds(2)])
    }

    @Test func decodesTheKeysWithAPrefix() throws {
        let view = try configuration().public
        #expect(try view.decode(Orders.self, at: "orders").salt == [1, 2])
        #expect(code { _ = try view.decode(Orders.self, at: "order") } == "missing-value")
        #expect(code { _ = try view.decode(Orders.self, at: "") } == "missing-value")
    }

    struct Flat: Decodable {
        enum CodingKeys: String, CodingKey {
            case mode = "app.mode"
            case timeout = "orders.timeout"
        }
        var mode: Mode
        var timeout: Duration
    }

    @Test func decodesFlatNames() throws {
        let view = try configuration().public
        #expect(try view.decode(Flat.self, names: .flat).timeout == .milliseconds(90_250))
        #expect(code { _ = try view.decode(Flat.self) } == "missing-value")
    }

    struct WantsSecret: Decodable { var token: String }
    struct WantsNumber: Decodable { var baseURL: Int }

    @Test func aSecretIsNotThereAndErrorsHoldNoValue() throws {
        let view = try configuration().public
        let missing = error { _ = try view.decode(WantsSecret.self, at: "orders") }
        #expect(missing?.code == .missingValue && missing?.message.contains("token") == true)
        let wrong = error { _ = try view.decode(WantsNumber.self, at: "orders") }
        #expect(wrong?.code == .wrongType && wrong?.message.contains("a.example") == false)
        struct Loose: Decodable { var orders: [String: JSONValue] }
        #expect(try view.decode(Loose.self).orders["token"] == nil)
    }

    @Test func aNameThatBeginsAnotherCannotBeNested() throws {
        for (defaults, wanted) in [(#"{"a":1,"a.b":2}"#, "wrong-type"), (#"{"a.b":2}"#, nil)]
            as [(String, String?)]
        {
            let configuration = try GlobalConfiguration(
                schema: schema(
                    #"{"a":{"type":"integer","visibility":"public"},"a.b":{"type":"integer","visibility":"public"}}"#
                ),
                defaults: json(defaults))
            struct Root: Decodable {}
            #expect(code { _ = try configuration.public.decode(Root.self) } == wanted)
            #expect(try configuration.public.decode([String: Int].self, names: .flat)["a.b"] == 2)
        }
    }

    @Test func encodesByWholeNamesAsInTheInput() throws {
        let view = try configuration().public
        let text = String(decoding: try StrictJSONEncoder().encode(view), as: UTF8.self)
        #expect(
            text == #"""
                {"app.mode":"test","orders.baseURL":"https://a.example","orders.timeout":"1m30.25s",\#
                "orders.price":19.90,"orders.salt":"AQI=","orders.pauses":["1s",2]}
                """#)
    }

    @Test func listsEveryPublicKey() throws {
        let entries = try configuration().public.entries
        #expect(
            entries.map(\.key.name) == [
                "app.mode", "orders.baseURL", "orders.timeout", "orders.attempts", "orders.price",
                "orders.salt", "orders.pauses",
            ])
        #expect(entries[0].value == "test" && entries[0].origin == .defaults)
        #expect(entries[0].key.meaning == "How it runs." && entries[0].key.type == "string")
        #expect(entries[3].value == nil && entries[3].origin == nil)
    }

    @Test func aSchemaDescribesItselfWithoutASecretsLimits() throws {
        let schema = try configuration().schema
        let keys = schema.descriptions
        #expect(keys.map(\.name) == schema.keys)
        #expect(keys[1].setBy == [.defaults, .fetched])
        #expect(JSONValue.object(keys[3].limits).text == #"{"minimum":1,"maximum":9}"#)
        #expect(JSONValue.object(keys[0].limits).text == #"{"enum":["production","test"]}"#)
        let token = try #require(schema.description(of: "orders.token"))
        #expect(!token.isPublic && token.limits.isEmpty && token.meaning == "The token.")
        var text = ""
        dump(keys, to: &text)
        dump(schema.findings, to: &text)
        #expect(!text.contains("ZZZZZZ"))
        #expect(schema.description(of: "none") == nil)
        #expect(schema.findings.map(\.code).contains("no-meaning"))
    }
}
