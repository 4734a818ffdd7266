internal import SignetTransport
internal import Synchronization

/// The place between what makes a request's body and the loop that sends it.
///
/// It begins to pull when libcurl wants the first byte, which is after the server's keys have been
/// judged, and holds about `capacity` bytes: what makes the body is asked for more when there is room.
final class UploadFeed: Sendable {
    /// What there is for libcurl.
    enum Taken {
        case chunk([UInt8])
        case end
        case failed(TransportError)
        /// Not yet; the loop is told when there is.
        case nothing
    }

    private struct State {
        var chunks: [[UInt8]] = []
        var count = 0
        /// Set at the end.
        var end: TransportError??
        var isAwaited = false
        var room: CheckedContinuation<Void, Never>?
        /// Which pass over the body this is; 0: none yet.
        var pass = 0
        var task: Task<Void, Never>?
        var isClosed = false
    }

    private let body: RequestBody
    private let capacity: Int
    private let hasNews: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameter hasNews: Called, from any thread, when `take` said `.nothing` and now there is something.
    init(_ body: RequestBody, capacity: Int, hasNews: @escaping @Sendable () -> Void) {
        self.body = body
        self.capacity = capacity
        self.hasNews = hasNews
    }

    // MARK: The loop's thread

    /// The next piece; the first question begins the pulling.
    func take() -> Taken {
        let (taken, room) = state.withLock {
            state -> (Taken, CheckedContinuation<Void, Never>?) in
            if state.pass == 0 { begin(&state) }
            if !state.chunks.isEmpty {
                let chunk = state.chunks.removeFirst()
                state.count -= chunk.count
                guard state.count < capacity else { return (.chunk(chunk), nil) }
                return (.chunk(chunk), state.room.take())
            }
            switch state.end {
            case nil:
                state.isAwaited = true
                return (.nothing, nil)
            case .some(nil): return (.end, nil)
            case .some(.some(let error)): return (.failed(error), nil)
            }
        }
        room?.resume()
        return taken
    }

    /// Begins anew, at the body's first byte.
    func restart() {
        let (task, room) = state.withLock { state in
            let old = (state.task, state.room.take())
            begin(&state)
            return old
        }
        task?.cancel()
        room?.resume()
    }

    /// Stops what makes the body.
    func close() {
        let (task, room) = state.withLock { state in
            state.isClosed = true
            state.chunks = []
            return (state.task.take(), state.room.take())
        }
        task?.cancel()
        room?.resume()
    }

    private func begin(_ state: inout State) {
        guard !state.isClosed else { return }
        state.pass += 1
        state.chunks = []
        state.count = 0
        state.end = nil
        let pass = state.pass
        state.task = Task { await self.pull(pass) }
    }

    // MARK: The task that pulls

    private func pull(_ pass: Int) async {
        do throws(TransportError) {
            var reader = try body.makeReader()
            while let chunk = try await reader.next() {
                guard await put(chunk, pass) else { return }
            }
            end(pass, nil)
        } catch {
            end(pass, error)
        }
    }

    /// Puts a chunk and returns when there is room for another; false where nobody wants one.
    private func put(_ chunk: [UInt8], _ pass: Int) async -> Bool {
        let isAwaited = state.withLock { state in
            guard state.pass == pass, !state.isClosed else { return false }
            state.chunks.append(chunk)
            state.count += chunk.count
            defer { state.isAwaited = false }
            return state.isAwaited
        }
        if isAwaited { hasNews() }
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

    private func end(_ pass: Int, _ error: TransportError?) {
        let isAwaited = state.withLock { state in
            guard state.pass == pass, !state.isClosed else { return false }
            state.end = .some(error)
            defer { state.isAwaited = false }
            return state.isAwaited
        }
        if isAwaited { hasNews() }
    }
}
