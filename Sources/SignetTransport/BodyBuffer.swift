public import HTTPTypes
import SignetBase
import Synchronization

/// A buffer between an engine that receives a body and a caller that reads it.
///
/// It holds about `capacity` bytes. If `offer` returns `false`, the engine stops receiving until
/// the buffer calls `drained`. An `HTTPEngine` of your own creates the buffer, passes it to
/// `HTTPResponseBody` and calls `finish` after the last chunk.
public final class BodyBuffer: Sendable {
    private typealias Chunk = Result<[UInt8]?, TransportError>
    private typealias Reader = CheckedContinuation<Chunk, Never>

    private enum End {
        case open, finished
        case failed(TransportError)
    }

    private struct State {
        var chunks = Queue<[UInt8]>()
        var count = 0
        var end = End.open
        var trailers: HTTPFields?
        var isFull = false
        var isAbandoned = false
        var reader: Reader?
    }

    private let state = Mutex(State())
    private let capacity: Int
    private let drained: @Sendable () -> Void
    private let abandoned: @Sendable () -> Void

    /// Creates an empty buffer.
    ///
    /// - Parameters:
    ///   - capacity: In bytes. An empty buffer accepts a chunk of any size.
    ///   - drained: Called on any thread after a full buffer has been read down to half its
    ///     capacity.
    ///   - abandoned: Called on any thread, at most once, if the caller stops reading before the
    ///     end.
    public init(
        capacity: Int, drained: @escaping @Sendable () -> Void,
        abandoned: @escaping @Sendable () -> Void
    ) {
        self.capacity = capacity
        self.drained = drained
        self.abandoned = abandoned
    }

    /// Adds a chunk unless the buffer is full. After `finish`, chunks are dropped.
    ///
    /// - Returns: `false` if the buffer was full; offer the chunk again after `drained`.
    public func offer(_ chunk: [UInt8]) -> Bool {
        if chunk.isEmpty { return true }
        let (isAccepted, reader) = state.withLock { state -> (Bool, Reader?) in
            guard case .open = state.end else { return (true, nil) }
            if let reader = state.reader.take() { return (true, reader) }
            guard state.count < capacity || state.count == 0 else {
                state.isFull = true
                return (false, nil)
            }
            state.chunks.append(chunk)
            state.count += chunk.count
            return (true, nil)
        }
        reader?.resume(returning: .success(chunk))
        return isAccepted
    }

    /// Ends the body. The reader still gets all accepted chunks, then the end or `error`.
    ///
    /// Only the first call counts.
    ///
    /// - Parameters:
    ///   - error: Why the body is incomplete; `nil` if it is complete.
    ///   - trailers: The fields that followed the body; `nil` if there were none.
    public func finish(_ error: TransportError? = nil, trailers: HTTPFields? = nil) {
        let reader = state.withLock { state -> Reader? in
            guard case .open = state.end else { return nil }
            state.end = error.map(End.failed) ?? .finished
            if error == nil { state.trailers = trailers }
            return state.reader.take()
        }
        reader?.resume(returning: error.map(Result.failure) ?? .success(nil))
    }

    /// Ends the body with an error, which the reader gets next, unless the body has ended.
    ///
    /// - Returns: Whether the body had no end before.
    @discardableResult
    package func fail(_ error: TransportError) -> Bool {
        let (isOpen, reader) = state.withLock { state -> (Bool, Reader?) in
            guard case .open = state.end else { return (false, nil) }
            state.end = .failed(error)
            (state.chunks, state.count) = (Queue(), 0)
            return (true, state.reader.take())
        }
        reader?.resume(returning: .failure(error))
        return isOpen
    }

    /// The fields that followed the body; `nil` before the reader has reached its end.
    var trailers: HTTPFields? {
        state.withLock { $0.count == 0 ? $0.trailers : nil }
    }

    /// Returns the next chunk, or `nil` at the end.
    func next() async throws(TransportError) -> [UInt8]? {
        if let ready = ready() { return try ready.get() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if let ready = ready(or: continuation) { continuation.resume(returning: ready) }
            }
        } onCancel: {
            // What is complete isn't cut off.
            if fail(TransportError(.cancelled, "the call was cancelled")) { abandon() }
        }
        return try result.get()
    }

    /// Returns the next chunk, the end or the error. If there is nothing yet, stores `reader` until
    /// there is.
    private func ready(or reader: Reader? = nil) -> Chunk? {
        let (result, hasRoom) = state.withLock { state -> (Chunk?, Bool) in
            if let result = Self.removeFirst(from: &state) {
                let hasRoom = state.isFull && state.count <= capacity / 2
                if hasRoom { state.isFull = false }
                return (result, hasRoom)
            }
            guard let reader else { return (nil, false) }
            if state.reader != nil {
                let error = TransportError(
                    .invalidRequest, "the response's body is already being read by another task")
                return (.failure(error), false)
            }
            state.reader = reader
            return (nil, false)
        }
        if hasRoom { drained() }
        return result
    }

    private static func removeFirst(from state: inout State) -> Chunk? {
        if let chunk = state.chunks.popFirst() {
            state.count -= chunk.count
            return .success(chunk)
        }
        switch state.end {
        case .open: return nil
        case .finished: return .success(nil)
        case .failed(let error): return .failure(error)
        }
    }

    /// Drops all chunks, because no caller will read the rest.
    func abandon() {
        let isEarly = state.withLock { state in
            guard !state.isAbandoned else { return false }
            state.isAbandoned = true
            state.chunks = Queue()
            state.count = 0
            if case .finished = state.end { return false }
            return true
        }
        if isEarly { abandoned() }
    }
}
