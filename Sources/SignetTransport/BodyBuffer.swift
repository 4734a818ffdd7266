internal import Synchronization

/// The place between an engine that receives a body and a caller that reads it.
///
/// It holds at most about `capacity` bytes: an engine that is told `false` by `offer` stops reading
/// until `drained` is called.
public final class BodyBuffer: Sendable {
    private enum End {
        case open, finished
        case failed(TransportError)
    }

    private struct State {
        var chunks: [[UInt8]] = []
        var first = 0
        var count = 0
        var end = End.open
        var isFull = false
        var isAbandoned = false
        var reader: CheckedContinuation<Result<[UInt8]?, TransportError>, Never>?
    }

    private let state = Mutex(State())
    private let capacity: Int
    private let drained: @Sendable () -> Void
    private let abandoned: @Sendable () -> Void

    /// Makes an empty buffer.
    ///
    /// - Parameters:
    ///   - capacity: In bytes; at least one chunk is always held.
    ///   - drained: Called when a buffer that was full has room again; from any thread.
    ///   - abandoned: Called at most once, when nobody will read the rest; from any thread.
    public init(
        capacity: Int, drained: @escaping @Sendable () -> Void,
        abandoned: @escaping @Sendable () -> Void
    ) {
        self.capacity = capacity
        self.drained = drained
        self.abandoned = abandoned
    }

    /// Takes a chunk, unless the buffer is full.
    ///
    /// - Returns: False where it was not taken; `drained` will be called.
    public func offer(_ chunk: [UInt8]) -> Bool {
        if chunk.isEmpty { return true }
        let (taken, reader) = state.withLock {
            state -> (Bool, CheckedContinuation<Result<[UInt8]?, TransportError>, Never>?) in
            guard case .open = state.end else { return (true, nil) }
            if let reader = state.reader {
                state.reader = nil
                return (true, reader)
            }
            guard state.count < capacity || state.count == 0 else {
                state.isFull = true
                return (false, nil)
            }
            state.chunks.append(chunk)
            state.count += chunk.count
            return (true, nil)
        }
        reader?.resume(returning: .success(chunk))
        return taken
    }

    /// Ends the body; what was taken before can still be read, then `error`, if any, is thrown.
    ///
    /// Only the first end counts.
    public func finish(_ error: TransportError? = nil) {
        let reader = state.withLock {
            state -> CheckedContinuation<Result<[UInt8]?, TransportError>, Never>? in
            guard case .open = state.end else { return nil }
            state.end = error.map(End.failed) ?? .finished
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: error.map(Result.failure) ?? .success(nil))
    }

    /// The next chunk, or nil at the end.
    func next() async throws(TransportError) -> [UInt8]? {
        if let ready = ready() { return try ready.get() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if let ready = ready(or: continuation) { continuation.resume(returning: ready) }
            }
        } onCancel: {
            finish(TransportError(code: .cancelled, message: "the call was cancelled"))
            abandon()
        }
        return try result.get()
    }

    /// What can be read at once; where there is nothing yet, a reader that is given waits for it.
    private func ready(
        or reader: CheckedContinuation<Result<[UInt8]?, TransportError>, Never>? = nil
    ) -> Result<[UInt8]?, TransportError>? {
        let (result, hasRoom) = state.withLock {
            state -> (Result<[UInt8]?, TransportError>?, Bool) in
            if let taken = Self.take(&state) {
                let hasRoom = state.isFull && state.count <= capacity / 2
                if hasRoom { state.isFull = false }
                return (taken.result, hasRoom)
            }
            guard let reader else { return (nil, false) }
            if state.reader != nil {
                let error = TransportError(
                    code: .invalidRequest, message: "a body has one reader at a time")
                return (.failure(error), false)
            }
            state.reader = reader
            return (nil, false)
        }
        if hasRoom { drained() }
        return result
    }

    private struct Taken { var result: Result<[UInt8]?, TransportError> }

    private static func take(_ state: inout State) -> Taken? {
        if state.first < state.chunks.count {
            let chunk = state.chunks[state.first]
            state.chunks[state.first] = []
            state.first += 1
            state.count -= chunk.count
            if state.first == state.chunks.count {
                state.chunks.removeAll(keepingCapacity: true)
                state.first = 0
            }
            return Taken(result: .success(chunk))
        }
        switch state.end {
        case .open: return nil
        case .finished: return Taken(result: .success(nil))
        case .failed(let error): return Taken(result: .failure(error))
        }
    }

    /// Says that nobody will read the rest.
    func abandon() {
        let tell = state.withLock { state in
            guard !state.isAbandoned else { return false }
            state.isAbandoned = true
            state.chunks = []
            state.first = 0
            state.count = 0
            if case .finished = state.end { return false }
            return true
        }
        if tell { abandoned() }
    }
}
