import Synchronization
import TestSupport
import Testing

@testable import SignetSystem

/// A kernel that refuses to answer, and sockets that fail.
@Suite struct NetworkRefusalTests {
    private static func refusal(_ number: UInt32) -> [UInt8] {
        NetlinkBytes.message(2, NetlinkBytes.word(0xFFFF_FFFF), number: number)
    }

    /// A dump that fails on its way ends with a negative number.
    private static func failedDump(_ number: UInt32) -> [UInt8] {
        NetlinkBytes.message(3, NetlinkBytes.word(0xFFFF_FFFF), number: number)
    }

    private static func tracker(refusing refused: UInt32, by refuse: (UInt32) -> [UInt8])
        -> NetworkTracker
    {
        var tracker = NetworkTracker()
        _ = tracker.ask()
        let entries = [
            NetlinkBytes.link(2, "eth0"), NetlinkBytes.address([192, 0, 2, 7], on: 2),
            NetlinkBytes.route(by: 2),
        ]
        for number: UInt32 in 1...3 {
            _ = tracker.receive(
                number == refused
                    ? refuse(number)
                    : entries[Int(number) - 1] + NetlinkBytes.done(number))
        }
        return tracker
    }

    @Test(arguments: 1...3 as ClosedRange<UInt32>)
    func oneRefusalMakesTheStateUnknown(_ number: UInt32) {
        for refuse in [Self.refusal, Self.failedDump] {
            let state = Self.tracker(refusing: number, by: refuse).state
            #expect(state?.kind == .unknown && state?.isOnline == true)
        }
    }

    @Test func theNextAnswersCount() {
        var tracker = Self.tracker(refusing: 3, by: Self.refusal)
        _ = tracker.receive(NetlinkBytes.message(4, []))
        for number: UInt32 in 4...6 {
            #expect(tracker.state?.kind == .unknown)
            _ = tracker.receive(NetlinkBytes.done(number))
        }
        #expect(tracker.state?.kind == NetworkState.Kind.none)
    }

    /// A number that isn't a socket fails when it is asked, and one below zero wasn't opened; the
    /// next one works.
    @Test(arguments: [Int32.max, -1])
    func aSocketThatFailsIsReplaced(_ first: Int32) async throws {
        let opened = Mutex(0)
        let kinds = Mutex<[NetworkState.Kind]>([])
        let watcher = NetworkWatcher {
            let number = opened.withLock { opened in
                opened += 1
                return opened
            }
            return number == 1 ? first : NetworkWatcher.openSocket()
        }
        let listener = watcher.add { state in kinds.withLock { $0.append(state.kind) } }
        #expect(try await eventually { kinds.withLock { $0.first } == .unknown })
        #expect(try await eventually { opened.withLock { $0 } == 2 })
        #expect(watcher.isWatching)
        watcher.remove(listener)
        #expect(!watcher.isWatching)
    }
}
