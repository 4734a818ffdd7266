import SignetJSON
import Testing

@testable import SignetVault

/// One run names every problem of a configuration, and nested objects are flattened.
@Suite struct ConfigurationProblemsTests {
    private static let keys = #"""
        {"orders.host":{"type":"string","visibility":"public","setBy":["defaults"]},
         "orders.attempts":{"type":"integer","visibility":"public","maximum":5},
         "orders.limits":{"type":"object","visibility":"public"},
         "token":{"type":"string"}}
        """#

    @Test func everyProblemOfAllInputsIsReported() throws {
        let found = try #require(
            error {
                _ = try GlobalConfiguration(
                    schema: schema(Self.keys),
                    defaults: json(#"{"orders.host":1,"orders.attempts":9,"nothing":1}"#),
                    launch: .texts(["orders.host=a", "orders.attempts=x", "no-sign"]),
                    fetched: json("[]"))
            })
        #expect(
            found.problems.map(\.code.name) == [
                "wrong-type", "out-of-range", "unknown-config-key", "wrong-type",
                "malformed-input", "source-not-allowed", "malformed-input",
            ])
        #expect(found.code.name == "wrong-type" && found.key == "orders.host")
        #expect(found.problems.map(\.key).contains("nothing"))
        #expect(found.message.contains("orders.attempts") && found.message.contains("nothing"))
    }

    @Test func oneProblemIsAListOfOne() throws {
        let found = try #require(
            error {
                _ = try GlobalConfiguration(
                    schema: schema(Self.keys), defaults: json(#"{"orders.host":1}"#))
            })
        #expect(found.problems.count == 1 && found.problems[0].message == found.message)
    }

    @Test func aNameThatLooksSecretIsNoKeyOfAProblem() throws {
        let name = "ghp_ZZZZZZ0123456789abcdefABCDEF01234567"
        let found = try #require(
            error {
                _ = try GlobalConfiguration(
                    schema: schema(Self.keys), defaults: .values([name: 1]))
            })
        #expect(found.key == nil && !found.message.contains("ZZZZZZ"))
    }

    @Test func everyInvalidRuleIsReported() throws {
        let found = try #require(
            error {
                _ = try schema(
                    #"{"a":{"type":"text"},"b":{"type":"string"},"c":{"type":"string","x":1}}"#)
            })
        #expect(found.code == .malformedSchema && found.problems.map(\.key) == ["a", "c"])
    }

    @Test func everyRequiredKeyThatIsMissingIsReported() throws {
        let host = ConfigurationKey<String, PublicValue>("orders.host")
        let attempts = ConfigurationKey<Int, PublicValue>("orders.attempts")
        let found = try #require(
            error {
                _ = try GlobalConfiguration(
                    schema: schema(Self.keys), defaults: .none, requiring: host, attempts)
            })
        #expect(found.problems.map(\.key).count == 2 && found.code == .missingValue)
    }

    @Test func aChangeReportsEveryProblem() throws {
        let configuration = try GlobalConfiguration(schema: schema(Self.keys), defaults: .none)
        let found = try #require(
            error {
                _ = try configuration.changing(
                    .launch, with: ["orders.attempts": 9, "orders.host": "a", "nothing": .null])
            })
        #expect(found.problems.count == 3)
    }

    // MARK: - Nested objects

    @Test func nestedObjectsAreFlattened() throws {
        let text = #"{"orders":{"host":"a","attempts":3,"limits":{"a":{"b":1}}},"token":"t"}"#
        let configuration = try GlobalConfiguration(
            schema: schema(Self.keys), defaults: json(text))
        #expect(
            configuration.values == [
                "orders.host": "a", "orders.attempts": 3, "orders.limits": ["a": ["b": 1]],
                "token": "t",
            ])
    }

    @Test func aKeyOfTheWholeObjectWins() throws {
        let schema = try schema(
            #"{"a":{"type":"object"},"a.b":{"type":"integer"},"c.d.e":{"type":"integer"}}"#)
        let configuration = try GlobalConfiguration(
            schema: schema, defaults: json(#"{"a":{"b":1},"c":{"d.e":2}}"#))
        #expect(configuration.values == ["a": ["b": 1], "c.d.e": 2])
    }

    @Test(arguments: [
        (#"{"orders":{"host":"a"},"orders.host":"b"}"#, "malformed-input"),
        (#"{"orders":{"hosts":"a"}}"#, "unknown-config-key"),
        (#"{"order":{"host":"a"}}"#, "unknown-config-key"),
        (#"{"orders":"a"}"#, "unknown-config-key"),
        (#"{"orders":{"host":{"name":"a"}}}"#, "wrong-type"),
        (#"{"token":{"a":1}}"#, "wrong-type"),
    ])
    func refusesUnknownAndMistypedKeys(_ text: String, _ wanted: String) throws {
        let schema = try schema(Self.keys)
        #expect(
            code { _ = try GlobalConfiguration(schema: schema, defaults: json(text)) } == wanted)
    }
}
