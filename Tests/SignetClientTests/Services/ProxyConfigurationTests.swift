import SignetClient
import SignetJSON
import SignetTransport
import SignetVault
import TestSupport
import Testing

/// A proxy in the configuration. Its URL may be public, its credentials never.
@Suite struct ProxyConfigurationTests {
    private static func configuration(
        _ values: JSONObject, publicCredentials: Bool = false
    ) throws -> GlobalConfiguration {
        var keys: JSONObject = [
            "services.a.baseURL": ["type": "string", "visibility": "public"],
            "services.a.protocol": ["type": "string", "visibility": "public"],
            "services.a.pins": ["type": "array", "visibility": "public"],
            "proxy.url": ["type": "string", "visibility": "public"],
            "proxy.noProxy": ["type": "array", "visibility": "public"],
            "proxy.credentials": ["type": "string", "visibility": "secret"],
        ]
        if publicCredentials {
            keys["proxy.credentials"] = [
                "type": "string", "visibility": "public", "notSecret": true,
            ]
        }
        var all = Settings.service
        for (name, value) in values { all[name] = value }
        return try GlobalConfiguration(
            schema: Schema(["keys": .object(keys)]), defaults: .values(all))
    }

    private static func proxy(
        _ configuration: GlobalConfiguration, _ given: ProxyRules? = nil
    ) async throws -> Proxy? {
        let engine = RecordingEngine()
        var options = NetworkSystem.Options()
        options.engine = engine
        options.proxies = given
        let system = try await NetworkSystem.start(configuration, options: options)
        _ = try await system.call(RPCCall("m"), on: "a")
        await system.shutdown()
        return engine.requests.first?.proxy
    }

    @Test func isTakenFromItsKeys() async throws {
        #expect(try await Self.proxy(Self.configuration([:])) == nil)
        let one = try Self.configuration([
            "proxy.url": "http://p.test:1", "proxy.credentials": "u:ZZZZZZ",
        ])
        let proxy = try #require(try await Self.proxy(one))
        #expect(proxy.url == "http://p.test:1" && proxy.hasCredentials)
        let except = try Self.configuration([
            "proxy.url": "http://p.test:1", "proxy.noProxy": ["example.com"],
        ])
        #expect(try await Self.proxy(except) == nil)
        #expect(try await Self.proxy(one, .some(.none)) == nil)
        let other = ProxyRules(try Proxy(parsing: "socks5h://q.test:2"))
        #expect(try await Self.proxy(one, other)?.url == "socks5h://q.test:2")
    }

    @Test func isRefusedWithTheKeysName() async throws {
        for (values, isPublic, key) in [
            (["proxy.url": "ftp://p.test"], false, "proxy.url"),
            (["proxy.url": "http://p.test/path"], false, "proxy.url"),
            (
                ["proxy.url": "http://p.test", "proxy.credentials": "u:p"], true,
                "proxy.credentials"
            ),
            (
                ["proxy.url": "socks4a://p.test", "proxy.credentials": "u:s3cr3t"], false,
                "proxy.credentials"
            ),
        ] as [(JSONObject, Bool, String)] {
            let configuration = try Self.configuration(values, publicCredentials: isPublic)
            let error = await #expect(throws: ClientError.self) {
                _ = try await Self.proxy(configuration)
            }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.hasPrefix(key) == true)
            #expect(error?.message.contains("s3cr3t") == false)
        }
    }
}
