import SignetBase
import SignetSystem
import Synchronization

/// Recorded calls in memory.
///
/// A recorder adds many calls of which few are read. So a call is sealed when it has ended, with a
/// key that is in no core file, and redacted when the store is read first.
public final class MemoryRecordingStore: UnredactedCallStore {
    private struct State {
        /// The calls by their numbers in the store, which count up.
        var calls: [Int: (call: StoredCall, size: Int, ended: Int64)] = [:]
        /// The number of the oldest call.
        var first = 0
        /// The number of the next call.
        var end = 0
        var size = 0
        var dropped = 0
    }

    private let limits: RecordingLimits
    private let now: @Sendable () -> Int64
    private let sealer = CallSealer()
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
    public func add(_ call: RecordedCall) { add(StoredCall(call)) }

    func add(_ call: consuming UnredactedCall) { add(StoredCall(call, sealedBy: sealer)) }

    func add(_ call: StoredCall) {
        let now = now()
        // Freed after the lock was released.
        _ = state.withLock { state -> [StoredCall] in
            state.calls[state.end] = (call, call.size, now)
            state.end += 1
            state.size += call.size
            return trim(&state, at: now)
        }
    }

    private func trim(_ state: inout State, at now: Int64) -> [StoredCall] {
        let oldest = limits.age.map { now - $0.milliseconds } ?? .min
        var dropped: [StoredCall] = []
        while let first = state.calls[state.first],
            state.calls.count > limits.calls || state.size > limits.size || first.ended < oldest
        {
            state.calls[state.first] = nil
            state.first += 1
            state.size -= first.size
            dropped.append(first.call)
        }
        state.dropped += dropped.count
        return dropped
    }

    /// The calls that are kept. Those that were added since it was read last are redacted now.
    @concurrent public func recording() async -> Recording {
        let numbers = numbers
        for number in numbers where redact(number) { await Task.yield() }
        return recording(of: numbers)
    }

    /// The calls that are kept.
    var current: Recording {
        let numbers = numbers
        for number in numbers { _ = redact(number) }
        return recording(of: numbers)
    }

    /// The calls that wait to be redacted.
    var sealed: [CallSealer.Sealed] {
        let calls = state.withLock { $0.calls.values.map(\.call) }
        return calls.compactMap(\.sealed)
    }

    private var numbers: Range<Int> { state.withLock { $0.first..<$0.end } }

    /// Redacts a call, while others are added.
    ///
    /// - Returns: Whether it wasn't redacted before.
    private func redact(_ number: Int) -> Bool {
        guard let call = state.withLock({ $0.calls[number]?.call }), let size = call.redact() else {
            return false
        }
        // A body without its content coding may be larger.
        _ = state.withLock { state -> [StoredCall] in
            guard state.calls[number] != nil else { return [] }
            state.calls[number]?.size = size
            state.size += size - call.size
            return trim(&state, at: now())
        }
        return true
    }

    private func recording(of numbers: Range<Int>) -> Recording {
        let now = now()
        let (calls, droppedCount, _) = state.withLock { state in
            let dropped = trim(&state, at: now)
            return (numbers.compactMap { state.calls[$0]?.call }, state.dropped, dropped)
        }
        var recording = Recording(calls: calls.compactMap(\.call))
        recording.droppedCount = droppedCount
        let damaged = calls.count - recording.calls.count
        if damaged > 0 {
            recording.problems.append(
                RecordingProblem("store", "found \(damaged) damaged calls; left out"))
        }
        recording.number()
        return recording
    }

    /// Removes all calls.
    public func removeAll() async {
        _ = state.withLock { state in
            defer { state = State(first: state.end, end: state.end) }
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
