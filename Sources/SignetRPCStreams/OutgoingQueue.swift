import SignetBase
import SignetRPC
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
        var ending: PayloadError?
    }

    private let state = Mutex(State())
    /// The number of queued bytes at which the queue is full: then no cancellations are queued and
    /// no messages are read.
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Queues a frame and returns its number; nil if the connection has ended.
    ///
    /// - Parameter waiter: The caller to resume after the frame has been written, or now with the
    ///   error that ended the connection.
    @discardableResult func add(
        _ bytes: [UInt8], waiter: CheckedContinuation<Void, any Error>? = nil
    ) -> UInt64? {
        let (frame, writer, ending) = state.withLock {
            state -> (Frame?, CheckedContinuation<Frame?, Never>?, PayloadError?) in
            if let ending = state.ending { return (nil, nil, ending) }
            let frame = Frame(number: state.next, bytes: bytes)
            state.next += 1
            state.waiting[frame.number] = waiter
            if let writer = state.writer.take() {
                state.first = state.next
                return (frame, writer, nil)
            }
            state.frames[frame.number] = bytes
            state.size += bytes.count
            return (frame, nil, nil)
        }
        if let ending { waiter?.resume(throwing: ending) }
        writer?.resume(returning: frame)
        return frame?.number
    }

    /// Queues a frame, or drops it if the queue is full.
    func addIfRoom(_ bytes: [UInt8]) {
        if state.withLock({ $0.size < limit }) { add(bytes) }
    }

    /// Queues a frame and returns when it has been written.
    ///
    /// - Throws: `PayloadError` if the connection ends first or `timeout` passes, or
    ///   `CancellationError`.
    func write(_ bytes: [UInt8], timeout: Duration) async throws {
        let number = Mutex<UInt64?>(nil)
        let alarm = Mutex<Alarms.Alarm?>(nil)
        defer { alarm.withLock { $0 }?.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let added = add(bytes, waiter: continuation)
                number.withLock { $0 = added }
                let timer = Alarms.shared.add(after: timeout) {
                    self.cancel(added, throwing: Self.notRead(timeout))
                }
                alarm.withLock { $0 = timer }
                // The cancellation handler missed the frame if it ran before the frame was queued.
                if Task.isCancelled { cancel(added, throwing: CancellationError()) }
            }
        } onCancel: {
            cancel(number.withLock { $0 }, throwing: CancellationError())
        }
    }

    private static func notRead(_ timeout: Duration) -> PayloadError {
        PayloadError(.timeout, "the peer did not read the notification within \(timeout)")
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
            if frame != nil || isOver { continuation.resume(returning: frame) }
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
    func end(_ error: PayloadError) {
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
