import CSignetCurl
import SignetBase
import SignetTransport
import Synchronization

/// An event loop: a thread with one libcurl multi handle.
///
/// Callers add commands to a queue; only the loop's thread calls libcurl. A second thread watches
/// the deadlines, because a server can block the first in a TLS handshake.
final class EventLoop: Sendable {
    private enum Command {
        case start(Call)
        case cancel(UInt64)
        case drain(UInt64)
        case feed(UInt64)
    }

    private struct Shared {
        var commands: [Command] = []
        var jobs: [LoopJob] = []
        var calls: [UInt64: Call] = [:]
        var isStopping = false
        /// The number of threads that run.
        var threads = 2
    }

    /// The interval in which the watching thread checks the deadlines, in milliseconds.
    private static let watchInterval: Int32 = 50
    /// The number of times that a busy loop polls before it sleeps, because waking it costs more.
    private static let pollLimit = 10
    /// The time that libcurl may spend on one socket before it counts as stuck, in milliseconds.
    private static let stuckAfter: Int64 = 5_000
    /// The same if a call is overdue or the engine stops.
    private static let stuckAfterDeadline: Int64 = 400

    let configuration: EngineSettings
    private let shared = Mutex(Shared())
    private let end = Latch<Void>()
    /// Whether there are commands or jobs to run before the loop waits; written under the lock.
    private let hasCommands = Atomic<Bool>(false)
    /// The number of calls that have reserved this loop and haven't started yet.
    private let reservations = Atomic<Int>(0)
    private let lastIdentifier = Atomic<UInt64>(0)
    private let handle: LoopHandle
    private let hasRoute: @Sendable () -> Bool

    /// Starts the threads.
    ///
    /// - Parameter hasRoute: Whether the machine has a route to other networks.
    init(
        _ configuration: EngineSettings, key: PoolKey,
        hasRoute: @escaping @Sendable () -> Bool
    ) throws(TransportError) {
        guard let handle = LoopHandle(configuration, key: key) else { throw Self.noResources }
        self.handle = handle
        self.configuration = configuration
        self.hasRoute = hasRoute
        let run: ThreadBody = { context in
            guard let context = unsafe context else { return nil }
            let loop = unsafe Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue()
            var thread = LoopThread(loop)
            thread.run()
            return nil
        }
        let watch: ThreadBody = { context in
            guard let context = unsafe context else { return nil }
            unsafe Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().watch()
            return nil
        }
        guard unsafe startThread("signet-curl", run) else { throw Self.noResources }
        guard unsafe startThread("signet-watch", watch) else {
            shared.withLock { $0.threads = 1 }
            stop()
            throw Self.noResources
        }
    }

    private typealias ThreadBody =
        @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?

    /// Starts a thread, which owns one reference to the loop.
    ///
    /// - Returns: `false` if the system provides no thread.
    private func startThread(_ name: String, _ body: ThreadBody) -> Bool {
        let owned = unsafe Unmanaged.passRetained(self)
        if unsafe signet_thread_start(name, body, owned.toOpaque()) { return true }
        unsafe owned.release()
        return false
    }

    deinit { handle.free() }

    private static let noResources = TransportError(
        .resources, "the system provided no thread, socket or memory for the event loop")
    private static let stopped = TransportError(.notRunning, "the engine has been shut down")

    // MARK: Callers

    // Ten thousand callers may wait at once, so these functions keep little across a suspension.

    /// Sends a planned call and waits for the header of its response.
    ///
    /// - Parameters:
    ///   - resumesOnLoop: Whether the caller's task prefers the engine's executor.
    ///   - cancellation: Ends the call; nil if only the task's cancellation does.
    func send(
        _ plan: RequestPlan, trust: HandshakeTrust, resumesOnLoop: Bool,
        cancelledBy cancellation: (any RequestCancellation)?
    ) async throws(TransportError) -> EngineResponse {
        let call = makeCall(
            plan, trust: trust, isProbe: false, resumesOnLoop: resumesOnLoop)
        if let cancellation {
            cancellation.onCancel { self.cancel(call) }
            await perform(call)
        } else {
            await performUntilCancelled(call)
        }
        return try response(to: call)
    }

    private func response(to call: Call) throws(TransportError) -> EngineResponse {
        guard case .response(let received) = try call.receiveOutcome() else {
            throw Call.noResponse
        }
        do throws(TransportError) {
            return try received.engineResponse(
                to: call.plan, showing: call.trust.subject, body: call.body)
        } catch {
            enqueue(.cancel(call.identifier))
            throw error
        }
    }

