#if Storage
import SignetBase
import SignetSystem

/// The times of an outbox.
package struct OutboxClock: Sendable {
    /// The wall clock, in Unix milliseconds.
    package var now: @Sendable () -> Int64 = { UnixTime.now() * 1000 }
    /// The machine's start, of which ``uptime`` counts.
    package var boot = BootTime.identity()
    /// Milliseconds since the machine started.
    package var uptime: @Sendable () -> Int64 = { BootTime.milliseconds() }

    /// The clocks of the machine.
    package init() {}
}

/// When records become a batch, and what an outbox may hold.
package struct OutboxRule: Sendable {
    /// The most records of a batch.
    package var batchCount: Int
    /// The most bytes of a batch's records; a larger record is a batch of its own.
    package var batchBytes: Int64
    /// The milliseconds that a record waits for others.
    package var batchAge: Int64
    /// The bytes of all records, with 64 for each.
    package var byteLimit: Int64
    /// The milliseconds after which a record is dropped.
    package var ageLimit: Int64

    package init(
        batchCount: Int, batchBytes: Int64, batchAge: Int64, byteLimit: Int64, ageLimit: Int64
    ) {
        self.batchCount = batchCount
        self.batchBytes = batchBytes
        self.batchAge = batchAge
        self.byteLimit = byteLimit
        self.ageLimit = ageLimit
    }
}

/// Records that were dropped for one reason.
package struct OutboxDrop: Sendable, Hashable {
    /// `bytes`, `age` or `damaged`.
    package let reason: String
    /// The number of records; 0 if it isn't known.
    package let count: Int
}

/// Records that leave together.
package struct OutboxBatch: Sendable, Hashable {
    package let number: Int64
    /// 32 hexadecimal digits, which the batch keeps until it has arrived.
    package let id: String
    /// The contents, the first added first.
    package let records: [[UInt8]]
    /// The records that were dropped since the batch before.
    package let dropped: [OutboxDrop]
}

/// A batch that the server refused.
package struct OutboxParkedBatch: Sendable, Hashable {
    package let id: String
    package let recordCount: Int
    /// The code of the refusal.
    package let code: String
}

/// The contents of an outbox in numbers.
package struct OutboxContents: Sendable, Hashable {
    /// The records that are in no batch.
    package var newCount = 0
    package var newBytes: Int64 = 0
    /// The records that wait, in batches or not, without those of parked batches.
    package var waitingCount = 0
    /// The bytes of all records, with 64 for each.
    package var bytes: Int64 = 0
    package var parked: [OutboxParkedBatch] = []
    /// The dropped records that no batch has told yet.
    package var dropped: [OutboxDrop] = []
    /// The number of the last record that was added.
    package var lastRecord: Int64 = 0
    /// Milliseconds until the next batch is due; 0 if one is, nil if nothing waits.
    package var wait: Int64?
    /// Failures in a row.
    package var failures = 0

    /// An empty outbox.
    package init() {}
}
#endif
