import Synchronization
import TestSupport
import Testing

@testable import SignetSystem

/// The states that listeners get, of a network namespace with links of its own.
@Suite struct NetworkWatcherTests {
    /// The states that one listener got.
    private final class Notes: Sendable {
        private let noted = Mutex<[(state: NetworkState, at: ContinuousClock.Instant)]>([])
        var states: [NetworkState] { noted.withLock { $0.map(\.state) } }
        var kinds: [NetworkState.Kind] { states.map(\.kind) }
        var last: ContinuousClock.Instant? { noted.withLock { $0.last?.at } }
        func add(_ state: NetworkState) { noted.withLock { $0.append((state, .now)) } }
    }

    private static func watcher(in namespace: NetworkNamespace) -> NetworkWatcher {
        NetworkWatcher { namespace.perform { NetworkWatcher.openSocket() } ?? -1 }
    }

    @Test func thereIsNoSocketWithoutAListener() {
        let opened = Mutex(0)
        let watcher = NetworkWatcher {
            opened.withLock { $0 += 1 }
            return NetworkWatcher.openSocket()
        }
        #expect(!watcher.isWatching && opened.withLock { $0 } == 0)
        let first = watcher.add { _ in }
        let second = watcher.add { _ in }
        #expect(watcher.isWatching && opened.withLock { $0 } == 1)
        watcher.remove(first)
        #expect(watcher.isWatching)
        watcher.remove(second)
        #expect(!watcher.isWatching)
        watcher.remove(watcher.add { _ in })
        #expect(!watcher.isWatching && opened.withLock { $0 } == 2)
    }

    @Test func theKernelOfThisMachineAnswers() async throws {
        let notes = Notes()
        let watcher = NetworkWatcher()
        let number = watcher.add { notes.add($0) }
        #expect(try await eventually { !notes.states.isEmpty })
        watcher.remove(number)
    }

    @Test func withoutASocketTheStateIsUnknown() async throws {
        let notes = Notes()
        let watcher = NetworkWatcher { -1 }
        let numbers = [watcher.add { notes.add($0) }, watcher.add { notes.add($0) }]
        #expect(try await eventually { notes.kinds == [.unknown, .unknown] })
        #expect(notes.states.allSatisfy { $0.isOnline })
        for number in numbers { watcher.remove(number) }
    }

    /// A number that isn't a socket fails when it is asked.
    @Test func aSocketThatFailsIsUnknownToo() async throws {
        let notes = Notes()
        let watcher = NetworkWatcher { Int32.max }
        let number = watcher.add { notes.add($0) }
        #expect(try await eventually { notes.kinds == [.unknown] })
        watcher.remove(number)
    }

    @Test(
        .features("003-02", "000-58"),
        .enabled(if: NetworkNamespace.isAllowed, "needs rights for network namespaces"))
    func aHundredListenersHearOfALink() async throws {
        let namespace = try await NetworkNamespace()
        let watcher = Self.watcher(in: namespace)
        let listeners = (0..<100).map { _ in Notes() }
        let numbers = listeners.map { notes in watcher.add { notes.add($0) } }
        #expect(try await eventually { listeners.allSatisfy { $0.kinds == [.wired] } })
        var delays: [Duration] = []
        for (command, kinds) in [
            ("link set far down", [NetworkState.Kind.wired, .none]),
            ("link set far up", [.wired, .none, .wired]),
            ("link set near down", [.wired, .none, .wired, .none]),
        ] {
            let start = ContinuousClock.now
            try await namespace.ip(command)
            let end = ContinuousClock.now
            #expect(try await eventually { listeners.allSatisfy { $0.kinds == kinds } })
            // From the end of the command, which takes some time itself.
            let last = listeners.compactMap(\.last).max() ?? start
            delays.append(last - end)
        }
        // Of three, because a busy machine may hold one up.
        #expect((delays.min() ?? .seconds(1)) < .milliseconds(100), "\(delays)")
        // A late listener gets the present state first.
        let late = Notes()
        let number = watcher.add { late.add($0) }
        #expect(try await eventually { late.kinds == [.none] })
        for number in numbers + [number] { watcher.remove(number) }
        #expect(!watcher.isWatching)
    }

    @Test(.enabled(if: NetworkNamespace.isAllowed, "needs rights for network namespaces"))
    func anotherRouterIsAChange() async throws {
        let namespace = try await NetworkNamespace()
        let watcher = Self.watcher(in: namespace)
        let notes = Notes()
        let number = watcher.add { notes.add($0) }
        #expect(try await eventually { notes.kinds == [.wired] })
        try await namespace.ip("route replace default via 192.0.2.9")
        #expect(try await eventually { notes.kinds == [.wired, .wired] })
        try await namespace.ip("route delete default")
        #expect(try await eventually { notes.kinds.last == NetworkState.Kind.none })
        #expect(notes.states[1].ways.map(\.gateway) == [[192, 0, 2, 9]])
        watcher.remove(number)
    }

    /// So many changes that the socket loses messages: the last state is right.
    @Test(.enabled(if: NetworkNamespace.isAllowed, "needs rights for network namespaces"))
    func theLastOfManyChangesIsSeen() async throws {
        let namespace = try await NetworkNamespace()
        let watcher = Self.watcher(in: namespace)
        let notes = Notes()
        let number = watcher.add { notes.add($0) }
        #expect(try await eventually { notes.kinds == [.wired] })
        for _ in 0..<10 {
            try await namespace.ip("link set far down")
            try await namespace.ip("link set far up")
        }
        #expect(try await eventually { notes.kinds.last == .wired })
        try await namespace.ip("link set far down")
        #expect(try await eventually { notes.kinds.last == NetworkState.Kind.none })
        watcher.remove(number)
    }

    @Test func listenersMayComeAndGo() async {
        let watcher = NetworkWatcher()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<200 { watcher.remove(watcher.add { _ in }) }
                }
            }
        }
        #expect(!watcher.isWatching)
    }
}
