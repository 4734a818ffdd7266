import HTTPTypes
import SignetBase
import SignetJSON
import SignetPinning
import SignetRPC
import SignetSystem
import SignetTesting
import SignetTransport
import SignetVault
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// The network's state as a program sees it, and what calls do with it.
@Suite struct ConnectivityTests {
    private final class Notes: Sendable {
        private let noted = Mutex<[ConnectivityState]>([])
        var all: [ConnectivityState] { noted.withLock { $0 } }
        var types: [NetworkType] { all.map(\.type) }
        func add(_ state: ConnectivityState) { noted.withLock { $0.append(state) } }
    }

    /// A system that follows a watcher, and whose pauses a test ends.
    private static func system(
        _ engine: any HTTPEngine, _ watcher: NetworkWatcher, clock: PauseClock = PauseClock(),
        change: (inout ServiceConfiguration) -> Void = { _ in }
    ) async throws -> NetworkSystem {
        try await Pipeline.system(engine) { options in
            options.networkWatcher = watcher
            options.use(clock)
        } changeService: {
            change(&$0)
        }
    }

    private static func call(
        _ system: NetworkSystem, _ method: HTTPRequest.Method = .get,
        waits: Bool? = nil, deadline: Duration? = nil, attempts: Int? = nil,
        trace: CallTrace = CallTrace()
    ) -> Task<ClientError.Code?, Never> {
        var options = RequestOptions(deadline: deadline, trace: trace)
        options.waitsForConnectivity = waits
        options.attempts = attempts
        let given = options
        return Task {
            await Pipeline.code { () async throws(ClientError) in
                try await system.call(RESTRequest(method, "/x"), on: "a", options: given)
            }
        }
    }

    // MARK: Listening

    @Test func withoutAListenerThereIsNoSocket() async throws {
        let opened = Mutex(0)
        let watcher = NetworkWatcher {
            opened.withLock { $0 += 1 }
            return NetworkWatcher.openSocket()
        }
        let system = try await Self.system(FailingEngine(nil), watcher)
        #expect(await Self.call(system).value == nil)
        #expect(opened.withLock { $0 } == 0)
        let notes = Notes()
        let observation = system.connectivity.observe { notes.add($0) }
        #expect(try await eventually { !notes.all.isEmpty })
        #expect(opened.withLock { $0 } == 1)
        // A second one needs no other socket.
        _ = await system.connectivity.state
        #expect(opened.withLock { $0 } == 1)
        observation.remove()
        #expect(system.connectivity.listenerCount == 0)
        await system.shutdown()
    }

    @Test func statesEndWithTheSystem() async throws {
        let watcher = NetworkWatcher { -1 }
        let system = try await Self.system(FailingEngine(nil), watcher)
        let connectivity = system.connectivity
        let states = connectivity.states
        let types = Task {
            var types: [NetworkType] = []
            for await state in states { types.append(state.type) }
            return types
        }
        #expect(await connectivity.state.type == .unknown)
        await system.shutdown()
        #expect(await types.value.allSatisfy { $0 == .unknown })
        #expect(connectivity.listenerCount == 0 && !watcher.isWatching)
        // A late listener gets nothing, and waits for nothing.
        for await _ in connectivity.states { Issue.record("a state after the end") }
        #expect(await connectivity.state.isOnline)
    }

    /// A state may be on its way to a listener that is removed.
    @Test func aStateForAFormerListenerIsIgnored() async throws {
        let connectivity = Connectivity(NetworkWatcher { -1 }) { false }
        connectivity.observe { _ in }.remove()
        let notes = Notes()
        let observation = connectivity.observe { notes.add($0) }
        #expect(try await eventually { notes.types == [.unknown] })
        for former in 1...2 { connectivity.take(NetworkState(.none), of: former) }
        connectivity.take(NetworkState(.wired), of: 3)
        #expect(try await eventually { notes.types == [.unknown, .wired] })
        observation.remove()
    }

