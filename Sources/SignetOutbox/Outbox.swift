#if Storage
import Dispatch
import SignetBase
public import SignetClient
import SignetJSON
public import SignetStorage
import SignetSystem
import Synchronization

/// Records of a program's own, such as the actions of users, that are kept on disk and sent in
/// batches.
///
/// ```swift
/// import SignetClient
/// import SignetOutbox
///
/// struct Click: Codable, Sendable { var button: String }
///
/// func run(_ system: NetworkSystem) async throws {
///     let clicks = try Outbox(
///         "clicks", in: "/var/lib/shop", to: .procedure("clicks.add", on: "shop"))
///     try clicks.start(through: system)
///     try await clicks.add(Click(button: "buy"))  // on disk when this returns
///     await clicks.close()
/// }
/// ```
///
/// 30 records, or fewer after a minute, make one call of the network system: signed and pinned as
/// its other calls. A batch has an id that it keeps until it has arrived, also after a crash, and
/// never changes; the server uses it to recognise a batch that it has got already. Batches leave
/// one after the other, in the order in which their records were added.
///
/// Several outboxes may share a folder, and several processes an outbox; one process at a time
/// sends. The file system must support locks (`flock`) and shared memory, so it must be a local
/// one.
public final class Outbox: Sendable {
    private typealias Added = Result<OutboxContents, StorageError>

    private struct Adding {
        var waiting: [(records: [[UInt8]], done: CheckedContinuation<Added, Never>)] = []
        var isWorking = false
        var isClosed = false
    }

    /// The name.
    public let name: String
    private let store: OutboxStore
    private let sender: OutboxSender
    private let adding = Mutex(Adding())
    private let queue = DispatchQueue(label: "signet.outbox.add")

    /// Opens the outbox of a name, or creates it. Nothing is sent before ``start(through:)``.
    ///
    /// A damaged file is set aside under another name, and the next batch tells the server of it.
    ///
    /// - Parameters:
    ///   - name: Letters, digits and `-`, at most 64.
    ///   - folder: The folder, which only its user may write to. It is created with the mode 0700.
    ///   - destination: The procedure or the resource that gets the batches.
    ///   - options: Sizes, limits and pauses.
    /// - Throws: `StorageError` with `unusable-outbox` or `wrong-outbox-key`.
    public init(
        _ name: String, in folder: String, to destination: OutboxDestination,
        options: OutboxOptions = OutboxOptions()
    ) throws(StorageError) {
        self.name = name
        let rule = OutboxRule(
            batchCount: max(1, options.batchCount), batchBytes: Int64(max(1, options.batchBytes)),
            batchAge: max(1, options.batchAge.milliseconds),
            byteLimit: Int64(max(1024, options.byteLimit)),
            ageLimit: max(1, options.ageLimit.milliseconds))
        store = try OutboxStore(
            name, in: folder, rule: rule, key: options.key, clock: OutboxClock(options.clock),
            maximumPages: options.maximumPages)
        sender = OutboxSender(store, named: name, to: destination, rule: rule, options: options)
    }

    deinit { sender.abandon() }

    // MARK: Adding

    /// Adds a record, which is on the disk when this returns: neither a crash of the program nor of
    /// the machine loses it.
    ///
    /// If it doesn't fit into ``OutboxOptions/byteLimit``, the oldest records are dropped, and the
    /// next batch says how many.
    ///
    /// - Parameter record: A value that can be encoded as JSON.
    /// - Throws: `StorageError`: `invalid-record`, `record-too-large`, `outbox-closed`, or
    ///   `outbox-not-written`, such as for a full disk. Then the record isn't stored, and nothing
    ///   that was stored before is lost.
    public func add(_ record: some Encodable & Sendable) async throws(StorageError) {
        try await add(encoded: [encoded(record)])
    }

    /// Adds several records at once: all of them are on the disk when this returns, or none.
    ///
    /// - Throws: As `add(_:)`; `record-too-large` also if they take more than
    ///   ``OutboxOptions/byteLimit`` together.
    public func add(
        contentsOf records: [some Encodable & Sendable]
    ) async throws(StorageError) {
        guard !records.isEmpty else { return }
        try await add(
            encoded: records.map { (record) throws(StorageError) in try encoded(record) })
    }

