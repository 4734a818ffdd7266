internal import CSignetCurl
internal import SignetTransport
internal import Synchronization

/// One thread, one multi handle, one trust store.
///
/// Callers put commands into a queue; the thread alone touches libcurl. A second thread watches the
/// deadlines, since a server can keep a TLS handshake from ever returning to the first.
final class EventLoop: Sendable {
    private enum Command {
        case start(Call)
        case cancel(UInt64)
        case drain(UInt64)
        case feed(UInt64)
    }

    private struct Shared {
        var commands: [Command] = []
        var calls: [UInt64: Call] = [:]
        var isStopping = false
        var threads = 2
        var waitingForEnd: [CheckedContinuation<Void, Never>] = []
    }

    /// How often the deadlines are looked at from outside.
    private static let watchPause: Int32 = 50
    /// How often the calls that wait for a place at their host are looked at.
    private static let lookPause: Int32 = 100
    /// How often the loop looks for news before it waits while several calls are under way: to be woken
    /// costs more, itself and those who wake it.
    private static let looks = 10
    /// How long libcurl may be at one thing, in milliseconds, before it counts as held up.
    private static let longestStep: Int64 = 5_000
    /// The same when a call is overdue or the engine stops.
    private static let longestLateStep: Int64 = 400

    let configuration: CurlEngine.Configuration
    private let shared = Mutex(Shared())
    /// Whether the loop has something to do before it waits; written under the lock.
    private let hasCommands = Atomic<Bool>(false)
    /// The number of calls that will begin on this loop and haven't yet.
    private let reservations = Atomic<Int>(0)
    private let lastIdentifier = Atomic<UInt64>(0)
    private let handle: LoopHandle

