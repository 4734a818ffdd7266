import CSignetCurl
import SignetPinning
import SignetTransport

/// Drives the transfers of a loop: starts them, delivers responses and bodies, and ends them.
///
/// Used on the loop's thread only.
struct TransferDriver {
    private struct Active {
        let call: Call
        let transfer: Transfer
        let host: HostQueue
        var hasResponse = false
    }

    private static let maximumChains = 256
    private static let maximumHosts = 1024
    /// The number of callers that this thread wakes itself.
    private static let maximumDirectDeliveries = 2
    /// The number of calls beyond `maximumConnectionsPerHost` that libcurl gets for a host whose
    /// calls share connections.
    private static let extraSharingCalls = 256
    /// The number of calls that libcurl lets share a connection if the server allows as many
    /// (`CURLMOPT_MAX_CONCURRENT_STREAMS`). More make it look for streams whenever a call ends, so
    /// it gets more only if the queue is stuck.
    private static let streamsPerConnection = 100
    /// The number of calls beyond `maximumConnectionsPerHost` for a host whose connections carry
    /// one call each, so that the next calls are ready.
    private static let extraCalls = 16
    /// The number of concurrent calls from which the loop polls before it sleeps.
    private static let pollingThreshold = 4
    /// The interval in which queued calls are checked, in milliseconds.
    private static let queueInterval: Int64 = 100
    /// The milliseconds from a call's deadline until the loop ends it, because libcurl hasn't.
    private static let lateness: Int64 = 100

    private let loop: LoopHandle
    let configuration: EngineSettings
    /// Whether the machine has a route to other networks.
    let hasRoute: @Sendable () -> Bool
    private var active: [UInt64: Active] = [:]
    private var chains: [UInt64: [SeenCertificate]] = [:]
    private var hosts: [WebOrigin: OriginQueues] = [:]
    /// The largest number of trusts that calls to one host have had at once. libcurl counts the
    /// connections of all of them together.
    private var trustsPerHost = 1
    /// The calls that have ended since the last `drainFinished()`.
    private var finished: [UInt64] = []
    /// The outcomes to deliver after all transfers with news have been handled.
    private var outcomes: [(call: Call, outcome: Call.Outcome)] = []
    /// The number of calls in the queues of their hosts.
    private var queued = 0
    /// The time of the last check of the queues, in monotonic milliseconds.
    private var lastCheck: Int64 = 0
    /// The earliest time at which a running call can be overdue.
    private var firstEnd = Int64.max

    init(
        loop: LoopHandle, configuration: EngineSettings,
        hasRoute: @escaping @Sendable () -> Bool
    ) {
        self.loop = loop
        self.configuration = configuration
        self.hasRoute = hasRoute
    }

    /// Whether so many calls are under way that polling is cheaper than sleeping.
    var isBusy: Bool { active.count >= Self.pollingThreshold }

    // MARK: Starting

    /// Starts a call, or queues it if its host has the maximum number of calls.
    mutating func start(_ call: Call) {
        let host = host(of: call)
        if call.hasEnded || hasRoom(host) {
            start(call, at: host)
        } else {
            host.waiting.append(call)
            queued += 1
        }
    }

    private mutating func start(_ call: Call, at host: HostQueue) {
        if call.hasEnded {
            call.upload?.close()
            finished.append(call.identifier)
            return
        }
        let plan = call.plan
        let left = call.deadline - Clock.milliseconds
        guard left > 0 else { return end(call, with: TransferDriver.queueTimeout(of: plan)) }
        guard let transfer = loop.acquireTransfer(for: call.identifier) else {
            return end(call, with: TransferDriver.noMemory)
        }
        let trusts = hosts[plan.origin]?.busyCount(with: host) ?? 1
        if trusts > trustsPerHost {
            trustsPerHost = trusts
            loop.setConnections(perHost: configuration.maximumConnectionsPerHost * trusts)
        }
        if host.active == 0 { host.connectTo = plan.connectTo }
        // libcurl would wait for a connection of another trust or to another port of the address
        // too, which the call can't use.
        let waits =
            !call.isProbe && plan.isSecure && !host.isWithoutMultiplexing && trusts == 1
            && plan.connectTo == host.connectTo
        let isStarted = transfer.start(
            call, milliseconds: left, waitsForMultiplexing: waits, configuration: configuration)
        guard isStarted else {
            transfer.release()
            return end(call, with: TransferDriver.noMemory)
        }
        host.active += 1
        firstEnd = min(firstEnd, call.deadline + Self.lateness)
        active[call.identifier] = Active(call: call, transfer: transfer, host: host)
    }

    /// Ends a call with an error, and releases its transfer if it has one.
    private mutating func end(_ call: Call, with error: TransportError) {
        call.fail(error)
        call.upload?.close()
        cancel(call.identifier)
    }

    private mutating func host(of call: Call) -> HostQueue {
        let plan = call.plan
        if let known = hosts[plan.origin]?[call.trust] { return known }
        if hosts.count >= Self.maximumHosts {
            for origin in hosts.keys { hosts[origin]?.dropIdle() }
            hosts = hosts.filter { $0.value.count > 0 }
        }
        let host = HostQueue()
        host.isWithoutMultiplexing =
            !plan.isSecure || !configuration.offersHTTP2 || !loop.multiplexes
        hosts[plan.origin, default: OriginQueues()].add(host, for: call.trust)
        return host
    }

