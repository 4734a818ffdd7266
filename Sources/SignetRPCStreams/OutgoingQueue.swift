internal import SignetRPC
import Synchronization

/// Frames to be written, in order. One task removes them.
final class OutgoingQueue: Sendable {
    struct Frame {
        let number: UInt64
        let bytes: [UInt8]
    }

    private struct State {
        var frames: [UInt64: [UInt8]] = [:]
        var first: UInt64 = 0
        var next: UInt64 = 0
        var size = 0
        /// The callers that wait until their frame has been written.
        var waiting: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        var writer: CheckedContinuation<Frame?, Never>?
        var waitingForRoom: CheckedContinuation<Void, Never>?
        var ending: RPCError?
    }

    private let state = Mutex(State())
    /// The number of queued bytes from which on no cancellations are queued and no messages read.
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Queues a frame and returns its number; nil if the connection has ended.
    @discardableResult func add(_ bytes: [UInt8]) -> UInt64? {
        let (number, writer, frame) = state.withLock {
            state -> (UInt64?, CheckedContinuation<Frame?, Never>?, Frame?) in
            guard state.ending == nil else { return (nil, nil, nil) }
            let number = state.next
            state.next += 1
            if let writer = state.writer.take() {
                state.first = state.next
                return (number, writer, Frame(number: number, bytes: bytes))
            }
            state.frames[number] = bytes
            state.size += bytes.count
            return (number, nil, nil)
        }
        if let writer, let frame { writer.resume(returning: frame) }
        return number
    }

    /// Queues a frame, or drops it if the queue is full.
    func addIfRoom(_ bytes: [UInt8]) {
        if state.withLock({ $0.size < limit }) { add(bytes) }
    }

    /// Queues a frame and returns when it has been written.
    ///
    /// - Throws: `RPCError` if the connection ends first or `timeout` passes, or
    ///   `CancellationError`.
    func write(_ bytes: [UInt8], timeout: Duration) async throws {
        let number = Mutex<UInt64?>(nil)
        let timer = Mutex<Task<Void, any Error>?>(nil)
        defer { timer.withLock { $0 }?.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                enqueue(bytes, continuation: continuation) { added in number.withLock { $0 = added }
                }
                let task = Task { [added = number.withLock { $0 }] in
                    try await Task.sleep(for: timeout)
                    cancel(added, throwing: Self.notRead(timeout))
                }
                timer.withLock { $0 = task }
                if Task.isCancelled {
                    cancel(number.withLock { $0 }, throwing: CancellationError())
                }
            }
        } onCancel: {
            cancel(number.withLock { $0 }, throwing: CancellationError())
        }
    }

    private static func notRead(_ timeout: Duration) -> RPCError {
        RPCError(.timeout, "the peer did not read the notification within \(timeout)")
    }

    private func enqueue(
        _ bytes: [UInt8], continuation: CheckedContinuation<Void, any Error>,
        onQueued: (UInt64) -> Void
    ) {
        let (writer, frame, ending) = state.withLock {
            state -> (CheckedContinuation<Frame?, Never>?, Frame?, RPCError?) in
            if let ending = state.ending { return (nil, nil, ending) }
            let number = state.next
            state.next += 1
            state.waiting[number] = continuation
            onQueued(number)
            if let writer = state.writer.take() {
                state.first = state.next
                return (writer, Frame(number: number, bytes: bytes), nil)
            }
            state.frames[number] = bytes
            state.size += bytes.count
            return (nil, nil, nil)
        }
        if let ending { continuation.resume(throwing: ending) }
        if let writer, let frame { writer.resume(returning: frame) }
    }

    private func cancel(_ number: UInt64?, throwing error: any Error) {
        guard let number else { return }
        remove(number)
        state.withLock { $0.waiting.removeValue(forKey: number) }?
            .resume(throwing: error)
    }

    /// Removes a frame and returns whether it was still queued.
    @discardableResult func remove(_ number: UInt64) -> Bool {
        let (isRemoved, room) = state.withLock {
            state -> (Bool, CheckedContinuation<Void, Never>?) in
            guard let bytes = state.frames.removeValue(forKey: number) else { return (false, nil) }
            state.size -= bytes.count
            return (true, state.size < limit ? state.waitingForRoom.take() : nil)
        }
        room?.resume()
        return isRemoved
    }

    /// Waits for the next frame and returns it; nil if the connection has ended.
    func next() async -> Frame? {
        await withCheckedContinuation { continuation in
            let (frame, isOver, room) = state.withLock {
                state -> (Frame?, Bool, CheckedContinuation<Void, Never>?) in
                guard state.ending == nil else { return (nil, true, nil) }
                while state.first < state.next {
                    let number = state.first
                    state.first += 1
                    guard let bytes = state.frames.removeValue(forKey: number) else { continue }
                    state.size -= bytes.count
                    let room = state.size < limit ? state.waitingForRoom.take() : nil
                    return (Frame(number: number, bytes: bytes), false, room)
                }
                state.writer = continuation
                return (nil, false, nil)
            }
            room?.resume()
            if let frame { continuation.resume(returning: frame) }
            if isOver { continuation.resume(returning: nil) }
        }
    }

    /// Resumes the caller that waits until a frame has been written.
    func confirmWritten(_ number: UInt64) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
    }

    /// Waits while the queue is full. Only one task may wait.
    func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let hasRoom = state.withLock { state in
                if state.ending != nil || state.size < limit { return true }
                state.waitingForRoom = continuation
                return false
            }
            if hasRoom { continuation.resume() }
        }
    }

    /// Ends every wait.
    func end(_ error: RPCError) {
        let (waiting, writer, room) = state.withLock { state in
            state.ending = state.ending ?? error
            defer {
                state.waiting = [:]
                state.frames = [:]
                state.size = 0
            }
            return (
                Array(state.waiting.values), state.writer.take(), state.waitingForRoom.take()
            )
        }
        for continuation in waiting { continuation.resume(throwing: error) }
        writer?.resume(returning: nil)
        room?.resume()
    }
}
