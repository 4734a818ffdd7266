import HTTPTypes
import SignetJSON
import SignetTransport
import Synchronization

/// Hands the response of one call from the call's task to its reader, one chunk at a time.
///
/// The call's task waits while the reader has not taken the last chunk. If the reader goes, the
/// task is cancelled, which ends the call.
final class StreamPipe: Sendable {
    /// A response before its body.
    struct Head: Sendable {
        let identity: CallIdentity
        let response: HTTPResponse
        let httpVersion: EngineResponse.HTTPVersion
        /// How the records of the body are read.
        let json: JSONConventions
    }

    private enum End {
        case open, finished
        case failed(ClientError)
    }

    private typealias Reader = CheckedContinuation<Result<[UInt8]?, ClientError>, Never>

    private struct State {
        var head: Result<Head, ClientError>?
        var headWaiter: CheckedContinuation<Result<Head, ClientError>, Never>?
        var chunk: [UInt8]?
        var end = End.open
        var trailers: HTTPFields?
        var reader: Reader?
        var writer: CheckedContinuation<Void, Never>?
        /// Whether the call's task was cancelled while it had a chunk to write.
        var isStopped = false
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())

    // MARK: The call's task

    /// Hands out the header.
    func open(_ head: Head) {
        let waiter = state.withLock { state in
            if state.head == nil { state.head = .success(head) }
            return state.headWaiter.take()
        }
        waiter?.resume(returning: .success(head))
    }

    /// Hands out a chunk, after the reader has taken the one before.
    ///
    /// - Throws: `cancelled` if the reader has gone or the call was ended.
    func write(_ chunk: [UInt8]) async throws(ClientError) {
        if chunk.isEmpty { return }
        await withTaskCancellationHandler {
            await withCheckedContinuation { writer in
                let waits = state.withLock { state in
                    guard state.chunk != nil, case .open = state.end, !state.isStopped else {
                        return false
                    }
                    state.writer = writer
                    return true
                }
                if !waits { writer.resume() }
            }
        } onCancel: {
            let writer = state.withLock { state in
                state.isStopped = true
                return state.writer.take()
            }
            writer?.resume()
        }
        let (isTaken, reader) = state.withLock { state -> (Bool, Reader?) in
            guard case .open = state.end, !state.isStopped, state.chunk == nil else {
                return (false, nil)
            }
            if let reader = state.reader.take() { return (true, reader) }
            state.chunk = chunk
            return (true, nil)
        }
        guard isTaken else { throw .cancelledByCaller }
        reader?.resume(returning: .success(chunk))
    }

    /// Keeps the fields that followed the body.
    func setTrailers(_ trailers: HTTPFields?) { state.withLock { $0.trailers = trailers } }

    /// Ends the body after the call has ended; only the first end counts. A writer gets
    /// `cancelled`.
    func finish(_ error: ClientError? = nil) {
        let (waiter, head, reader, writer) = state.withLock { state in
            state.task = nil
            if case .open = state.end { state.end = error.map(End.failed) ?? .finished }
            let head = state.head ?? .failure(error ?? Self.noResponse)
            state.head = head
            return (state.headWaiter.take(), head, state.reader.take(), state.writer.take())
        }
        // The writer is an interceptor's own task, which continues after the call.
        writer?.resume()
        waiter?.resume(returning: head)
        reader?.resume(returning: error.map(Result.failure) ?? .success(nil))
    }

    private static let noResponse = ClientError(
        .malformedResponse, "the call ended without a response")

    // MARK: The reader

    /// Connects the task that reads the response.
    func attach(_ task: Task<Void, Never>) {
        state.withLock { state in
            if case .open = state.end { state.task = task }
        }
    }

    /// Returns the header when it has arrived, or the call's error.
    func head() async -> Result<Head, ClientError> {
        await withCheckedContinuation { waiter in
            let head = state.withLock { state in
                if state.head == nil { state.headWaiter = waiter }
                return state.head
            }
            if let head { waiter.resume(returning: head) }
        }
    }

    /// The fields that followed the body; nil before the reader has reached its end.
    var trailers: HTTPFields? {
        state.withLock { state in
            guard case .finished = state.end, state.chunk == nil else { return nil }
            return state.trailers
        }
    }

    /// Returns the next chunk, or nil at the end.
    func next() async throws(ClientError) -> [UInt8]? {
        if let ready = ready() { return try ready.get() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { reader in
                if let ready = ready(or: reader) { reader.resume(returning: ready) }
            }
        } onCancel: {
            leave()
        }
        return try result.get()
    }

    /// Returns what can be read now. If there is nothing yet, stores `reader` until there is.
    private func ready(or reader: Reader? = nil) -> Result<[UInt8]?, ClientError>? {
        let (result, writer) = state.withLock {
            state -> (Result<[UInt8]?, ClientError>?, CheckedContinuation<Void, Never>?) in
            if let chunk = state.chunk.take() { return (.success(chunk), state.writer.take()) }
            switch state.end {
            case .finished: return (.success(nil), nil)
            case .failed(let error): return (.failure(error), nil)
            case .open: break
            }
            if let reader, state.reader != nil {
                reader.resume(returning: .failure(Self.isBeingRead))
                return (nil, nil)
            }
            if let reader { state.reader = reader }
            return (nil, nil)
        }
        writer?.resume()
        return result
    }

    private static let isBeingRead = ClientError(
        .invalidRequest, "the response's body is already being read by another task")

    /// Discards the rest of the body and cancels the call if it is running.
    func leave() {
        let (task, reader, writer) = state.withLock { state in
            guard case .open = state.end else {
                // The call has ended, and its last chunk may be unread.
                if state.chunk.take() != nil, case .finished = state.end {
                    state.end = .failed(.cancelledByCaller)
                }
                return (
                    Task<Void, Never>?.none, Reader?.none, CheckedContinuation<Void, Never>?.none
                )
            }
            state.end = .failed(.cancelledByCaller)
            state.chunk = nil
            return (state.task.take(), state.reader.take(), state.writer.take())
        }
        task?.cancel()
        writer?.resume()
        reader?.resume(returning: .failure(.cancelledByCaller))
    }
}
