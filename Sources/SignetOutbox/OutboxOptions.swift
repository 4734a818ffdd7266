#if Storage
public import Logging
public import SignetClient
public import SignetStorage

/// The size of batches, the limits of what is kept, and the pauses of an outbox.
public struct OutboxOptions: Sendable {
    /// The records that make a batch, and the most that a batch has. Defaults to 30.
    public var batchCount = 30
    /// The bytes of records that make a batch, and the most that a batch has; a larger record is a
    /// batch of its own. Defaults to 256 KiB.
    public var batchBytes = 256 << 10
    /// The time that a record waits for others before it leaves without them. Defaults to a minute.
    public var batchAge = Duration.seconds(60)
    /// The bytes of all records that are kept, counting 64 for each besides its JSON. If a new one
    /// doesn't fit, the oldest are dropped. Defaults to 64 MiB. A file of about 2 MiB besides keeps
    /// room on the disk, so that batches leave even if it is full.
    public var byteLimit = 64 << 20
    /// The time after which a record is dropped. Changes of the wall clock don't count. Defaults to
    /// a week.
    public var ageLimit = Duration.seconds(7 * 86_400)
    /// The longest pause after a first failure. It doubles with each further one, and is random
    /// between half of it and all of it. Defaults to a second.
    public var firstPause = Duration.seconds(1)
    /// The longest pause, unless a server asks for a longer one (`Retry-After`), which is kept up
    /// to an hour. Defaults to five minutes.
    public var longestPause = Duration.seconds(300)
    /// The longest time that ``Outbox/close()`` waits for records to be sent. Defaults to 2
    /// seconds.
    public var flushTime = Duration.seconds(2)
    /// The options of the calls, which win over the outbox's own: `idempotency` is `always`,
    /// because the server knows a batch by its id, and the tag `outbox` is added.
    public var callOptions = RequestOptions()
    /// A vault's key, with which records are sealed on disk. Without one they are protected from
    /// damage and by the folder's permissions alone.
    public var key: CryptoKey?
    /// The logger. It gets no content of a record.
    public var logger = Logger(label: "signet.outbox")
    /// Takes events, on any thread; it mustn't block.
    public var observe: @Sendable (OutboxEvent) -> Void = { _ in }
    /// The times, pauses and random numbers.
    package var clock = SystemClock()
    /// For tests: the pages that the disk has room for.
    package var maximumPages: Int?

    /// Creates the default options.
    public init() {}
}

/// The procedure or the resource that gets the batches.
///
/// The parameters, or the body, are `{"batch": ID, "records": […]}`. If records were dropped since
/// the batch before, `dropped` is an array of `{"reason": TEXT, "records": COUNT}`, where the count
/// is null if it isn't known.
public struct OutboxDestination: Sendable, Hashable {
    /// The service.
    public let service: ServiceName
    /// The procedure's name, or the HTTP method of a REST service.
    public let method: RPCMethod
    /// The path below a REST service's URL; nil for none.
    public let path: String?

    /// A procedure of a JSON-RPC service, called with the batch as parameters by name.
    public static func procedure(
        _ method: RPCMethod, on service: ServiceName
    ) -> OutboxDestination {
        OutboxDestination(service: service, method: method, path: nil)
    }

    /// A resource of a REST service, to which the batch is posted as JSON.
    public static func post(_ path: String, on service: ServiceName) -> OutboxDestination {
        OutboxDestination(service: service, method: "POST", path: path)
    }
}

/// A thing that an outbox tells its program.
///
/// New cases may be added, so a `switch` needs a default.
public enum OutboxEvent: Sendable {
    /// A batch has arrived.
    case sent(batch: String, records: Int)
    /// A batch may not have arrived. It is sent again after a pause, with the same id.
    case delayed(batch: String, error: ClientError, pause: Duration)
    /// The server refused a batch, or no call can carry it. It is kept until
    /// ``Outbox/sendParked()`` or ``Outbox/removeParked(_:)``; later batches pass it.
    case parked(batch: String, records: Int, error: ClientError)
    /// Records were dropped; the next batch tells the server. The reason is `bytes`, `age` or
    /// `damaged`.
    case dropped(records: Int, reason: String)
    /// The file couldn't be read or written, such as for a full disk. Nothing is lost; the outbox
    /// does its work later.
    case failed(StorageError)
}

/// The contents of an outbox.
public struct OutboxStatus: Sendable, Hashable {
    /// A batch that the server refused.
    public struct ParkedBatch: Sendable, Hashable {
        /// The batch's id, as the server got it.
        public let id: String
        /// The number of its records.
        public let recordCount: Int
        /// The code of the refusal, such as `http-status`.
        public let code: String
    }

    /// The records that wait, without those of parked batches.
    public let waitingCount: Int
    /// The bytes of all records, counting 64 for each besides its JSON.
    public let byteCount: Int
    /// The batches that the server refused, the oldest first.
    public let parked: [ParkedBatch]
    /// The dropped records that no batch has told yet, by reason.
    public let dropped: [String: Int]
    /// The attempts that failed in a row.
    public let failures: Int

    package init(_ contents: OutboxContents) {
        waitingCount = contents.waitingCount
        byteCount = Int(contents.bytes)
        parked = contents.parked.map {
            ParkedBatch(id: $0.id, recordCount: $0.recordCount, code: $0.code)
        }
        dropped = Dictionary(uniqueKeysWithValues: contents.dropped.map { ($0.reason, $0.count) })
        failures = contents.failures
    }
}
#endif