    private func encoded(_ record: some Encodable) throws(StorageError) -> [UInt8] {
        do throws(JSONError) {
            let text = try StrictJSONEncoder().encode(record)
            // It must be readable inside a batch, which is nested itself.
            _ = try JSONReader(
                text, maximumDepth: JSONReader.maximumDepth - 8, recordedDepth: 0)
            return text
        } catch {
            throw StorageError(.invalidRecord, "a record can't be encoded: \(error.message)")
        }
    }

    private func add(encoded records: [[UInt8]]) async throws(StorageError) {
        let result: Added = await withCheckedContinuation { done in
            let (begins, isClosed) = adding.withLock { adding in
                guard !adding.isClosed else { return (false, true) }
                adding.waiting.append((records, done))
                defer { adding.isWorking = true }
                return (!adding.isWorking, false)
            }
            if isClosed {
                done.resume(
                    returning: .failure(
                        StorageError(.outboxClosed, "the outbox \(name) was closed")))
            }
            if begins { queue.async { self.write() } }
        }
        sender.noteAdded(try result.get())
    }

    /// Writes what waits, until nothing does: records that come while others are written share the
    /// next write.
    private func write() {
        while true {
            let waiting = adding.withLock { adding in
                defer { adding.waiting = [] }
                adding.isWorking = !adding.waiting.isEmpty
                return adding.waiting
            }
            guard !waiting.isEmpty else { return }
            let all = added(waiting.flatMap(\.records))
            for (records, done) in waiting {
                // One that doesn't fit mustn't make the others fail.
                if case .failure = all, waiting.count > 1 {
                    done.resume(returning: added(records))
                } else {
                    done.resume(returning: all)
                }
            }
        }
    }

    private func added(_ records: [[UInt8]]) -> Added {
        Result { () throws(StorageError) in try store.add(records) }
    }

    // MARK: Sending

    /// Begins to send: at once what earlier runs of the program left, then batches as they become
    /// full, after a while, or when the network returns (`NetworkSystem.connectivity`). A second
    /// start does nothing.
    ///
    /// - Parameter system: The system, which is held until ``close()``. Shut it down after the
    ///   outbox.
    /// - Throws: `ClientError` if no batch could ever be sent: `unknown-service`,
    ///   `unsupported-call`, `invalid-method`, `invalid-path` and the like. Nothing was sent.
    public func start(through system: NetworkSystem) throws(ClientError) {
        try sender.start(through: system)
    }

    /// Sends all records that are there now, also those of a batch that isn't full, and doesn't
    /// wait for the pause after a failure.
    ///
    /// - Returns: Whether nothing waits; false also if the outbox wasn't started.
    @discardableResult
    public func flush() async -> Bool { await sender.flush() }

    /// Sends what waits, because the network is there again. The outbox notices that by itself;
    /// this is for a program that knows more, such as of a VPN of its own.
    public func networkReturned() { sender.networkReturned() }

    /// Closes the outbox: takes no more records, sends what waits for at most
    /// ``OutboxOptions/flushTime``, and keeps the rest for the next start.
    public func close() async {
        adding.withLock { $0.isClosed = true }
        await sender.stop()
        try? await sender.perform { store throws(StorageError) in store.close() }
    }

    // MARK: Looking

    /// Returns what the outbox has.
    ///
    /// - Throws: `StorageError` with `outbox-not-written` if the file can't be read.
    public func status() async throws(StorageError) -> OutboxStatus {
        let contents = try await sender.perform { store throws(StorageError) in
            try store.contents()
        }
        return OutboxStatus(contents)
    }

    /// Sends the batches again that the server refused, before the others.
    ///
    /// - Throws: `StorageError` with `outbox-not-written`.
    public func sendParked() async throws(StorageError) {
        try await sender.perform { store throws(StorageError) in try store.sendParked() }
        sender.request()
    }

    /// Removes a batch that the server refused.
    ///
    /// - Parameter id: Its id.
    /// - Returns: False if no such batch is parked.
    /// - Throws: `StorageError` with `outbox-not-written`.
    @discardableResult
    public func removeParked(_ id: String) async throws(StorageError) -> Bool {
        try await sender.perform { store throws(StorageError) in try store.removeParked(id) }
    }
}

extension OutboxClock {
    /// The times of a network system's clock.
    init(_ clock: SystemClock) {
        self.init()
        let (start, uptime) = (clock.instant(), BootTime.milliseconds())
        now = { clock.now() &* 1000 }
        self.uptime = { uptime + (clock.instant() - start).milliseconds }
    }
}
#endif
