import SignetBase
import SignetTransport
import Synchronization

/// A buffer between the source of a request's body and the loop that sends it.
///
/// It starts reading the source when libcurl asks for the first byte, which is after the server's
/// keys have been checked. It holds about `capacity` bytes and reads more when there is room.
final class UploadFeed: Sendable {
    /// The next piece of the body for libcurl.
    enum Piece {
        case chunk([UInt8])
        /// The end, with the lines of the trailers.
        case end([UInt8])
        case failed(TransportError)
        /// The source has no chunk yet. `hasNews` is called when it has.
        case pending
    }

    private enum End {
        case open
        case finished(trailers: [UInt8])
        case failed(TransportError)
    }

    private struct State {
        var chunks = Queue<[UInt8]>()
        var count = 0
        var end = End.open
        var isAwaited = false
        var room: CheckedContinuation<Void, Never>?
        /// The number of times that reading has started.
        var pass = 0
        var task: Task<Void, Never>?
        var isClosed = false
    }

    private let body: HTTPRequestBody
    private let capacity: Int
    private let hasNews: @Sendable () -> Void
    private let state = Mutex(State())

    /// Creates a feed that hasn't started reading.
    ///
    /// - Parameter hasNews: Called on any thread if `next()` returned `.pending` and there is a
    ///   piece now.
    init(_ body: HTTPRequestBody, capacity: Int, hasNews: @escaping @Sendable () -> Void) {
        self.body = body
        self.capacity = capacity
        self.hasNews = hasNews
    }

    // MARK: The loop's thread

    /// Returns the next piece. The first call starts reading the source.
    func next() -> Piece {
        let (piece, room) = state.withLock {
            state -> (Piece, CheckedContinuation<Void, Never>?) in
            if state.pass == 0 { startPass(&state) }
            if let chunk = state.chunks.popFirst() {
                state.count -= chunk.count
                guard state.count < capacity else { return (.chunk(chunk), nil) }
                return (.chunk(chunk), state.room.take())
            }
            switch state.end {
            case .open:
                state.isAwaited = true
                return (.pending, nil)
            case .finished(let trailers): return (.end(trailers), nil)
            case .failed(let error): return (.failed(error), nil)
            }
        }
        room?.resume()
        return piece
    }

    /// Starts again at the body's first byte.
    func restart() {
        let (task, room) = state.withLock { state in
            let old = (state.task, state.room.take())
            startPass(&state)
            return old
        }
        task?.cancel()
        room?.resume()
    }

    /// Cancels reading and drops what was read.
    func close() {
        let (task, room) = state.withLock { state in
            state.isClosed = true
            state.chunks = Queue()
            return (state.task.take(), state.room.take())
        }
        task?.cancel()
        room?.resume()
    }

    private func startPass(_ state: inout State) {
        guard !state.isClosed else { return }
        state.pass += 1
        state.chunks = Queue()
        state.count = 0
        state.end = .open
        let pass = state.pass
        state.task = Task { await self.pull(pass) }
    }

    // MARK: The reading task

    private func pull(_ pass: Int) async {
        do throws(TransportError) {
            var reader = try body.makeReader()
            while let chunk = try await reader.next() {
                guard await append(chunk, in: pass) else { return }
            }
            let trailers = try await body.trailers()?.trailerLines() ?? []
            update(pass) { $0.end = .finished(trailers: trailers) }
        } catch {
            update(pass) { $0.end = .failed(error) }
        }
    }

    /// Adds a chunk and waits until there is room for another.
    ///
    /// - Returns: `false` if no more chunks are needed.
    private func append(_ chunk: [UInt8], in pass: Int) async -> Bool {
        update(pass) { state in
            state.chunks.append(chunk)
            state.count += chunk.count
        }
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                guard state.pass == pass, !state.isClosed, state.count >= capacity else {
                    return false
                }
                state.room = continuation
                return true
            }
            if !waits { continuation.resume() }
        }
        return state.withLock { $0.pass == pass && !$0.isClosed }
    }

    /// Changes the state if `pass` is the current reading, and tells the loop if it waits for a
    /// piece.
    private func update(_ pass: Int, _ change: (inout State) -> Void) {
        let isAwaited = state.withLock { state in
            guard state.pass == pass, !state.isClosed else { return false }
            change(&state)
            defer { state.isAwaited = false }
            return state.isAwaited
        }
        if isAwaited { hasNews() }
    }
}
