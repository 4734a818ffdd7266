import HTTPTypes
import SignetClient
import SignetJSON
import SignetPinning
import SignetTransport
import SignetVault
import TestSupport
import Testing

/// `services.NAME.caFile`: the CAs of one service's host only.
@Suite struct ServiceAuthoritiesTests {
    private let authority: TestAuthority
    private let rogue: TestAuthority

    init() throws {
        authority = try TestAuthority.trusted.get()
        rogue = try TestAuthority.rogue.get()
    }

    private func system(
        _ url: String, _ values: JSONObject, caFile: String? = nil, pins: [String]? = nil
    ) async throws -> NetworkSystem {
        var all: JSONObject = [
            "services.a.baseURL": .string(url), "services.a.protocol": "rest",
            "services.a.pins": .array((pins ?? [authority.root.pin]).map(JSONValue.string)),
        ]
        for (name, value) in values { all[name] = value }
        var options = NetworkSystem.Options()
        options.caFile = caFile
        if pins == [] {
            all["services.a.pins"] = nil
            options.dangerous.allowUnpinnedServices()
        }
        let keys = all.map { name, value in
            let type = value.array == nil ? "string" : "array"
            var rule: JSONObject = ["type": .string(type), "visibility": "public"]
            if type == "string" { rule["notSecret"] = true }
            return (name: name, value: JSONValue.object(rule))
        }
        return try await NetworkSystem.start(
            GlobalConfiguration(
                schema: Schema(["keys": .object(JSONObject(keys))]), defaults: .values(all)),
            options: options)
    }

    private func code(_ system: NetworkSystem, _ service: ServiceName = "a") async -> String? {
        do throws(ClientError) {
            _ = try await system.exchange(
                service, method: .get, target: "/plain", fields: [:], body: [UInt8]())
            return nil
        } catch {
            return error.code.name
        }
    }

    @Test func areTrustedForTheServicesHost() async throws {
        let host = try await OrdersHost.start(directives: "location /plain { return 200 'x'; }")
        let own = JSONValue.string(authority.caFile)
        let others = JSONValue.string(rogue.caFile)
        for (values, caFile, pins, wanted) in [
            ([:], nil, nil, "tls"), (["services.a.caFile": own], nil, nil, nil),
            (["services.a.caFile": own, "services.a.caMode": "add"], nil, nil, nil),
            (["services.a.caFile": others], authority.caFile, nil, "tls"),
            (
                ["services.a.caFile": others, "services.a.caMode": "replace"], authority.caFile,
                nil, "tls"
            ),
            (
                ["services.a.caFile": others, "services.a.caMode": "add"], authority.caFile, nil,
                nil
            ),
            (["services.a.caFile": own], nil, [rogue.root.pin], "pin-mismatch"),
            (["services.a.caFile": own], nil, [], nil), ([:], nil, [], "tls"),
        ] as [(JSONObject, String?, [String]?, String?)] {
            let system = try await system(host.url, values, caFile: caFile, pins: pins)
            #expect(await code(system) == wanted, "\(values)")
            await system.shutdown()
        }
    }

    @Test(arguments: [false, true])
    func anEngineThatCannotPinGetsNothing(_ hasOwn: Bool) async throws {
        let engine = RecordingEngine(pins: false)
        let own = try PinAuthorities(file: authority.caFile, mode: .replace)
        let rule = try PinRule(excluding: "api.example.com", authorities: hasOwn ? own : nil)
        var options = NetworkSystem.Options()
        options.engine = engine
        let system = try await NetworkSystem.start(
            services: ["a": .init(baseURL: "https://api.example.com", payloadProtocol: .rest)],
            policy: PinPolicy(rules: [rule]), options: options)
        #expect(await code(system) == (hasOwn ? "engine-cannot-pin" : nil))
        #expect(engine.count == (hasOwn ? 0 : 1))
        await system.shutdown()
    }

    @Test func areNotTrustedForAnotherServicesHost() async throws {
        let host = try await OrdersHost.start(directives: "location /plain { return 200 'x'; }")
        let system = try await system(
            "https://localhost:\(host.port)",
            [
                "services.a.caFile": .string(authority.caFile),
                "services.b.baseURL": .string("https://127.0.0.1:\(host.port)"),
                "services.b.protocol": "rest", "services.b.pins": [.string(authority.root.pin)],
            ])
        #expect(await code(system) == nil)
        #expect(await code(system, "b") == "tls")
        await system.shutdown()
        try await host.stop()
    }

