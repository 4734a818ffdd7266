import HTTPTypes
import SignetBase
import SignetJSON
import SignetPinning
import SignetRPC
import SignetSystem
import SignetTransport
import SignetVault
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// The order in which a call tries addresses, on an engine without a network.
@Suite struct NearestAddressTests {
    /// An engine whose addresses are ports of 127.0.0.1; 0 is the host's name.
    private final class AddressEngine: HTTPEngine {
        private struct State {
            /// The ports whose handshakes fail, and those whose servers aren't the host.
            var dead: Set<Int> = []
            var wrong: Set<Int> = []
            /// The errors of requests by port.
            var errors: [Int: TransportError] = [:]
            var probes: [Int] = []
            var requests: [EngineRequest] = []
        }

        let capabilities = EngineCapabilities(
            name: "addresses", pinsPublicKeys: true, speaksHTTP2: false,
            connectsToAddresses: true)
        private let state = Mutex(State())

        var probes: [Int] { state.withLock { $0.probes } }
        var requests: [EngineRequest] { state.withLock { $0.requests } }
        /// The ports that the requests so far went to.
        var ports: [Int] { requests.map { Self.port($0.connectTo) } }

        func set(dead: Set<Int>, wrong: Set<Int> = []) {
            state.withLock { ($0.dead, $0.wrong) = (dead, wrong) }
        }

        func fail(_ port: Int, _ code: TransportError.Code, isUnsent: Bool = true) {
            var error = TransportError(code, "failed")
            error.isUnsent = isUnsent
            state.withLock { [error] in $0.errors[port] = error }
        }

        private static func port(_ connectTo: [EngineRequest.ConnectTo]) -> Int {
            connectTo.first?.addressPort ?? 0
        }

        func probe(_ probe: EngineProbe) async throws(TransportError) -> ProbeResult {
            let port = Self.port(probe.connectTo)
            let (isDead, isWrong) = state.withLock { state in
                state.probes.append(port)
                return (state.dead.contains(port), state.wrong.contains(port))
            }
            if isDead { throw TransportError(.connect, "dead") }
            return ProbeResult(chain: [], isTrusted: !isWrong)
        }

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            let error = state.withLock { state in
                state.requests.append(request)
                return state.errors[Self.port(request.connectTo)]
            }
            if let error { throw error }
            return EngineResponse(
                response: HTTPResponse(status: .ok),
                body: HTTPResponseBody(bytes: Array("1".utf8)),
                httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async {}
    }

    private let engine = AddressEngine()

    private func system(
        _ addresses: [String] = ["127.0.0.1:1", "127.0.0.1:2"],
        changeOptions: (inout NetworkSystem.Options) -> Void = { _ in },
        change: (inout ServiceConfiguration) -> Void = { _ in }
    ) async throws -> NetworkSystem {
        let list = try ServiceAddress.list(addresses)
        return try await Pipeline.system(engine) { options in
            options.networkWatcher = NetworkWatcher { -1 }
            options.clock.random = { 0 }
            options.addresses.startLimit = .seconds(60)
            changeOptions(&options)
        } changeService: {
            $0.addresses = list
            $0.attempts = 1
            change(&$0)
        }
    }

    private static func call(
        _ system: NetworkSystem, _ options: RequestOptions = RequestOptions(),
        _ method: HTTPRequest.Method = .post
    ) async -> (code: ClientError.Code?, use: AddressUse?) {
        var options = options
        let trace = CallTrace()
        options.trace = trace
        let given = options
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.call(RESTRequest(method, "/x"), on: "a", options: given)
        }
        return (code, trace.record?.work.attempts.last?.hops.last?.address)
    }

    /// Waits until every address was measured.
    private static func areMeasured(_ system: NetworkSystem) async throws -> Bool {
        try await eventually {
            !system.addresses(of: "a").contains { $0.state == .unmeasured }
        }
    }

    /// The port of the address that is used.
    private static func used(_ system: NetworkSystem) -> Int? {
        system.addresses(of: "a").first { $0.state == .used }
            .flatMap { $0.address.split(separator: ":").last }.flatMap { Int($0) }
    }

