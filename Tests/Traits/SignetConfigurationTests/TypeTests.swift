import Configuration
import ConfigurationTesting
import Foundation
import SignetConfiguration
import SignetJSON
import SignetVault
import Testing

/// Which type of swift-configuration each type of the vault is given as.
@Suite struct TypeTests {
    @Test func fulfilsTheLibrarysOwnTest() async throws {
        let types: JSONObject = [
            "string": "string", "int": "integer", "double": "number", "bool": "boolean",
            "bytes": "bytes", "stringy.array": "array", "inty.array": "array",
            "doubly.array": "array", "booly.array": "array", "byteChunky.array": "array",
        ]
        var all = types
        for (name, type) in types { all["other." + name] = type }
        let magic: JSONValue = "bWFnaWM="  // magic
        let magic2: JSONValue = "bWFnaWMy"  // magic2
        let configuration = try publicConfiguration(
            all,
            [
                "string": "Hello", "other.string": "Other Hello", "int": 42, "other.int": 24,
                "double": 3.14, "other.double": 2.72, "bool": true, "other.bool": false,
                "bytes": magic, "other.bytes": magic2, "stringy.array": ["Hello", "World"],
                "other.stringy.array": ["Hello", "Swift"], "inty.array": [42, 24],
                "other.inty.array": [16, 32], "doubly.array": [3.14, 2.72],
                "other.doubly.array": [0.9, 1.8], "booly.array": [true, false],
                "other.booly.array": [false, true, true], "byteChunky.array": [magic, magic2],
                "other.byteChunky.array": [magic, magic2, magic],
            ])
        try await ProviderCompatTest(provider: VaultProvider(configuration)).runTest()
    }

    @Test func givesEachTypeAsWhatReadersExpect() throws {
        let reader = ConfigReader(
            provider: VaultProvider(
                try publicConfiguration(
                    [
                        "whole": "duration", "part": "duration", "url": "url", "big": "integer",
                        "object": "object", "mixed": "array", "empty": "array", "number": "number",
                        "numbers": "array",
                    ],
                    [
                        "whole": "1m30s", "part": "1.5s", "url": "https://orders.example.com/a",
                        "big": 9_007_199_254_740_993, "object": ["a": [1, "b"]],
                        "mixed": [1, "a", nil], "empty": [], "number": 2,
                        "numbers": [1, 2.5],
                    ])))
        #expect(try reader.requiredInt(forKey: "whole", as: Duration.self) == .seconds(90))
        #expect(try reader.requiredDouble(forKey: "whole") == 90)
        #expect(try reader.requiredDouble(forKey: "part") == 1.5)
        #expect(
            try reader.requiredString(forKey: "url", as: URL.self)
                == URL(string: "https://orders.example.com/a"))
        #expect(try reader.requiredInt(forKey: "big") == 9_007_199_254_740_993)
        #expect(try reader.requiredString(forKey: "object") == #"{"a":[1,"b"]}"#)
        #expect(try reader.requiredString(forKey: "mixed") == #"[1,"a",null]"#)
        #expect(try reader.requiredIntArray(forKey: "empty") == [])
        #expect(try reader.requiredStringArray(forKey: "empty") == [])
        #expect(try reader.requiredDouble(forKey: "number") == 2)
        #expect(try reader.requiredDoubleArray(forKey: "numbers") == [1, 2.5])
    }

    @Test(arguments: [
        ("part", ConfigType.int), ("part", .string), ("whole", .bool), ("number", .int),
        ("number", .string), ("big", .double), ("big", .string), ("text", .int), ("text", .bool),
        ("text", .bytes), ("text", .stringArray), ("flag", .int), ("flag", .string),
        ("bytes", .string), ("bytes", .byteChunkArray), ("url", .bytes), ("mixed", .stringArray),
        ("mixed", .intArray), ("mixed", .boolArray), ("numbers", .intArray),
        ("numbers", .byteChunkArray), ("object", .stringArray), ("object", .bytes),
        ("huge", .intArray), ("chunks", .byteChunkArray),
    ])
    func refusesAnotherType(_ name: String, _ type: ConfigType) throws {
        let provider = VaultProvider(
            try publicConfiguration(
                [
                    "whole": "duration", "part": "duration", "number": "number", "big": "integer",
                    "text": "string", "flag": "boolean", "bytes": "bytes", "url": "url",
                    "mixed": "array", "numbers": "array", "object": "object", "huge": "array",
                    "chunks": "array",
                ],
                [
                    "whole": 90, "part": "1.5s", "number": 2, "big": 9_007_199_254_740_993,
                    "text": "7", "flag": true, "bytes": "bWFnaWM=", "url": "https://a.example",
                    "mixed": [1, "a", true], "numbers": [1, 2.5], "object": ["a": 1],
                    "huge": [.number(JSONNumber(UInt64.max))], "chunks": ["bWFnaWN="],
                ]))
        let key = AbsoluteConfigKey([name])
        for work in [provider.value, provider.snapshot().value] {
            let error = #expect(throws: VaultError.self) { _ = try work(key, type) }
            #expect(error?.code == .wrongType)
            #expect(error?.message.contains("\"\(name)\"") == true)
        }
    }

    @Test func readsAKeyByItsComponents() throws {
        let reader = ConfigReader(
            provider: VaultProvider(
                try publicConfiguration(
                    ["a.b.c": "integer", "a..b": "integer", "é": "integer"],
                    ["a.b.c": 1, "a..b": 2, "é": 3])))
        #expect(reader.int(forKey: "a.b.c") == 1)
        #expect(reader.int(forKey: ["a", "b", "c"]) == 1)
        #expect(reader.int(forKey: ["a.b", "c"]) == 1)
        #expect(reader.scoped(to: "a.b").int(forKey: "c") == 1)
        #expect(reader.int(forKey: ConfigKey("a.b.c", context: ["region": "eu"])) == 1)
        #expect(reader.int(forKey: ["a", "", "b"]) == 2)
        #expect(reader.int(forKey: ["a", "b"]) == nil)
        #expect(reader.int(forKey: "A.b.c") == nil)
        #expect(reader.int(forKey: []) == nil)
        #expect(reader.int(forKey: ["\u{e9}"]) == 3)
        // Another name, though Swift's == takes both for one.
        #expect(reader.int(forKey: ["e\u{301}"]) == nil)
    }

    @Test func asksTheNextProviderOnlyForUnknownKeys() throws {
        let configuration = try GlobalConfiguration(
            schema: schema(
                #"{"set":{"type":"integer","visibility":"public"},"#
                    + #""unset":{"type":"integer","visibility":"public"},"secret":{"type":"integer"}}"#
            ),
            defaults: .values(["set": 1]))
        let reader = ConfigReader(providers: [
            VaultProvider(configuration),
            InMemoryProvider(values: ["set": 9, "unset": 9, "unknown": 9, "secret": 9]),
        ])
        #expect(reader.int(forKey: "set") == 1)
        #expect(reader.int(forKey: "unset") == 9)
        #expect(reader.int(forKey: "unknown") == 9)
        // Nobody else may answer for a key that the vault keeps secret, even one without a value.
        let error = #expect(throws: VaultError.self) { try reader.requiredInt(forKey: "secret") }
        #expect(error?.code == .notPublic)
        #expect(reader.int(forKey: "secret") == nil)
    }
}
