import Configuration
import Foundation
import SignetConfiguration
import SignetJSON
import SignetVault
import Testing

extension ConfigurationKey where Value == String, Visibility == PublicValue {
    static let host = Self("orders.host")
    static let token = Self("token")
    static let missing = Self("orders.missing")
}
extension ConfigurationKey where Value == Int, Visibility == PublicValue {
    static let hostAsInt = Self("orders.host")
}

/// A dump that does not open leaves no provider, so that no reader can pass over it.
@Suite struct OpeningTests {
    static func reader<each Value: ConfigurationValue>(
        _ bytes: [UInt8]?, keys: KeySet? = nil, binding: VersionBinding = shop,
        schema: Schema? = nil, now: Int64 = noon,
        requiring: repeat ConfigurationKey<each Value, PublicValue>
    ) throws -> ConfigReader {
        let file = try TemporaryFile(bytes)
        let provider = try VaultProvider(
            opening: DumpFile(file.path), with: .keys(keys ?? keySet()), for: binding,
            schema: schema ?? shopSchema(), requiring: repeat each requiring, now: now)
        return ConfigReader(provider: provider)
    }

    @Test func readsADump() throws {
        let reader = try Self.reader(shopDump(), requiring: .host)
        #expect(try reader.requiredString(forKey: "orders.host") == "orders.example.com")
        #expect(try reader.requiredInt(forKey: "orders.limit") == 7)
        #expect(reader.snapshot().int(forKey: "orders.limit") == 7)
    }

    /// The example of the module's documentation.
    @Test func theExampleWorks() throws {
        let schema = try schema(
            #"{"orders.host":{"type":"string","visibility":"public"},"#
                + #""orders.timeout":{"type":"duration","visibility":"public"}}"#)
        let file = try TemporaryFile()
        let (keys, binding) = (try keySet(), shop)
        try DumpFile(file.path).seal(
            GlobalConfiguration(
                schema: schema, defaults: .values(["orders.host": "orders.example.com"])),
            with: .keys(keys), for: binding)
        let provider = try VaultProvider(
            opening: DumpFile(file.path), with: .keys(keys), for: binding, schema: schema,
            requiring: .host)
        let reader = ConfigReader(provider: provider)
        let host = try reader.requiredString(forKey: "orders.host")
        #expect(host == "orders.example.com")
        func timeout() -> Duration {
            reader.int(forKey: "orders.timeout", as: Duration.self, default: .seconds(5))
        }
        #expect(timeout() == .seconds(5))
        try provider.configuration.set(launch: ["orders.timeout": "2s"])
        #expect(timeout() == .seconds(2))
    }

    @Test func opensWithAPassphraseToo() throws {
        let passphrase = try keys(passphrase: "correct horse battery")
        let file = try TemporaryFile()
        try DumpFile(file.path).seal(shopConfiguration(), with: passphrase, for: shop, now: noon)
        let provider = try VaultProvider(
            opening: DumpFile(file.path), with: passphrase, for: shop, schema: shopSchema(),
            now: noon)
        #expect(ConfigReader(provider: provider).int(forKey: "orders.limit") == 7)
        let wrong = try keys(passphrase: "correct horse batterz")
        let error = #expect(throws: VaultError.self) {
            _ = try VaultProvider(
                opening: DumpFile(file.path), with: wrong, for: shop, schema: shopSchema(),
                now: noon)
        }
        #expect(error?.code == .wrongKey)
    }

