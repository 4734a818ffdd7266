import Foundation
import SignetJSON
import SignetVault
import TestSupport
import Testing

enum Mode: String, ConfigurationValue { case production, test }
enum Level: Int, ConfigurationValue { case low = 1, high }

extension ConfigurationKey where Value == Duration, Visibility == Public {
    static let timeout = Self("services.orders.timeout")
}
extension ConfigurationKey where Value == String, Visibility == Public {
    static let host = Self("host")
    static let absent = Self("absent")
    static let unknown = Self("unknown")
    static let token = Self("token")
}
extension ConfigurationKey where Value == String?, Visibility == Public {
    static let maybe = Self("absent")
    static let maybeUnknown = Self("unknown")
    static let maybeToken = Self("token")
    static let maybeNumber = Self("attempts")
}
extension ConfigurationKey where Value == Int, Visibility == Public {
    static let attempts = Self("attempts")
    static let hostAsInt = Self("host")
}
extension ConfigurationKey where Value == Int64, Visibility == Public {
    static let attempts64 = Self("attempts")
}
extension ConfigurationKey where Value == Double, Visibility == Public {
    static let ratio = Self("ratio")
    static let attemptsAsDouble = Self("attempts")
}
extension ConfigurationKey where Value == Bool, Visibility == Public {
    static let live = Self("live")
}
extension ConfigurationKey where Value == ConfigurationURL, Visibility == Public {
    static let base = Self("base")
}
extension ConfigurationKey where Value == [UInt8], Visibility == Public {
    static let bytes = Self("bytes")
}
extension ConfigurationKey where Value == [String], Visibility == Public {
    static let list = Self("list")
    static let mixed = Self("mixed")
}
extension ConfigurationKey where Value == [JSONValue], Visibility == Public {
    static let anyList = Self("mixed")
}
extension ConfigurationKey where Value == JSONObject, Visibility == Public {
    static let map = Self("map")
}
extension ConfigurationKey where Value == JSONValue, Visibility == Public {
    static let anything = Self("map")
}
extension ConfigurationKey where Value == Mode, Visibility == Public {
    static let mode = Self("mode")
    static let hostAsMode = Self("host")
}
extension ConfigurationKey where Value == Level, Visibility == Public {
    static let level = Self("attempts")
}

/// Typed keys: each type is read, and a key that cannot be read is refused when the configuration
/// is made.
@Suite struct TypedKeyTests {
    let configuration: GlobalConfiguration

    init() throws {
        func rule(_ type: String) -> JSONValue {
            ["type": .string(type), "visibility": "public"]
        }
        let keys: JSONObject = [
            "services.orders.timeout": rule("duration"), "host": rule("string"),
            "absent": rule("string"), "attempts": rule("integer"), "ratio": rule("number"),
            "live": rule("boolean"), "base": rule("url"), "bytes": rule("bytes"),
            "list": rule("array"), "mixed": rule("array"), "map": rule("object"),
            "mode": rule("string"), "token": ["type": "string"],
        ]
        configuration = try GlobalConfiguration(
            schema: Schema(["keys": .object(keys)]),
            defaults: .values([
                "services.orders.timeout": "1m30.25s", "host": "orders.example.com", "attempts": 2,
                "ratio": 0.5, "live": true, "base": "https://a.example/x", "bytes": "AQI=",
                "list": ["a", "b"], "mixed": ["a", 1], "map": ["x": nil], "mode": "test",
                "token": "t",
            ]))
    }

    @Test(.features("000-10")) func readsEachType() throws {
        let view = configuration.public
        try view.require(
            .timeout, .host, .attempts, .attempts64, .ratio, .attemptsAsDouble, .live, .base,
            .bytes, .list, .anyList, .map, .anything, .mode, .level, .maybe)
        #expect(view[.timeout] == .milliseconds(90_250))
        #expect(view[.host] == "orders.example.com")
        #expect(view[.attempts] == 2 && view[.attempts64] == 2 && view[.attemptsAsDouble] == 2)
        #expect(view[.ratio] == 0.5 && view[.live])
        #expect(view[.base].text == "https://a.example/x")
        #expect(view[.bytes] == [1, 2] && view[.list] == ["a", "b"])
        #expect(view[.anyList] == ["a", 1] && view[.map] == ["x": nil])
        #expect(view[.anything] == ["x": nil])
        #expect(view[.mode] == .test && view[.level] == .high && view[.maybe] == nil)
    }

    @Test func refusesUnreadableKeysBeforeAnyRead() {
        let view = configuration.public
        #expect(code { try view.require(.host, .absent) } == "missing-value")
        #expect(code { try view.require(.unknown) } == "unknown-config-key")
        #expect(code { try view.require(.token) } == "not-public")
        #expect(code { try view.require(.hostAsInt) } == "wrong-type")
        #expect(code { try view.require(.mixed) } == "wrong-type")
        #expect(code { try view.require(.hostAsMode) } == "wrong-type")
        #expect(code { try view.require(.maybeUnknown) } == "unknown-config-key")
        #expect(code { try view.require(.maybeToken) } == "not-public")
        #expect(code { try view.require(.maybeNumber) } == "wrong-type")
    }

    @Test func requiresKeysWhenTheConfigurationIsMade() throws {
        let schema = try schema(#"{"host":{"type":"string","visibility":"public"}}"#)
        let good = try GlobalConfiguration(
            schema: schema, defaults: json(#"{"host":"a"}"#), requiring: .host)
        #expect(good.public[.host] == "a")
        #expect(
            code { _ = try GlobalConfiguration(schema: schema, defaults: .none, requiring: .host) }
                == "missing-value")
    }

    /// Type-checks a program that uses the built module, as the package's users do.
    func compile(_ visibility: String) async throws -> ProcessOutput {
        let folder = try TemporaryDirectory()
        let source = try folder.write(
            """
            import SignetVault
            extension ConfigurationKey where Value == String, Visibility == \(visibility) {
                static let partnerToken = Self("partner.token")
            }
            func read(_ configuration: GlobalConfiguration) -> String {
                configuration.public[.partnerToken]
            }
            """, to: "read.swift")
        let build = SignetTool.url.deletingLastPathComponent()
        let modules = build.appending(path: "Modules").path
        let maps = [
            PackageLayout.url("Sources/CSignetBase64/module.modulemap").path,
            PackageLayout.url("Sources/CSignetOpenSSL/module.modulemap").path,
            build.appending(path: "CSignetSystem.build/module.modulemap").path,
        ]
        return try await ChildProcess.run(
            "swiftc",
            ["-typecheck", "-swift-version", "6", "-I", modules]
                + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] } + [source])
    }

    @Test(.features("000-10")) func aSecretKeyInThePublicViewDoesNotCompile() async throws {
        let secret = try await compile("Secret")
        #expect(secret.exit == 1)
        #expect(secret.stderr.contains("requires the types 'Public' and 'Secret' be equivalent"))
        let control = try await compile("Public")
        #expect(control.exit == 0, "\(control.stderr)")
    }
}
