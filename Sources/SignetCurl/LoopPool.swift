internal import SignetPinning
internal import SignetTransport
internal import Synchronization

/// The event loops of one engine: one for each trust store and proxy login, in the version that their CA
/// files have.
///
/// A call looks at the CA file before it begins. If the file has changed, a new loop takes the place of the
/// old one, which stops when its calls are over: connections and TLS sessions of the old CAs serve no new
/// call.
final class LoopPool: Sendable {
    private struct Entry {
        let key: PoolKey
        let loop: EventLoop
        var lastUse = 0
    }

    private struct State {
        var isStopped = false
        /// Of the engine's own trust store; it never gives way to others.
        var usual: Entry
        var byKey: [PoolKey: Entry] = [:]
        var uses = 0
        /// Loops whose CA files have changed; they are stopped when their calls are over.
        var outdated: [EventLoop] = []
        /// Loops that were stopped and may not have ended yet.
        var retired: [EventLoop] = []

        var all: [EventLoop] { [usual.loop] + byKey.values.map(\.loop) + outdated + retired }

        mutating func reserve(_ key: PoolKey) -> EventLoop? {
            if usual.key == key { return usual.loop.reserved() }
            uses += 1
            byKey[key]?.lastUse = uses
            return byKey[key]?.loop.reserved()
        }

        /// Puts a new loop in its place.
        ///
        /// - Returns: `false` if there are too many loops.
        mutating func add(_ entry: Entry) -> Bool {
            if entry.key.isVersion(of: usual.key) {
                guard outdated.count < LoopPool.maximumLoops else { return false }
                outdated.append(usual.loop)
                usual = entry
                return true
            }
            for key in byKey.keys where key.isVersion(of: entry.key) {
                if let old = byKey.removeValue(forKey: key) { outdated.append(old.loop) }
            }
            if byKey.count + outdated.count + 1 >= LoopPool.maximumLoops {
                let idle = byKey.values.filter { $0.loop.isIdle }
                guard let oldest = idle.min(by: { $0.lastUse < $1.lastUse }) else { return false }
                byKey[oldest.key] = nil
                outdated.append(oldest.loop)
            }
            byKey[entry.key] = entry
            return true
        }

        /// Takes out the loops that are to be stopped.
        mutating func takeIdle() -> [EventLoop] {
            if outdated.isEmpty { return [] }
            let idle = outdated.filter(\.isIdle)
            outdated.removeAll { loop in idle.contains { $0 === loop } }
            retired.removeAll(where: \.hasEnded)
            retired += idle
            return idle
        }
    }

    /// The most trust stores and proxy logins that one engine has at once; each has a loop of its own.
    private static let maximumLoops = 16

    private let configuration: CurlEngine.Configuration
    private let state: Mutex<State>

    /// Starts the loop of the engine's own trust store.
    init(_ configuration: CurlEngine.Configuration) throws(TransportError) {
        self.configuration = configuration
        let trust = TrustStore(caFile: configuration.caFile, authorities: nil)
        let key = PoolKey(trust, proxy: nil)
        if let caFile = configuration.caFile { try LibcurlCheck.check(caFile: caFile) }
        state = Mutex(State(usual: Entry(key: key, loop: try EventLoop(configuration, key))))
    }

    deinit {
        for loop in state.withLock({ $0.all }) { loop.stop() }
    }

    /// The loop for a call; it isn't stopped before the call has begun, unless the engine is.
    ///
    /// - Throws: `TransportError`: `trust-store` where a CA file cannot be used, `resources`, `not-running`.
    func loop(
        caFile: String?, authorities: PinAuthorities?, proxy: Proxy?
    ) throws(TransportError) -> EventLoop {
        if caFile == nil, authorities == nil, proxy == nil {
            let stamp = FileStamp(caFile: configuration.caFile)
            let usual = state.withLock { state -> EventLoop? in
                let isCurrent = state.usual.key.trust.stamp == stamp && state.outdated.isEmpty
                return isCurrent && !state.isStopped ? state.usual.loop.reserved() : nil
            }
            if let usual { return usual }
        }
        let trust = TrustStore(caFile: caFile ?? configuration.caFile, authorities: authorities)
        return try loop(PoolKey(trust, proxy: proxy))
    }

    private func loop(_ key: PoolKey) throws(TransportError) -> EventLoop {
        let (isStopped, known, idle) = state.withLock { state in
            let known = state.isStopped ? nil : state.reserve(key)
            return (state.isStopped, known, state.takeIdle())
        }
        for loop in idle { loop.stop() }
        if isStopped { throw Self.notRunning }
        if let known { return known }
        if let caFile = key.trust.caFile { try LibcurlCheck.check(caFile: caFile) }
        return try add(Entry(key: key, loop: try EventLoop(configuration, key)))
    }

    private func add(_ entry: Entry) throws(TransportError) -> EventLoop {
        let (winner, idle, isStopped) = state.withLock { state -> (EventLoop?, [EventLoop], Bool) in
            if state.isStopped { return (nil, [], true) }
            if let other = state.reserve(entry.key) { return (other, [], false) }
            var entry = entry
            entry.lastUse = state.uses
            let winner = state.add(entry) ? entry.loop.reserved() : nil
            return (winner, state.takeIdle(), false)
        }
        for loop in idle { loop.stop() }
        if winner !== entry.loop { entry.loop.stop() }
        if let winner { return winner }
        if isStopped { throw Self.notRunning }
        throw TransportError(
            code: .trustStore,
            message:
                "calls of \(Self.maximumLoops) different trust stores or proxy logins are under way,"
                + " and one engine takes no more at once")
    }

    /// How often the loop of the engine's own trust store has called libcurl for sockets and timers.
    var libcurlCalls: UInt64 { state.withLock { $0.usual.loop.libcurlCalls } }

    /// Ends every call and releases everything.
    func shutdown() async {
        let all = state.withLock { state in
            state.isStopped = true
            return state.all
        }
        for loop in all { loop.stop() }
        for loop in all { await loop.waitForEnd() }
    }

    private static let notRunning = TransportError(
        code: .notRunning, message: "the engine has been shut down")
}
