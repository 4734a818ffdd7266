import SignetBase
import SignetSystem
import Synchronization

/// The state of this machine's network, and its changes.
///
/// Any number of listeners follow it. Each gets the present state first, and then every change,
/// also from one network to another of the same type. The kernel is asked through a netlink socket,
/// which needs no rights; there is one for the process, and none without a listener.
///
/// ```swift
/// func follow(_ system: NetworkSystem) async {
///     for await state in system.connectivity.states {
///         print(state.isOnline ? "online: \(state.type)" : "offline")
///     }
/// }
/// ```
///
/// The system refuses no call because of the state. A change from offline to online, or to another
/// link, ends the pauses before further attempts of calls that didn't reach a server or were cut
/// off. The first lets calls with ``RequestOptions/waitsForConnectivity`` continue, too. All leave
/// within 100 ms. The switch
/// `simulation.offline` shows as a state too.
public final class Connectivity: Sendable {
    private struct Source {
        /// The number of this object among the watcher's listeners; nil if it doesn't listen.
        var number: Int?
        /// Counts the times that this object began and ceased to listen.
        var generation = 0
        /// The kernel's state; nil before it is known.
        var state: NetworkState?
        /// The actions that end the sequences.
        var ends: [Int: @Sendable () -> Void] = [:]
        var isFinished = false
    }

    private let watcher: NetworkWatcher
    private let simulation: @Sendable () -> Bool
    private let hub = StateHub<ConnectivityState>()
    private let source = Mutex(Source())

    /// - Parameters:
    ///   - watcher: The kernel's states.
    ///   - simulatesOffline: Whether `simulation.offline` is set now.
    init(_ watcher: NetworkWatcher, simulatesOffline: @escaping @Sendable () -> Bool) {
        self.watcher = watcher
        simulation = simulatesOffline
    }

    deinit { if let number = source.withLock({ $0.number }) { watcher.remove(number) } }

    /// Whether `simulation.offline` is set now.
    var simulatesOffline: Bool { simulation() }

    /// The number of listeners.
    package var listenerCount: Int { hub.count }

    // MARK: Listening

