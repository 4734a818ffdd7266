import SignetRPC
import Synchronization

@testable import SignetRPCStreams

/// One end of a stream in memory, which holds so many bytes before a writer waits.
final class MemoryStream: RPCByteStream {
    private let reading: Pipe
    private let writing: Pipe

    private init(reading: Pipe, writing: Pipe) {
        self.reading = reading
        self.writing = writing
    }

    /// Both ends of a stream.
    static func pair(capacity: Int = 1 << 16) -> (MemoryStream, MemoryStream) {
        let (one, two) = (Pipe(capacity: capacity), Pipe(capacity: capacity))
        return (
            MemoryStream(reading: one, writing: two), MemoryStream(reading: two, writing: one)
        )
    }

    func read(atMost count: Int) async throws -> [UInt8] {
        try await reading.read(atMost: count)
    }

    func write(_ bytes: [UInt8]) async throws {
        var rest = bytes[...]
        while !rest.isEmpty { rest = rest.dropFirst(try await writing.write(rest)) }
    }

    func close() {
        reading.close()
        writing.close()
    }

    struct Broken: Error {}

    /// One direction.
    private final class Pipe: Sendable {
        private struct State {
            var bytes: [UInt8] = []
            var isClosed = false
            var reader: CheckedContinuation<Void, Never>?
            var writer: CheckedContinuation<Void, Never>?
        }

        private let state = Mutex(State())
        private let capacity: Int

        init(capacity: Int) { self.capacity = capacity }

        func read(atMost count: Int) async throws -> [UInt8] {
            while true {
                let (bytes, writer) = state.withLock {
                    state -> ([UInt8]?, CheckedContinuation<Void, Never>?) in
                    if state.bytes.isEmpty { return (state.isClosed ? [] : nil, nil) }
                    let bytes = Array(state.bytes.prefix(count))
                    state.bytes.removeFirst(bytes.count)
                    return (bytes, state.writer.take())
                }
                writer?.resume()
                if let bytes { return bytes }
                await withCheckedContinuation { continuation in
                    let isReady = state.withLock { state in
                        if !state.bytes.isEmpty || state.isClosed { return true }
                        state.reader = continuation
                        return false
                    }
                    if isReady { continuation.resume() }
                }
            }
        }

        func write(_ bytes: ArraySlice<UInt8>) async throws -> Int {
            while true {
                let (count, reader) = try state.withLock {
                    state -> (Int, CheckedContinuation<Void, Never>?) in
                    guard !state.isClosed else { throw Broken() }
                    let count = min(bytes.count, capacity - state.bytes.count)
                    guard count > 0 else { return (0, nil) }
                    state.bytes += bytes.prefix(count)
                    return (count, state.reader.take())
                }
                reader?.resume()
                if count > 0 { return count }
                await withCheckedContinuation { continuation in
                    let isReady = state.withLock { state in
                        if state.bytes.count < capacity || state.isClosed { return true }
                        state.writer = continuation
                        return false
                    }
                    if isReady { continuation.resume() }
                }
            }
        }

        func close() {
            let (reader, writer) = state.withLock { state in
                state.isClosed = true
                return (state.reader.take(), state.writer.take())
            }
            reader?.resume()
            writer?.resume()
        }
    }
}
