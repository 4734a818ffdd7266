import SignetBase
import SignetSystem
import Synchronization

/// Recorded calls in memory.
public final class MemoryRecordingStore: RecordingStore {
    private struct State {
        var calls = Queue<RecordedCall>()
        var sizes = Queue<(size: Int, ended: Int64)>()
        var first: (size: Int, ended: Int64)?
        var size = 0
        var dropped = 0
    }

    private let limits: RecordingLimits
    private let now: @Sendable () -> Int64
    private let state = Mutex(State())

    /// Creates an empty store.
    public convenience init(limits: RecordingLimits = RecordingLimits()) {
        self.init(limits: limits, now: { WallClock.milliseconds() })
    }

    /// - Parameter now: Unix milliseconds.
    init(limits: RecordingLimits, now: @escaping @Sendable () -> Int64) {
        self.limits = limits
        self.now = now
    }

    /// Adds a call, and drops the oldest ones beyond the limits.
    public func add(_ call: RecordedCall) {
        let now = now()
        let size = call.approximateSize
        // Freed after the lock was released.
        _ = state.withLock { state -> [RecordedCall] in
            state.calls.append(call)
            state.sizes.append((size, now))
            state.size += size
            return trim(&state, at: now)
        }
    }

    private func trim(_ state: inout State, at now: Int64) -> [RecordedCall] {
        let oldest = limits.age.map { now - $0.milliseconds } ?? .min
        var dropped: [RecordedCall] = []
        while state.calls.count > 0 {
            if state.first == nil { state.first = state.sizes.popFirst() }
            guard let first = state.first,
                state.calls.count > limits.calls || state.size > limits.size
                    || first.ended < oldest
            else { break }
            if let call = state.calls.popFirst() { dropped.append(call) }
            state.size -= first.size
            state.first = nil
        }
        state.dropped += dropped.count
        return dropped
    }

    /// The calls that are kept.
    public func recording() async -> Recording { current }

    /// The calls that are kept.
    var current: Recording {
        let now = now()
        let (calls, droppedCount, _) = state.withLock { state in
            let dropped = trim(&state, at: now)
            return (state.calls.all, state.dropped, dropped)
        }
        var recording = Recording(calls: calls)
        recording.droppedCount = droppedCount
        recording.number()
        return recording
    }

    /// Removes all calls.
    public func removeAll() async {
        _ = state.withLock { state in
            defer { state = State() }
            return state
        }
    }
}

extension RecordedCall {
    /// The size in memory in bytes, about.
    var approximateSize: Int {
        exchanges.reduce(256 + 64 * stages.count) { sum, exchange in
            sum + exchange.approximateSize
        }
            + contents.reduce(message?.utf8.count ?? 0) { sum, contents in
                let base = contents.base
                let parts = base?.parts ?? []
                return sum + (contents.before?.utf8.count ?? 0) + (contents.after?.utf8.count ?? 0)
                    + (base?.text.utf8.count ?? 0)
                    + parts.reduce(0) { $0 + 32 + $1.name.utf8.count + $1.value.utf8.count }
            }
    }
}

extension RecordedExchange {
    fileprivate var approximateSize: Int {
        let fields = request.fields + (response?.fields ?? [])
        return 512 + request.url.utf8.count + (message?.utf8.count ?? 0)
            + (request.body?.bytes.count ?? 0)
            + (response?.body?.bytes.count ?? 0)
            + fields.reduce(0) { $0 + 64 + $1.name.utf8.count + $1.bytes.count }
            + redactions.reduce(0) { $0 + 24 + $1.place.utf8.count }
    }
}
