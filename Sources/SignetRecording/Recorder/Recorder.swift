public import SignetClient
import Synchronization

/// Records the calls of network systems, without changing a byte of them, until it is stopped.
///
/// ```swift
/// func record(_ system: NetworkSystem, tour: () async throws -> Void) async throws -> [UInt8] {
///     let recorder = Recorder()
///     try recorder.start(on: system)
///     defer { recorder.stop() }
///     try await tour()
///     return try await recorder.recording().har()
/// }
/// ```
///
/// A recorder sees requests as engines get them, with their signatures, and responses as they are
/// read. The contents of a call are redacted (``RedactionRules``) before they leave the recorder:
/// when they are read, if they are in a ``MemoryRecordingStore``, which keeps them sealed until
/// then; when the call has ended, if they go to another store or a listener of ``updates``.
public final class Recorder: Sendable {
    private struct Attachment {
        let system: NetworkSystem
        let observation: CallObservation
        let exchanges: Int

        func remove() {
            system.exchangeObservers.remove(exchanges)
            observation.remove()
        }
    }

    private struct State {
        var attachments: [Attachment] = []
        var listeners: [Int: AsyncStream<RecordedCall>.Continuation] = [:]
        var lastListener = 0
    }

    /// The store of the calls.
    public let store: any RecordingStore
    /// The same, if it redacts calls itself.
    private let sealingStore: (any UnredactedCallStore)?
    private let options: RecordingOptions
    private let marks: RedactionMarks
    private let numbers = CallNumbers()
    private let state: Mutex<State>

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - options: Limits and rules.
    ///   - store: The place of the calls; nil for memory.
    public init(
        _ options: RecordingOptions = RecordingOptions(), into store: (any RecordingStore)? = nil
    ) {
        self.options = options
        self.store = store ?? MemoryRecordingStore(limits: options.limits)
        sealingStore = self.store as? any UnredactedCallStore
        marks = RedactionMarks(after: self.store.lastMark)
        state = Mutex(State())
    }

    /// Whether any system is recorded.
    public var isRecording: Bool { state.withLock { !$0.attachments.isEmpty } }

    /// Begins to record the calls that a system starts from now on.
    ///
    /// - Throws: `RecordingError` with `recording-in-production` if the system runs in production
    ///   and ``RecordingOptions/recordsInProduction`` doesn't allow it.
    public func start(on system: NetworkSystem) throws(RecordingError) {
        guard options.recordsInProduction || system.runMode != .production else {
            throw RecordingError(
                .recordingInProduction,
                "found the run mode production, expected staging or development, or "
                    + "recordsInProduction")
        }
        let recording = SystemRecording(
            system, options, marks: marks, numbers: numbers,
            deliver: { [weak self] call in self?.take(call) })
        let attachment = Attachment(
            system: system, observation: system.addObserver(recording),
            exchanges: system.exchangeObservers.add(recording))
        state.withLock { $0.attachments.append(attachment) }
    }

    /// Stops recording. Calls that are under way aren't recorded.
    public func stop() {
        let attachments = state.withLock { state in
            defer { state.attachments = [] }
            return state.attachments
        }
        for attachment in attachments { attachment.remove() }
    }

    deinit { stop() }

    /// The calls that have ended so far.
    ///
    /// - Throws: `RecordingError` if the store can't be read.
    public func recording() async throws(RecordingError) -> Recording {
        try await store.recording()
    }

    /// The calls that end from now on. A listener that falls behind by 1,000 calls loses the
    /// oldest.
    public var updates: AsyncStream<RecordedCall> {
        let (stream, listener) = AsyncStream.makeStream(
            of: RecordedCall.self, bufferingPolicy: .bufferingNewest(1000))
        let number = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = listener
            return state.lastListener
        }
        listener.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    private func take(_ call: consuming UnredactedCall) {
        let listeners = state.withLock { state in
            state.listeners.isEmpty ? [] : Array(state.listeners.values)
        }
        if listeners.isEmpty, let sealingStore {
            sealingStore.add(call)
            return
        }
        guard let redacted = call.redacted() else { return }
        store.add(redacted)
        for listener in listeners { listener.yield(redacted) }
    }
}

extension NetworkSystem {
    /// Records the calls that the system starts while a function runs.
    ///
    /// ```swift
    /// func save(_ system: NetworkSystem) async throws -> [UInt8] {
    ///     let recording = try await system.record {
    ///         _ = try await system.call(RPCCall("orders.list"), on: "orders")
    ///     }
    ///     return recording.har()
    /// }
    /// ```
    ///
    /// To keep the calls of a function that fails, use a ``Recorder``.
    ///
    /// - Throws: `RecordingError` with `recording-in-production`; the error of the function.
    public func record(
        _ options: RecordingOptions = RecordingOptions(), _ work: () async throws -> Void
    ) async throws -> Recording {
        let recorder = Recorder(options)
        try recorder.start(on: self)
        defer { recorder.stop() }
        try await work()
        return try await recorder.recording()
    }
}