    private func hasRoom(_ host: HostQueue) -> Bool {
        let connections = configuration.maximumConnectionsPerHost
        if host.isWithoutMultiplexing {
            // With a larger limit of libcurl's, this one keeps each trust within its own.
            return host.active < connections + (trustsPerHost > 1 ? 0 : Self.extraCalls)
        }
        let most = connections + Self.extraSharingCalls
        if host.active < min(most, connections * Self.streamsPerConnection) {
            host.isStuck = false
            return true
        }
        return host.isStuck && host.active < most
    }

    /// Starts the next calls of a host's queue.
    private mutating func startQueued(at host: HostQueue) {
        while hasRoom(host), let call = host.waiting.popFirst() {
            queued -= 1
            host.idleChecks = 0
            start(call, at: host)
        }
    }

    /// The time of the next check of queues and deadlines, in monotonic milliseconds.
    var nextCheck: Int64 {
        queued > 0 ? min(lastCheck + Self.queueInterval, firstEnd) : firstEnd
    }

    /// Ends running calls that are overdue. Once per interval also ends those in queues, and starts
    /// the calls of stuck queues.
    mutating func endOverdue(now: Int64) {
        if now >= firstEnd { endLate(now: now) }
        guard queued > 0, now - lastCheck >= Self.queueInterval else { return }
        lastCheck = now
        for host in hosts.values.flatMap(\.all) {
            let overdue = host.waiting.remove { $0.deadline <= now || $0.hasEnded }
            queued -= overdue.count
            for call in overdue { end(call, with: TransferDriver.queueTimeout(of: call.plan)) }
            guard host.waiting.count > 0 else { continue }
            // The calls before them may be unread. The first check may come as soon as calls wait.
            host.idleChecks += 1
            if host.idleChecks > 1 { host.isStuck = true }
            startQueued(at: host)
        }
    }

    /// Ends the calls that libcurl should have ended at their deadline.
    ///
    /// libcurl 7.88.1 forgets the deadline of a transfer that waits for another one's connection.
    private mutating func endLate(now: Int64) {
        firstEnd = .max
        var late: [Call] = []
        // The body of a finished transfer can be read after the deadline.
        for entry in active.values where !entry.transfer.isDone {
            let end = entry.call.deadline + Self.lateness
            if end <= now { late.append(entry.call) } else { firstEnd = min(firstEnd, end) }
        }
        for call in late {
            end(
                call,
                with: Self.timeout(of: call.plan, reason: "the call had not ended by its deadline"))
        }
    }

    /// Whether calls have ended since the last `drainFinished()`.
    var hasFinished: Bool { !finished.isEmpty }

    /// Returns the calls that have ended since the last time.
    mutating func drainFinished() -> [UInt64] {
        if finished.isEmpty { return [] }
        defer { finished.removeAll(keepingCapacity: true) }
        return finished
    }

    // MARK: Ending

    /// Ends a call whose caller already knows its outcome, and releases its transfer.
    mutating func cancel(_ identifier: UInt64) {
        finished.append(identifier)
        guard let entry = active.removeValue(forKey: identifier) else { return }
        entry.call.upload?.close()
        entry.transfer.release()
        entry.host.active -= 1
        if entry.host.waiting.count > 0 { startQueued(at: entry.host) }
    }

    /// Ends all calls.
    mutating func cancelAll() {
        for entry in active.values {
            entry.call.upload?.close()
            entry.transfer.release()
        }
        active = [:]
        hosts = [:]
    }

    // MARK: Continuing

    /// Continues to deliver a body after its buffer was full.
    mutating func drain(_ identifier: UInt64) {
        if let entry = active[identifier] { handle(entry) }
    }

    /// Passes the next piece of a request's body to libcurl, if it waits for one and there is one.
    mutating func feed(_ identifier: UInt64) {
        guard let entry = active[identifier], let upload = entry.call.upload,
            entry.transfer.wantsUpload
        else { return }
        if entry.transfer.consumeRestart() { upload.restart() }
        var problem = TransferDriver.noMemory
        switch upload.next() {
        case .pending: return
        case .chunk(let chunk): if entry.transfer.feed(chunk) { return }
        case .end(let trailers): if entry.transfer.feedEnd(trailers: trailers) { return }
        case .failed(let error): problem = error
        }
        end(entry.call, with: problem)
    }

    /// Handles every transfer that has news.
    mutating func handleReady() {
        while let transfer = loop.nextReady() {
            if let entry = active[transfer.identifier] { handle(entry) }
        }
    }

