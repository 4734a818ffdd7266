import Logging
import SignetPinning
import SignetTransport
import Synchronization

/// Takes findings and refusals from calls, drops repeated ones, and passes the others to the sinks.
final class PinReporter: Sendable {
    private struct State {
        var limiter: PinReportRateLimiter
        var counts = PinReportCounts()
        var isClosed = false
    }

    private let state: Mutex<State>
    private let queues: [PinReportQueue]
    private let clock: @Sendable () -> Int64
    private let flushTime: Duration

    init(
        _ options: PinReportOptions, sinks: [any PinReportSink], logger: Logger,
        clock: @escaping @Sendable () -> Int64
    ) {
        state = Mutex(State(limiter: PinReportRateLimiter(pause: options.repeatsAfter)))
        queues = sinks.map { PinReportQueue($0, limit: options.queueLimit, logger: logger) }
        flushTime = options.flushTime
        self.clock = clock
    }

    /// Drops what a system that was released without `shutdown` has not sent.
    deinit { for queue in queues { queue.close() } }

    /// Reports a refusal that a call met; returns at once.
    func submit(_ refusal: PinRefusal, port: Int, isEnforced: Bool) {
        let report: PinReport? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.counts.made += 1
            // Read the clock under the lock. Otherwise two concurrent calls can reach the limiter
            // in the wrong order, which looks like a clock that was set back.
            let report = PinReport(
                refusal, port: port, isEnforced: isEnforced, date: clock())
            if state.limiter.admits(report) { return report }
            state.counts.repeated += 1
            return nil
        }
        if let report { for queue in queues { queue.put(report) } }
    }

    /// The numbers of reports of all collectors, by outcome.
    var counts: PinReportCounts {
        queues.reduce(state.withLock { $0.counts }) { $0 + $1.counts }
    }

    /// Accepts no more reports, waits some time for the sinks, and drops the rest.
    func close() async {
        state.withLock { $0.isClosed = true }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for queue in self.queues { await queue.waitUntilEmpty() } }
            group.addTask { try? await Task.sleep(for: self.flushTime) }
            await group.next()
            group.cancelAll()
        }
        for queue in queues { queue.close() }
    }
}

/// The queue of one sink, and the task that empties it.
final class PinReportQueue: Sendable {
    private struct State {
        var queue: [PinReport] = []
        var dropped = 0
        var counts = PinReportCounts()
        var worker: Task<Void, Never>?
        var isClosed = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let sink: any PinReportSink
    private let limit: Int
    private let logger: Logger

    init(_ sink: any PinReportSink, limit: Int, logger: Logger) {
        self.sink = sink
        self.limit = max(limit, 1)
        self.logger = logger
    }

    var counts: PinReportCounts { state.withLock { $0.counts } }

    func put(_ report: PinReport) {
        state.withLock { state in
            guard !state.isClosed, state.queue.count < limit else {
                state.dropped += 1
                state.counts.dropped += 1
                return
            }
            state.queue.append(report)
            // Detached, so that a call's cancellation and priority don't apply to the report.
            if state.worker == nil {
                state.worker = Task.detached(priority: .utility) { await self.work() }
            }
        }
    }

    private func work() async {
        while let report = next() {
            do throws(PinError) {
                try await sink.receive(report)
                state.withLock { $0.counts.delivered += 1 }
            } catch {
                state.withLock { $0.counts.failed += 1 }
                logger.warning(
                    "a pin report was not delivered",
                    metadata: [
                        "sink": "\(sink.name)", "host": "\(report.host.text)",
                        "reason": "\(error.message)",
                    ])
            }
        }
    }

    private func next() -> PinReport? {
        let (report, waiting) = state.withLock {
            state -> (PinReport?, [CheckedContinuation<Void, Never>]) in
            guard !state.queue.isEmpty, !state.isClosed else {
                state.worker = nil
                defer { state.waiting = [] }
                return (nil, state.waiting)
            }
            var report = state.queue.removeFirst()
            report.dropped = state.dropped
            state.dropped = 0
            return (report, [])
        }
        for continuation in waiting { continuation.resume() }
        return report
    }

    /// Returns when nothing waits and nothing is being taken, or when the task is cancelled.
    func waitUntilEmpty() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isEmpty = state.withLock { state in
                    guard state.worker != nil, !Task.isCancelled else { return true }
                    state.waiting.append(continuation)
                    return false
                }
                if isEmpty { continuation.resume() }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }
    }

    /// Drops the queued reports and cancels the one that is being sent.
    func close() {
        let worker = state.withLock { state in
            state.isClosed = true
            state.counts.dropped += state.queue.count
            state.queue = []
            return state.worker
        }
        worker?.cancel()
    }
}
