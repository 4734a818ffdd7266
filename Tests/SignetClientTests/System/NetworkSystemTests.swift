import Foundation
import HTTPTypes
import SignetClient
import SignetCrypto
import SignetCurl
import SignetJSON
import SignetPinning
import SignetRPC
import SignetTransport
import SignetVault
import TestSupport
import Testing

/// Calls through a network system: results, retries and errors.
@Suite struct NetworkSystemTests {
    @Test(
        .features(
            "000-03", "000-34", "000-37", "000-39", "000-56", "001-19", "002-31", "003-09",
            "003-11", "004-14", "004-16")) func callsAreSignedPinnedAndUnboxed()
        async throws
    {
        let host = try await OrdersHost.start()
        let system = try await Shop.system(for: host)
        let order = try await system.send(CreateOrder(item: "tea", quantity: 2))
        #expect(order.item == "tea")
        #expect(order.status == "created")
        let again = try await system.send(ReadOrder(id: order.id))
        #expect(again == order)
        await system.shutdown()
        let log = try await host.requests(count: 2)
        for line in log {
            let entry = try JSONValue(parsing: Array(line.utf8))
            #expect(entry["verdict"]?.string == "verified")
            #expect(entry["protocol"]?.string == "HTTP/2.0")
        }
        try await host.stop()
    }

    /// Two versions of one library, with settings of their own: one speaks HTTP/1.1 alone.
    @Test(.features("000-44", "000-43")) func oneLibraryIsTwoEngines() async throws {
        let host = try await OrdersHost.start()
        var options = try Shop.options()
        var settings = EngineSettings()
        settings.caFile = options.caFile
        settings.offersHTTP2 = false
        options.engines["http1"] = try CurlEngine(settings)
        let system = try await NetworkSystem.start(
            Shop.configuration(for: host), keys: KeySource(host.keyFile).load(), options: options)
        var old = RequestOptions()
        old.engine = EngineChoice("http1")
        for (options, version, name) in [
            (RequestOptions(), 2, EngineName.standard), (old, 1, "http1"),
        ] {
            let response = await system.response(
                to: CreateOrder(item: "tea", quantity: 2), options: options)
            #expect(try response.get().item == "tea")
            let hop = try #require(response.record?.attempts.first?.hops.first)
            #expect(hop.httpVersion?.major == version && hop.engine?.engine == name)
            #expect(hop.isPinned)
        }
        await system.shutdown()
        try await host.stop()
    }

    @Test func notificationsHaveNoResult() async throws {
        let host = try await OrdersHost.start()
        let system = try await Shop.system(for: host)
        let call = RPCCall(
            "orders.create", parameters: .object(["item": "tea", "quantity": 1]),
            isNotification: true)
        #expect(try await system.call(call, on: "orders").result == nil)
        await system.shutdown()
        try await host.stop()
    }