    /// Wakes the callers whose outcomes are known.
    ///
    /// Callers on the loop's executor and a few others are woken directly. More are woken by one
    /// detached task, so that this thread can continue with the network.
    mutating func deliver() {
        if outcomes.isEmpty { return }
        for (call, outcome) in outcomes where call.resumesOnLoop { call.complete(with: outcome) }
        outcomes.removeAll { $0.call.resumesOnLoop }
        if outcomes.count > Self.maximumDirectDeliveries {
            Task.detached { [outcomes] in
                for (call, outcome) in outcomes { call.complete(with: outcome) }
            }
        } else {
            for (call, outcome) in outcomes { call.complete(with: outcome) }
        }
        outcomes.removeAll(keepingCapacity: true)
    }

    private mutating func handle(_ entry: Active) {
        var response: ReceivedResponse?
        let call = entry.call
        let transfer = entry.transfer
        if let failure = TransferDriver.unreadFailure(transfer.refusal, of: call.plan) {
            return end(call, with: failure)
        }
        if transfer.hasHead, !entry.hasResponse, !call.isProbe {
            let head = transfer.head()
            // Byte 5 of "HTTP/1.1" is the major version. HTTP/1 calls can't share a connection.
            if call.plan.isSecure, head.count > 5, head[5] < UInt8(ascii: "2") {
                entry.host.isWithoutMultiplexing = true
            }
            if !call.plan.isHead, transfer.contentLength > call.plan.maximumBodySize {
                return end(call, with: TransferDriver.bodyTooLarge(for: call.plan))
            }
            let (chain, served) = judgedChain(of: transfer, plan: call.plan)
            response = ReceivedResponse(
                head: head, timings: transfer.timings(), chain: chain, served: served,
                wasAskedForCertificate: transfer.wasAskedForCertificate, record: call.timings)
            active[call.identifier]?.hasResponse = true
            transfer.wakeUpload()
        }
        let isDrained = moveBody(from: transfer, to: call)
        var isFinished = false
        if isDrained, transfer.isDone {
            isFinished = true
            finish(call, transfer: transfer, response: response)
        } else if isDrained, transfer.hasEarlyResponse {
            isFinished = true
            call.timings.record(response?.timings ?? transfer.timings())
            finishBody(of: call, transfer: transfer)
        }
        if let response { outcomes.append((call, .response(response))) }
        if isFinished {
            cancel(call.identifier)
        } else if call.upload != nil {
            feed(call.identifier)
        }
    }

    /// Moves the received body into the reader's buffer.
    ///
    /// - Returns: `false` if the buffer is full. A `drain` follows when it has room.
    private func moveBody(from transfer: Transfer, to call: Call) -> Bool {
        while true {
            let chunk = transfer.body()
            if chunk.isEmpty { break }
            guard call.body.offer(chunk) else { return false }
            transfer.dropBody()
        }
        transfer.resume()
        return true
    }

    private func finish(_ call: Call, transfer: Transfer, response: ReceivedResponse?) {
        if call.isProbe {
            finishProbe(call, transfer: transfer)
            return
        }
        call.timings.record(response?.timings ?? transfer.timings())
        if transfer.result == SIGNET_OK {
            if transfer.hasHead {
                finishBody(of: call, transfer: transfer)
            } else {
                call.fail(
                    TransportError(
                        .cutOff,
                        "\(call.plan.host.uriText) closed the connection before the end"
                            + " of the response's header"))
            }
            return
        }
        let error = error(of: transfer, call: call)
        if transfer.hasHead { call.body.finish(error) } else { call.fail(error) }
    }

    private func finishBody(of call: Call, transfer: Transfer) {
        let lines = transfer.trailers()
        guard !lines.isEmpty else { return call.body.finish() }
        guard let fields = ResponseHead.fields(of: lines.span) else {
            return call.body.finish(ReceivedResponse.malformed(from: call.plan.host))
        }
        call.body.finish(trailers: TrailerFields.allowed(of: fields))
    }

    private func finishProbe(_ call: Call, transfer: Transfer) {
        let chain = transfer.certificates().chain
        let result = transfer.result
        if transfer.refusal == SIGNET_PROBED {
            call.complete(with: .handshake(ProbeResult(chain: chain, isTrusted: true)))
        } else if result == SIGNET_FAILED_TLS || transfer.refusal == SIGNET_WRONG_HOST,
            !chain.isEmpty
        {
            let reason =
                TransferDriver.wrongHost(of: transfer, expected: call.plan.host)
                ?? transfer.message
            call.complete(
                with: .handshake(ProbeResult(chain: chain, isTrusted: false, reason: reason)))
        } else if result == SIGNET_OK {
            call.fail(
                TransportError(.malformedResponse, "the handshake showed no certificate chain"))
        } else {
            call.fail(error(of: transfer, call: call))
        }
    }

    /// Returns the verified chain for the caller's verdict. Adds the certificates only if the
    /// verdict will be reported, because copying them is slow.
    private mutating func judgedChain(
        of transfer: Transfer, plan: RequestPlan
    ) -> (chain: [SeenCertificate], served: [[UInt8]]) {
        guard let pins = plan.pins else { return ([], []) }
        let chain = transfer.chain(cache: &chains, limit: Self.maximumChains)
        if pins.isEnforced { return (chain, []) }
        let pinned = plan.policy?.rule(for: plan.host)?.pins ?? []
        return chain.contains { pinned.contains($0.pin) } ? (chain, []) : transfer.certificates()
    }
}
