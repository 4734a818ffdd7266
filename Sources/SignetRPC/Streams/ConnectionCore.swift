import SignetJSON
import Synchronization

/// What a connection's tasks share. It lives until the stream has ended.
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
        var error: RPCError?
        var waiting: [CheckedContinuation<RPCError, Never>] = []
        var deliverer: Task<Void, Never>?
    }

    private let ending = Mutex(Ending())

    init(
        _ stream: any RPCByteStream, _ adapter: JSONRPCAdapter, _ options: RPCConnection.Options,
        _ handler: RPCHandler
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
                if let error = calls.begin(id, continuation) {
                    return continuation.resume(throwing: error)
                }
                let number = outgoing.add(frame)
                let timer = Task { [timeout = timeout ?? options.timeout] in
                    try? await Task.sleep(for: timeout)
                    if !Task.isCancelled { expire(id, call.method, timeout) }
                }
                let standing = calls.note(id, frame: number, timer: timer)
                if standing != .open {
                    takeBack(number, standing == .abandoned ? [(id, call.method)] : [])
                }
                // Cancelled before it was in the table, where the handler below did not find it.
                if Task.isCancelled { abandon(id, call.method, CancellationError()) }
            }
        } onCancel: {
            abandon(id, call.method, CancellationError())
        }
    }

    func notify(_ call: RPCCall) async throws {
        try Task.checkCancellation()
        if let error = calls.ending { throw error }
        try await outgoing.write(
            framed(adapter.request(for: call, id: nil)), timeout: options.timeout)
    }

    /// Makes the calls of a batch; each ends by itself, and the last one ends the batch.
    func batch(_ calls: [RPCCall], timeout: Duration?) async throws -> [BatchResponse.Outcome] {
        try Task.checkCancellation()
        let (message, ids) = try adapter.message(batch: calls)
        let frame = try framed(message)
        let batch = PendingBatch(ids)
        guard ids.contains(where: { $0 != nil }) else {
            if let error = self.calls.ending { throw error }
            try await outgoing.write(frame, timeout: timeout ?? options.timeout)
            return ids.map { _ in .notified }
        }
        let methods = calls.map(\.method)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                batch.wait(continuation)
                if let error = self.calls.begin(batch) {
                    return continuation.resume(throwing: error)
                }
                let number = outgoing.add(frame)
                let noted = zip(ids, methods).compactMap { id, method in
                    id.map { id in
                        let standing = self.calls.note(id, frame: number, timer: nil)
                        return (call: (id: id, method: method), standing: standing)
                    }
                }
                if !noted.contains(where: { $0.standing == .open }) {
                    takeBack(number, noted.filter { $0.standing == .abandoned }.map(\.call))
                }
                let timer = Task { [timeout = timeout ?? options.timeout] in
                    try? await Task.sleep(for: timeout)
                    if !Task.isCancelled { abandon(batch, methods, Self.expired(timeout)) }
                }
                batch.note(timer: timer)
                // Cancelled before it was in the table, where the handler below did not find it.
                if Task.isCancelled { abandon(batch, methods, CancellationError()) }
            }
        } onCancel: {
            abandon(batch, methods, CancellationError())
        }
    }

    /// Ends what is open of a batch; the peer is told where it may have got it.
    private func abandon(_ batch: PendingBatch, _ methods: [RPCMethod], _ error: any Error) {
        let ended = zip(batch.ids, methods).compactMap { id, method in
            id.flatMap { id in calls.abandon(id).map { (id: id, method: method, call: $0) } }
        }
        defer { for one in ended { one.call.end(.response(.failure(error))) } }
        takeBack(ended.lazy.compactMap(\.call.frame).first, ended.map { ($0.id, $0.method) })
    }

    /// Takes a frame back, or tells the peer, which may have got it, that nobody waits for its calls. One
    /// that has no number yet is taken back by whoever is queuing it.
    private func takeBack(_ frame: UInt64?, _ calls: [(id: RPCID, method: RPCMethod)]) {
        guard let frame, !outgoing.remove(frame) else { return }
        for call in calls { tellCancelled(call.id, call.method) }
    }

    private func expire(_ id: RPCID, _ method: RPCMethod, _ timeout: Duration) {
        abandon(id, method, Self.expired(timeout))
    }

    private static func expired(_ timeout: Duration) -> RPCError {
        RPCError(code: .timeout, message: "the call has no response within \(timeout)")
    }

    /// Ends a call at once; the peer is told where it may have got the call.
    private func abandon(_ id: RPCID, _ method: RPCMethod, _ error: any Error) {
        guard let ended = calls.abandon(id) else { return }
        defer { ended.end(.response(.failure(error))) }
        takeBack(ended.frame, [(id, method)])
    }

    private func tellCancelled(_ id: RPCID, _ method: RPCMethod) {
        guard let notification = options.cancellation.notification(of: id, method),
            let frame = try? framed(adapter.request(for: notification, id: nil))
        else { return }
        outgoing.addIfRoom(frame)
    }

    func framed(_ object: JSONObject) throws(RPCError) -> [UInt8] {
        try framed(JSONValue.object(object))
    }

    func framed(_ message: JSONValue) throws(RPCError) -> [UInt8] {
        let bytes = message.serialized()
        guard bytes.count <= options.maximumMessageSize else {
            throw RPCError(
                code: .messageTooLarge,
                message: "the message has \(bytes.count) bytes, the limit is "
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
                        RPCError(code: .cutOff, message: "the peer ended the stream\(place)"))
                }
                frames.push(bytes)
                while calls.ending == nil, let message = try frames.next() {
                    await take(message)
                    await outgoing.waitForRoom()
                }
            }
        } catch let error as RPCError {
            end(error)
        } catch {
            end(Self.cutOff("reading", error))
        }
    }

    private func write() async {
        do {
            while let frame = await outgoing.next() {
                try await stream.write(frame.bytes)
                outgoing.wrote(frame.number)
            }
        } catch {
            end(Self.cutOff("writing", error))
        }
    }

    private static func cutOff(_ what: String, _ error: any Error) -> RPCError {
        RPCError(
            code: .cutOff,
            message: "\(what) the stream failed: \(Printable.text(String(describing: error)))")
    }

    // MARK: The end

    /// Ends the connection; the first error counts.
    func end(_ error: RPCError) {
        let (waiting, deliverer) = ending.withLock { ending in
            guard ending.error == nil else {
                return ([CheckedContinuation<RPCError, Never>](), Task<Void, Never>?.none)
            }
            ending.error = error
            defer { ending.waiting = [] }
            return (ending.waiting, ending.deliverer)
        }
        calls.end(error)
        outgoing.end(error)
        incoming.end()
        stream.close()
        deliverer?.cancel()
        for continuation in waiting { continuation.resume(returning: error) }
    }

    func ended() async -> RPCError {
        await withCheckedContinuation { continuation in
            let error = ending.withLock { ending in
                if ending.error == nil { ending.waiting.append(continuation) }
                return ending.error
            }
            if let error { continuation.resume(returning: error) }
        }
    }
}
