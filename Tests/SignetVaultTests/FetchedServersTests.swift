import SignetJSON
import SignetVault
import Testing

/// Fetched values choose servers, signatures and requests only if the schema names `fetched` for
/// the key.
@Suite struct FetchedServersTests {
    private static let servers = [
        "services.orders.baseURL", "services.orders.staging.baseURL", "services.orders.cdnURL",
        "services.orders.development.cdnURL", "services.orders.pins",
        "services.orders.staging.pins", "services.orders.cdnPins", "services.orders.proxy",
        "services.orders.addresses", "services.orders.signing.covers",
        "services.orders.signing.tag", "services.orders.staging.signing.scheme",
        "proxy.url", "proxy.noProxy", "urlRules.allowed", "urlRules.refused",
        "probes.state.service", "probes.state.method", "probes.state.path",
        "probes.state.parameters",
    ]

    private static func schema(_ key: String, setBy: JSONValue? = nil) throws -> Schema {
        var rule: JSONObject = ["type": "string", "visibility": "public", "meaning": "x"]
        rule["maxLength"] = 99
        if let setBy { rule["setBy"] = setBy }
        return try Schema(["keys": .object([key: .object(rule)])])
    }

    private static func fetched(
        _ key: String, _ schema: Schema
    ) throws -> GlobalConfiguration {
        try GlobalConfiguration(
            schema: schema, defaults: .none, fetched: .values([key: "https://evil.test/"]))
    }

    @Test(arguments: servers)
    func fetchedValuesChooseNoServer(key: String) throws {
        let schema = try Self.schema(key)
        let error = try #require(throws: VaultError.self) { try Self.fetched(key, schema) }
        #expect(error.code == .sourceNotAllowed)
        #expect(error.message.contains("\"fetched\" in its \"setBy\""))
        #expect(schema.findings.map(\.code) == ["no-set-by"])
        for input in [["defaults"], ["launch"]] as [JSONValue] {
            let named = try Self.schema(key, setBy: input)
            #expect(throws: VaultError.self) { try Self.fetched(key, named) }
            #expect(named.findings.isEmpty)
        }
    }

    @Test(arguments: servers)
    func fetchedValuesChooseServersIfNamed(key: String) throws {
        let schema = try Self.schema(key, setBy: ["defaults", "fetched"])
        #expect(try Self.fetched(key, schema).value(named: key)?.json == "https://evil.test/")
        #expect(schema.findings.map(\.code) == ["fetched-server"])
    }

    @Test(arguments: [
        "services.orders.timeout", "services.baseURL.timeout", "services.signing.timeout",
        "orders.baseURL", "baseURL", "probes.state.expect", "probes.state.timeout",
        "probes.service", "probes.service.expect", "app.probes.state.method",
        "proxy", "proxies.url", "services.orders.baseurl", "app.services.orders.baseURL",
    ])
    func otherKeysTakeFetchedValues(key: String) throws {
        _ = try Self.fetched(key, try Self.schema(key))
    }
}
