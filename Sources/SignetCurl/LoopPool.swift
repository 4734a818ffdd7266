import SignetTransport
import Synchronization

/// The event loops of one engine: one for all calls but those through some proxies, which have one
/// for each login, and for each version of an HTTPS proxy's CA file.
///
/// If such a file has changed, a new loop replaces the old one, so that no new call uses
/// connections and TLS sessions of the old CAs. The old loop stops after its last call.
final class LoopPool: Sendable {
    private struct Entry {
        let key: PoolKey
        let loop: EventLoop
        var lastUse = 0
    }

    private struct State {
        var isStopped = false
        /// The loop of calls without such a proxy. It is never removed to make room.
        var primary: Entry
        var others: [PoolKey: Entry] = [:]
        var uses = 0
        /// Loops that get no new calls, because their CA files have changed or to make room. They
        /// are stopped after their last call.
        var outdated: [EventLoop] = []
        /// Loops that were stopped and may not have ended yet.
        var retired: [EventLoop] = []

        var all: [EventLoop] { [primary.loop] + others.values.map(\.loop) + outdated + retired }

        mutating func reserve(_ key: PoolKey) -> EventLoop? {
            if primary.key == key { return primary.loop.reserved() }
            uses += 1
            others[key]?.lastUse = uses
            return others[key]?.loop.reserved()
        }

        /// Adds a loop and replaces the older version of it.
        ///
        /// - Returns: `false` if there are too many loops.
        mutating func add(_ entry: Entry) -> Bool {
            if entry.key.isVersion(of: primary.key) {
                guard outdated.count < LoopPool.maximumLoops else { return false }
                outdated.append(primary.loop)
                primary = entry
                return true
            }
            for key in others.keys where key.isVersion(of: entry.key) {
                if let old = others.removeValue(forKey: key) { outdated.append(old.loop) }
            }
            if others.count + outdated.count + 1 >= LoopPool.maximumLoops {
                let idle = others.values.filter { $0.loop.isIdle }
                guard let oldest = idle.min(by: { $0.lastUse < $1.lastUse }) else { return false }
                others[oldest.key] = nil
                outdated.append(oldest.loop)
            }
            others[entry.key] = entry
            return true
        }

        /// Removes and returns the outdated loops without calls. The caller stops them.
        mutating func removeIdle() -> [EventLoop] {
            if outdated.isEmpty { return [] }
            let idle = outdated.filter(\.isIdle)
            outdated.removeAll { loop in idle.contains { $0 === loop } }
            retired.removeAll(where: \.hasEnded)
            retired += idle
            return idle
        }
    }

    /// The maximum number of loops in one engine.
    private static let maximumLoops = 16

    private let configuration: EngineSettings
    private let hasRoute: @Sendable () -> Bool
    private let state: Mutex<State>

    /// Starts the loop of calls without such a proxy.
    ///
    /// - Parameter hasRoute: Whether the machine has a route to other networks.
    init(
        _ configuration: EngineSettings, hasRoute: @escaping @Sendable () -> Bool
    ) throws(TransportError) {
        self.configuration = configuration
        self.hasRoute = hasRoute
        let key = PoolKey(proxy: nil)
        if let caFile = configuration.caFile { try LibcurlCheck.check(caFile: caFile) }
        let loop = try EventLoop(configuration, key: key, hasRoute: hasRoute)
        state = Mutex(State(primary: Entry(key: key, loop: loop)))
    }

    deinit {
        for loop in state.withLock({ $0.all }) { loop.stop() }
    }

    /// Returns the loop for a call. It isn't stopped before the call has started, unless the engine
    /// is.
    ///
    /// - Throws: `TransportError`: `resources` if there are too many loops or the system provides
    ///   no thread, `not-running`.
    func loop(proxy: Proxy?) throws(TransportError) -> EventLoop {
        let key = PoolKey(proxy: proxy)
        let (isStopped, known, idle) = state.withLock { state in
            let known = state.isStopped ? nil : state.reserve(key)
            return (state.isStopped, known, state.removeIdle())
        }
        for loop in idle { loop.stop() }
        if isStopped { throw Self.notRunning }
        if let known { return known }
        let loop = try EventLoop(configuration, key: key, hasRoute: hasRoute)
        return try add(Entry(key: key, loop: loop))
    }

    private func add(_ entry: Entry) throws(TransportError) -> EventLoop {
        let (winner, idle, isStopped) = state.withLock { state -> (EventLoop?, [EventLoop], Bool) in
            if state.isStopped { return (nil, [], true) }
            if let other = state.reserve(entry.key) { return (other, [], false) }
            var entry = entry
            entry.lastUse = state.uses
            let winner = state.add(entry) ? entry.loop.reserved() : nil
            return (winner, state.removeIdle(), false)
        }
        for loop in idle { loop.stop() }
        if winner !== entry.loop { entry.loop.stop() }
        if let winner { return winner }
        if isStopped { throw Self.notRunning }
        throw TransportError(
            .resources,
            "calls with \(Self.maximumLoops) different proxy logins or proxies' CA files are"
                + " under way, which is the limit of one engine")
    }

    /// The loop of calls without such a proxy.
    var primaryLoop: EventLoop { state.withLock { $0.primary.loop } }

    /// The number of times that the primary loop has called libcurl for sockets and timers.
    var libcurlCalls: UInt64 { primaryLoop.libcurlCalls }

    /// Ends every call and releases everything.
    func shutdown() async {
        let all = state.withLock { state in
            state.isStopped = true
            return state.all
        }
        for loop in all { loop.stop() }
        for loop in all { await loop.waitForEnd() }
    }

    private static let notRunning = TransportError(.notRunning, "the engine has been shut down")
}
