import SignetBase
public import SignetClient
import SignetSystem
import Synchronization

/// A clock that a test moves, for the pauses between attempts and the deadlines of calls.
///
/// ```swift
/// import SignetClient
/// import SignetTesting
///
/// func retries() async throws {
///     let (stub, clock) = (StubEngine(), TestClock())
///     stub.respond(with: .failure(.connect), .json(7))
///     var options = NetworkSystem.Options()
///     options.use(clock)
///     let system = try await NetworkSystem.start(
///         services: ["shop": .init(baseURL: "https://shop.test", payloadProtocol: .rest)],
///         stub: stub, options: options)
///     async let order: Int = system.send(.get("/orders/7", on: "shop"))
///     await clock.waitForPauses(1)
///     clock.advance(by: .seconds(5))
///     print(try await order)
/// }
/// ```
///
/// The time of a single attempt (`RequestOptions.timeout`) is its engine's, and real.
public final class TestClock: Sendable {
    private struct Waiter {
        let due: Duration
        let isPause: Bool
        let action: @Sendable () -> Void
    }

    private struct State {
        var passed = Duration.zero
        var waiters: [Int: Waiter] = [:]
        var lastNumber = 0
        /// Those that wait for so many pauses.
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        var pauses: Int { waiters.values.count { $0.isPause } }
    }

    private let state = Mutex(State())
    private let start = MonotonicTime.now
    private let unixStart = UnixTime.now()

    /// Creates a clock that shows the present time until the test moves it.
    public init() {}

    /// The time that has passed.
    public var passed: Duration { state.withLock { $0.passed } }

    /// The number of pauses between attempts that wait.
    public var pauseCount: Int { state.withLock { $0.pauses } }

    /// Lets time pass: the pauses and deadlines that end by then end, in their order.
    public func advance(by time: Duration) {
        let due = state.withLock { state in
            state.passed += time
            let due = state.waiters.filter { $0.value.due <= state.passed }
                .sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }
            for (number, _) in due { state.waiters[number] = nil }
            return due
        }
        for (_, waiter) in due { waiter.action() }
    }

    /// Returns when so many pauses wait.
    public func waitForPauses(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                guard state.pauses < count else { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    fileprivate var instant: MonotonicTime { start + passed }

    fileprivate var unixTime: Int64 { unixStart + passed.components.seconds }

    fileprivate func add(
        after time: Duration, isPause: Bool = false, action: @escaping @Sendable () -> Void
    ) -> Int? {
        let (number, woken) = state.withLock {
            state -> (Int?, [CheckedContinuation<Void, Never>]) in
            guard time > .zero else { return (nil, []) }
            state.lastNumber += 1
            state.waiters[state.lastNumber] = Waiter(
                due: state.passed + time, isPause: isPause, action: action)
            let pauses = state.pauses
            let woken = state.watchers.filter { $0.count <= pauses }.map(\.continuation)
            state.watchers.removeAll { $0.count <= pauses }
            return (state.lastNumber, woken)
        }
        if number == nil { action() }
        for continuation in woken { continuation.resume() }
        return number
    }

    fileprivate func sleep(for time: Duration) async throws {
        let pause = Pause()
        let number = add(after: time, isPause: true) { pause.end() }
        await withTaskCancellationHandler {
            await pause.wait()
        } onCancel: {
            if let number { _ = state.withLock { $0.waiters.removeValue(forKey: number) } }
            pause.end()
        }
        try Task.checkCancellation()
    }

    /// A wait that ends once.
    private final class Pause: Sendable {
        private let latch = Latch<Bool>()
        func end() { latch.set(true) }
        func wait() async { _ = await latch.wait() }
    }
}

extension NetworkSystem.Options {
    /// Takes the times of pauses and deadlines from a clock that a test moves.
    public mutating func use(_ testClock: TestClock) {
        clock.now = { testClock.unixTime }
        clock.instant = { testClock.instant }
        clock.sleep = { try await testClock.sleep(for: $0) }
        clock.alarm = { time, action in _ = testClock.add(after: time, action: action) }
    }
}
