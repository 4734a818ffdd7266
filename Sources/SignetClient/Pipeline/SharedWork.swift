import SignetRPC
import SignetTransport
import Synchronization

/// Work that several callers wait for. A caller that is cancelled stops waiting alone; the work is
/// cancelled after the last caller has left.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Flight {
        let number: Int
        let calls = JointCalls()
        var task: Task<Void, Never>?
        var waiting: [Int: CheckedContinuation<Result<Value, ClientError>, Never>] = [:]
    }

    private struct State {
        var flights: [Key: Flight] = [:]
        var lastNumber = 0

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    private let state = Mutex(State())

    /// The number of callers that wait.
    var waitingCount: Int {
        state.withLock { $0.flights.values.reduce(0) { $0 + $1.waiting.count } }
    }

    /// Returns the outcome of the work for a key: that of the running one, or of this one.
    ///
    /// - Parameters:
    ///   - key: The key that identifies equal work.
    ///   - leaving: Gets an action that makes the caller leave, for a caller whose task isn't
    ///     cancelled with its call: an interceptor's own task.
    ///   - joined: Called once before the work begins or is joined, to add the caller's call.
    ///   - work: The work, unless it is under way.
    /// - Throws: The work's error; `cancelled` if the caller's task is cancelled.
    func value(
        for key: Key, leaving: ((@escaping @Sendable () -> Void) -> Void)? = nil,
        joined: (JointCalls) -> Void = { _ in },
        of work: @escaping @Sendable (JointCalls) async throws(ClientError) -> Value
    ) async throws(ClientError) -> Value {
        let waiter = state.withLock { $0.nextNumber() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isCancelled = state.withLock { state in
                    guard !Task.isCancelled else { return true }
                    let running = state.flights[key]
                    let flight = running ?? Flight(number: state.nextNumber())
                    let (number, calls) = (flight.number, flight.calls)
                    joined(calls)
                    if running == nil {
                        state.flights[key] = flight
                        state.flights[key]?.task = Task {
                            let result: Result<Value, ClientError>
                            do throws(ClientError) {
                                result = .success(try await work(calls))
                            } catch {
                                result = .failure(error)
                            }
                            self.finish(key, flight: number, with: result)
                        }
                    }
                    state.flights[key]?.waiting[waiter] = continuation
                    return false
                }
                if isCancelled { continuation.resume(returning: .failure(.cancelledByCaller)) }
                leaving?({ self.leave(key, waiter: waiter) })
            }
        } onCancel: {
            leave(key, waiter: waiter)
        }
        return try result.get()
    }

    private func finish(_ key: Key, flight: Int, with result: Result<Value, ClientError>) {
        let ended = state.withLock { state in
            state.flights[key]?.number == flight ? state.flights.removeValue(forKey: key) : nil
        }
        guard let ended else { return }
        ended.calls.end()
        for continuation in ended.waiting.values { continuation.resume(returning: result) }
    }

    private func leave(_ key: Key, waiter: Int) {
        let (continuation, ended) = state.withLock { state in
            let continuation = state.flights[key]?.waiting.removeValue(forKey: waiter)
            let isLast = continuation != nil && state.flights[key]?.waiting.isEmpty == true
            return (continuation, isLast ? state.flights.removeValue(forKey: key) : nil)
        }
        ended?.calls.end()
        ended?.task?.cancel()
        continuation?.resume(returning: .failure(.cancelledByCaller))
    }
}

/// The calls that wait for the same work, and the log of that work.
final class JointCalls: Sendable {
    private struct State {
        var calls: [RunningCall] = []
        var log: CallLog?
        var hasEnded = false
    }

    private let state: Mutex<State>
    /// The request of merged calls; nil for work that is equal for all.
    let batch: JointRequest?

    /// - Parameter log: The log of the work; nil makes one when a call is added.
    init(log: CallLog? = nil, batch: JointRequest? = nil) {
        state = Mutex(State(log: log))
        self.batch = batch
    }

    /// Adds a call, whose record then contains the work, and tells its observers which call began
    /// the work. One call is added at a time.
    func add(_ call: RunningCall) {
        let (first, log) = state.withLock { state in
            // The contents of a batch are those of all its calls: each call keeps its own.
            let log = state.log ?? CallLog(sharedBy: call.log, keepsContents: batch == nil)
            state.log = log
            return (state.calls.first?.identity.id ?? call.identity.id, log)
        }
        call.log.join(log, of: first)
        if first != call.identity.id { call.send(.joined(call.identity, to: first)) }
        // Send this event first, so that no event of the work comes before `joined`.
        state.withLock { $0.calls.append(call) }
    }

    /// The log of the work.
    var log: CallLog? { state.withLock { $0.log } }

    /// Notes that no call waits for the work any longer.
    func end() { state.withLock { $0.hasEnded = true } }

    /// Whether no call waits for the work any longer.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Hands an event of the work on to every call that waits for it.
    func send(_ event: (CallIdentity) -> CallEvent) {
        for call in state.withLock({ $0.calls }) { call.send(event(call.identity)) }
    }
}

/// The request that contains several calls, which is made again while they come to their ends.
struct JointRequest: Sendable {
    /// Makes the request of a boxed one at a base URL.
    typealias Finish = (BoxedRequest, WebURL) throws(ClientError) -> OutgoingCall

    /// Makes the request for the next attempt, and counts its calls.
    let make: @Sendable (Finish) throws(ClientError) -> (call: OutgoingCall, count: Int)
    /// Notes that a server may have processed the request, which stays as it is from now on.
    let fix: @Sendable () -> Void
    /// How the response is received, for those whose own rules cache it.
    let receipt: CacheReceipt
}
