#if Storage
import Dispatch
import SignetBase
public import SignetCrypto
import SignetJSON
public import SignetStorage
import SignetSystem
import Synchronization

/// Recorded calls in the folders `requests` and `responses` of a `DataFolder`, which outlive the
/// process.
///
/// A call is written by a thread of the store's own, some calls at once, so that it holds no call
/// up. The calls that were added last are lost if the process is killed, and those that are there
/// are whole. With a vault's key, everything is sealed. One store at a time has a folder, because
/// two would give the same mark to different secrets.
///
/// ```swift
/// import SignetStorage
///
/// func makeRecorder() throws -> Recorder {
///     let store = try DiskRecordingStore(in: DataFolder("/var/lib/shop"))
///     return Recorder(into: store)
/// }
/// ```
public final class DiskRecordingStore: RecordingStore {
    private struct State {
        var pending: [RecordedCall] = []
        /// The size of the pending calls in memory in bytes, about.
        var pendingSize = 0
        var lastMark = 0
        var isScheduled = false
        var lostCount = 0
    }

    /// The calls that wait to be written. More are dropped, and counted.
    private static let pendingLimit = 10_000
    private static let fileName = "signet-records.sqlite"

    /// Held as long as the store exists.
    private let lock: LockedFile
    private let requests: RecordDatabase
    private let responses: RecordDatabase
    private let queue = DispatchQueue(label: "signet.recordings")
    private let state = Mutex(State())
    /// The size of the calls that may wait.
    private let pendingSizeLimit: Int
    /// The largest number of a mark in the store, also in calls that wait to be written.
    public var lastMark: Int { state.withLock { $0.lastMark } }

    /// Opens the store of a folder, or creates it. Waits for a second if another store has it.
    ///
    /// - Parameters:
    ///   - folder: The folder.
    ///   - limits: The limits; ``RecordingLimits/bodySize`` is that of a recorder. Requests and
    ///     responses get half of ``RecordingLimits/size`` each.
    ///   - key: A vault's key, with which everything is sealed; nil for none.
    /// - Throws: `StorageError`: `unusable-cache-folder`, `wrong-cache-key`, `damaged-store`,
    ///   `store-failed` if another store still has the folder.
    public init(
        in folder: DataFolder, limits: RecordingLimits = RecordingLimits(),
        sealedWith key: CryptoKey? = nil
    ) throws(StorageError) {
        let own = RecordDatabase.Limits(
            count: limits.calls, size: Int64(limits.size / 2),
            age: limits.age.map(\.milliseconds))
        lock = try Self.lock(folder)
        requests = try RecordDatabase(
            folder: folder.path(of: .requests), name: Self.fileName, limits: own, sealedWith: key)
        responses = try RecordDatabase(
            folder: folder.path(of: .responses), name: Self.fileName, limits: own, sealedWith: key)
        pendingSizeLimit = limits.size
        let last = Int(max(try requests.lastNumber(), try responses.lastNumber()))
        state.withLock { $0.lastMark = last }
    }

    private static func lock(_ folder: DataFolder) throws(StorageError) -> LockedFile {
        let path = folder.path + "/recordings.lock"
        do throws(FileFailure) {
            return try LockedFile(path: path, until: .now + .seconds(1), requirePrivate: true)
        } catch {
            guard error.kind == .busy else {
                throw StorageError(.unusableCacheFolder, error.description)
            }
            throw StorageError(
                .storeFailed, "\(path): found another store of recordings that has the folder")
        }
    }

    /// The number of calls that were lost: more came than the disk takes, or it is full.
    public var lostCount: Int { state.withLock { $0.lostCount } }

