import Foundation
import HTTPTypes
import SignetClient
import SignetJSON
import SignetRPC
import SignetTesting
import SignetTransport
import TestSupport
import Testing

/// Stubs inside a running system, which respond in modes for debugging and tests alone.
@Suite struct StubInterceptorTests {
    /// A system on an engine that replaces the network.
    private func system(
        _ network: StubEngine, stubs: StubInterceptor?, mode: String? = "development",
        mayBeSwitched: Bool = true
    ) async throws -> NetworkSystem {
        var values: JSONObject = [
            "services.a.baseURL": "https://api.example.com/rpc",
            "services.a.protocol": "jsonrpc-2.0", "services.a.attempts": 2,
            "services.a.pins": ["sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="],
        ]
        if let mode { values["app.runMode"] = .string(mode) }
        let rules = values.map { name, value in
            let type = Int(value.text) == nil ? value.typeName : "integer"
            return (
                name: name, value: ["type": .string(type), "visibility": "public"] as JSONValue
            )
        }
        var options = NetworkSystem.Options()
        options.engine = network
        options.mayBeSwitched = mayBeSwitched
        options.clock.sleep = { _ in }
        if let stubs { options.callOptions.attemptInterceptors = [stubs] }
        return try await NetworkSystem.start(
            GlobalConfiguration(
                schema: Schema(["keys": .object(JSONObject(rules))]), defaults: .values(values)),
            options: options)
    }

    /// An engine that replaces the network: it returns the result 1.
    private func network() -> StubEngine {
        let network = StubEngine()
        network.respond(with: .result(1))
        return network
    }

    private func call(_ system: NetworkSystem, _ method: String = "m") async throws -> JSONValue? {
        try await system.call(RPCCall(RPCMethod(method)), on: "a").result?.value
    }

    private func code(_ work: () async throws -> Void) async -> ClientError.Code? {
        do {
            try await work()
            return nil
        } catch {
            return (error as? ClientError)?.code
        }
    }

    @Test(
        .features("000-50", "000-52"), .enabled(if: RunMode.isSwitchable),
        arguments: ["staging", "development"])
    func stubsTakeEffectWhileTheSystemRuns(_ mode: String) async throws {
        let (network, stubs) = (network(), StubInterceptor())
        let system = try await system(network, stubs: stubs, mode: mode)
        #expect(try await call(system) == 1 && network.requests.count == 1)
        stubs.respond(to: .procedure("m"), with: .result(2))
        #expect(try await call(system) == 2 && network.requests.count == 1)
        #expect(stubs.requests.map(\.procedure) == ["m"])
        // Other calls are sent, and so is this one after the stubs have been removed.
        #expect(try await call(system, "n") == 1)
        stubs.removeStubs()
        #expect(try await call(system) == 1 && network.requests.count == 3)
        await system.shutdown()
    }

    @Test(.enabled(if: RunMode.isSwitchable), arguments: RunMode.allCases)
    func stubsTakeEffectInASystemOfValues(_ mode: RunMode) async throws {
        let (network, stubs) = (network(), StubInterceptor())
        var options = NetworkSystem.Options()
        options.runMode = mode
        options.callOptions.attemptInterceptors = [stubs]
        let services: [ServiceName: ServiceConfiguration] = [
            "a": .init(baseURL: "https://api.example.com/rpc", payloadProtocol: .jsonRPC2)
        ]
        let system = try await NetworkSystem.start(
            services: services, stub: network, options: options)
        stubs.respond(to: .procedure("m"), with: .result(2))
        #expect(try await call(system) == (mode == .production ? 1 : 2))
        await system.shutdown()
    }

    /// As an interceptor of attempts and as a stub; what it doesn't answer is not its own.
    @Test(.features("000-41"), .enabled(if: RunMode.isSwitchable), arguments: [true, false])
    func theRecordNamesTheStub(_ isInterceptor: Bool) async throws {
        let (stubs, counter) = (StubInterceptor(), CallCounter())
        let system = try await system(network(), stubs: isInterceptor ? stubs : nil)
        if !isInterceptor { system.stubs.add(stubs, for: .debugging) }
        system.addObserver(counter)
        stubs.respond(to: .procedure("m"), with: .result(2))
        stubs.respond(to: .procedure("e"), with: .rpcError(code: 1, message: "no"))
        for (method, source) in [("m", .stub), ("e", .stub), ("n", .mock)]
            as [(String, ResponseSource)]
        {
            let trace = CallTrace()
            _ = try? await system.call(
                RPCCall(RPCMethod(method)), on: "a", options: RequestOptions(trace: trace))
            #expect(trace.record?.response?.source == source, "\(method)")
            #expect(counter.count { $0.method == method && $0.source == source } == 1)
        }
        await system.shutdown()
    }

