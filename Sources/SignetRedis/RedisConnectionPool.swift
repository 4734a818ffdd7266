#if Redis
import Dispatch
import SignetBase
import SignetCrypto
import SignetSigning
import Synchronization

/// A fixed number of connections, and a queue of the calls that wait for one.
///
/// A free connection receives all waiting calls, up to a limit, sends their commands together
/// and reads the responses in order. It uses a thread only while it is busy.
final class RedisConnectionPool: Sendable {
    private struct State {
        var waiting = Queue<RedisCall>()
        /// Every call that isn't known to have finished, the earliest deadline first.
        var open: [RedisCall] = []
        var idle: [PooledConnection]
        var isWatching = false
    }

    /// The maximum number of commands that a connection sends together.
    private static let batchSize = 64

    private let limit: Int
    /// The time limit of a call, in milliseconds.
    private let callTimeout: Int64
    private let address: String
    private let state: Mutex<State>
    private let watch = DispatchQueue(label: "signet.redis.watch")

    init(_ options: RedisNonceStore.Options, password: Passphrase?) {
        let settings = PooledConnection.Settings(options, password: password)
        address = settings.address
        limit = options.waitingLimit
        callTimeout =
            options.connectTimeout.wholeMilliseconds + options.commandTimeout.wholeMilliseconds
        state = Mutex(
            State(
                idle: (0..<options.connections).map {
                    PooledConnection(settings, number: $0)
                }))
    }

    /// Queues a command for the next free connection.
    func call(_ command: [[UInt8]]?) -> RedisCall {
        let call = RedisCall(command, deadline: RedisConnection.now + callTimeout)
        let (connection, watches): (PooledConnection?, Bool) = state.withLock { state in
            guard state.waiting.count < limit else {
                call.finish(
                    .failure(.unavailable("\(limit) calls wait already", at: address)))
                return (nil, false)
            }
            state.waiting.append(call)
            state.open.append(call)
            let watches = !state.isWatching
            state.isWatching = true
            return (state.idle.popLast(), watches)
        }
        if let connection { connection.queue.async { self.serve(with: connection) } }
        if watches { scheduleWatch(after: callTimeout) }
        return call
    }

    private func serve(with connection: PooledConnection) {
        while let calls = nextCalls(for: connection) { connection.serve(calls) }
    }

    /// Returns the next calls for a free connection, or nil after marking it as idle.
    private func nextCalls(for connection: PooledConnection) -> [RedisCall]? {
        state.withLock { state in
            var calls: [RedisCall] = []
            while calls.count < Self.batchSize, let call = state.waiting.popFirst() {
                calls.append(call)
            }
            if calls.isEmpty { state.idle.append(connection) }
            return calls.isEmpty ? nil : calls
        }
    }

    private func scheduleWatch(after delay: Int64) {
        watch.asyncAfter(deadline: .now() + .milliseconds(Int(delay) + 1)) {
            self.endLateCalls()
        }
    }

    /// Ends the calls whose deadline has passed, even if their connection is still blocked.
    private func endLateCalls() {
        let (late, delay): ([RedisCall], Int64?) = state.withLock { state in
            let now = RedisConnection.now
            var late: [RedisCall] = []
            var ended = 0
            while ended < state.open.count {
                let call = state.open[ended]
                if !call.isFinished {
                    guard call.deadline <= now else { break }
                    late.append(call)
                }
                ended += 1
            }
            state.open.removeFirst(ended)
            guard let first = state.open.first else {
                state.isWatching = false
                return (late, nil)
            }
            return (late, max(1, first.deadline - now))
        }
        for call in late {
            call.finish(.failure(.unavailable("no response in time", at: address)))
        }
        if let delay { scheduleWatch(after: delay) }
    }
}

extension SigningError {
    static func unavailable(_ reason: String, at address: String) -> SigningError {
        SigningError(.nonceStoreUnavailable, "\(address): \(reason)")
    }
}
#endif
