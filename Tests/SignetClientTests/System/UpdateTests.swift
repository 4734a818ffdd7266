import SignetClient
import SignetCrypto
import SignetJSON
import SignetRPC
import SignetVault
import TestSupport
import Testing

/// Changing the configuration while calls run.
@Suite struct UpdateTests {
    private static let timeout = ConfigurationKey<Duration, PublicValue>("services.orders.timeout")

    @Test(.features("000-04")) func laterCallsAreMadeWithTheNewConfiguration() async throws {
        let host = try await OrdersHost.start()
        let other = try await OrdersHost.start(keyFile: host.keyFile)
        let system = try await Shop.system(for: host)
        _ = try await system.send(CreateOrder(item: "tea", quantity: 1))
        try system.update(
            Shop.configuration(for: other, changes: ["services.orders.timeout": "9s"]))
        #expect(try system.configuration?.value(for: Self.timeout) == .seconds(9))
        _ = try await system.send(CreateOrder(item: "tea", quantity: 2))
        #expect(try await other.requests(count: 1).count == 1)
        #expect(host.requests.count == 1)
        await system.shutdown()
        try await host.stop()
        try await other.stop()
    }

    @Test func aPooledConnectionIsJudgedByTheNewPins() async throws {
        let host = try await OrdersHost.start()
        let rogue = try TestAuthority.rogue.get()
        let system = try await Shop.system(for: host)
        _ = try await system.send(CreateOrder(item: "tea", quantity: 1))
        try system.update(Shop.configuration(for: host, pins: [rogue.root.pin, rogue.leaf.pin]))
        let error = await #expect(throws: ClientError.self) {
            try await system.send(CreateOrder(item: "tea", quantity: 2))
        }
        #expect(error?.code.name == "pin-mismatch")
        try system.update(Shop.configuration(for: host))
        _ = try await system.send(CreateOrder(item: "tea", quantity: 3))
        let log = try await host.requests(count: 2)
        #expect(log.count == 2)
        await system.shutdown()
        try await host.stop()
    }

    @Test(
        arguments: [
            ("services.orders.pins", [] as JSONValue, "invalid-service"),
            ("services.orders.signing.key", "nobody", "unknown-key"),
            ("services.orders.baseURL", "ftp://localhost/rpc", "invalid-service"),
            ("urlRules.allowed", ["(("], "invalid-service"),
            ("retry.statusCodes", [99], "invalid-configuration"),
        ] as [(String, JSONValue, String)])
    func whatCannotWorkIsRefusedAndNothingChanges(
        _ key: String, _ value: JSONValue, _ code: String
    ) async throws {
        let host = try await OrdersHost.start()
        let system = try await Shop.system(for: host)
        let before = system.configuration?.values
        let bad = try Shop.configuration(for: host, changes: [key: value])
        let error = #expect(throws: ClientError.self) { try system.update(bad) }
        #expect(error?.code.name == code)
        #expect(system.configuration?.values == before)
        _ = try await system.send(CreateOrder(item: "tea", quantity: 1))
        await system.shutdown()
        try await host.stop()
    }

    @Test func afterShutdownNothingIsChanged() async throws {
        let host = try await OrdersHost.start()
        let system = try await Shop.system(for: host)
        await system.shutdown()
        let configuration = try Shop.configuration(for: host)
        let error = #expect(throws: ClientError.self) { try system.update(configuration) }
        #expect(error?.code == .notRunning)
        try await host.stop()
    }

    @Test(.features("000-04")) func runningCallsKeepTheirConfiguration() async throws {
        let host = try await OrdersHost.start()
        let configurations = try (0..<2).map { number in
            try Shop.configuration(
                for: host, changes: ["services.orders.timeout": .string("\(20 + number)s")])
        }
        let keys = try KeySource(host.keyFile).load()
        let system = try await NetworkSystem.start(
            configurations[0], keys: keys, options: Shop.options())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let order = try await system.send(
                        CreateOrder(item: "tea", quantity: number + 1))
                    #expect(order.quantity == number + 1)
                }
                // Earlier calls are under way while the configuration changes.
                try system.update(configurations[number % 2])
                await Task.yield()
            }
            try await group.waitForAll()
        }
        await system.shutdown()
        let log = try await host.requests(count: 200)
        #expect(log.count == 200)
        #expect(log.allSatisfy { $0.contains(#""verdict":"verified""#) })
        try await host.stop()
    }

    @Test func aBadSnapshotOfALiveConfigurationIsSkipped() async throws {
        var options = NetworkSystem.Options()
        options.engine = RecordingEngine()
        let live = LiveConfiguration(try Settings.configuration(["urlRules.allowed": ["^a$"]]))
        let system = try await NetworkSystem.start(live.current, options: options)
        let following = Task { await system.follow(live) }
        func rules() -> JSONValue? { system.configuration?.values["urlRules.allowed"] }
        try live.set(launch: ["urlRules.allowed": ["^b$"]])
        #expect(try await eventually { rules() == ["^b$"] })
        try live.set(launch: ["urlRules.allowed": ["(("]])
        try live.set(launch: ["urlRules.allowed": ["^c$"]])
        #expect(try await eventually { rules() == ["^c$"] })
        following.cancel()
        await following.value
        await system.shutdown()
    }
}