    @Test(.features("000-17"))
    func theSimulationShowsAsAState() async throws {
        func configuration(_ mode: String, _ isOffline: Bool) throws -> GlobalConfiguration {
            try Settings.configuration([
                "app.runMode": .string(mode), "simulation.offline": .bool(isOffline),
            ])
        }
        var options = NetworkSystem.Options()
        options.engine = FailingEngine(nil)
        options.networkWatcher = NetworkWatcher { -1 }
        let system = try await NetworkSystem.start(
            configuration("development", true), options: options)
        let notes = Notes()
        let observation = system.connectivity.observe { notes.add($0) }
        #expect(try await eventually { notes.all == [.simulatedOffline] })
        #expect(notes.all[0].isSimulated && !notes.all[0].isOnline)
        #expect(await system.connectivity.state == .simulatedOffline)
        try system.update(configuration("development", false))
        #expect(try await eventually { notes.types == [.none, .unknown] })
        try system.update(configuration("development", true))
        #expect(try await eventually { notes.types == [.none, .unknown, .none] })
        // In production nothing is simulated.
        try system.update(configuration("production", true))
        #expect(try await eventually { notes.types == [.none, .unknown, .none, .unknown] })
        #expect(notes.all.last?.isSimulated == false)
        observation.remove()
        await system.shutdown()
    }

