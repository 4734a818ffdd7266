import SignetBase
import SignetRPC
import Synchronization

/// Merges calls: those that come while one of their kind is out wait, and leave as one batch.
final class CallMerger: Sendable {
    /// Whether this task sends a merged call. A call that is made meanwhile, such as by an
    /// interceptor, must not wait for that one.
    @TaskLocal static var isOut = false

    /// The turn of a call that has waited.
    private enum Turn: Sendable {
        /// It has a request of its own.
        case alone(Departure)
        /// It is the first call of a batch, which it begins.
        case first(of: Int, number: Int)
        /// It left with others.
        case outcome(MergedBatch.Outcome)
    }

    private typealias Reply = @Sendable (MergedBatch.Outcome) -> Void

    private struct Waiting {
        let number: Int
        let call: MergedCall
        let continuation: CheckedContinuation<Turn, Never>
    }

    /// The calls of a kind.
    private struct Line {
        /// The number of requests that are out.
        var outCount: Int
        var waiting: [Waiting] = []
        /// Changes when calls leave, so that an alarm knows whether it is for those that wait.
        var round: Int
    }

    /// A batch that is out.
    private struct Flight {
        let kind: MergedCall.Kind
        let batch: MergedBatch
        let joint: JointCalls
        /// The calls that wait for it.
        var waiting: [Int: Reply]
        /// Whether the first call has not begun it yet.
        var isComing = true
        var task: Task<Void, Never>?

        /// Whether nothing waits for it.
        var isLeft: Bool { waiting.isEmpty && !isComing }
    }

    /// The requests that leave once the lock is released.
    private struct Departures {
        var alone: [CheckedContinuation<Turn, Never>] = []
        /// The turns of the first calls of batches.
        var first: [(turn: Turn, continuation: CheckedContinuation<Turn, Never>)] = []
    }

    private struct State {
        var lines: [MergedCall.Kind: Line] = [:]
        var flights: [Int: Flight] = [:]
        var lastNumber = 0

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    private let state = Mutex(State())
    private let clock: SystemClock

    init(clock: SystemClock) { self.clock = clock }

    /// The number of calls that wait for one that is out.
    var waitingCount: Int {
        state.withLock { $0.lines.values.reduce(0) { $0 + $1.waiting.count } }
    }

    /// The number of kinds of which a call is out, and of batches that are.
    var openCount: Int { state.withLock { $0.lines.count + $0.flights.count } }

    /// Returns the response to a call: that to its own request, or its part of a batch's.
    ///
    /// - Parameter alone: Sends the call in a request of its own.
    func run(
        _ call: MergedCall, alone: () async throws(ClientError) -> UnboxedResponse
    ) async throws(ClientError) -> UnboxedResponse {
        switch await turn(of: call) {
        case .outcome(let outcome): return try outcome.get()
        case .first(let flight, let number):
            return try await outcome(of: flight, begunBy: call, number: number).get()
        case .alone(let departure):
            // Its work may never return after it was ended.
            call.context.call.onCancel { departure.end() }
            defer { departure.end() }
            let result: Result<UnboxedResponse, ClientError> = await Self.$isOut.withValue(true) {
                do throws(ClientError) {
                    return .success(try await alone())
                } catch {
                    return .failure(error)
                }
            }
            return try result.get()
        }
    }

    // MARK: Waiting

