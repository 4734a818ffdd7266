#if Storage
import Dispatch
import Logging
import SignetBase
import SignetClient
import SignetStorage
import Synchronization

/// Sends the batches of an outbox, one after the other.
final class OutboxSender: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var system: NetworkSystem?
        var observation: ConnectivityObservation?
        /// The last state of the network; nil before the first.
        var network: ConnectivityState?
        /// Whether a server answered when a batch failed, so that no other network helps.
        var wasAnswered = false
        /// Whether the next round sends all that is there, without the pause after a failure.
        var sendsAll = false
        /// Whether the network has returned, so that the pauses begin again with the first one.
        var hasReturned = false
        var flushes: [Latch<Bool>] = []
        var isStopping = false
        var hasEnded = false
        /// A batch that has arrived and couldn't be removed.
        var arrived: OutboxBatch?
        /// Failures of the file in a row.
        var fileFailures = 0
    }

    /// The end of a round.
    private enum Round {
        /// Nothing more is due.
        case done
        /// Another process sends.
        case busy
        /// A batch didn't arrive; its pause is in the store.
        case delayed
        case fileFailed
    }

    private let store: OutboxStore
    private let name: String
    private let calls: BatchCalls
    private let rule: OutboxRule
    private let options: OutboxOptions
    private let state = Mutex(State())
    private let wakeup = Wakeup()
    private let queue = DispatchQueue(label: "signet.outbox.send")

    init(
        _ store: OutboxStore, named name: String, to destination: OutboxDestination,
        rule: OutboxRule, options: OutboxOptions
    ) {
        self.store = store
        self.name = name
        calls = BatchCalls(to: destination, options: options.callOptions, clock: options.clock)
        self.rule = rule
        self.options = options
    }

    // MARK: Start and end

    func start(through system: NetworkSystem) throws(ClientError) {
        try calls.check(with: system)
        state.withLock { state in
            guard state.task == nil, !state.isStopping else { return }
            state.system = system
            // What an earlier run left.
            state.sendsAll = true
            state.task = Task.detached(priority: .utility) { await self.run() }
        }
        follow(system.connectivity)
    }

    /// Sends what waits when the machine, which was offline, is online, or has another link.
    private func follow(_ connectivity: Connectivity) {
        let observation = connectivity.observe { [weak self] network in
            guard let self else { return }
            let last = state.withLock { state in
                defer { state.network = network }
                return state.wasAnswered ? nil : state.network
            }
            guard let last, network.isNewWay(after: last) else { return }
            // A change of the link alone is worth one round.
            if last.isOnline { request() } else { networkReturned() }
        }
        let isNeeded = state.withLock { state in
            guard state.task != nil, state.observation == nil, !state.hasEnded else { return false }
            state.observation = observation
            return true
        }
        if !isNeeded { observation.remove() }
    }

    /// Ends without sending what waits.
    func abandon() {
        let task = state.withLock { state in
            state.isStopping = true
            return state.task
        }
        task?.cancel()
    }

    /// Sends what waits for at most the flush time, and ends.
    func stop() async {
        let (task, isFirst) = state.withLock { state in
            defer { state.isStopping = true }
            return (state.task, !state.isStopping)
        }
        guard let task else { return }
        if isFirst {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { _ = await self.flush() }
                group.addTask { try? await self.options.clock.sleep(self.options.flushTime) }
                await group.next()
                // The call under way ends, and its batch stays.
                task.cancel()
                group.cancelAll()
            }
        }
        await task.value
    }

    /// Asks for a round that sends all that is there, and waits for its end.
    func flush() async -> Bool {
        let latch = Latch<Bool>()
        let isRunning = state.withLock { state in
            guard state.task != nil, !state.hasEnded else { return false }
            state.flushes.append(latch)
            state.sendsAll = true
            return true
        }
        guard isRunning else { return await isEmpty() }
        wakeup.set()
        return await latch.wait()
    }

    /// Asks for a round that sends all that is there.
    func request() {
        state.withLock { $0.sendsAll = true }
        wakeup.set()
    }

    /// Asks for such a round, and forgets the failures before it.
    func networkReturned() {
        state.withLock { $0.hasReturned = true }
        request()
    }

    /// Notes that records were added.
    func noteAdded(_ contents: OutboxContents) {
        tellDrops()
        if contents.wait == 0 { wakeup.set() }
    }

    // MARK: The loop

    private func run() async {
        while !Task.isCancelled {
            let (sendsAll, flushes) = state.withLock { state in
                defer { (state.sendsAll, state.flushes) = (false, []) }
                return (state.sendsAll, state.flushes)
            }
            let round = await send(all: sendsAll)
            // Nothing was sent, so all of it still is to be.
            if sendsAll, round == .busy || round == .fileFailed {
                state.withLock { $0.sendsAll = true }
            }
            let asked = options.clock.instant()
            let pause = await pause(after: round)
            if !flushes.isEmpty {
                let isEmpty = await isEmpty()
                for latch in flushes { latch.set(isEmpty) }
            }
            let rest = pause - (options.clock.instant() - asked)
            if rest > .zero { await wakeup.wait(atMost: rest, by: options.clock) }
        }
        let (flushes, observation) = state.withLock { state in
            (state.hasEnded, state.system) = (true, nil)
            defer { (state.flushes, state.observation) = ([], nil) }
            return (state.flushes, state.observation)
        }
        observation?.remove()
        for latch in flushes { latch.set(false) }
    }

    /// Returns the time until the next round.
    private func pause(after round: Round) async -> Duration {
        if round == .fileFailed {
            let failures = state.withLock { state in
                state.fileFailures += 1
                return state.fileFailures
            }
            return pause(afterFailures: failures - 1)
        }
        state.withLock { $0.fileFailures = 0 }
        let longest = Duration.milliseconds(rule.batchAge)
        // The other process may be killed at any moment.
        if round == .busy { return min(longest, max(options.firstPause, .seconds(1))) }
        guard
            let contents = try? await perform({ store throws(StorageError) in try store.contents() }
            )
        else { return longest }
        // Other processes add records too, so a look now and then is needed in any case.
        return contents.wait.map { min(.milliseconds($0), longest) } ?? longest
    }

    private func pause(afterFailures failures: Int) -> Duration {
        var whole = options.firstPause
        for _ in 0..<min(failures, 62) where whole < options.longestPause { whole *= 2 }
        return min(options.longestPause, whole) * (0.5 + options.clock.random() / 2)
    }

    /// Sends batches until none is due, or one doesn't arrive.
    private func send(all: Bool) async -> Round {
        do throws(StorageError) {
            let lock = try await perform { store throws(StorageError) in
                try store.lockForSending()
            }
            guard let lock else { return .busy }
            defer { withExtendedLifetime(lock) {} }
            if state.withLock({ $0.hasReturned }) {
                try await perform { store throws(StorageError) in try store.endRest() }
                state.withLock { $0.hasReturned = false }
            }
            if let arrived = state.withLock({ $0.arrived }) { try await remove(arrived) }
            let last: Int64? =
                all
                ? try await perform { store throws(StorageError) in
                    try store.contents().lastRecord
                } : nil
            while !Task.isCancelled {
                let batch = try await perform { store throws(StorageError) in
                    try store.nextBatch(through: last, ignoresRest: all)
                }
                tellDrops()
                guard let batch else { return .done }
                guard try await send(batch) else { return .delayed }
            }
            return .done
        } catch {
            tell(.failed(error))
            return .fileFailed
        }
    }

    /// Sends a batch, and writes down how that ended.
    ///
    /// - Returns: Whether the next one may follow.
    private func send(_ batch: OutboxBatch) async throws(StorageError) -> Bool {
        guard let system = state.withLock({ $0.system }) else { return false }
        switch await calls.send(batch, through: system) {
        case .arrived:
            state.withLock { ($0.arrived, $0.wasAnswered) = (batch, false) }
            try await remove(batch)
            tell(.sent(batch: batch.id, records: batch.records.count))
            return true
        case .refused(let error):
            state.withLock { $0.wasAnswered = false }
            try await perform { store throws(StorageError) in
                try store.park(batch, code: error.code.name)
            }
            tell(.parked(batch: batch.id, records: batch.records.count, error: error))
            return true
        case .delayed(let error, let wait):
            state.withLock { $0.wasAnswered = error.status != nil }
            let isEnding = Task.isCancelled
            let pause = try await perform { [self] store throws(StorageError) in
                try store.keep(
                    batch,
                    pause: isEnding
                        ? nil : { max(self.pause(afterFailures: $0), wait).milliseconds })
            }
            if !isEnding {
                tell(.delayed(batch: batch.id, error: error, pause: .milliseconds(pause)))
            }
            return false
        }
    }

    private func remove(_ batch: OutboxBatch) async throws(StorageError) {
        try await perform { store throws(StorageError) in try store.arrived(batch) }
        state.withLock { $0.arrived = nil }
    }

    // MARK: The file

    private func isEmpty() async -> Bool {
        let contents = try? await perform { store throws(StorageError) in try store.contents() }
        return contents?.waitingCount == 0
    }

    /// Does blocking work with the file.
    func perform<Value: Sendable>(
        _ work: @escaping @Sendable (OutboxStore) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let store = store
        let result: Result<Value, StorageError> = await withCheckedContinuation { done in
            queue.async {
                done.resume(
                    returning: Result { () throws(StorageError) in try work(store) })
            }
        }
        return try result.get()
    }

    // MARK: Telling

    private func tellDrops() {
        for drop in store.takeDrops() {
            tell(.dropped(records: drop.count, reason: drop.reason))
        }
    }

    private func tell(_ event: OutboxEvent) {
        let outbox: Logger.Metadata = ["outbox": "\(name)"]
        switch event {
        case .sent(let batch, let records):
            options.logger.debug(
                "a batch was sent",
                metadata: outbox.merging(["batch": "\(batch)", "records": "\(records)"]) { $1 })
        case .delayed(let batch, let error, let pause):
            options.logger.notice(
                "a batch is sent again later",
                metadata: outbox.merging(
                    ["batch": "\(batch)", "code": "\(error.code.name)", "pause": "\(pause)"]
                ) { $1 })
        case .parked(let batch, let records, let error):
            options.logger.error(
                "a batch was refused",
                metadata: outbox.merging([
                    "batch": "\(batch)", "records": "\(records)", "code": "\(error.code.name)",
                    "status": "\(error.status.map { "\($0)" } ?? "none")",
                ]) { $1 })
        case .dropped(let records, let reason):
            options.logger.warning(
                "records were dropped",
                metadata: outbox.merging(["records": "\(records)", "reason": "\(reason)"]) { $1 })
        case .failed(let error):
            options.logger.error(
                "the outbox's file can't be used",
                metadata: outbox.merging(["reason": "\(error.message)"]) { $1 })
        }
        options.observe(event)
    }
}
#endif
