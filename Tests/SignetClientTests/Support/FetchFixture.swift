import Foundation
import HTTPTypes
import SignetClient
import SignetJSON
import SignetPinning
import SignetRPC
import SignetVault
import TestSupport

/// A program that fetches its values from `GET /values` of a real host, and keeps the last good
/// ones.
struct FetchFixture {
    static let app = "com.example.shop"
    /// The texts that no report, log or error may contain.
    static let canary = "ZZZZZZcanaryZZZZZZcanaryZZZZZZ"

    private static let anyone: JSONValue = ["defaults", "launch", "fetched"]

    static let schema: JSONValue = [
        "keys": [
            "services.settings.baseURL": ["type": "url", "visibility": "public", "setBy": anyone],
            "services.settings.protocol": ["type": "string", "visibility": "public"],
            "services.settings.pins": ["type": "array", "visibility": "public", "setBy": anyone],
            "app.version": [
                "type": "string", "visibility": "public", "setBy": ["defaults", "launch"],
            ],
            "app.runMode": ["type": "string", "visibility": "public", "setBy": ["launch"]],
            "simulation.offline": ["type": "boolean", "visibility": "public", "setBy": ["launch"]],
            "urlRules.refused": ["type": "array", "visibility": "public", "setBy": anyone],
            "shop.name": ["type": "string", "visibility": "public"],
            "shop.limit": ["type": "integer", "visibility": "public", "maximum": 10],
            "shop.token": ["type": "string", "setBy": ["fetched"]],
        ]
    ]

    /// The values that the host gives at first.
    static let good: JSONValue = [
        "shop.name": "first", "shop.limit": 3, "shop.token": .string(canary),
    ]

    let host: OrdersHost
    let folder: TemporaryDirectory
    var schema = Self.schema
    var defaults: JSONObject
    var launch: JSONObject = ["app.version": "1.4.2"]
    var plan: FetchPlan
    var options = NetworkSystem.Options()

    static let directives = """
        location = /values { alias values.json; default_type application/json; }
        location = /error { return 500 '{"shop.name":"error"}'; }
        location = /moved { return 302 /values; }
        location = /empty { return 204; }
        """

    init(directives: String = Self.directives) async throws {
        host = try await OrdersHost.start(directives: directives)
        folder = try TemporaryDirectory()
        let authority = try TestAuthority.trusted.get()
        defaults = [
            "services.settings.baseURL": .string(host.url), "services.settings.protocol": "rest",
            "services.settings.pins": [.string(authority.root.pin), .string(authority.leaf.pin)],
            "shop.name": "default",
        ]
        plan = FetchPlan(
            service: "settings", method: "GET", path: "/values", parameters: ["app.version"],
            lastGood: try Self.place(folder.path("fetched.dump")))
        options.caFile = authority.caFile
        try serve(Self.good)
    }

    /// A place for last good values.
    static func place(
        _ path: String, app: String = Self.app, version: String = "1.4.2", root: String = "Wlpa",
        accepting versions: [String] = []
    ) throws -> FetchPlan.StoredValues {
        FetchPlan.StoredValues(
            file: DumpFile(path),
            sealing: SealingCredentials(
                keys: try keys(root), binding: VersionBinding(app: app, version: version)),
            acceptedAppVersions: versions)
    }

    /// A vault root of 32 bytes that begin with the given base64.
    static func keys(_ start: String = "Wlpa") throws -> VaultKeys {
        let text = start + String(repeating: "A", count: 39)
        let set = """
            {"keys":[{"kty":"oct","use":"enc","kid":"root","k":"\(text)"}]}
            """
        return .keys(try KeySet(parsing: Array(set.utf8), source: "test"))
    }

    /// The responses of the host from now on.
    func serve(_ values: JSONValue) throws { try serve(text: values.text) }
    func serve(text: String) throws {
        try host.folder.write(text, to: "values.json", mode: 0o644)
    }

    func start() async throws -> NetworkSystem {
        try await NetworkSystem.start(
            schema: Schema(schema), defaults: .values(defaults), launch: .values(launch),
            fetching: plan, options: options)
    }

    /// Starts once with good values, so that there are last good ones.
    func startOnce() async throws {
        let system = try await start()
        await system.shutdown()
    }

    func dump() throws -> [UInt8] { try folder.read("fetched.dump") }
}

extension NetworkSystem {
    /// A public value, for short.
    func value(_ name: String) -> JSONValue? { configuration?.values[name] }
}