    /// Adds a call, which is written soon.
    public func add(_ call: RecordedCall) {
        let (size, last) = (call.approximateSize, call.lastMark)
        let isFirst = state.withLock { state in
            state.lastMark = max(state.lastMark, last)
            guard state.pending.count < Self.pendingLimit,
                state.pendingSize + size <= pendingSizeLimit
            else {
                state.lostCount += 1
                return false
            }
            state.pending.append(call)
            state.pendingSize += size
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { queue.async { self.writePending() } }
    }

    private func writePending() {
        let calls = state.withLock { state in
            state.isScheduled = false
            defer { (state.pending, state.pendingSize) = ([], 0) }
            return state.pending
        }
        guard !calls.isEmpty else { return }
        do throws(StorageError) {
            try write(calls)
        } catch {
            state.withLock { $0.lostCount += calls.count }
        }
    }

    private func write(_ calls: [RecordedCall]) throws(StorageError) {
        var (asked, answered) = ([RecordDatabase.Record](), [RecordDatabase.Record]())
        let last = Int64(state.withLock { $0.lastMark })
        let now = WallClock.milliseconds()
        for call in calls {
            let key = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
            let halves = CallHalves(call)
            asked.append(.init(key: key, time: call.started, bytes: halves.request.serialized()))
            answered.append(
                .init(key: key, time: call.started, bytes: halves.response.serialized()))
        }
        // The response first: one without a request is found and left out.
        let dropped = try responses.add(answered, raising: last, at: now)
        let gone = Set(dropped)
        let others = try requests.add(
            asked.filter { !gone.contains($0.key) }, raising: last, removing: dropped,
            at: now)
        try responses.remove(keys: others)
    }

    /// Returns the calls of the store, also those that are being written.
    ///
    /// A call whose responses were removed has none, and neither has one whose requests were.
    ///
    /// - Throws: `RecordingError` with the code of the store's failure.
    public func recording() async throws(RecordingError) -> Recording {
        try await perform { () throws(StorageError) in
            let (asked, damaged) = try self.requests.records()
            let (answered, otherDamaged) = try self.responses.records()
            var halves: [[UInt8]: RecordDatabase.Record] = [:]
            for record in answered { halves[record.key] = record }
            var calls = asked.compactMap { record in
                CallHalves.call(record.bytes, halves.removeValue(forKey: record.key)?.bytes)
            }
            calls += halves.values.compactMap { CallHalves.call(nil, $0.bytes, started: $0.time) }
            var recording = Recording(calls: calls)
            recording.droppedCount = try self.requests.droppedCount() + self.lostCount
            if damaged + otherDamaged > 0 {
                recording.problems.append(
                    RecordingProblem(
                        "store", "found \(damaged + otherDamaged) damaged records; left out"))
            }
            recording.number()
            return recording
        }
    }

    /// Removes all calls.
    ///
    /// - Throws: `RecordingError` with the code of the store's failure.
    public func removeAll() async throws(RecordingError) {
        try await perform { () throws(StorageError) in
            try self.requests.removeAll()
            try self.responses.removeAll()
        }
    }

    /// Does work after everything that was added is written.
    private func perform<Value: Sendable>(
        _ work: @escaping @Sendable () throws(StorageError) -> Value
    ) async throws(RecordingError) -> Value {
        let result = await withCheckedContinuation { continuation in
            queue.async {
                self.writePending()
                continuation.resume(returning: Result(catching: work))
            }
        }
        do throws(StorageError) {
            return try result.get()
        } catch {
            throw RecordingError(error.code, error.message)
        }
    }
}

/// A call as two documents: what was asked, and what came back.
private struct CallHalves {
    let request: JSONValue
    let response: JSONValue

    init(_ call: RecordedCall) {
        let entries = call.exchanges.map { exchange in
            var entry = HAREntry.document(of: exchange, call: call.id)
            let response: JSONObject = [
                "response": entry["response"] ?? .null,
                "_signet": ["response": entry["_signet"]?["response"] ?? .null],
            ]
            entry["response"] = nil
            if var details = entry["_signet"]?.object {
                details["response"] = nil
                entry["_signet"] = .object(details)
            }
            return (entry, response)
        }
        request = [
            "call": .object(HARCall.document(of: call)),
            "entries": .array(entries.map { .object($0.0) }),
        ]
        response = ["entries": .array(entries.map { .object($0.1) })]
    }

    /// Joins the halves; nil if they are of another form.
    static func call(_ request: [UInt8]?, _ response: [UInt8]?, started: Int64 = 0) -> RecordedCall?
    {
        let asked = request.flatMap { try? JSONValue(parsing: $0) }
        let answered = response.flatMap { try? JSONValue(parsing: $0) }
        guard asked != nil || answered != nil else { return nil }
        let requests = asked?["entries"]?.array ?? []
        let responses = answered?["entries"]?.array ?? []
        let count = max(requests.count, responses.count)
        let exchanges = (0..<count).compactMap { index -> RecordedExchange? in
            // A request that was removed leaves its response.
            var entry =
                (index < requests.count ? requests[index].object : nil)
                ?? [
                    "startedDateTime": .string(HARTime.text(started)),
                    "request": ["method": "", "url": "about:blank"],
                ]
            var details = entry["_signet"]?.object ?? [:]
            if index < responses.count {
                entry["response"] = responses[index]["response"]
                details["response"] = responses[index]["_signet"]?["response"]
            }
            entry["_signet"] = .object(details)
            var reader = HAREntryReader(place: "store")
            return reader.exchange(.object(entry))
        }
        guard
            var call = asked?["call"].flatMap(HARCall.call)
                ?? exchanges.first.map(RecordedCall.init)
        else { return nil }
        call.exchanges = exchanges
        return call
    }
}
#endif
