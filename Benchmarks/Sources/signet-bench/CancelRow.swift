import HTTPTypes
import SignetCurl
import SignetPinning
import SignetTransport
import Synchronization

/// How long the last of 10,000 concurrent calls takes to end when all are cancelled at random
/// moments, compared with tasks that only wait for their cancellation: what Swift's own threads
/// take.
struct CancelRow {
    let authority: Authority
    let caFile: String
    let policy: PinPolicy

    private static let count = 10_000

    func rows() -> [Row] { [row("cancel-h1", http2: false), row("cancel-h2", http2: true)] }

    private func row(_ name: String, http2: Bool) -> Row {
        Row(
            name: name, unit: .microseconds, goal: .value(100_000), rounds: 5,
            statistic: .worst,
            ours: {
                var settings = EngineSettings()
                settings.caFile = caFile
                settings.offersHTTP2 = http2
                let engine = try CurlEngine(settings)
                let latest = try await crowd { index in
                    do throws(TransportError) {
                        try await get(engine, index.isMultiple(of: 3) ? "/bench-slow" : "/bench")
                        return false
                    } catch {
                        guard error.code == .cancelled else { throw error }
                        return true
                    }
                }
                try await get(engine, "/bench")
                await engine.shutdown()
                return latest
            },
            floor: { try await crowd { _ in await Gate().wait() } })
    }

    private func get(_ engine: CurlEngine, _ path: String) async throws(TransportError) {
        let head = HTTPRequest(
            method: .get, scheme: "https", authority: authority.description, path: path)
        var request = EngineRequest(head, policy: policy)
        request.timeout = .seconds(120)
        _ = try await engine.send(request).body.collect(limit: 1 << 20)
    }

    /// Begins all calls, cancels them one by one in a random order, and waits for each.
    ///
    /// - Parameter call: Whether it ended because it was cancelled.
    /// - Returns: The longest time from a call's cancellation to its end, in microseconds.
    private func crowd(
        _ call: @escaping @Sendable (Int) async throws -> Bool
    ) async throws -> Double {
        let begun = Counter()
        let tasks = (0..<Self.count).map { index in
            Task {
                begun.add()
                let isCancelled = try await call(index)
                return (isCancelled, ContinuousClock.now)
            }
        }
        // A call that has not begun would be measured by how long its task waits for a thread.
        while begun.count < Self.count { await Task.yield() }
        var moments: [ContinuousClock.Instant?] = Array(repeating: nil, count: Self.count)
        for index in tasks.indices.shuffled() {
            for _ in 0..<Int.random(in: 0..<4) { await Task.yield() }
            moments[index] = .now
            tasks[index].cancel()
        }
        var latest = Duration.zero
        var cancelled = 0
        for (task, moment) in zip(tasks, moments) {
            let (isCancelled, end) = try await task.value
            guard isCancelled, let moment else { continue }
            cancelled += 1
            latest = max(latest, end - moment)
        }
        try require(cancelled > Self.count / 3, "only \(cancelled) calls were cancelled")
        let (seconds, attoseconds) = latest.components
        return Double(seconds) * 1e6 + Double(attoseconds) / 1e12
    }
}

/// How many calls have begun.
private final class Counter: Sendable {
    private let value = Atomic(0)
    var count: Int { value.load(ordering: .relaxed) }
    func add() { value.add(1, ordering: .relaxed) }
}

/// Something to wait at until one is cancelled.
private final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func wait() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.waiting = continuation }
                    return state.isOpen
                }
                if isOpen { continuation.resume() }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                state.isOpen = true
                return state.waiting.take()
            }
            waiting?.resume()
        }
        return true
    }
}