    /// The states: the present one, and each change. The sequence ends when the system has shut
    /// down. It keeps the last 64 states for a listener that is slow.
    public var states: AsyncStream<ConnectivityState> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ConnectivityState.self, bufferingPolicy: .bufferingNewest(64))
        let observation = add({ continuation.yield($0) }, end: { continuation.finish() })
        continuation.onTermination = { _ in observation.remove() }
        return stream
    }

    /// The present state.
    public var state: ConnectivityState {
        get async {
            if simulation() { return .simulatedOffline }
            for await state in states { return state }
            return ConnectivityState(NetworkState(.unknown))
        }
    }

    /// Calls a closure with the present state, and with each change, until the observation is
    /// removed or the system has shut down.
    ///
    /// The closure runs on another thread than this one, one call at a time, and must not block.
    public func observe(
        _ receive: @escaping @Sendable (ConnectivityState) -> Void
    ) -> ConnectivityObservation {
        add(receive, end: {})
    }

    private func add(
        _ receive: @escaping @Sendable (ConnectivityState) -> Void,
        end: @escaping @Sendable () -> Void
    ) -> ConnectivityObservation {
        let number = hub.add(receive)
        let isFinished = source.withLock { source in
            if !source.isFinished { source.ends[number] = end }
            return source.isFinished
        }
        if isFinished {
            hub.remove(number)
            end()
        } else {
            reconcile()
        }
        return ConnectivityObservation(connectivity: self, number: number)
    }

    fileprivate func remove(_ number: Int) {
        hub.remove(number)
        // Freed after the lock was released.
        _ = source.withLock { $0.ends.removeValue(forKey: number) }
        reconcile()
    }

    // MARK: The source

    /// Listens to the kernel while somebody listens here.
    private func reconcile() {
        let deliveries = source.withLock { source -> StateHub<ConnectivityState>.Deliveries? in
            if hub.count == 0 || source.isFinished {
                if let number = source.number { watcher.remove(number) }
                (source.number, source.state) = (nil, nil)
                source.generation += 1
                _ = hub.set(nil)
                return nil
            }
            guard source.number == nil else { return nil }
            source.generation += 1
            let generation = source.generation
            source.number = watcher.add { [weak self] state in
                self?.take(state, of: generation)
            }
            return simulation() ? hub.set(.simulatedOffline) : nil
        }
        // Listeners aren't called within `observe`.
        if let deliveries { Task.detached { deliveries.perform() } }
    }

    /// Takes a state of the kernel, unless it was for a listener that was removed meanwhile.
    func take(_ state: NetworkState, of generation: Int) {
        change { source in
            if source.generation == generation { source.state = state }
        }
    }

    /// Looks at the switch `simulation.offline` again.
    func refresh() {
        guard hub.count > 0 else { return }
        change { _ in }
    }

    private func change(_ change: (inout Source) -> Void) {
        let deliveries = source.withLock { source -> StateHub<ConnectivityState>.Deliveries? in
            guard source.number != nil else { return nil }
            change(&source)
            return hub.set(
                simulation() ? .simulatedOffline : source.state.map(ConnectivityState.init))
        }
        deliveries?.perform()
    }

    /// Ends all sequences and observations.
    func finish() {
        let ends = source.withLock { source in
            source.isFinished = true
            defer { source.ends = [:] }
            return source.ends
        }
        for (number, end) in ends {
            hub.remove(number)
            end()
        }
        reconcile()
    }

    // MARK: Calls that wait

    /// The longest time by which calls that waited for the network leave one after another.
    private static let longestSpread = Duration.milliseconds(100)

    /// The time that a call waits after the machine is online, so that those that waited with it
    /// don't all leave at once.
    ///
    /// - Parameter random: A number in 0..<1.
    static func spread(_ random: Double) -> Duration { longestSpread * random }

    /// Waits until a sleep ends or the machine is online in another network. Further states of a
    /// network that comes up wake nothing: they would use up a call's attempts.
    ///
    /// - Parameter spread: The time from then on.
    /// - Throws: The sleep's error, such as at a cancellation.
    func wakeUp(
        spread: Duration, from sleep: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await race(sleep) { states in
            guard await Self.hasChanged(states) else { return false }
            return await Self.wait(for: spread)
        }
    }

    /// Waits until an online state follows an offline one, or one of another link.
    ///
    /// - Returns: False if the states end before.
    static func hasChanged(_ states: AsyncStream<ConnectivityState>) async -> Bool {
        var last: ConnectivityState?
        for await state in states {
            if let last, state.isNewWay(after: last) { return true }
            last = state
        }
        return false
    }

    /// Waits until the machine is online or a sleep ends.
    ///
    /// - Parameter spread: The time from then on.
    /// - Returns: Whether it is online.
    func waitUntilOnline(
        spread: Duration, orUntil sleep: @escaping @Sendable () async throws -> Void
    ) async -> Bool {
        let isOnline = try? await race(sleep) { states in
            for await state in states where state.isOnline { return await Self.wait(for: spread) }
            return false
        }
        return isOnline ?? false
    }

    private static func wait(for spread: Duration) async -> Bool {
        (try? await Task.sleep(for: spread)) != nil
    }

    /// Waits for states, but no longer than a sleep.
    ///
    /// - Parameter isMet: Returns true when it has met the state that it waits for.
    /// - Returns: Whether it was met before the sleep ended.
    @discardableResult
    private func race(
        _ sleep: @escaping @Sendable () async throws -> Void,
        _ isMet: @escaping @Sendable (AsyncStream<ConnectivityState>) async -> Bool
    ) async throws -> Bool {
        try await withThrowingTaskGroup(of: Bool?.self) { group in
            let states = self.states
            group.addTask {
                try await sleep()
                return false
            }
            // The states end with the system; the sleep counts then.
            group.addTask { await isMet(states) ? true : nil }
            defer { group.cancelAll() }
            while let first = try await group.next() {
                if let first { return first }
            }
            return false
        }
    }
}

/// A closure that follows the connectivity, until it is removed.
public struct ConnectivityObservation: Sendable {
    fileprivate let connectivity: Connectivity
    fileprivate let number: Int

    /// Removes the closure. A state that is being delivered may still reach it.
    public func remove() { connectivity.remove(number) }
}