    /// Performs a TLS handshake and sends no request.
    func probe(
        _ plan: RequestPlan, trust: HandshakeTrust
    ) async throws(TransportError) -> ProbeResult {
        let call = makeCall(plan, trust: trust, isProbe: true, resumesOnLoop: false)
        await performUntilCancelled(call)
        guard case .handshake(let result) = try call.receiveOutcome() else {
            throw TransportError(.malformedResponse, "the call ended without a handshake")
        }
        return result
    }

    /// Starts a call and returns after its outcome is known, or the task is cancelled.
    private func performUntilCancelled(_ call: Call) async {
        await withTaskCancellationHandler {
            await perform(call)
        } onCancel: {
            cancel(call)
        }
    }

    /// Starts a call and returns after its outcome is known.
    private func perform(_ call: Call) async {
        await unsafe withUnsafeContinuation { waiter in
            if unsafe call.wait(Call.Waiter(waiter)) { submit(call) }
            reservations.subtract(1, ordering: .releasing)
        }
    }

    private func cancel(_ call: Call) {
        let error = TransportError(.cancelled, "the call was cancelled")
        call.body.fail(error)
        call.fail(error)
        enqueue(.cancel(call.identifier))
    }

    private func makeCall(
        _ plan: RequestPlan, trust: HandshakeTrust, isProbe: Bool, resumesOnLoop: Bool
    ) -> Call {
        let identifier = lastIdentifier.add(1, ordering: .relaxed).newValue
        // These closures retain the loop, which releases all calls when it stops.
        let body = BodyBuffer(
            capacity: configuration.bodyBufferSize,
            drained: { self.enqueue(.drain(identifier)) },
            abandoned: { self.enqueue(.cancel(identifier)) })
        let upload =
            plan.body.bytes == nil
            ? UploadFeed(plan.body, capacity: configuration.bodyBufferSize) {
                self.enqueue(.feed(identifier))
            } : nil
        let deadline = Clock.milliseconds + plan.timeout.wholeMilliseconds
        return Call(
            identifier: identifier, plan: plan, trust: trust, isProbe: isProbe, deadline: deadline,
            body: body, upload: upload, resumesOnLoop: resumesOnLoop)
    }

    // Don't wake the loop while holding the lock: the woken loop acquires the lock first.

    private func submit(_ call: Call) {
        let isStopping = shared.withLock { shared in
            if shared.isStopping { return true }
            shared.calls[call.identifier] = call
            if shared.calls.count == 1 { handle.setGate(open: true) }
            append(.start(call), to: &shared)
            return false
        }
        if isStopping { call.fail(Self.stopped) } else { handle.wake() }
    }

    private func enqueue(_ command: Command) {
        shared.withLock { shared in
            if !shared.isStopping { append(command, to: &shared) }
        }
        handle.wake()
    }

    private func append(_ command: Command, to shared: inout Shared) {
        shared.commands.append(command)
        hasCommands.store(true, ordering: .sequentiallyConsistent)
    }

    /// Runs a job on the loop's thread, unless the loop stops.
    ///
    /// - Returns: Whether the loop took the job.
    func enqueue(_ job: LoopJob) -> Bool {
        let isTaken = shared.withLock { shared in
            if shared.isStopping { return false }
            shared.jobs.append(job)
            hasCommands.store(true, ordering: .sequentiallyConsistent)
            return true
        }
        if isTaken { handle.wake() }
        return isTaken
    }

    /// Ends every call and tells the threads to end.
    func stop() {
        let (calls, jobs) = shared.withLock { shared -> ([Call], [LoopJob]) in
            if shared.isStopping { return ([], []) }
            shared.isStopping = true
            handle.setGate(open: true)
            hasCommands.store(true, ordering: .sequentiallyConsistent)
            shared.commands = []
            defer { (shared.calls, shared.jobs) = ([:], []) }
            return (Array(shared.calls.values), shared.jobs)
        }
        handle.wake()
        for job in jobs { job.runElsewhere() }
        for call in calls { call.fail(Self.stopped) }
    }

    /// Returns after both threads have ended and everything is released.
    func waitForEnd() async { await end.wait() }

    /// Reserves the loop for one call and returns it. It isn't idle until that call has ended.
    func reserved() -> EventLoop {
        reservations.add(1, ordering: .relaxed)
        return self
    }

    /// Whether no call is under way or about to start.
    var isIdle: Bool {
        // In this order, because a call is added to `calls` before its reservation ends.
        guard reservations.load(ordering: .acquiring) == 0 else { return false }
        return shared.withLock {
            $0.calls.isEmpty && $0.commands.isEmpty && $0.jobs.isEmpty
        }
    }

