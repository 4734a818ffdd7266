#if Redis
    internal import Dispatch
    internal import SignetCrypto
    internal import SignetSigning
    internal import Synchronization

    /// A call that waits for Redis. It ends once, whoever ends it first.
    final class RedisCall: Sendable {
        private enum State {
            case open
            case awaited(CheckedContinuation<Result<Void, SigningError>, Never>)
            case over(Result<Void, SigningError>)
        }

        /// What is asked; nil where a connection alone is wanted.
        let command: [[UInt8]]?
        /// When nobody waits any longer, in `RedisConnection.now`.
        let deadline: Int64
        private let state = Mutex(State.open)
        private let end = DispatchSemaphore(value: 0)

        init(_ command: [[UInt8]]?, deadline: Int64) {
            self.command = command
            self.deadline = deadline
        }

        var isOver: Bool {
            state.withLock { if case .over = $0 { true } else { false } }
        }

        func finish(_ result: Result<Void, SigningError>) {
            let waiting: CheckedContinuation<Result<Void, SigningError>, Never>? =
                state.withLock { state in
                    switch state {
                    case .over: return nil
                    case .open:
                        state = .over(result)
                        end.signal()
                        return nil
                    case .awaited(let continuation):
                        state = .over(result)
                        return continuation
                    }
                }
            waiting?.resume(returning: result)
        }

        /// Waits for the end, which the crew's watch guarantees.
        func wait() -> Result<Void, SigningError> {
            end.wait()
            return state.withLock {
                if case .over(let result) = $0 { result } else { .failure(.lost) }
            }
        }

        /// Suspends the task until the end.
        func outcome() async -> Result<Void, SigningError> {
            await withCheckedContinuation { continuation in
                let result: Result<Void, SigningError>? = state.withLock { state in
                    if case .over(let result) = state { return result }
                    state = .awaited(continuation)
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        }
    }

    /// Some connections and the calls that wait for one.
    ///
    /// A connection takes all calls that wait when it is free, up to a bound, sends their commands in one
    /// go and reads the answers in order. It has a thread only while it is busy.
    final class RedisCrew: Sendable {
        private struct State {
            var waiting: [RedisCall] = []
            /// How many of the first have been taken.
            var taken = 0
            /// Every call that is not known to be over, the earliest deadline first.
            var open: [RedisCall] = []
            var closed = 0
            var idle: [RedisLine]
            var isWatching = false
        }

        private static let batch = 64

        private let limit: Int
        private let patience: Int64
        private let place: String
        private let state: Mutex<State>
        private let watch = DispatchQueue(label: "signet.redis.watch")

        init(_ options: RedisNonceStore.Options, _ password: Passphrase?) {
            let line = RedisLine.Order(options, password)
            place = line.place
            limit = options.waitingLimit
            patience = options.connectTimeout.milliseconds + options.commandTimeout.milliseconds
            state = Mutex(
                State(idle: (0..<options.connections).map { RedisLine(line, number: $0) }))
        }

        /// Hands a command to the next connection that is free.
        func call(_ command: [[UInt8]]?) -> RedisCall {
            let call = RedisCall(command, deadline: RedisConnection.now + patience)
            let (line, watches): (RedisLine?, Bool) = state.withLock { state in
                guard state.waiting.count - state.taken < limit else {
                    call.finish(.failure(.unavailable(place, "\(limit) calls wait for it")))
                    return (nil, false)
                }
                state.waiting.append(call)
                state.open.append(call)
                let watches = !state.isWatching
                state.isWatching = true
                return (state.idle.popLast(), watches)
            }
            if let line { line.queue.async { self.serve(line) } }
            if watches { watchLater(patience) }
            return call
        }

        private func serve(_ line: RedisLine) {
            while let calls = next(line) { line.serve(calls) }
        }

        /// What a free connection does next; without work it is idle.
        private func next(_ line: RedisLine) -> [RedisCall]? {
            state.withLock { state in
                let end = min(state.taken + Self.batch, state.waiting.count)
                guard state.taken < end else {
                    state.waiting.removeAll(keepingCapacity: state.waiting.count < 1024)
                    state.taken = 0
                    state.idle.append(line)
                    return nil
                }
                let calls = Array(state.waiting[state.taken..<end])
                state.taken = end
                if end >= 4096, end > state.waiting.count / 2 {
                    state.waiting.removeFirst(end)
                    state.taken = 0
                }
                return calls
            }
        }

        private func watchLater(_ delay: Int64) {
            watch.asyncAfter(deadline: .now() + .milliseconds(Int(delay) + 1)) { self.look() }
        }

        /// Ends the calls whose time is up, whatever keeps their connection.
        private func look() {
            let (late, delay): ([RedisCall], Int64?) = state.withLock { state in
                let now = RedisConnection.now
                var late: [RedisCall] = []
                while state.closed < state.open.count {
                    let call = state.open[state.closed]
                    if !call.isOver {
                        guard call.deadline <= now else { break }
                        late.append(call)
                    }
                    state.closed += 1
                }
                state.open.removeFirst(state.closed)
                state.closed = 0
                guard let first = state.open.first else {
                    state.isWatching = false
                    return (late, nil)
                }
                return (late, max(1, first.deadline - now))
            }
            for call in late { call.finish(.failure(.unavailable(place, "no answer in time"))) }
            if let delay { watchLater(delay) }
        }
    }

    extension SigningError {
        static func unavailable(_ place: String, _ reason: String) -> SigningError {
            SigningError(.nonceStoreUnavailable, "\(place): \(reason)")
        }

        static var lost: SigningError { SigningError(.nonceStoreUnavailable, "no outcome") }
    }
#endif