    @Test(
        .features("003-02", "000-58"),
        .enabled(if: NetworkNamespace.isAllowed, "needs rights for network namespaces"))
    func aHundredListenersHearOfTheLink() async throws {
        let network = try await NetworkFixture()
        let system = try await Self.system(FailingEngine(nil), network.watcher)
        let listeners = (0..<100).map { _ in Notes() }
        let observations = listeners.map { notes in
            system.connectivity.observe { notes.add($0) }
        }
        let sequence = system.connectivity.states
        #expect(try await eventually { listeners.allSatisfy { $0.types == [.wired] } })
        #expect(listeners[0].all[0].link == "near")
        try await network.setLink(up: false)
        #expect(try await eventually { listeners.allSatisfy { $0.types == [.wired, .none] } })
        #expect(await system.connectivity.state.isOnline == false)
        // No call is refused because of it.
        #expect(await Self.call(system).value == nil)
        try await network.setLink(up: true)
        #expect(
            try await eventually { listeners.allSatisfy { $0.types == [.wired, .none, .wired] } })
        for observation in observations { observation.remove() }
        await system.shutdown()
        var types: [NetworkType] = []
        for await state in sequence { types.append(state.type) }
        #expect(types == [.wired, .none, .wired])
    }

    // MARK: Calls

    @Test(
        .features("002-10"),
        .enabled(if: NetworkNamespace.isAllowed, "needs rights for network namespaces"),
        arguments: [TransportError.Code.connect, .unresolvedHost, .offline, .cutOff])
    func aParkedRetryLeavesAtOnce(_ code: TransportError.Code) async throws {
        let network = try await NetworkFixture()
        let engine = FailingEngine(code)
        let system = try await Self.system(engine, network.watcher)
        let notes = Notes()
        let observation = system.connectivity.observe { notes.add($0) }
        #expect(try await eventually { notes.types == [.wired] })
        try await network.setLink(up: false)
        #expect(try await eventually { notes.types == [.wired, .none] })
        // One that was cut off may have arrived.
        let call = Self.call(system, code == .cutOff ? .get : .post)
        // It waits beside the listener; the clock doesn't move.
        #expect(try await eventually { system.connectivity.listenerCount == 2 })
        #expect(engine.count == 1)
        engine.code = nil
        try await network.setLink(up: true)
        #expect(await call.value == nil && engine.count == 2)
        #expect(system.connectivity.listenerCount == 1)
        observation.remove()
        await system.shutdown()
    }

    /// A network that goes away ends no pause.
    @Test(.enabled(if: NetworkNamespace.isAllowed, "needs rights for network namespaces"))
    func aLostNetworkWakesNoRetry() async throws {
        let network = try await NetworkFixture()
        let (engine, clock) = (FailingEngine(.connect), PauseClock())
        let system = try await Self.system(engine, network.watcher, clock: clock)
        let notes = Notes()
        let observation = system.connectivity.observe { notes.add($0) }
        #expect(try await eventually { notes.types == [.wired] })
        let call = Self.call(system)
        await clock.waitForPauses(1)
        #expect(try await eventually { system.connectivity.listenerCount == 2 })
        try await network.setLink(up: false)
        #expect(try await eventually { notes.types == [.wired, .none] })
        #expect(engine.count == 1)
        engine.code = nil
        clock.advance(by: .seconds(5))
        #expect(await call.value == nil && engine.count == 2)
        observation.remove()
        await system.shutdown()
    }

    /// A pause after a response of the server isn't the network's matter.
    @Test func aPauseAfterAResponseOpensNoSocket() async throws {
        let opened = Mutex(0)
        let watcher = NetworkWatcher {
            opened.withLock { $0 += 1 }
            return -1
        }
        let engine = RecordingEngine(responses: [.init(status: 503, body: ""), .init()])
        let system = try await Pipeline.system(engine) { options in
            options.networkWatcher = watcher
            options.clock.sleep = { _ in }
        }
        #expect(await Self.call(system).value == nil)
        #expect(engine.count == 2 && opened.withLock { $0 } == 0)
        await system.shutdown()
    }

    @Test(.enabled(if: NetworkNamespace.isAllowed, "needs rights for network namespaces"))
    func aCallWaitsForTheNetwork() async throws {
        let network = try await NetworkFixture()
        try await network.setLink(up: false)
        let (engine, clock) = (FailingEngine(.offline), PauseClock())
        let system = try await Self.system(engine, network.watcher, clock: clock)
        let trace = CallTrace()
        let call = Self.call(
            system, .post, waits: true, deadline: .seconds(600), attempts: 1, trace: trace)
        let other = Self.call(system, attempts: 1)
        #expect(await other.value == .offline)
        // Its limit begins after it has asked for the state, which counts as a listener, too.
        await clock.waitForPauses(1)
        engine.code = nil
        try await network.setLink(up: true)
        #expect(await call.value == nil)
        let record = try #require(trace.record)
        #expect(record.work.attempts.count == 2)
        #expect(record.work.attempts[0].hops[0].failure == "offline")
        #expect(record.work.stages.contains { $0.name == .connectivity })
        await system.shutdown()
    }

    @Test(.enabled(if: NetworkNamespace.isAllowed, "needs rights for network namespaces"))
    func aCallWaitsNoLongerThanItMay() async throws {
        let network = try await NetworkFixture()
        try await network.setLink(up: false)
        let (engine, clock) = (FailingEngine(.offline), PauseClock())
        let system = try await Self.system(engine, network.watcher, clock: clock) {
            $0.timeout = .seconds(7)
            $0.options.waitsForConnectivity = true
        }
        // Until the deadline.
        let first = Self.call(system, deadline: .seconds(60))
        await clock.waitForPauses(1)
        clock.advance(by: .seconds(59))
        #expect(try await eventually { clock.pauseCount == 1 })
        clock.advance(by: .seconds(1))
        #expect(await first.value == .timeout)
        // Without one, as long as an attempt may take.
        let second = Self.call(system, attempts: 1)
        await clock.waitForPauses(1)
        clock.advance(by: .seconds(7))
        #expect(await second.value == .offline)
        // A cancelled one at once.
        let third = Self.call(system, deadline: .seconds(60))
        await clock.waitForPauses(1)
        third.cancel()
        #expect(await third.value == .cancelled)
        #expect(engine.count == 3)
        await system.shutdown()
    }

    /// A refused connection isn't the network's fault if the machine is online.
    @Test func anOnlineMachineDoesNotWait() async throws {
        let engine = FailingEngine(.connect)
        let system = try await Self.system(engine, NetworkWatcher { -1 })
        #expect(
            await Self.call(system, waits: true, deadline: .seconds(60), attempts: 1).value
                == .connect)
        #expect(engine.count == 1)
        await system.shutdown()
    }

    @Test func aCallWaitsForTheEndOfASimulation() async throws {
        func configuration(_ isOffline: Bool) throws -> GlobalConfiguration {
            try Settings.configuration([
                "app.runMode": "development", "simulation.offline": .bool(isOffline),
                "services.a.protocol": "rest",
            ])
        }
        var options = NetworkSystem.Options()
        options.engine = FailingEngine(nil)
        options.networkWatcher = NetworkWatcher { -1 }
        let system = try await NetworkSystem.start(configuration(true), options: options)
        #expect(await Self.call(system, attempts: 1).value == .offline)
        let call = Self.call(system, waits: true, deadline: .seconds(600), attempts: 1)
        #expect(try await eventually { system.connectivity.listenerCount == 1 })
        try system.update(configuration(false))
        #expect(await call.value == nil)
        await system.shutdown()
    }

    @Test func theOptionIsAKey() async throws {
        let system = try await NetworkSystem.start(
            Settings.configuration(["services.a.waitsForConnectivity": true]),
            options: {
                var options = NetworkSystem.Options()
                options.engine = FailingEngine(nil)
                return options
            }())
        #expect(try system.callOptions(for: "a").waitsForConnectivity == true)
        await system.shutdown()
        let error = await #expect(throws: ClientError.self) {
            try await NetworkSystem.start(
                Settings.configuration(["services.a.waitsForConnectivity": "yes"]))
        }
        #expect(error?.message.contains("services.a.waitsForConnectivity") == true)
    }
}
