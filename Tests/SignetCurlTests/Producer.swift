import Synchronization

/// A body that is made while it is sent. It counts the chunks that were requested of it.
struct Producer: AsyncSequence, Sendable {
    final class Log: Sendable {
        private let counts = Mutex((asked: 0, bytes: 0, hasEnded: false))
        var asked: Int { counts.withLock { $0.asked } }
        var bytes: Int { counts.withLock { $0.bytes } }
        /// Whether the reader has gone.
        var hasEnded: Bool { counts.withLock { $0.hasEnded } }
        func note(_ count: Int) {
            counts.withLock { ($0.asked, $0.bytes) = ($0.asked + 1, $0.bytes + count) }
        }
        func noteEnd() { counts.withLock { $0.hasEnded = true } }
    }

    final class Asking {
        let log: Log
        init(_ log: Log) { self.log = log }
        deinit { log.noteEnd() }
    }

    struct Iterator: AsyncIteratorProtocol {
        let producer: Producer
        let asking: Asking
        var index = 0

        mutating func next() async throws -> [UInt8]? {
            defer { index += 1 }
            let chunk = try await producer.make(index)
            producer.log.note(chunk?.count ?? 0)
            return chunk
        }
    }

    let log: Log
    let make: @Sendable (Int) async throws -> [UInt8]?

    func makeAsyncIterator() -> Iterator { Iterator(producer: self, asking: Asking(log)) }

    /// These chunks and then the end.
    static func of(_ chunks: [[UInt8]]) -> Producer {
        Producer { $0 < chunks.count ? chunks[$0] : nil }
    }

    /// These chunks, and then nothing until the call ends.
    static func stalling(after chunks: [[UInt8]]) -> Producer {
        Producer { index in
            if index < chunks.count { return chunks[index] }
            try await Task.sleep(for: .seconds(3_000))
            return nil
        }
    }

    init(make: @escaping @Sendable (Int) async throws -> [UInt8]?) {
        self.log = Log()
        self.make = make
    }
}
