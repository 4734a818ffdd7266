import HTTPTypes
import SignetClient
import SignetCrypto
import SignetJSON
import SignetPinning
import SignetRPC
import TestSupport
import Testing

/// The hosts, pins, content delivery and signing keys that a service has in each mode.
@Suite struct EnvironmentTests {
    static let keys: KeySet? = try? KeySet(
        parsing: Array(
            #"{"keys":[{"kty":"oct","use":"sig","alg":"HS256","kid":"live","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"},{"kty":"oct","use":"sig","alg":"HS256","kid":"trial","k":"MTEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"}]}"#
                .utf8), source: "test")

    private static func pin(_ letter: String) -> String {
        "sha256/" + String(repeating: letter, count: 42) + "E="
    }

    private static let values: JSONObject = [
        "services.a.pins": [.string(pin("A"))], "services.a.cdnURL": "https://cdn.example.com/",
        "services.a.cdnPins": [.string(pin("B"))], "services.a.signing.scheme": "rfc9421",
        "services.a.signing.key": "live", "services.a.commonFields": ["x-app": "shop"],
        "services.a.staging.baseURL": "https://api.staging.test/rpc",
        "services.a.staging.pins": [.string(pin("C"))],
        "services.a.staging.cdnURL": "https://cdn.staging.test/",
        "services.a.staging.cdnPins": [.string(pin("D"))],
        "services.a.staging.signing.scheme": "rfc9421", "services.a.staging.signing.key": "trial",
        "services.a.development.baseURL": "https://localhost:8443/rpc",
        "services.a.development.pins": [.string(pin("F"))],
    ]

    private static func system(
        _ values: JSONObject, mode: RunMode, _ engine: RecordingEngine = RecordingEngine(),
        maySwitch: Bool = true
    ) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.engine = engine
        options.mayBeSwitched = maySwitch
        var all = values
        all["app.runMode"] = .string(mode.rawValue)
        return try await NetworkSystem.start(
            Settings.configuration(all), keys: keys, options: options)
    }

    private struct Seen: Equatable {
        var hosts: [String?]
        var pins: [String: [String]]
        var key: String?
    }

    /// Calls the service and, if it has one, its content delivery.
    private static func seen(
        _ mode: RunMode, maySwitch: Bool = true, changing values: JSONObject = values
    ) async throws -> Seen {
        let engine = RecordingEngine()
        let system = try await system(values, mode: mode, engine, maySwitch: maySwitch)
        _ = try await system.call(RPCCall("m"), on: "a")
        do throws(ClientError) {
            _ = try await system.exchange(
                ServiceName("a").cdn, method: .get, target: "/1.png", fields: [:], body: [])
        } catch {
            try #require(error.code == .unknownService)
        }
        let first = try #require(engine.requests.first)
        var pins: [String: [String]] = [:]
        for rule in first.policy?.rules ?? [] {
            pins[rule.pattern.description] = rule.pins.map(\.text)
        }
        let field = try #require(HTTPField.Name("Signature-Input"))
        let input = first.request.headerFields[field] ?? ""
        await system.shutdown()
        return Seen(
            hosts: engine.requests.map(\.request.authority), pins: pins,
            key: ["live", "trial"].first { input.contains("keyid=\"\($0)\"") })
    }

    private static let production = Seen(
        hosts: ["api.example.com", "cdn.example.com"],
        pins: ["api.example.com": [pin("A")], "cdn.example.com": [pin("B")]], key: "live")

    @Test(.features("002-15"), .enabled(if: RunMode.isSwitchable))
    func eachModeHasItsOwnHosts() async throws {
        #expect(try await Self.seen(.production) == Self.production)
        #expect(
            try await Self.seen(.staging)
                == Seen(
                    hosts: ["api.staging.test", "cdn.staging.test"],
                    pins: [
                        "api.staging.test": [Self.pin("C")], "cdn.staging.test": [Self.pin("D")],
                    ], key: "trial"))
        // Neither the key nor the content delivery of the release is used.
        #expect(
            try await Self.seen(.development)
                == Seen(hosts: ["localhost:8443"], pins: ["localhost": [Self.pin("F")]], key: nil))
    }

    @Test(arguments: RunMode.allCases)
    func aBuildThatCannotSwitchUsesTheReleasesHosts(_ mode: RunMode) async throws {
        #expect(try await Self.seen(mode, maySwitch: false) == Self.production)
    }

    @Test(.enabled(if: RunMode.isSwitchable), arguments: [RunMode.staging, .development])
    func aServiceWithoutAnEnvironmentIsItself(_ mode: RunMode) async throws {
        var values = Self.values
        for name in values.memberNames
        where name.hasPrefix("services.a.staging") || name.hasPrefix("services.a.development") {
            values[name] = nil
        }
        #expect(try await Self.seen(mode, changing: values) == Self.production)
    }

    @Test(
        .enabled(if: RunMode.isSwitchable),
        arguments: [
            ("services.a.staging.baseURL", nil, "services.a.staging."),
            ("services.a.staging.baseURL", "ftp://api.staging.test/", "services.a.staging.baseURL"),
            ("services.a.staging.baseURL", "", "services.a.staging.baseURL"),
            ("services.a.staging.pins", nil, "services.a.staging.pins"),
            ("services.a.staging.pins", ["sha256/AA"], "services.a.staging.pins"),
            ("services.a.staging.cdnPins", nil, "services.a.staging.cdnPins"),
            ("services.a.staging.signing.scheme", nil, "services.a.staging.signing.key"),
            ("services.a.staging.signing.key", "nobody", "nobody"),
            ("services.a.staging.caMode", "add", "services.a.staging.caMode"),
        ] as [(String, JSONValue?, String)])
    func refusesAnEnvironmentThatIsNotWhole(
        _ key: String, _ value: JSONValue?, _ named: String
    ) async throws {
        var values = Self.values
        values[key] = value
        let changed = values
        let error = await #expect(throws: ClientError.self) {
            try await Self.system(changed, mode: .staging)
        }
        #expect(error?.message.contains(named) == true, "\(error?.message ?? "")")
        // Invalid values of another mode don't prevent the start.
        let system = try await Self.system(changed, mode: .production)
        await system.shutdown()
    }
}