    @Test(.features("004-20")) func aWrongPinStopsTheCallBeforeAByteOfItLeaves() async throws {
        let host = try await OrdersHost.start()
        let rogue = try TestAuthority.rogue.get()
        let refused = try await Shop.system(for: host, pins: [rogue.root.pin, rogue.leaf.pin])
        let error = await #expect(throws: ClientError.self) {
            try await refused.send(CreateOrder(item: "tea", quantity: 2))
        }
        #expect(error?.code.name == "pin-mismatch")
        #expect(error?.kind == .noResponse)
        #expect(error?.message.contains(rogue.root.pin) == true)
        #expect(error?.message.contains(try TestAuthority.trusted.get().leaf.pin) == true)
        await refused.shutdown()
        let system = try await Shop.system(for: host)
        _ = try await system.send(CreateOrder(item: "tea", quantity: 3))
        await system.shutdown()
        #expect(try await host.requests(count: 1).count == 1)
        try await host.stop()
    }

    @Test(.features("002-33")) func theHostRefusesAnotherKey() async throws {
        let host = try await OrdersHost.start()
        let other = """
            {"keys":[{"kty":"oct","use":"sig","alg":"HS256","kid":"orders-2026",\
            "k":"WlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlo"}]}
            """
        let system = try await Shop.system(
            for: host, keys: KeySet(parsing: Array(other.utf8), source: "test"))
        let error = await #expect(throws: ClientError.self) {
            try await system.send(CreateOrder(item: "tea", quantity: 2))
        }
        #expect(error?.status == 401)
        await system.shutdown()
        try await host.stop()
    }

    @Test(.features("001-15", "004-13")) func theServicesOwnErrorIsTyped() async throws {
        let host = try await OrdersHost.start()
        let system = try await Shop.system(for: host)
        let error = await #expect(throws: ClientError.self) {
            try await system.call(RPCCall("orders.nothing"), on: "orders")
        }
        #expect(error?.kind == .refused)
        #expect(error?.serverError?.kind == .methodNotFound)
        await system.shutdown()
        try await host.stop()
    }

    @Test(.features("002-16")) func aResultOfAnotherTypeIsNamed() async throws {
        struct Wrong: Endpoint {
            typealias Success = [Int]
            var service: ServiceName { "orders" }
            var method: RPCMethod { "orders.create" }
            var item = "tea"
            var quantity = 1
        }
        let host = try await OrdersHost.start()
        let system = try await Shop.system(for: host)
        let error = await #expect(throws: ClientError.self) { try await system.send(Wrong()) }
        #expect(error?.code == .typeMismatch)
        #expect(error?.message.contains("tea") == false)
        await system.shutdown()
        try await host.stop()
    }

    /// Such as one with a model library of its own.
    @Test(.features("001-05", "002-02", "002-30", "003-10", "004-17"))
    func anEndpointMayMakeItsValueItself() async throws {
        struct Receipt: Equatable {
            let text: String
        }
        struct Refusal: Error, CustomStringConvertible {
            let description: String
        }
        struct OrderTea: Endpoint {
            var service: ServiceName { "orders" }
            var method: RPCMethod { "orders.create" }
            var item = "tea"
            var quantity: Int

            func success(from response: UnboxedResponse) throws -> Receipt {
                guard let order = response.result?.value, let item = order["item"],
                    order["quantity"] == 2
                else { throw Refusal(description: response.result?.value.text ?? "") }
                return Receipt(text: item.text)
            }
        }
        let host = try await OrdersHost.start()
        let system = try await Shop.system(for: host)
        #expect(try await system.send(OrderTea(quantity: 2)) == Receipt(text: "\"tea\""))
        let error = await #expect(throws: ClientError.self) {
            try await system.send(OrderTea(quantity: 3))
        }
        #expect(error?.code == .conversionFailed && error?.status == 200)
        #expect(error?.message == "the program's conversion threw Refusal")
        await system.shutdown()
        try await host.stop()
    }

    @Test(.features("000-01")) func afterShutdownNoCallIsTaken() async throws {
        let host = try await OrdersHost.start()
        let system = try await Shop.system(for: host)
        await system.shutdown()
        await system.shutdown()
        let error = await #expect(throws: ClientError.self) {
            try await system.send(CreateOrder(item: "tea", quantity: 2))
        }
        #expect(error?.code == .notRunning)
        try await host.stop()
    }

    @Test(.features("000-01")) func callsUnderWayEndOnceAtShutdown() async throws {
        let host = try await OrdersHost.start()
        let system = try await Shop.system(for: host)
        let ends = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<64 {
                group.addTask {
                    do {
                        _ = try await system.send(CreateOrder(item: "tea", quantity: number + 1))
                        return true
                    } catch {
                        return (error as? ClientError)?.code == .notRunning
                    }
                }
            }
            await system.shutdown(gracePeriod: .zero)
            return await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(ends.count == 64)
        #expect(ends.allSatisfy { $0 })
        try await host.stop()
    }

    @Test(.features("002-06")) func aHostThatIsDownIsAConnectError() async throws {
        let host = try await OrdersHost.start()
        try await host.stop()
        let system = try await Shop.system(for: host)
        let error = await #expect(throws: ClientError.self) {
            try await system.send(CreateOrder(item: "tea", quantity: 2))
        }
        #expect(error?.code.name == "connect")
        #expect(error?.kind == .noResponse)
        await system.shutdown()
    }

    @Test func anUnknownServiceIsNamed() async throws {
        let host = try await OrdersHost.start()
        let system = try await Shop.system(for: host)
        let error = await #expect(throws: ClientError.self) {
            try await system.call(RPCCall("orders.list"), on: "ordres")
        }
        #expect(error?.code == .unknownService)
        #expect(error?.message.contains(#"did you mean "orders"?"#) == true)
        await system.shutdown()
        #expect(host.requests.isEmpty)
        try await host.stop()
    }

    @Test(.features("000-15")) func urlRulesRefuseBeforeAnyConnection() async throws {
        let host = try await OrdersHost.start()
        let system = try await Shop.system(
            for: host, changes: ["urlRules.allowed": ["^https://localhost:1/rpc$"]])
        let error = await #expect(throws: ClientError.self) {
            try await system.send(CreateOrder(item: "tea", quantity: 2))
        }
        #expect(error?.code == .refusedURL)
        let refusing = try await Shop.system(
            for: host, changes: ["urlRules.refused": ["/rpc$"]])
        await #expect(throws: ClientError.self) {
            try await refusing.send(CreateOrder(item: "tea", quantity: 2))
        }
        await system.shutdown()
        await refusing.shutdown()
        #expect(host.requests.isEmpty)
        try await host.stop()
    }
}