    @Test(.features("003-36"))
    func theAddressReplacesTheHost() async throws {
        engine.set(dead: [2])
        let system = try await system()
        #expect(system.addresses(of: "a").map(\.state) == [.used, .failed])
        let (code, use) = await Self.call(system)
        #expect(code == nil && engine.ports == [1])
        let request = try #require(engine.requests.first)
        #expect(request.request.authority == "api.example.com")
        #expect(
            request.connectTo == [
                try EngineRequest.ConnectTo(parsing: "api.example.com:443:127.0.0.1:1")
            ])
        #expect(request.connectTimeout == .milliseconds(250))
        #expect(use?.address == "127.0.0.1:1" && use?.reason == .fastest)
        #expect(use?.failed == [])
        await system.shutdown()
    }

    @Test(
        arguments: [TransportError.Code.connect, .timeout, .tls, .pinMismatch, .cutOff])
    func theNextOneIsTriedIfNothingWasSent(_ code: TransportError.Code) async throws {
        let system = try await system()
        #expect(try await Self.areMeasured(system))
        let used = try #require(Self.used(system))
        engine.fail(used, code)
        let (failure, use) = await Self.call(system)
        #expect(failure == nil && engine.ports == [used, 3 - used])
        #expect(use?.reason == .next && use?.failed == ["127.0.0.1:\(used)"])
        // The next one was measured before.
        await system.shutdown()
    }

    @Test func atLastTheNameIsTried() async throws {
        let system = try await system()
        #expect(try await Self.areMeasured(system))
        engine.fail(1, .connect)
        engine.fail(2, .connect)
        let (failure, use) = await Self.call(system)
        #expect(failure == nil)
        try #require(engine.ports.count == 3 && engine.ports[2] == 0)
        #expect(use?.address == nil && use?.reason == .name && use?.failed.count == 2)
        #expect(engine.requests[2].connectTimeout == nil)
        await system.shutdown()
    }

    @Test(
        arguments: [
            (.connect, false), (.cutOff, false), (.tls, false), (.timeout, false),
            (.malformedResponse, true), (.offline, true), (.cancelled, true),
            (.policyExpired, true), (.resources, true),
        ] as [(TransportError.Code, Bool)])
    func nothingIsSentTwice(_ code: TransportError.Code, _ isUnsent: Bool) async throws {
        let system = try await system()
        for port in [1, 2] { engine.fail(port, code, isUnsent: isUnsent) }
        let (failure, use) = await Self.call(system)
        #expect(failure == code && engine.ports.count == 1 && engine.ports[0] != 0)
        #expect(use?.reason == .fastest)
        await system.shutdown()
    }

    @Test func theTimeOfTheCallIsForAllTogether() async throws {
        let time = Mutex(MonotonicTime.now)
        let system = try await system { options in
            options.clock.instant = {
                time.withLock { time in
                    time = time + .milliseconds(50)
                    return time
                }
            }
        } change: {
            $0.timeout = .seconds(30)
        }
        for port in [1, 2] { engine.fail(port, .connect) }
        _ = await Self.call(system)
        let times = engine.requests.map(\.timeout)
        #expect(times.count == 3 && times[0] > times[1] && times[1] > times[2])
        await system.shutdown()
    }

    /// Also of two that are reached: a server that can't show that it is the host.
    @Test func aWrongServerNeverWins() async throws {
        engine.set(dead: [], wrong: [1])
        let system = try await system()
        #expect(system.addresses(of: "a").map(\.state) == [.refused, .used])
        for _ in 0..<3 { _ = await Self.call(system) }
        #expect(engine.ports == [2, 2, 2])
        await system.shutdown()
    }

    @Test func withoutAWorkingAddressTheNameIsUsed() async throws {
        engine.set(dead: [1, 2])
        let system = try await system()
        let (code, use) = await Self.call(system)
        #expect(code == nil && engine.ports == [0])
        #expect(use?.reason == .name && use?.failed == [])
        await system.shutdown()
    }

    @Test func anotherHostHasNoAddresses() async throws {
        let system = try await system()
        var options = RequestOptions()
        options.baseURL = "https://other.example.com"
        let (code, use) = await Self.call(system, options)
        #expect(code == nil && engine.ports == [0] && use == nil)
        options.baseURL = "https://api.example.com:8443"
        #expect(await Self.call(system, options).use == nil)
        await system.shutdown()
    }

    @Test func throughAProxyThereAreNone() async throws {
        let proxy = try Proxy(parsing: "http://proxy.example.com:3128")
        let system = try await system { $0.proxies = ProxyRules(proxy) }
        let (code, use) = await Self.call(system)
        #expect(code == nil && engine.ports == [0] && use == nil && engine.probes.isEmpty)
        await system.shutdown()
    }

    @Test func aServiceWithoutAddressesIsNotMeasured() async throws {
        let opened = Mutex(0)
        let system = try await system([]) { options in
            options.networkWatcher = NetworkWatcher {
                opened.withLock { $0 += 1 }
                return -1
            }
        }
        let (code, use) = await Self.call(system)
        #expect(code == nil && use == nil && engine.probes.isEmpty)
        #expect(opened.withLock { $0 } == 0 && system.addresses(of: "a").isEmpty)
        await system.shutdown()
    }

    @Test func anHTTPServiceHasNone() async throws {
        let error = await #expect(throws: ClientError.self) {
            try await system { _ in
            } change: {
                $0.baseURL = "http://api.example.com/v1"
            }
        }
        #expect(error?.code == .invalidService && error?.message.contains("https") == true)
    }

    /// An address that failed is measured again at once, and after a pause.
    @Test func aFailureMeasuresAgain() async throws {
        let pauses = Mutex<[CheckedContinuation<Void, Never>]>([])
        let system = try await system { options in
            options.clock.sleep = { time in
                // The start's limit and its grace wait for nothing.
                guard time == .seconds(30) || time == .seconds(60) else { return }
                await withCheckedContinuation { continuation in
                    pauses.withLock { $0.append(continuation) }
                }
            }
            options.addresses.startLimit = .seconds(59)
        }
        #expect(try await eventually { engine.probes.count == 4 })
        let used = try #require(Self.used(system))
        engine.fail(used, .connect)
        engine.set(dead: [used])
        #expect(await Self.call(system).code == nil)
        #expect(try await eventually { engine.probes.count == 7 })
        #expect(system.addresses(of: "a").contains { $0.state == .failed })
        // It waits for half a minute, and then for a minute.
        #expect(try await eventually { pauses.withLock { $0.count } == 1 })
        pauses.withLock { $0.removeFirst() }.resume()
        #expect(try await eventually { engine.probes.count == 10 })
        engine.set(dead: [])
        #expect(try await eventually { pauses.withLock { $0.count } == 1 })
        pauses.withLock { $0.removeFirst() }.resume()
        #expect(try await eventually { engine.probes.count == 14 })
        #expect(
            try await eventually { !system.addresses(of: "a").contains { $0.state == .failed } })
        await system.shutdown()
    }

    @Test(.enabled(if: NetworkNamespace.isAllowed, "needs rights for network namespaces"))
    func anotherNetworkMeasuresAgain() async throws {
        let network = try await NetworkFixture()
        let system = try await system { $0.networkWatcher = network.watcher }
        #expect(engine.probes.count == 4)
        // The system's own listener has the first state.
        #expect(await system.connectivity.state.type == .wired)
        try await network.setLink(up: false)
        try await network.setLink(up: true)
        #expect(try await eventually { engine.probes.count == 8 })
        await system.shutdown()
        #expect(!network.watcher.isWatching)
    }

    @Test func keysGiveAddresses() async throws {
        var options = NetworkSystem.Options()
        options.engine = engine
        let system = try await NetworkSystem.start(
            Settings.configuration(["services.a.addresses": ["127.0.0.1:1", "::1"]]),
            options: options)
        #expect(system.addresses(of: "a").map(\.address) == ["127.0.0.1:1", "::1"])
        // A change of the list is measured.
        try system.update(Settings.configuration(["services.a.addresses": ["127.0.0.1:2"]]))
        #expect(system.addresses(of: "a").map(\.address) == ["127.0.0.1:2"])
        #expect(try await eventually { engine.probes.contains(2) })
        try system.update(Settings.configuration([:]))
        #expect(system.addresses(of: "a").isEmpty)
        await system.shutdown()
    }

    @Test(arguments: ["example.com", "127.0.0.1:0", ""])
    func aWrongAddressIsRefused(_ text: String) async throws {
        let error = await #expect(throws: ClientError.self) {
            try await NetworkSystem.start(
                Settings.configuration(["services.a.addresses": [.string(text)]]))
        }
        #expect(error?.code == .invalidService)
        #expect(error?.message.contains("services.a.addresses") == true)
    }

    @Test func anEnvironmentHasItsOwn() async throws {
        let addresses = try ServiceAddress.list(["127.0.0.1:7"])
        let system = try await system {
            $0.runMode = .staging
        } change: {
            $0.staging = .init(baseURL: "https://staging.example.com")
            $0.staging?.addresses = addresses
        }
        #expect(system.addresses(of: "a").map(\.address) == ["127.0.0.1:7"])
        await system.shutdown()
    }
}
