import SignetBase
import SignetJSON
import SignetRPC
import Synchronization

/// The state that a connection's tasks share. It lives until the stream has ended.
final class ConnectionCore: Sendable {
    let stream: any RPCByteStream
    let adapter: JSONRPCAdapter
    let options: RPCConnection.Options
    let handler: RPCHandler
    let calls: PendingCalls
    let outgoing: OutgoingQueue
    let incoming: IncomingCalls
    let malformedCount = Atomic<Int>(0)

    private struct Ending {
        var error: PayloadError?
        var deliverer: Task<Void, Never>?
    }

    private let ending = Mutex(Ending())
    private let finalError = Latch<PayloadError>()

    init(
        stream: any RPCByteStream, adapter: JSONRPCAdapter, options: RPCConnection.Options,
        handler: RPCHandler
    ) {
        self.stream = stream
        self.adapter = adapter
        self.options = options
        self.handler = handler
        calls = PendingCalls(limit: options.maximumOpenCalls)
        outgoing = OutgoingQueue(limit: options.maximumQueuedSize)
        incoming = IncomingCalls(
            limit: options.maximumQueuedSize, servedLimit: options.maximumServedRequests)
    }

    func start() {
        Task { await read() }
        Task { await write() }
        let deliverer = Task { await deliver() }
        let isOver = ending.withLock { ending in
            ending.deliverer = deliverer
            return ending.error != nil
        }
        if isOver { deliverer.cancel() }
    }

    // MARK: Calls

