#if Storage
import SignetClient
import SignetOutbox
import SignetTesting
import TestSupport
import Testing

/// An outbox follows the network by itself.
@Suite(.timeLimit(.minutes(2))) struct NetworkReturnTests {
    let collector: Collector

    init() throws { collector = try Collector() }

    private func setNetwork(_ system: NetworkSystem, isOffline: Bool) throws {
        var switches = system.switches
        switches.simulation.isOffline = isOffline
        try system.update(switches: switches)
    }

    private func system() async throws -> NetworkSystem {
        try await collector.system { $0.runMode = .development }
    }

    @Test(.features("003-33")) func leftOversLeaveWhenTheNetworkReturns() async throws {
        let system = try await system()
        try setNetwork(system, isOffline: true)
        let outbox = try collector.outbox()
        try await outbox.add(1...31)
        try outbox.start(through: system)
        let isDelayed = try await eventually {
            collector.events.contains {
                if case .delayed(_, let error, _) = $0 { error.code == .offline } else { false }
            }
        }
        #expect(isDelayed && collector.requests.isEmpty)
        // The clock stands still, so no pause ends.
        let isSent = try await eventually {
            try? setNetwork(system, isOffline: true)
            try? setNetwork(system, isOffline: false)
            return collector.requests.count == 2
        }
        #expect(isSent && collector.records == [Array(1...30), [31]])
        await outbox.close()
        #expect(system.connectivity.listenerCount == 0)
        await system.shutdown()
    }

    /// Another network doesn't help a server that asked for a pause.
    @Test func aServersPauseIsKept() async throws {
        let system = try await system()
        let outbox = try collector.outbox()
        try outbox.start(through: system)
        await collector.idle()
        collector.set(.responds(.status(503, fields: [.retryAfter: "120"])))
        try await outbox.add(1...30)
        try await collector.wait(for: 1)
        collector.set(.takes)
        for _ in 0..<5 {
            try setNetwork(system, isOffline: true)
            #expect(await system.connectivity.state.isOnline == false)
            try setNetwork(system, isOffline: false)
            #expect(await system.connectivity.state.isOnline)
            await collector.idle()
        }
        #expect(collector.requests.count == 1)
        try await collector.pass(.seconds(120))
        try await collector.wait(for: 2)
        #expect(collector.requests[1] == collector.requests[0])
        await outbox.close()
        await system.shutdown()
    }

    @Test func aClosedOutboxFollowsNothing() async throws {
        let system = try await system()
        let outbox = try collector.outbox()
        await outbox.close()
        try outbox.start(through: system)
        #expect(system.connectivity.listenerCount == 0)
        do {
            let released = try collector.outbox("released")
            try released.start(through: system)
            #expect(system.connectivity.listenerCount == 1)
            try released.start(through: system)
            #expect(system.connectivity.listenerCount == 1)
        }
        #expect(try await eventually { system.connectivity.listenerCount == 0 })
        await system.shutdown()
    }
}
#endif