/// Engines that can't pin, and the attempts of a call.
@Suite struct EngineChoiceTests {
    private static func system(
        _ engine: RecordingEngine, attempts: Int = 1, policy: PinPolicy?
    ) async throws -> NetworkSystem {
        let key = """
            {"keys":[{"kty":"oct","use":"sig","alg":"HS256","kid":"a",\
            "k":"WlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlo"}]}
            """
        var options = NetworkSystem.Options()
        options.engine = engine
        return try await NetworkSystem.start(
            services: [
                "a": ServiceConfiguration(
                    baseURL: "https://api.example.com/rpc", payloadProtocol: .jsonRPC2,
                    signing: .init(scheme: "salted-hmac-v1", keyID: "a"), attempts: attempts)
            ], keys: KeySet(parsing: Array(key.utf8), source: "test"), policy: policy,
            options: options)
    }

    private static func policy(_ host: String) throws -> PinPolicy {
        try PinPolicy(
            rules: [PinRule(host: host, pins: [Pin(bytes: [UInt8](repeating: 1, count: 32))])])
    }

    @Test(arguments: [
        ("api.example.com", "engine-cannot-pin"), ("other.example.com", "unlisted-host"),
    ])
    func anEngineWithoutPinsGetsNoPinnedCall(_ host: String, _ code: String) async throws {
        let engine = RecordingEngine(pins: false)
        let system = try await Self.system(engine, policy: Self.policy(host))
        let error = await #expect(throws: ClientError.self) {
            try await system.call(RPCCall("m"), on: "a")
        }
        #expect(error?.code.name == code)
        #expect(engine.count == 0)
        await system.shutdown()
    }

    @Test(.features("001-01", "002-12", "004-03")) func eachAttemptHasItsOwnSignature() async throws
    {
        let engine = RecordingEngine(pins: true, failingFirst: 2)
        let system = try await Self.system(engine, attempts: 3, policy: .allowingAll())
        _ = try await system.call(RPCCall("m"), on: "a")
        let requests = engine.requests
        #expect(requests.count == 3)
        #expect(Set(requests.map(\.bytes)).count == 1)
        let name = try #require(HTTPField.Name("Signet-Signature"))
        #expect(Set(requests.map { $0.request.headerFields[name] ?? "" }).count == 3)
        await system.shutdown()
    }

    @Test(.features("000-19")) func theConfigurationLimitsAttempts() async throws {
        let engine = RecordingEngine(pins: true, failingFirst: 9)
        let system = try await Self.system(engine, attempts: 2, policy: .allowingAll())
        let error = await #expect(throws: ClientError.self) {
            try await system.call(RPCCall("m"), on: "a")
        }
        #expect(error?.code.name == "connect")
        #expect(engine.count == 2)
        await system.shutdown()
    }
}

/// Configurations with which a system can't start.
@Suite struct StartTests {
    @Test(
        arguments: [
            ("services.orders.pins", JSONValue.array([]), "services.orders.pins"),
            // As long as a pin, but no canonical base64.
            (
                "services.orders.pins",
                .array([.string("sha256/" + String(repeating: "A", count: 42) + "B=")]),
                "services.orders.pins"
            ),
            ("services.orders.signing.key", "nobody", "nobody"),
            ("services.orders.baseURL", "ftp://localhost/rpc", "scheme"),
            ("urlRules.allowed", ["(("], "urlRules.allowed"),
        ] as [(String, JSONValue, String)])
    func refusesWhatCannotWork(_ key: String, _ value: JSONValue, _ named: String) async throws {
        let keys = """
            {"keys":[{"kty":"oct","use":"sig","alg":"HS256","kid":"orders-2026",\
            "k":"WlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlo"}]}
            """
        let pins: JSONValue = .array([.string(try TestAuthority.trusted.get().root.pin)])
        var fetched: JSONObject = [
            "services.orders.pins": pins, "services.catalog.pins": pins,
        ]
        fetched[key] = value
        let configuration = try GlobalConfiguration(
            schema: Shop.schema(),
            defaults: .file(PackageLayout.url("Examples/shop/defaults.json").path),
            fetched: .values(fetched))
        let set = try KeySet(parsing: Array(keys.utf8), source: "test")
        let error = await #expect(throws: ClientError.self) {
            try await NetworkSystem.start(configuration, keys: set, options: Shop.options())
        }
        #expect(error?.message.contains(named) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [
        "localhost/rpc", "https:///rpc", "https://:443/rpc", "https://user:s3cr3t@localhost/",
        "https://localhost/#top", "https://local host/", "ftp://localhost/",
        "https://localhost/\u{1}",
    ])
    func refusesAnInvalidURL(_ url: String) async throws {
        let error = await #expect(throws: ClientError.self) {
            try await NetworkSystem.start(
                services: ["a": ServiceConfiguration(baseURL: url, payloadProtocol: .rest)],
                policy: nil)
        }
        #expect(error?.code == .refusedURL)
        #expect(error?.message.contains("s3cr3t") == false)
    }

    @Test func nothingSecretPrints() async throws {
        let host = try await OrdersHost.start()
        let keys = try KeySource(host.keyFile).load()
        let system = try await Shop.system(for: host)
        var text = "\(system)"
        dump(system, to: &text)
        dump(keys, to: &text)
        #expect(!text.contains("ZZZZZZ"))
        await system.shutdown()
        try await host.stop()
    }
}