    /// Starts the threads.
    init(
        _ configuration: CurlEngine.Configuration, _ key: PoolKey
    ) throws(TransportError) {
        guard let handle = try LoopHandle(configuration, key) else { throw Self.noResources }
        self.handle = handle
        self.configuration = configuration
        // Each thread owns one reference to the loop.
        let forLoop = unsafe Unmanaged.passRetained(self)
        let body: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
            guard let context = unsafe context else { return }
            let loop = unsafe Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue()
            var thread = LoopThread(loop)
            thread.run()
        }
        guard unsafe signet_thread_start("signet-curl", body, forLoop.toOpaque()) else {
            unsafe forLoop.release()
            throw Self.noResources
        }
        let forWatch = unsafe Unmanaged.passRetained(self)
        let watch: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
            guard let context = unsafe context else { return }
            let loop = unsafe Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue()
            loop.watch()
        }
        guard unsafe signet_thread_start("signet-watch", watch, forWatch.toOpaque()) else {
            unsafe forWatch.release()
            shared.withLock { $0.threads = 1 }
            stop()
            throw Self.noResources
        }
    }

    deinit { handle.free() }

    private static let noResources = TransportError(
        code: .resources, message: "the system gave no thread, socket or memory for the event loop")
    private static let stopped = TransportError(
        code: .notRunning, message: "the engine has been shut down")

    // MARK: Callers

    // Ten thousand callers may wait at once: what lives across a wait is kept small.

    /// Sends a planned call and waits for its reply.
    func send(_ plan: RequestPlan) async throws(TransportError) -> EngineResponse {
        try response(await perform(plan, isProbe: false))
    }

    private func response(_ call: Call) throws(TransportError) -> EngineResponse {
        guard case .reply(let reply) = try call.takeAnswer() else { throw Call.noReply }
        do throws(TransportError) {
            return try reply.response(to: call.plan, body: call.body)
        } catch {
            enqueue(.cancel(call.identifier))
            throw error
        }
    }

    /// Shakes hands, and sends nothing.
    func probe(_ plan: RequestPlan) async throws(TransportError) -> ProbeResult {
        guard case .handshake(let result) = try await perform(plan, isProbe: true).takeAnswer()
        else { throw TransportError(code: .malformedResponse, message: "no handshake was seen") }
        return result
    }

    /// Begins a call, and returns when its answer can be taken.
    private func perform(_ plan: RequestPlan, isProbe: Bool) async -> Call {
        let call = makeCall(plan, isProbe: isProbe)
        await withTaskCancellationHandler {
            await unsafe withUnsafeContinuation { waiter in
                if unsafe call.wait(Call.Waiter(waiter)) { submit(call) }
                reservations.subtract(1, ordering: .releasing)
            }
        } onCancel: {
            call.fail(TransportError(code: .cancelled, message: "the call was cancelled"))
            enqueue(.cancel(call.identifier))
        }
        return call
    }

    private func makeCall(_ plan: RequestPlan, isProbe: Bool) -> Call {
        let identifier = lastIdentifier.add(1, ordering: .relaxed).newValue
        // They hold the loop, which lets go of all calls when it stops.
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
            identifier: identifier, plan: plan, isProbe: isProbe, deadline: deadline, body: body,
            upload: upload)
    }

    // Nobody wakes the loop under the lock: what wakes takes the lock first of all, and would wait for it.

    private func submit(_ call: Call) {
        let isStopping = shared.withLock { shared in
            if shared.isStopping { return true }
            shared.calls[call.identifier] = call
            if shared.calls.count == 1 { handle.setGate(open: true) }
            append(.start(call), &shared)
            return false
        }
        if isStopping { call.fail(Self.stopped) } else { handle.wake() }
    }

    private func enqueue(_ command: Command) {
        shared.withLock { shared in
            if !shared.isStopping { append(command, &shared) }
        }
        handle.wake()
    }

    private func append(_ command: Command, _ shared: inout Shared) {
        shared.commands.append(command)
        hasCommands.store(true, ordering: .sequentiallyConsistent)
    }

    /// Ends every call and lets the threads end.
    func stop() {
        let calls = shared.withLock { shared -> [Call] in
            if shared.isStopping { return [] }
            shared.isStopping = true
            handle.setGate(open: true)
            hasCommands.store(true, ordering: .sequentiallyConsistent)
            shared.commands = []
            defer { shared.calls = [:] }
            return Array(shared.calls.values)
        }
        handle.wake()
        for call in calls { call.fail(Self.stopped) }
    }

    /// Returns when both threads have ended and everything is released.
    func waitForEnd() async {
        await withCheckedContinuation { continuation in
            let hasEnded = shared.withLock { shared in
                if shared.threads > 0 { shared.waitingForEnd.append(continuation) }
                return shared.threads == 0
            }
            if hasEnded { continuation.resume() }
        }
    }

    /// The loop itself, which isn't idle until one more call has begun and ended.
    func reserved() -> EventLoop {
        reservations.add(1, ordering: .relaxed)
        return self
    }

    /// Whether no call is under way or about to begin.
    var isIdle: Bool {
        // In this order: a call leaves the reservations after it has got into `calls`.
        guard reservations.load(ordering: .acquiring) == 0 else { return false }
        return shared.withLock { $0.calls.isEmpty && $0.commands.isEmpty }
    }

    /// How often libcurl has been called for sockets and timers.
    var libcurlCalls: UInt64 { handle.calls }

    /// Whether both threads have ended.
    var hasEnded: Bool { shared.withLock { $0.threads == 0 } }

    /// The last thread releases libcurl's part: nothing can call it any more.
    private func threadEnded() {
        let waiting = shared.withLock { shared -> [CheckedContinuation<Void, Never>]? in
            shared.threads -= 1
            guard shared.threads == 0 else { return nil }
            defer { shared.waitingForEnd = [] }
            return shared.waitingForEnd
        }
        guard let waiting else { return }
        for continuation in waiting { continuation.resume() }
    }

    // MARK: The watching thread

    private func watch() {
        while true {
            handle.waitAtGate(milliseconds: Self.watchPause)
            let busy = handle.busyMilliseconds
            let (isStopping, isOver, overdue) = shared.withLock { shared -> (Bool, Bool, [Call]) in
                guard busy > Int64(Self.watchPause) else {
                    return (shared.isStopping, shared.threads == 1, [])
                }
                let now = Clock.milliseconds
                return (
                    shared.isStopping, shared.threads == 1,
                    shared.calls.values.filter { $0.deadline + 20 < now }
                )
            }
            for call in overdue {
                call.fail(
                    TransportError(
                        code: .timeout,
                        message: "no reply within the time of the call: the server held up the"
                            + " connection"))
            }
            let limit = isStopping || !overdue.isEmpty ? Self.longestLateStep : Self.longestStep
            handle.freeIfStuck(longerThan: limit)
            if isOver { break }
        }
        handle.close()
        threadEnded()
    }

    // MARK: The loop's thread

    /// What the loop's thread alone has.
    private struct LoopThread {
        let loop: EventLoop
        var driver: TransferDriver

        init(_ loop: EventLoop) {
            self.loop = loop
            driver = TransferDriver(loop.handle, loop.configuration)
        }

        mutating func run() {
            var nextLook: Int64 = 0
            var quiet = 0
            var commands: [Command] = []
            while loop.takeCommands(into: &commands, forgetting: driver.takeOver()) {
                for command in commands {
                    switch command {
                    case .start(let call): driver.start(call)
                    case .cancel(let identifier): driver.cancel(identifier)
                    case .drain(let identifier): driver.drain(identifier)
                    case .feed(let identifier): driver.feed(identifier)
                    }
                }
                if !commands.isEmpty { quiet = 0 }
                commands.removeAll(keepingCapacity: true)
                driver.deliver()
                let looksAgain = driver.isBusy && quiet < EventLoop.looks
                if !looksAgain { loop.handle.willWait() }
                let hasNews = loop.handle.step(
                    mayWait: !looksAgain && !driver.hasOver
                        && !loop.hasCommands.load(ordering: .sequentiallyConsistent),
                    atMost: driver.waiting > 0 ? EventLoop.lookPause : nil)
                quiet = hasNews ? 0 : quiet + 1
                driver.handleReady()
                driver.deliver()
                if driver.waiting > 0, Clock.milliseconds >= nextLook {
                    nextLook = Clock.milliseconds + Int64(EventLoop.lookPause)
                    driver.endOverdue(now: Clock.milliseconds)
                }
            }
            driver.cancelAll()
            loop.threadEnded()
        }
    }

    /// Forgets calls that are over and takes what there is to do.
    ///
    /// - Parameter commands: Empty before; its room is the next ones'.
    /// - Returns: False where the loop is to stop.
    private func takeCommands(into commands: inout [Command], forgetting over: [UInt64]) -> Bool {
        if over.isEmpty, !hasCommands.load(ordering: .sequentiallyConsistent) { return true }
        let (isStopping, areLast) = shared.withLock { shared -> (Bool, Bool) in
            if shared.isStopping { return (true, false) }
            let had = shared.calls.count
            for identifier in over { shared.calls.removeValue(forKey: identifier) }
            hasCommands.store(false, ordering: .sequentiallyConsistent)
            swap(&shared.commands, &commands)
            return (false, had > 0 && shared.calls.isEmpty)
        }
        if areLast { closeGate() }
        return !isStopping
    }

    /// Closes the gate unless a call came meanwhile.
    private func closeGate() {
        handle.setGate(open: false)
        let isNeeded = shared.withLock { !$0.calls.isEmpty || $0.isStopping }
        if isNeeded { handle.setGate(open: true) }
    }
}

extension Duration {
    /// Milliseconds, rounded up, from 1 to about 24 days.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds < 2_000_000 else { return 2_000_000_000 }
        return max(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000, 1)
    }
}
