import HTTPTypes
import SignetSystem
import SignetTransport
import Synchronization

/// The progress of one call's upload and download.
///
/// A program gives a progress to a call, and the call fills it while it runs. Each attempt and each
/// redirect starts again at zero.
///
/// ```swift
/// func upload(_ body: HTTPRequestBody, with system: NetworkSystem) async throws {
///     let progress = CallProgress()
///     var options = RequestOptions()
///     options.progress = progress
///     let printing = Task {
///         for await state in progress.updates {
///             print(state.sent, "of", state.expectedToSend ?? -1)
///         }
///     }
///     _ = try await system.exchange(
///         "files", method: .put, target: "/archive", fields: [:], body: body, options: options)
///     await printing.value
/// }
/// ```
public final class CallProgress: Sendable {
    /// The numbers of bytes sent and received so far, without headers.
    public struct State: Sendable, Hashable {
        /// The bytes of the request's body that the engine has taken, which can be some hundred KiB
        /// more than the server has received.
        public var sent: Int64 = 0
        /// The size of the request's body; nil if it isn't known.
        public var expectedToSend: Int64?
        /// The bytes of the response's body that were read, before they are decoded.
        public var received: Int64 = 0
        /// The response's Content-Length; nil if it isn't known yet.
        public var expectedToReceive: Int64?
        /// Whether the call has ended, with success or not.
        public var hasEnded = false

        /// Creates a state of zero.
        public init() {}
    }

    private struct Storage {
        var state = State()
        var listeners: [Int: AsyncStream<State>.Continuation] = [:]
        var lastNumber = 0
        /// The time from which the next update may be given.
        var due: MonotonicTime?
    }

    /// Larger bodies are counted while they are sent.
    private static let pieceSize = 65_536

    private let storage = Mutex(Storage())
    private let interval: Duration

    /// Creates a progress of zero.
    ///
    /// - Parameter interval: The minimum time between two updates.
    public init(interval: Duration = .milliseconds(100)) { self.interval = interval }

    /// The progress so far.
    public var state: State { storage.withLock { $0.state } }

    /// The changes from now on, at most one in each interval, and the last state, after which the
    /// sequence ends. A reader that falls behind gets the latest one. Each use of the property is a
    /// reader of its own.
    public var updates: AsyncStream<State> {
        let (stream, listener) = AsyncStream.makeStream(
            of: State.self, bufferingPolicy: .bufferingNewest(1))
        let number = storage.withLock { storage -> Int? in
            if storage.state.hasEnded {
                listener.yield(storage.state)
                return nil
            }
            storage.lastNumber += 1
            storage.listeners[storage.lastNumber] = listener
            return storage.lastNumber
        }
        guard let number else {
            listener.finish()
            return stream
        }
        listener.onTermination = { [weak self] _ in
            self?.storage.withLock { $0.listeners[number] = nil }
        }
        return stream
    }

    // MARK: The call

    /// Counts what the engine takes of a request's body.
    func observe(_ request: inout EngineRequest) {
        let length = request.body.length
        change { state in
            state = State()
            state.expectedToSend = length
        }
        if let bytes = request.body.bytes, bytes.count <= Self.pieceSize {
            change { $0.sent = Int64(bytes.count) }
            return
        }
        request.body = request.body.observed(
            restarting: { self.change { $0.sent = 0 } },
            by: { count in self.change { $0.sent += Int64(count) } })
    }

    /// Counts what is read of a response's body.
    func observe(_ response: inout EngineResponse, answering method: HTTPRequest.Method) {
        let length = response.response.headerFields[.contentLength].flatMap { Int64($0) }
        change { state in
            state.received = 0
            state.expectedToReceive = method == .head ? nil : length
        }
        response.body = response.body.observed { count in
            self.change { $0.received += Int64(count) }
        }
    }

    /// Ends all readers' updates.
    func end() {
        let (state, listeners) = storage.withLock { storage in
            storage.state.hasEnded = true
            defer { storage.listeners = [:] }
            return (storage.state, Array(storage.listeners.values))
        }
        for listener in listeners {
            listener.yield(state)
            listener.finish()
        }
    }

    private func change(_ body: (inout State) -> Void) {
        storage.withLock { storage in
            body(&storage.state)
            guard !storage.listeners.isEmpty else { return }
            let now = MonotonicTime.now
            if let due = storage.due, now < due { return }
            storage.due = now + interval
            for listener in storage.listeners.values { listener.yield(storage.state) }
        }
    }
}
