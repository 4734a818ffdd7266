import SignetJSON
import SignetVault
import Testing

extension ConfigurationKey where Value == String, Visibility == SecretValue {
    fileprivate static let password = Self("password")
}

/// Secrets that a program reads from its configuration.
@Suite struct SecretReadingTests {
    struct Wrong: Error {}
    struct Login: Decodable, ConfigurationValue, Equatable { var user: String, pin: Int }

    private static let canary = "ZZZZZZ-käse"

    private func configuration() throws -> GlobalConfiguration {
        try GlobalConfiguration(
            schema: schema(
                #"""
                {"password":{"type":"string"},"url":{"type":"url"},"seed":{"type":"bytes"},
                 "pin":{"type":"integer"},"login":{"type":"object"},"unset":{"type":"string"},
                 "host":{"type":"string","visibility":"public"},"db.host":{"type":"string","visibility":"public"},
                 "db.pin":{"type":"integer"}}
                """#),
            defaults: json(
                #"""
                {"password":"\#(Self.canary)","url":"https://u:ZZZZZZ@a.example/","seed":"WlpaWlpa",
                 "pin":909090,"login":{"user":"ZZZZZZ","pin":1},"host":"a.example","db.host":"b.example","db.pin":7}
                """#))
    }

    private func lent<Value>(
        _ key: ConfigurationKey<Value, SecretValue>, of configuration: some ConfigurationSnapshot
    ) throws(VaultError) -> String {
        try configuration.withSecret(key) { bytes in
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
    }

    @Test func lendsTheBytesOfEachType() throws {
        let configuration = try configuration()
        #expect(try lent(.password, of: configuration) == Self.canary)
        #expect(
            try lent(ConfigurationKey<ConfigurationURL, SecretValue>("url"), of: configuration)
                == "https://u:ZZZZZZ@a.example/")
        #expect(
            try lent(ConfigurationKey<[UInt8], SecretValue>("seed"), of: configuration) == "ZZZZZZ")
        #expect(try lent(ConfigurationKey<Int, SecretValue>("pin"), of: configuration) == "909090")
        #expect(
            try lent(ConfigurationKey<Login, SecretValue>("login"), of: configuration)
                == #"{"user":"ZZZZZZ","pin":1}"#)
    }

    @Test func copiesASecretAsItsType() throws {
        let configuration = try configuration()
        #expect(try configuration.copyOfSecret(.password) == Self.canary)
        #expect(
            try configuration.copyOfSecret(ConfigurationKey<Login, SecretValue>("login"))
                == Login(user: "ZZZZZZ", pin: 1))
        #expect(
            try configuration.copyOfSecret(ConfigurationKey<String?, SecretValue>("unset")) == nil)
        struct Database: Decodable { var host: String, pin: Int }
        let database = try configuration.copyOfValues(as: Database.self, at: "db")
        #expect(database.host == "b.example" && database.pin == 7)
    }

    @Test func readsTheLatestSnapshot() throws {
        let live = LiveConfiguration(try configuration())
        let before = live.current
        try live.set(launch: ["password": "next"])
        #expect(try lent(.password, of: live) == "next")
        #expect(try lent(.password, of: before) == Self.canary)
    }

    @Test(arguments: [
        ("nowhere", "unknown-config-key", "not in the schema"),
        ("host", "not-secret", "is public"),
        ("unset", "missing-value", "no input sets it"),
        ("pin", "wrong-type", "of type integer, cannot be read as String"),
        ("login", "wrong-type", "of type object, cannot be read as String"),
        ("seed", "wrong-type", "of type bytes, cannot be read as String"),
    ])
    func refusesAKey(_ name: String, code: String, message: String) throws {
        let configuration = try configuration()
        let key = ConfigurationKey<String, SecretValue>(name)
        let errors = [
            error { _ = try lent(key, of: configuration) },
            error { _ = try lent(key, of: LiveConfiguration(configuration)) },
            error { _ = try configuration.copyOfSecret(key) },
        ]
        for error in errors {
            let error = try #require(error)
            #expect(error.code.name == code && error.message.contains(message), "\(error)")
            #expect(error.message.contains("\"\(name)\""))
            #expect(!error.message.contains("ZZZZZZ") && !error.message.contains("9090"))
        }
    }

    @Test func lendsNothingOfAnOptionalWithoutAValue() throws {
        let configuration = try configuration()
        let key = ConfigurationKey<String?, SecretValue>("unset")
        #expect(code { _ = try lent(key, of: configuration) } == "missing-value")
    }

    @Test func refusesToDecodeAMissingMember() throws {
        struct Database: Decodable { var host: String, pin: Int, name: String }
        struct Text: Decodable { var pin: String }
        let configuration = try configuration()
        let missing = error {
            _ = try configuration.copyOfValues(as: Database.self, at: "db")
        }
        let wrong = error { _ = try configuration.copyOfValues(as: Text.self, at: "db") }
        #expect(missing?.code == .missingValue)
        #expect(wrong?.code == .wrongType && wrong?.message.contains("7") == false)
    }

    @Test func rethrowsTheErrorOfTheClosure() async throws {
        let configuration = try configuration()
        #expect(throws: Wrong.self) {
            try configuration.withSecret(.password) { _ in throw Wrong() }
        }
        await #expect(throws: Wrong.self) {
            try await configuration.withSecret(.password) { _ in
                await Task.yield()
                throw Wrong()
            }
        }
    }

    @Test func lendsToAnAsynchronousClosure() async throws {
        let configuration = try configuration()
        let count = try await configuration.withSecret(.password) { bytes in
            await Task.yield()
            return bytes.count
        }
        #expect(count == Self.canary.utf8.count)
        do throws(VaultError) {
            try await configuration.withSecret(ConfigurationKey<String, SecretValue>("unset")) {
                _ in
                await Task.yield()
            }
            Issue.record("a missing secret was lent")
        } catch {
            #expect(error.code == .missingValue)
        }
    }
}
