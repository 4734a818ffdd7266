import SignetClient
import SignetPinning
import TestSupport
import Testing

/// The pins of services that a program gives as values, with and without a policy.
@Suite struct ServicePinsTests {
    private static func pin(_ byte: UInt8) throws -> Pin {
        try Pin(bytes: [UInt8](repeating: byte, count: 32))
    }

    private static func service(pins: [UInt8]) throws -> ServiceConfiguration {
        ServiceConfiguration(
            baseURL: "https://api.example.com/", payloadProtocol: .rest, pins: try pins.map(pin))
    }

    private static func start(
        pins: [UInt8], _ policy: PinPolicy?, engine: RecordingEngine = RecordingEngine(),
        allowsUnpinned: Bool = false
    ) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.engine = engine
        if allowsUnpinned { options.dangerous.allowUnpinnedServices() }
        return try await NetworkSystem.start(
            services: ["a": service(pins: pins)], policy: policy, options: options)
    }

    private static func code(
        _ work: () async throws -> Void
    ) async -> String? {
        do {
            try await work()
            return nil
        } catch {
            return (error as? ClientError)?.code.name ?? "\(error)"
        }
    }

    @Test(.features("004-20")) func aWrongPinOfAServiceRefusesTheCall() async throws {
        let host = try await OrdersHost.start(directives: PolicyUpdateTests.directives)
        let authority = try TestAuthority.trusted.get()
        for (pin, code) in [
            (try TestAuthority.rogue.get().leaf.pin, "pin-mismatch"), (authority.leaf.pin, nil),
        ] as [(String, String?)] {
            let service = ServiceConfiguration(
                baseURL: host.url, payloadProtocol: .rest, pins: [try Pin(parsing: pin)],
                timeout: .seconds(300))
            let system = try await NetworkSystem.start(
                services: ["a": service], policy: nil, options: Shop.options())
            let seen = await Self.code {
                _ = try await system.exchange(
                    "a", method: .get, target: "/", fields: [:], body: [UInt8]())
            }
            #expect(seen == code)
            await system.shutdown()
        }
        try await host.stop()
    }

    @Test func aServiceWithoutPinsNeedsTheWeakChoice() async throws {
        #expect(await Self.code { _ = try await Self.start(pins: [], nil) } == "invalid-service")
        let system = try await Self.start(pins: [], nil, allowsUnpinned: true)
        let response = try await system.exchange(
            "a", method: .get, target: "/", fields: [:], body: [UInt8]())
        #expect(response.status == 200)
        await system.shutdown()
    }

    @Test func pinsOfServicesLeadToNoOtherHost() async throws {
        let engine = RecordingEngine(responses: [
            .init(status: 302, fields: [.location: "https://other.test/"]), .init(),
        ])
        let system = try await Self.start(pins: [1], nil, engine: engine)
        let code = await Self.code {
            _ = try await system.exchange(
                "a", method: .get, target: "/", fields: [:], body: [UInt8]())
        }
        #expect(code == "unlisted-host" && engine.count == 1)
        await system.shutdown()
    }

    @Test(arguments: [
        #"{"hosts":{},"unlisted":"allow"}"#, #"{"hosts":{}}"#,
        #"{"hosts":{"api.example.com":{"exclude":true}}}"#,
        #"{"hosts":{"api.example.com":{"pins":["$3"]}}}"#,
        #"{"hosts":{"api.example.com":{"pins":["$1","$2","$3"]}}}"#,
        #"{"hosts":{"api.example.com":{"pins":["$1"],"mode":"report"}}}"#,
        #"{"hosts":{"api.example.com":{"pins":["$1"],"expires":"2099-01-01","afterExpiry":"allow"}}}"#,
    ])
    func refusesAPolicyWithoutTheServicesPins(_ text: String) async throws {
        let policy = try Self.policy(text)
        let code = await Self.code { _ = try await Self.start(pins: [1, 2], policy) }
        #expect(code == "invalid-service")
    }

    @Test(arguments: [
        #"{"hosts":{"api.example.com":{"pins":["$2","$1"]}}}"#,
        #"{"hosts":{"api.example.com":{"pins":["$2"]}}}"#,
        #"{"hosts":{"**.example.com":{"pins":["$1"],"expires":"2099-01-01"}},"unlisted":"allow"}"#,
    ])
    func takesAPolicyThatEnforcesTheServicesPins(_ text: String) async throws {
        let policy = try Self.policy(text)
        let system = try await Self.start(pins: [1, 2], policy)
        #expect(system.policy == policy)
        await system.shutdown()
    }

    private static func policy(_ text: String) throws -> PinPolicy {
        var text = text
        for byte in UInt8(1)...3 { text = text.replacing("$\(byte)", with: try pin(byte).text) }
        return try PinPolicy(parsing: Array(text.utf8))
    }
}