    /// The number of times that the loop has called libcurl for sockets and timers.
    var libcurlCalls: UInt64 { handle.calls }

    /// Whether both threads have ended.
    var hasEnded: Bool { shared.withLock { $0.threads == 0 } }

    /// Notes that a thread has ended. After the last one, resumes the tasks that wait for the end.
    private func threadEnded() {
        let wasLast = shared.withLock { shared in
            shared.threads -= 1
            return shared.threads == 0
        }
        if wasLast { end.set(()) }
    }

    // MARK: The watching thread

    private func watch() {
        while true {
            handle.waitAtGate(milliseconds: Self.watchInterval)
            let busy = handle.busyMilliseconds
            let (isStopping, isLast, overdue) = shared.withLock { shared -> (Bool, Bool, [Call]) in
                let now = Clock.milliseconds
                let overdue =
                    busy > Int64(Self.watchInterval)
                    ? shared.calls.values.filter { $0.deadline + 20 < now } : []
                return (shared.isStopping, shared.threads == 1, overdue)
            }
            for call in overdue {
                call.fail(
                    TransportError(
                        .timeout,
                        "no response before the deadline: the server blocked the"
                            + " connection"))
            }
            let limit = isStopping || !overdue.isEmpty ? Self.stuckAfterDeadline : Self.stuckAfter
            handle.freeIfStuck(longerThan: limit)
            if isLast { break }
        }
        handle.close()
        threadEnded()
    }

    // MARK: The loop's thread

    /// The state of the loop's thread.
    private struct LoopThread {
        let loop: EventLoop
        var driver: TransferDriver

        init(_ loop: EventLoop) {
            self.loop = loop
            driver = TransferDriver(
                loop: loop.handle, configuration: loop.configuration, hasRoute: loop.hasRoute)
        }

        mutating func run() {
            var idlePolls = 0
            var commands: [Command] = []
            var jobs: [LoopJob] = []
            while loop.receiveCommands(
                into: &commands, jobs: &jobs, removing: driver.drainFinished())
            {
                for command in commands {
                    switch command {
                    case .start(let call): driver.start(call)
                    case .cancel(let identifier): driver.cancel(identifier)
                    case .drain(let identifier): driver.drain(identifier)
                    case .feed(let identifier): driver.feed(identifier)
                    }
                }
                if !commands.isEmpty || !jobs.isEmpty { idlePolls = 0 }
                commands.removeAll(keepingCapacity: true)
                driver.deliver()
                for job in jobs { job.run() }
                jobs.removeAll(keepingCapacity: true)
                let polls = driver.isBusy && idlePolls < EventLoop.pollLimit
                if !polls { loop.handle.willWait() }
                let hadEvents = loop.handle.step(
                    mayWait: !polls && !driver.hasFinished
                        && !loop.hasCommands.load(ordering: .sequentiallyConsistent),
                    until: driver.nextCheck)
                idlePolls = hadEvents ? 0 : idlePolls + 1
                driver.handleReady()
                driver.deliver()
                driver.endOverdue(now: Clock.milliseconds)
            }
            driver.cancelAll()
            loop.threadEnded()
        }
    }

    /// Removes finished calls and receives the queued commands.
    ///
    /// - Parameters:
    ///   - commands: Empty. Its storage is reused for later commands.
    ///   - jobs: The same for jobs.
    ///   - finished: The finished calls.
    /// - Returns: `false` if the loop is to stop.
    private func receiveCommands(
        into commands: inout [Command], jobs: inout [LoopJob], removing finished: [UInt64]
    ) -> Bool {
        if finished.isEmpty, !hasCommands.load(ordering: .sequentiallyConsistent) { return true }
        let (isStopping, wereLast) = shared.withLock { shared -> (Bool, Bool) in
            if shared.isStopping { return (true, false) }
            let count = shared.calls.count
            for identifier in finished { shared.calls.removeValue(forKey: identifier) }
            hasCommands.store(false, ordering: .sequentiallyConsistent)
            swap(&shared.commands, &commands)
            swap(&shared.jobs, &jobs)
            return (false, count > 0 && shared.calls.isEmpty)
        }
        if wereLast { closeGate() }
        return !isStopping
    }

    /// Closes the gate, and opens it again if a call was added meanwhile.
    private func closeGate() {
        handle.setGate(open: false)
        let isNeeded = shared.withLock { !$0.calls.isEmpty || $0.isStopping }
        if isNeeded { handle.setGate(open: true) }
    }
}