    private func turn(of call: MergedCall) async -> Turn {
        let number = state.withLock { state -> Int? in
            let number = state.nextNumber()
            if state.lines[call.kind] != nil { return number }
            state.lines[call.kind] = Line(outCount: 1, round: number)
            return nil
        }
        guard let number else { return .alone(departure(of: call.kind)) }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                wait(Waiting(number: number, call: call, continuation: continuation))
            }
        } onCancel: {
            leave(number, of: call.kind)
        }
    }

    private func wait(_ waiting: Waiting) {
        let kind = waiting.call.kind
        let (turn, alarm) = state.withLock { state -> (Turn?, round: Int?) in
            guard !Task.isCancelled else { return (.outcome(.failure(.cancelledByCaller)), nil) }
            guard var line = state.lines[kind] else {
                state.lines[kind] = Line(outCount: 1, round: state.nextNumber())
                return (.alone(departure(of: kind)), nil)
            }
            line.waiting.append(waiting)
            state.lines[kind] = line
            return (nil, line.waiting.count == 1 ? line.round : nil)
        }
        if let turn { return waiting.continuation.resume(returning: turn) }
        if let alarm {
            set(after: waiting.call.limits.maximumWait) { [weak self] in
                self?.release(kind, round: alarm)
            }
        }
        // An interceptor's own task isn't cancelled with its call.
        if waiting.call.context.isIntercepted {
            waiting.call.context.call.onCancel { [weak self] in
                self?.leave(waiting.number, of: kind)
            }
        }
    }

    private func set(after time: Duration, _ action: @escaping @Sendable () -> Void) {
        if let alarm = clock.alarm { return alarm(time, action) }
        _ = Alarms.shared.add(after: time, action: action)
    }

    /// Begins a batch in the task of its first call, whose task-local values and priority the
    /// batch's own task gets, and waits for it.
    private func outcome(
        of flight: Int, begunBy call: MergedCall, number: Int
    ) async -> MergedBatch.Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                begin(flight, by: call, number: number) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            leave(number, of: call.kind)
        }
    }

    private func begin(
        _ id: Int, by call: MergedCall, number: Int, reply: @escaping Reply
    ) {
        let (waits, departures) = state.withLock { state -> (Bool, Departures) in
            state.flights[id]?.isComing = false
            guard Task.isCancelled || call.context.call.isEnding else {
                state.flights[id]?.waiting[number] = reply
                return (true, Departures())
            }
            state.flights[id]?.batch.leave(number)
            guard state.flights[id]?.isLeft == true else { return (false, Departures()) }
            state.flights[id] = nil
            return (false, Self.returned(call.kind, in: &state))
        }
        start(id)
        if !waits { reply(.failure(.cancelledByCaller)) }
        begin(departures, call.kind)
    }

    /// Takes a call out that doesn't wait any longer.
    private func leave(_ number: Int, of kind: MergedCall.Kind) {
        let (reply, ended, departures) = state.withLock {
            state -> (Reply?, Flight?, Departures) in
            if let index = state.lines[kind]?.waiting.firstIndex(where: { $0.number == number }) {
                let continuation = state.lines[kind]?.waiting.remove(at: index).continuation
                return (continuation.map(Self.reply), nil, Departures())
            }
            for (id, flight) in state.flights where flight.waiting[number] != nil {
                let reply = state.flights[id]?.waiting.removeValue(forKey: number)
                flight.batch.leave(number)
                guard state.flights[id]?.isLeft == true else { return (reply, nil, Departures()) }
                state.flights[id] = nil
                return (reply, flight, Self.returned(kind, in: &state))
            }
            return (nil, nil, Departures())
        }
        ended?.joint.end()
        ended?.task?.cancel()
        reply?(.failure(.cancelledByCaller))
        begin(departures, kind)
    }

    private static func reply(to continuation: CheckedContinuation<Turn, Never>) -> Reply {
        { continuation.resume(returning: .outcome($0)) }
    }

    // MARK: Leaving and returning

    /// Notes that a request of a kind has returned, and lets those that wait leave.
    private static func returned(_ kind: MergedCall.Kind, in state: inout State) -> Departures {
        state.lines[kind]?.outCount -= 1
        return depart(kind, in: &state)
    }

    /// Lets the calls that wait leave, in requests within the limits.
    private static func depart(_ kind: MergedCall.Kind, in state: inout State) -> Departures {
        var departures = Departures()
        guard var line = state.lines[kind] else { return departures }
        let groups = Self.groups(of: line.waiting)
        line.waiting = []
        line.round = state.nextNumber()
        line.outCount += groups.count
        for group in groups {
            guard group.count > 1 else {
                departures.alone += group.map(\.continuation)
                continue
            }
            let id = state.nextNumber()
            let batch = MergedBatch(group.map { ($0.number, $0.call) })
            state.flights[id] = Flight(
                kind: kind, batch: batch, joint: JointCalls(batch: batch.joint),
                waiting: Dictionary(
                    uniqueKeysWithValues: group.dropFirst().map {
                        ($0.number, reply(to: $0.continuation))
                    }))
            departures.first.append(
                (.first(of: id, number: group[0].number), group[0].continuation))
        }
        state.lines[kind] = line.outCount > 0 ? line : nil
        return departures
    }

    /// Distributes calls to requests in their order.
    private static func groups(of waiting: [Waiting]) -> [[Waiting]] {
        var groups: [[Waiting]] = []
        var size = 0
        for next in waiting {
            let limits = next.call.limits
            if let last = groups.last, last.count < limits.maximumCalls,
                size + next.call.size <= limits.maximumBytes
            {
                groups[groups.count - 1].append(next)
                size += next.call.size
            } else {
                groups.append([next])
                size = next.call.size
            }
        }
        return groups
    }

    private func departure(of kind: MergedCall.Kind) -> Departure {
        Departure { [weak self] in
            guard let self else { return }
            let departures = state.withLock { Self.returned(kind, in: &$0) }
            begin(departures, kind)
        }
    }

    /// Lets the calls leave that have waited for the longest time, though one is still out.
    private func release(_ kind: MergedCall.Kind, round: Int) {
        let departures = state.withLock { state in
            guard state.lines[kind]?.round == round else { return Departures() }
            return Self.depart(kind, in: &state)
        }
        begin(departures, kind)
    }

    private func begin(_ departures: Departures, _ kind: MergedCall.Kind) {
        for continuation in departures.alone {
            continuation.resume(returning: .alone(departure(of: kind)))
        }
        for first in departures.first { first.continuation.resume(returning: first.turn) }
    }

    /// Sends a batch. Its calls get its events from now on.
    private func start(_ id: Int) {
        guard let flight = state.withLock({ $0.flights[id] }) else { return }
        let waiting = flight.batch.waiting
        for (_, call) in waiting { flight.joint.add(call.context.call) }
        guard let first = (waiting.first ?? flight.batch.calls.first)?.call else { return }
        let context = CallContext(of: flight.joint, like: first.context)
        let task = Task {
            await Self.$isOut.withValue(true) {
                let result: Result<[Int: MergedBatch.Outcome], ClientError>
                do throws(ClientError) {
                    result = .success(try await first.send(flight.batch, context))
                } catch {
                    result = .failure(error)
                }
                self.finish(id, with: result)
            }
        }
        let isLeft = state.withLock { state in
            state.flights[id]?.task = task
            return state.flights[id] == nil
        }
        if isLeft { task.cancel() }
    }

    /// Gives each call that waits its part of a batch's response.
    private func finish(
        _ id: Int, with result: Result<[Int: MergedBatch.Outcome], ClientError>
    ) {
        let (flight, departures) = state.withLock { state -> (Flight?, Departures) in
            guard let flight = state.flights.removeValue(forKey: id) else {
                return (nil, Departures())
            }
            return (flight, Self.returned(flight.kind, in: &state))
        }
        guard let flight else { return }
        flight.joint.end()
        // First, so that a slow caller doesn't hold up those that wait.
        begin(departures, flight.kind)
        for (number, call) in flight.batch.calls {
            guard let reply = flight.waiting[number] else { continue }
            call.context.receipt?.copy(flight.batch.receipt)
            reply(result.flatMap { $0[number] ?? .failure(.cancelledByCaller) })
        }
    }

    /// A request that is out; its end counts once.
    private final class Departure: Sendable {
        private let action: Mutex<(@Sendable () -> Void)?>

        init(_ action: @escaping @Sendable () -> Void) { self.action = Mutex(action) }

        func end() { action.withLock { $0.take() }?() }
    }
}

extension BatchResponse.Outcome {
    /// Returns the response of one call.
    ///
    /// - Throws: The call's error.
    func response(status: Int) throws(ClientError) -> UnboxedResponse {
        switch self {
        case .result(let result): return UnboxedResponse(result: result, status: status)
        case .notified: return UnboxedResponse(result: nil, status: status)
        case .failure(let error), .rejected(let error): throw ClientError(error)
        case .unanswered:
            throw ClientError(.batchIncomplete, "the call has no response", status: status)
        }
    }
}