    /// Added to a running system they respond by the rules of their module, until they are removed.
    @Test(
        .features("000-50", "000-52", "000-53"),
        arguments: [StubModule.debugging, .testing, .business], ["development", "production"])
    func aRunningSystemTakesThem(_ module: StubModule, _ mode: String) async throws {
        let (network, stubs) = (network(), StubInterceptor())
        let system = try await system(network, stubs: nil, mode: mode)
        stubs.respond(to: .procedure("m"), with: .result(2))
        #expect(try await call(system) == 1)
        let installation = system.stubs.add(stubs, for: module)
        let acts = module == .business || system.mode == .development
        #expect(try await call(system) == (acts ? 2 : 1))
        #expect(stubs.requests.count == (acts ? 1 : 0))
        #expect(try await call(system, "n") == 1)
        stubs.isOn = false
        #expect(try await call(system) == 1)
        stubs.isOn = true
        installation.remove()
        #expect(try await call(system) == 1)
        #expect(network.requests.count == (acts ? 4 : 5))
        await system.shutdown()
    }

    /// Each attempt asks the stubs, so that retries can be tested.
    @Test(.enabled(if: RunMode.isSwitchable)) func aStubFailsAnAttempt() async throws {
        let (network, stubs) = (network(), StubInterceptor())
        let system = try await system(network, stubs: stubs)
        stubs.respond(with: .failure(.connect), .result(3))
        #expect(try await call(system) == 3 && stubs.requests.count == 2)
        stubs.respond(with: .rpcError(code: -32601, message: "none"))
        #expect(await code { _ = try await call(system) } == .rpcError)
        #expect(network.requests.isEmpty)
        await system.shutdown()
    }

    @Test(.enabled(if: RunMode.isSwitchable)) func aBatchIsStubbedWholeOrNotAtAll() async throws {
        let (network, stubs) = (network(), StubInterceptor())
        let system = try await system(network, stubs: stubs)
        stubs.respond(to: .procedure("m"), with: .result(2))
        let both = [RPCCall("m"), RPCCall("n")]
        _ = try await system.batch(both, on: "a")
        #expect(network.requests.count == 2 && stubs.requests.isEmpty)
        stubs.respond(to: .procedure("n"), with: .result(2))
        _ = try await system.batch(both, on: "a")
        #expect(network.requests.count == 2 && stubs.requests.count == 2)
        await system.shutdown()
    }

    @Test(.features("000-53"), .enabled(if: RunMode.isSwitchable)) func theSwitchTurnsStubsOff()
        async throws
    {
        let (network, stubs) = (network(), StubInterceptor())
        let system = try await system(network, stubs: stubs)
        stubs.respond(with: .result(2))
        stubs.isOn = false
        #expect(try await call(system) == 1 && !stubs.isOn)
        stubs.isOn = true
        #expect(try await call(system) == 2 && stubs.isOn)
        await system.shutdown()
    }

    @Test(
        .features("000-25", "000-53"),
        arguments: [
            ("production", true), (nil, true), ("development", false), ("staging", false),
        ])
    func productionIgnoresStubs(_ mode: String?, mayBeSwitched: Bool) async throws {
        let (network, stubs) = (network(), StubInterceptor())
        let system = try await system(
            network, stubs: stubs, mode: mode, mayBeSwitched: mayBeSwitched)
        stubs.respond(with: .result(2))
        #expect(try await call(system) == 1 && system.mode == .production)
        #expect(stubs.requests.isEmpty && network.requests.count == 1)
        await system.shutdown()
    }

    @Test func aSystemOfServicesAsValuesIgnoresStubs() async throws {
        let (network, stubs) = (network(), StubInterceptor())
        var options = NetworkSystem.Options()
        options.callOptions.attemptInterceptors = [stubs]
        let system = try await NetworkSystem.start(
            services: ["a": .init(baseURL: "https://api.example.com", payloadProtocol: .jsonRPC2)],
            stub: network, options: options)
        stubs.respond(with: .result(2))
        #expect(try await call(system) == 1)
        await system.shutdown()
    }

    @Test(.features("000-51"), arguments: [true, false])
    func aPointWithoutAStubForTheCallChangesNoByte(_ isEmpty: Bool) async throws {
        var sent: [RecordedRequest] = []
        for stubs in [nil, StubInterceptor()] {
            let network = network()
            if !isEmpty { stubs?.respond(to: .procedure("other"), with: .result(2)) }
            let system = try await system(network, stubs: stubs)
            #expect(try await call(system) == 1)
            sent += network.requests
            await system.shutdown()
        }
        #expect(sent.count == 2 && sent.first?.request == sent.last?.request)
        #expect(sent.first?.body == sent.last?.body)
    }

    /// The stubs are a module of their own, which no other module knows.
    @Test(.features("000-54")) func noOtherModuleImportsTheStubs() throws {
        let sources = try #require(
            FileManager.default.enumerator(
                at: PackageLayout.url("Sources"), includingPropertiesForKeys: nil))
        var count = 0
        for case let url as URL in sources
        where url.pathExtension == "swift" && !url.path.contains("/SignetTesting/") {
            count += 1
            let text = try String(contentsOf: url, encoding: .utf8)
            #expect(text.firstRange(of: "import SignetTesting") == nil, "\(url.lastPathComponent)")
        }
        #expect(count > 100)
    }
}
