import HTTPTypes
import SignetRPC
import SignetSystem
import SignetTesting
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// The changes of the network that end a pause, and those that don't.
@Suite struct ConnectivityWakeTests {
    private final class Switch: Sendable {
        private let state = Mutex(false)
        var isOffline: Bool {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    private static func ends(after states: [Bool], beginningOffline: Bool) async throws -> Bool {
        let (offline, clock) = (Switch(), PauseClock())
        offline.isOffline = beginningOffline
        let connectivity = Connectivity(NetworkWatcher { -1 }) { offline.isOffline }
        let seen = Mutex<[Bool]>([])
        let observation = connectivity.observe { state in
            seen.withLock { $0.append(!state.isOnline) }
        }
        let ended = Mutex(false)
        let pause = Task {
            var options = NetworkSystem.Options()
            options.use(clock)
            let sleep = options.clock.sleep
            try? await connectivity.wakeUp(spread: .zero) { try await sleep(.seconds(9)) }
            ended.withLock { $0 = true }
        }
        await clock.waitForPauses(1)
        #expect(try await eventually { connectivity.listenerCount == 2 })
        for (index, isOffline) in states.enumerated() {
            offline.isOffline = isOffline
            connectivity.refresh()
            #expect(try await eventually { seen.withLock { $0.count } >= index + 2 })
        }
        let isEnded = try await eventually { ended.withLock { $0 } }
        await pause.value
        observation.remove()
        return isEnded
    }

    @Test func theReturnOfTheNetworkWakes() async throws {
        #expect(try await Self.ends(after: [false], beginningOffline: true))
        #expect(try await Self.ends(after: [true, false], beginningOffline: false))
    }

    /// Another address on the same link, or a network that goes away, ends no pause.
    @Test(arguments: [
        ([true], false), ([true, true, true], false), ([false], false), ([true, false], false),
        ([true, false, false], false), ([false, true], true), ([true, false, true], true),
    ])
    func onlyAReturnCounts(_ states: [Bool], _ wanted: Bool) async {
        let (stream, continuation) = AsyncStream<ConnectivityState>.makeStream()
        for (number, isOnline) in states.enumerated() {
            var network = NetworkState(.wired, link: "eth0")
            network.ways = [DefaultRoute(family: 2, link: Int32(number))]
            continuation.yield(isOnline ? ConnectivityState(network) : .simulatedOffline)
        }
        continuation.finish()
        #expect(await Connectivity.hasChanged(stream) == wanted)
    }

    /// Another link ends one, without a gap too; the kernel's silence doesn't.
    @Test(arguments: [
        (NetworkState(.wireless, link: "wlan0"), true), (NetworkState(.wired, link: "eth1"), true),
        (NetworkState(.mobile, link: "eth0"), true), (NetworkState(.wired, link: "eth0"), false),
        (NetworkState(.none), false), (NetworkState(.unknown), false),
    ])
    func anotherLinkCounts(_ next: NetworkState, _ wanted: Bool) async {
        for (first, second) in [(NetworkState(.wired, link: "eth0"), next), (next, next)] {
            let (stream, continuation) = AsyncStream<ConnectivityState>.makeStream()
            for state in [first, second] { continuation.yield(ConnectivityState(state)) }
            continuation.finish()
            #expect(await Connectivity.hasChanged(stream) == (wanted && first != second))
        }
    }

    @Test func theSpreadIsShort() {
        #expect(Connectivity.spread(0) == .zero && Connectivity.spread(0.5) == .milliseconds(50))
        #expect(Connectivity.spread(0.999) < .milliseconds(100))
    }

    /// A server in the same network refuses, and there is no route to others.
    @Test(
        .enabled(if: NetworkNamespace.isAllowed, "needs rights for network namespaces"),
        arguments: [TransportError.Code.connect, .proxy, .tls, .timeout])
    func withoutARouteOtherFailuresDoNotWait(_ code: TransportError.Code) async throws {
        let network = try await NetworkFixture()
        try await network.setLink(up: false)
        let system = try await Pipeline.system(FailingEngine(code)) { options in
            options.networkWatcher = network.watcher
            options.use(PauseClock())
        }
        var options = RequestOptions(deadline: .seconds(600))
        (options.waitsForConnectivity, options.attempts) = (true, 1)
        let given = options
        let found = await Pipeline.code { () async throws(ClientError) in
            try await system.call(RESTRequest(.get, "/x"), on: "a", options: given)
        }
        #expect(found == code)
        await system.shutdown()
    }
}