    func call(_ call: RPCCall, timeout: Duration?) async throws -> RPCResult {
        try Task.checkCancellation()
        let id = try adapter.nextID()
        let frame = try framed(adapter.request(for: call, id: id))
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if let error = calls.add(id, continuation: continuation) {
                    return continuation.resume(throwing: error)
                }
                let number = outgoing.add(frame)
                let timeout = timeout ?? options.timeout
                let alarm = Alarms.shared.add(after: timeout) {
                    self.abandon(id, method: call.method, throwing: Self.expired(timeout))
                }
                let status = calls.attach(frame: number, alarm: alarm, to: id)
                if status != .pending {
                    withdraw(number, calls: status == .abandoned ? [(id, call.method)] : [])
                }
                // The cancellation handler missed the call if it ran before the call was added.
                if Task.isCancelled {
                    abandon(id, method: call.method, throwing: CancellationError())
                }
            }
        } onCancel: {
            abandon(id, method: call.method, throwing: CancellationError())
        }
    }

    func notify(_ call: RPCCall) async throws {
        try Task.checkCancellation()
        if let error = calls.ending { throw error }
        try await outgoing.write(
            framed(adapter.request(for: call, id: nil)), timeout: options.timeout)
    }

    /// Sends a batch and waits until its last call has ended.
    func batch(_ calls: [RPCCall], timeout: Duration?) async throws -> [BatchResponse.Outcome] {
        try Task.checkCancellation()
        let (message, ids) = try adapter.message(batch: calls)
        let frame = try framed(message)
        let batch = PendingBatch(ids: ids)
        guard ids.contains(where: { $0 != nil }) else {
            if let error = self.calls.ending { throw error }
            try await outgoing.write(frame, timeout: timeout ?? options.timeout)
            return ids.map { _ in .notified }
        }
        let methods = calls.map(\.method)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                batch.wait(continuation)
                if let error = self.calls.add(batch) {
                    return continuation.resume(throwing: error)
                }
                let number = outgoing.add(frame)
                let attached = zip(ids, methods).compactMap { id, method in
                    id.map { id in
                        let status = self.calls.attach(frame: number, alarm: nil, to: id)
                        return (call: (id: id, method: method), status: status)
                    }
                }
                if !attached.contains(where: { $0.status == .pending }) {
                    withdraw(number, calls: attached.filter { $0.status == .abandoned }.map(\.call))
                }
                let timeout = timeout ?? options.timeout
                let alarm = Alarms.shared.add(after: timeout) {
                    self.abandon(batch, methods: methods, throwing: Self.expired(timeout))
                }
                batch.attach(alarm: alarm)
                // The cancellation handler missed the batch if it ran before the batch was added.
                if Task.isCancelled {
                    abandon(batch, methods: methods, throwing: CancellationError())
                }
            }
        } onCancel: {
            abandon(batch, methods: methods, throwing: CancellationError())
        }
    }

    /// Ends a batch's pending calls at once, and withdraws them from the peer.
    private func abandon(
        _ batch: PendingBatch, methods: [RPCMethod], throwing error: any Error
    ) {
        let ended = zip(batch.ids, methods).compactMap { id, method in
            id.flatMap { id in calls.abandon(id).map { (id: id, method: method, call: $0) } }
        }
        defer { for one in ended { one.call.end(with: .response(.failure(error))) } }
        withdraw(ended.lazy.compactMap(\.call.frame).first, calls: ended.map { ($0.id, $0.method) })
    }

    /// Ends a pending call at once, and withdraws it from the peer.
    private func abandon(_ id: RPCID, method: RPCMethod, throwing error: any Error) {
        guard let ended = calls.abandon(id) else { return }
        defer { ended.end(with: .response(.failure(error))) }
        withdraw(ended.frame, calls: [(id, method)])
    }

    /// Removes a frame from the queue. If it may have been sent, sends the peer cancellations of
    /// its calls. A frame without a number is withdrawn by the task that queues it.
    private func withdraw(_ frame: UInt64?, calls: [(id: RPCID, method: RPCMethod)]) {
        guard let frame, !outgoing.remove(frame) else { return }
        for call in calls {
            guard
                let notification = options.cancellation.notification(
                    of: call.id, method: call.method),
                let frame = try? framed(adapter.request(for: notification, id: nil))
            else { continue }
            outgoing.addIfRoom(frame)
        }
    }

    private static func expired(_ timeout: Duration) -> PayloadError {
        PayloadError(.timeout, "the call has no response within \(timeout)")
    }

    func framed(_ object: JSONObject) throws(PayloadError) -> [UInt8] {
        try framed(JSONValue.object(object))
    }

    func framed(_ message: JSONValue) throws(PayloadError) -> [UInt8] {
        let bytes = message.serialized()
        guard bytes.count <= options.maximumMessageSize else {
            throw PayloadError(
                .messageTooLarge,
                "the message has \(bytes.count) bytes, the limit is "
                    + "\(options.maximumMessageSize)")
        }
        return options.framing.frame(bytes)
    }

    // MARK: Tasks

    private func read() async {
        var frames = FrameReader(
            options.framing, maximumHeaderSize: options.maximumHeaderSize,
            maximumMessageSize: options.maximumMessageSize)
        do {
            while calls.ending == nil {
                let bytes = try await stream.read(atMost: 1 << 16)
                guard !bytes.isEmpty else {
                    let place = frames.isWithinMessage ? " within a message" : ""
                    return end(
                        PayloadError(.cutOff, "the peer ended the stream\(place)"))
                }
                frames.push(bytes)
                while calls.ending == nil, let message = try frames.next() {
                    await receive(message)
                    await outgoing.waitForRoom()
                }
            }
        } catch let error as PayloadError {
            end(error)
        } catch {
            end(Self.cutOff("reading", by: error))
        }
    }

    private func write() async {
        do {
            while let frame = await outgoing.next() {
                try await stream.write(frame.bytes)
                outgoing.confirmWritten(frame.number)
            }
        } catch {
            end(Self.cutOff("writing", by: error))
        }
    }

    private static func cutOff(_ operation: String, by error: any Error) -> PayloadError {
        PayloadError(
            .cutOff,
            "\(operation) the stream failed: "
                + printable(String(describing: error), limit: 200))
    }

    // MARK: The end

    /// Ends the connection. The first error counts.
    func end(_ error: PayloadError) {
        let (first, deliverer) = ending.withLock { ending in
            let first = ending.error ?? error
            ending.error = first
            return (first, ending.deliverer)
        }
        calls.end(error)
        outgoing.end(error)
        incoming.end()
        stream.close()
        deliverer?.cancel()
        finalError.set(first)
    }

    func ended() async -> PayloadError { await finalError.wait() }
}
