import Foundation
import SignetClient
import SignetPinning
import Synchronization
import TestSupport
import Testing

/// Updates that follow each other, or run at once.
extension PinUpdateSystemTests {
    /// A clock that blocks its first reader once a policy is in use.
    private final class SlowClock: Sendable {
        struct Trap {
            let system: NetworkSystem
            let policy: PinPolicy
        }
        let trap = Mutex<Trap?>(nil)
        let isHolding = Mutex(false)
        private let release = DispatchSemaphore(value: 0)

        func read() -> Int64 {
            let holds = trap.withLock { trap in
                guard let set = trap, set.system.policy == set.policy else { return false }
                trap = nil
                return true
            }
            if holds {
                isHolding.withLock { $0 = true }
                release.wait()
            }
            return PinUpdateSystemTests.now
        }

        func letGo() { release.signal() }
    }

    @Test func looksAgainByItself() async throws {
        try serve(7, policy(authority.root.pin))
        var plan = try plan()
        plan.interval = .milliseconds(20)
        let system = try await start(plan)
        let next = try policy(authority.intermediate.pin)
        try serve(8, next)
        #expect(try await eventually { system.policy == next })
        // A failure is followed by another look.
        try serve(5, next)
        #expect(try await eventually { system.lastPinUpdate?.failures ?? 0 > 1 })
        try serve(9, policy(authority.leaf.pin))
        #expect(try await eventually { system.lastPinUpdate?.serial == 9 })
        await system.shutdown()
        #expect(await refusal(system) == "not-running")
    }

    @Test func manyLooksAtOnceNeverGoBack() async throws {
        try serve(7, policy(authority.root.pin))
        let system = try await start()
        let newest = try policy(authority.intermediate.pin)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for serial in Int64(8)...20 {
                try serve(serial, serial == 20 ? newest : policy(authority.leaf.pin))
                for _ in 0..<3 { group.addTask { _ = await refusal(system) } }
            }
            try await group.waitForAll()
        }
        _ = await refusal(system)
        #expect(system.policy == newest && system.lastPinUpdate?.serial == 20)
        await system.shutdown()
    }

    /// Two looks, of which the first put its policy in place and has not yet written that down when
    /// the second does both: the report is of the policy in use.
    @Test(.enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1))
    func theReportIsOfThePolicyInUse() async throws {
        try serve(7, policy(authority.root.pin))
        let clock = SlowClock()
        var options = try Shop.options()
        options.pinUpdates = try plan()
        options.clock.now = { clock.read() }
        let system = try await PolicyUpdateTests.start(host, policy(right), options)
        let eighth = try policy(authority.intermediate.pin)
        let ninth = try PinPolicy(
            rules: [PinRule(host: "localhost", pins: [Pin(parsing: right)], expires: "2030-01-01")])
        clock.trap.withLock { $0 = SlowClock.Trap(system: system, policy: eighth) }
        try serve(8, eighth)
        async let first = refusal(system)
        #expect(try await eventually { clock.isHolding.withLock { $0 } })
        try serve(9, ninth, days: 50)
        #expect(await refusal(system) == nil)
        #expect(system.lastPinUpdate?.serial == 9)
        clock.letGo()
        #expect(await first == nil)
        #expect(system.policy == ninth)
        #expect(system.lastPinUpdate?.serial == 9)
        #expect(system.lastPinUpdate?.expires == Self.now + 50 * Self.day)
        await system.shutdown()
    }
}