    func keys(passphrase: String) throws -> VaultKeys {
        let file = try TemporaryFile(Array(passphrase.utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        return .passphrase(try Passphrase(KeySource(file.path)))
    }

    @Test(arguments: BadDump.allCases)
    func throwsAtConstruction(_ bad: BadDump) throws {
        let error = #expect(throws: VaultError.self) { _ = try bad.reader() }
        #expect(error?.code.name == bad.rawValue)
        #expect(!prints(try #require(error)).contains("ZZZZZZ"))
    }

    @Test func throwsForEveryBrokenByte() throws {
        let dump = try shopDump()
        for position in dump.indices {
            var changed = dump
            changed[position] ^= 1
            #expect(throws: VaultError.self) { _ = try Self.reader(changed) }
        }
        for count in stride(from: 0, to: dump.count, by: 7) {
            #expect(throws: VaultError.self) { _ = try Self.reader(Array(dump.prefix(count))) }
        }
    }

    @Test func throwsForRequiredKeysThatCannotBeRead() throws {
        let dump = try shopDump()
        for (code, work) in [
            ("not-public", { _ = try Self.reader(dump, requiring: .token) }),
            ("wrong-type", { _ = try Self.reader(dump, requiring: .hostAsInt) }),
            ("unknown-config-key", { _ = try Self.reader(dump, requiring: .missing) }),
        ] as [(String, () throws -> Void)] {
            let error = #expect(throws: VaultError.self) { try work() }
            #expect(error?.code.name == code)
        }
    }

    @Test func aRefusedConfigurationReplacesNothing() throws {
        let file = try TemporaryFile(shopDump())
        let provider = try VaultProvider(
            opening: DumpFile(file.path), with: .keys(keySet()), for: shop, schema: shopSchema(),
            requiring: .host, now: noon)
        let reader = ConfigReader(provider: provider)
        let without = try GlobalConfiguration(schema: shopSchema(), defaults: .none)
        let error = #expect(throws: VaultError.self) {
            try provider.configuration.replace(with: without)
        }
        #expect(error?.code == .missingValue)
        #expect(reader.string(forKey: "orders.host") == "orders.example.com")
    }
}

/// Each way in which a dump does not open, by the code of its error.
enum BadDump: String, CaseIterable, Sendable {
    case wrongKey = "wrong-key"
    case tampered
    case newerVersion = "newer-version"
    case olderVersion = "older-version"
    case otherVersion = "other-version"
    case wrongApp = "wrong-app"
    case wrongSystem = "wrong-system"
    case unknownKey = "unknown-key"
    case keyRevoked = "key-revoked"
    case keyExpired = "key-expired"
    case keyNotYetValid = "key-not-yet-valid"
    case rolledBack = "rolled-back"
    case malformedDump = "malformed-dump"
    case unreadableFile = "unreadable-file"
    case unknownConfigKey = "unknown-config-key"
    case wrongType = "wrong-type"
    case sourceNotAllowed = "source-not-allowed"

    func reader() throws -> ConfigReader {
        func app(_ id: String, _ version: String, system: String = "signet") -> VersionBinding {
            VersionBinding(
                app: .init(id: id, version: version), system: .init(id: system, version: "0.1.0"))
        }
        let dump = try shopDump()
        switch self {
        case .wrongKey: return try OpeningTests.reader(dump, keys: keySet(byte: 1))
        case .tampered:
            var changed = dump
            let last = dump.count - 10
            changed[last] = dump[last] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            return try OpeningTests.reader(changed)
        case .newerVersion:
            return try OpeningTests.reader(dump, binding: app("com.example.shop", "1.4.1"))
        case .olderVersion:
            return try OpeningTests.reader(dump, binding: app("com.example.shop", "1.5"))
        case .otherVersion:
            return try OpeningTests.reader(dump, binding: app("com.example.shop", "1.4.2-beta"))
        case .wrongApp:
            return try OpeningTests.reader(dump, binding: app("com.example.shops", "1.4.2"))
        case .wrongSystem:
            return try OpeningTests.reader(
                dump, binding: app("com.example.shop", "1.4.2", system: "other"))
        case .unknownKey: return try OpeningTests.reader(dump, keys: keySet("vault-2027"))
        case .keyRevoked:
            return try OpeningTests.reader(dump, keys: keySet(more: ["revoked": true]))
        case .keyExpired:
            return try OpeningTests.reader(
                dump, keys: keySet(more: ["exp": .number(JSONNumber(noon - 1))]))
        case .keyNotYetValid:
            return try OpeningTests.reader(
                dump, keys: keySet(more: ["nbf": .number(JSONNumber(noon + 1))]))
        case .rolledBack:
            let file = try TemporaryFile(dump)
            let kept = DumpFile(file.path, state: file.path + ".seen")
            try kept.seal(shopConfiguration(), with: .keys(keySet()), for: shop, now: noon)
            try Data(dump).write(to: URL(filePath: file.path))
            return ConfigReader(
                provider: try VaultProvider(
                    opening: kept, with: .keys(keySet()), for: shop, schema: shopSchema(), now: noon
                ))
        case .malformedDump: return try OpeningTests.reader(dump + [UInt8(ascii: "\n")])
        case .unreadableFile: return try OpeningTests.reader(nil)
        case .unknownConfigKey:
            return try OpeningTests.reader(
                dump, schema: schema(#"{"orders.limit":{"type":"integer"}}"#))
        case .wrongType:
            return try OpeningTests.reader(
                dump,
                schema: schema(
                    #"{"orders.host":{"type":"string"},"orders.limit":{"type":"string"},"#
                        + #""token":{"type":"string"}}"#))
        case .sourceNotAllowed:
            return try OpeningTests.reader(
                dump,
                schema: schema(
                    #"{"orders.host":{"type":"string","setBy":["launch"]},"#
                        + #""orders.limit":{"type":"integer"},"token":{"type":"string"}}"#))
        }
    }
}