    @Test func aContentDeliveryHasItsOwn() async throws {
        let host = try await OrdersHost.start(directives: "location /plain { return 200 'x'; }")
        let own = JSONValue.string(authority.caFile)
        let others = JSONValue.string(rogue.caFile)
        for (values, wanted) in [
            ([:], "tls"), (["services.a.caFile": own], "tls"),
            (["services.a.cdnCAFile": own], nil),
            (["services.a.caFile": others, "services.a.cdnCAFile": own], nil),
            (["services.a.cdnCAFile": own, "services.a.cdnCAMode": "add"], nil),
            (["services.a.cdnCAFile": others, "services.a.cdnCAMode": "add"], "tls"),
        ] as [(JSONObject, String?)] {
            var all = values
            all["services.a.cdnURL"] = .string("https://127.0.0.1:\(host.port)")
            all["services.a.cdnPins"] = [.string(authority.root.pin)]
            let system = try await system("https://localhost:\(host.port)", all)
            #expect(await code(system, ServiceName("a").cdn) == wanted, "\(values)")
            // The service doesn't trust the CAs of its content delivery.
            #expect((await code(system) == nil) == (values["services.a.caFile"] == own))
            await system.shutdown()
        }
        try await host.stop()
    }

    @Test func invalidFilesPreventTheStart() async throws {
        let folder = try TemporaryDirectory()
        let noCA = try folder.write("topsecret", to: "no-ca.pem")
        for (values, key) in [
            (["services.a.caFile": .string(noCA)], "services.a.caFile"),
            (["services.a.caFile": .string(folder.path("none"))], "services.a.caFile"),
            (["services.a.caFile": ""], "services.a.caFile"),
            (["services.a.caMode": "add"], "services.a.caMode"),
            (
                ["services.a.caFile": .string(authority.caFile), "services.a.caMode": "both"],
                "services.a.caMode"
            ),
            (
                [
                    "services.a.caFile": .string(authority.caFile),
                    "services.b.caFile": .string(rogue.caFile),
                    "services.b.baseURL": "https://LOCALHOST./b", "services.b.protocol": "rest",
                    "services.b.pins": [.string(authority.root.pin)],
                ], "different CAs"
            ),
            (
                [
                    "services.a.cdnURL": "https://cdn.test", "services.a.cdnPins": [],
                    "services.a.cdnCAFile": .string(noCA),
                ], "services.a.cdnCAFile"
            ),
            (
                ["services.a.cdnURL": "https://localhost", "services.a.cdnCAMode": "add"],
                "services.a.cdnCAMode"
            ),
            (
                [
                    "services.a.cdnURL": "https://localhost/cdn",
                    "services.a.caFile": .string(authority.caFile),
                    "services.a.cdnCAFile": .string(rogue.caFile),
                ], "different CAs"
            ),
        ] as [(JSONObject, String)] {
            let error = await #expect(throws: ClientError.self) {
                _ = try await system("https://localhost", values)
            }
            #expect(error?.code == .invalidService)
            #expect(error?.message.contains(key) == true, "\(error?.message ?? "")")
            for value in ["topsecret", folder.path, authority.caFile] {
                #expect(error?.message.contains(value) == false)
            }
        }
    }

    @Test func noFetchedValueNamesThem() async throws {
        let keys: JSONObject = [
            "services.a.baseURL": ["type": "string", "visibility": "public"],
            "services.a.protocol": ["type": "string", "visibility": "public"],
            "services.a.pins": ["type": "array", "visibility": "public"],
            "services.a.caFile": [
                "type": "string", "visibility": "public", "notSecret": true,
            ],
            "services.a.caMode": ["type": "string", "visibility": "public"],
            "services.a.cdnURL": ["type": "string", "visibility": "public"],
            "services.a.cdnCAFile": [
                "type": "string", "visibility": "public", "notSecret": true,
            ],
        ]
        let defaults: JSONObject = [
            "services.a.baseURL": "https://localhost", "services.a.protocol": "rest",
            "services.a.pins": [.string(authority.root.pin)],
            "services.a.caFile": .string(authority.caFile),
            "services.a.cdnURL": "https://localhost/cdn",
        ]
        for (fetched, key) in [
            (["services.a.caFile": .string(rogue.caFile)], "caFile"),
            (["services.a.caMode": "add"], "caMode"),
            (["services.a.cdnCAFile": .string(authority.caFile)], "cdnCAFile"),
        ] as [(JSONObject, String)] {
            let configuration = try GlobalConfiguration(
                schema: Schema(["keys": .object(keys)]), defaults: .values(defaults),
                fetched: .values(fetched))
            let error = await #expect(throws: ClientError.self) {
                _ = try await NetworkSystem.start(configuration)
            }
            #expect(error?.message.contains("services.a.\(key) can't be fetched") == true)
        }
    }
}
