internal import CSignetCurl
internal import SignetPinning
internal import SignetTransport

/// What the loop's thread does with transfers: starts them, hands on what came, ends them.
struct TransferDriver {
    private final class Active {
        let call: Call
        let transfer: Transfer
        let host: HostLine
        var isAnswered = false

        init(call: Call, transfer: Transfer, host: HostLine) {
            self.call = call
            self.transfer = transfer
            self.host = host
        }
    }

    private static let knownChains = 256
    private static let knownHosts = 1024
    /// How many callers this thread wakes by itself.
    private static let fewAnswers = 2
    /// How many calls more than connections libcurl is given for one host: those that share one.
    private static let sharing = 256
    /// The same for a host whose connections carry one call each: those that are ready to go.
    private static let next = 16
    /// How many calls at once are several.
    private static let several = 4

    private let loop: LoopHandle
    let configuration: CurlEngine.Configuration
    private var active: [UInt64: Active] = [:]
    private var chains: [UInt64: [SeenCertificate]] = [:]
    private var hosts: [String: HostLine] = [:]
    /// The calls that are over since somebody last asked.
    private var over: [UInt64] = []
    /// What callers get when all transfers with news have been handled.
    private var answers: [(call: Call, answer: Call.Answer)] = []
    /// How many calls wait for a place at their host.
    private(set) var waiting = 0

    init(_ loop: LoopHandle, _ configuration: CurlEngine.Configuration) {
        self.loop = loop
        self.configuration = configuration
    }

    /// Whether several calls are under way.
    var isBusy: Bool { active.count >= Self.several }

    // MARK: Beginning

    /// Begins a call, or lets it wait while its host has as many as it gets.
    mutating func start(_ call: Call) {
        let host = host(call.plan)
        if call.hasEnded || hasRoom(host) {
            start(call, host)
        } else {
            host.append(call)
            waiting += 1
        }
    }

    private mutating func start(_ call: Call, _ host: HostLine) {
        if call.hasEnded {
            call.upload?.close()
            over.append(call.identifier)
            return
        }
        let plan = call.plan
        let left = call.deadline - Clock.milliseconds
        guard left > 0 else {
            end(call, TransferDriver.timeout(plan, "the call waited too long"))
            return
        }
        guard let transfer = loop.take(call.identifier) else {
            end(call, TransferDriver.noMemory)
            return
        }
        let waits = !call.isProbe && plan.isSecure && !host.isWithoutMultiplexing
        let isStarted = transfer.start(
            call, milliseconds: left, waitsForMultiplexing: waits, configuration: configuration)
        guard isStarted else {
            transfer.giveBack()
            end(call, TransferDriver.noMemory)
            return
        }
        host.began()
        active[call.identifier] = Active(call: call, transfer: transfer, host: host)
    }

    private mutating func end(_ call: Call, _ error: TransportError) {
        call.fail(error)
        call.upload?.close()
        over.append(call.identifier)
    }

    private mutating func host(_ plan: RequestPlan) -> HostLine {
        if let known = hosts[plan.url] { return known }
        if hosts.count >= Self.knownHosts { hosts = hosts.filter { !$0.value.isIdle } }
        let host = HostLine()
        host.isWithoutMultiplexing =
            !plan.isSecure || !configuration.offersHTTP2 || !loop.multiplexes
        hosts[plan.url] = host
        return host
    }

    private func hasRoom(_ host: HostLine) -> Bool {
        let more = host.isWithoutMultiplexing ? Self.next : Self.sharing
        return host.active < configuration.maximumConnectionsPerHost + more
    }

    /// Begins calls that waited for a place.
    private mutating func admit(_ host: HostLine) {
        while hasRoom(host), let call = host.next() {
            waiting -= 1
            start(call, host)
        }
    }

    /// Ends the calls that have waited for a place until their time was over.
    mutating func endOverdue(now: Int64) {
        for host in hosts.values {
            let late = host.takeOut { $0.deadline <= now || $0.hasEnded }
            waiting -= late.count
            for call in late {
                end(call, TransferDriver.timeout(call.plan, "the call waited too long"))
            }
        }
    }

    /// Whether calls are over since `takeOver` was last asked.
    var hasOver: Bool { !over.isEmpty }

    /// The calls that are over since this was last asked.
    mutating func takeOver() -> [UInt64] {
        if over.isEmpty { return [] }
        defer { over.removeAll(keepingCapacity: true) }
        return over
    }

    // MARK: Ending

    /// Gives a call up; it has been told already.
    mutating func cancel(_ identifier: UInt64) {
        over.append(identifier)
        guard let entry = active.removeValue(forKey: identifier) else { return }
        entry.call.upload?.close()
        entry.transfer.giveBack()
        entry.host.ended()
        if entry.host.waiting > 0 { admit(entry.host) }
    }

    /// Gives all calls up.
    mutating func cancelAll() {
        for entry in active.values {
            entry.call.upload?.close()
            entry.transfer.giveBack()
        }
        active = [:]
        hosts = [:]
    }

    // MARK: Going on

    /// Hands on what a full buffer held back.
    mutating func drain(_ identifier: UInt64) {
        if let entry = active[identifier] { handle(entry, identifier) }
    }

    /// Hands libcurl the next piece of a request's body, if it wants one and there is one.
    mutating func feed(_ identifier: UInt64) {
        guard let entry = active[identifier], let upload = entry.call.upload,
            entry.transfer.wantsUpload
        else { return }
        if entry.transfer.takeRestart() { upload.restart() }
        var problem = TransferDriver.noMemory
        switch upload.take() {
        case .nothing: return
        case .chunk(let chunk): if entry.transfer.feed(chunk) { return }
        case .end: if entry.transfer.feed(nil) { return }
        case .failed(let error): problem = error
        }
        entry.call.fail(problem)
        cancel(identifier)
    }

    /// Handles every transfer that has news.
    mutating func handleReady() {
        while let transfer = loop.nextReady() {
            let identifier = transfer.identifier
            if let entry = active[identifier] { handle(entry, identifier) }
        }
    }

    /// Wakes the callers whose answers are there.
    ///
    /// The first wakes a sleeping thread of the pool, which finds the others. Many are handed to the
    /// pool as one, so that this thread goes on with the network.
    mutating func deliver() {
        if answers.isEmpty { return }
        if answers.count > Self.fewAnswers {
            Task.detached { [answers] in
                for (call, answer) in answers { call.answer(answer) }
            }
        } else {
            for (call, answer) in answers { call.answer(answer) }
        }
        answers.removeAll(keepingCapacity: true)
    }

    private mutating func handle(_ entry: Active, _ identifier: UInt64) {
        var reply: Reply?
        let call = entry.call
        let transfer = entry.transfer
        if let failure = unreadFailure(transfer.refusal, call.plan) {
            call.fail(failure)
            cancel(identifier)
            return
        }
        if transfer.hasHead, !entry.isAnswered, !call.isProbe {
            let head = transfer.head()
            // "HTTP/1.1", "HTTP/2": which calls may share a connection.
            if call.plan.isSecure, head.count > 5, head[5] < UInt8(ascii: "2") {
                entry.host.isWithoutMultiplexing = true
            }
            if !call.plan.isHead, transfer.contentLength > call.plan.maximumBodySize {
                call.fail(TransferDriver.tooLarge(call.plan))
                cancel(identifier)
                return
            }
            let (chain, served) = judgedChain(of: transfer, call.plan)
            reply = Reply(
                head: head, timings: transfer.timings(), chain: chain, served: served,
                record: call.timings)
            entry.isAnswered = true
            transfer.wakeUpload()
        }
        let isDrained = moveBody(transfer, call)
        var isOver = false
        if isDrained, transfer.isDone {
            isOver = true
            finish(transfer, call, reply)
        } else if isDrained, transfer.isAnsweredEarly {
            isOver = true
            call.timings.record(reply?.timings ?? transfer.timings())
            call.body.finish()
        }
        if let reply { answers.append((call, .reply(reply))) }
        if isOver { cancel(identifier) } else if call.upload != nil { feed(identifier) }
    }

    /// Moves the body that came into the reader's buffer.
    ///
    /// - Returns: False where the buffer is full; it will ask again.
    private func moveBody(_ transfer: Transfer, _ call: Call) -> Bool {
        while true {
            let chunk = transfer.body()
            if chunk.isEmpty { break }
            guard call.body.offer(chunk) else { return false }
            transfer.dropBody()
        }
        transfer.resume()
        return true
    }

    private mutating func finish(_ transfer: Transfer, _ call: Call, _ reply: Reply?) {
        if call.isProbe {
            finishProbe(transfer, call)
            return
        }
        let result = transfer.result
        call.timings.record(reply?.timings ?? transfer.timings())
        if result == SIGNET_OK {
            if transfer.hasHead {
                call.body.finish()
            } else {
                call.fail(
                    TransportError(
                        code: .cutOff,
                        message: "\(call.plan.host.uriText) closed the connection before the"
                            + " reply's header ended"))
            }
            return
        }
        let error = error(transfer, call, result)
        if transfer.hasHead { call.body.finish(error) } else { call.fail(error) }
    }

    private mutating func finishProbe(_ transfer: Transfer, _ call: Call) {
        let refusal = transfer.refusal
        let chain = transfer.certificates().chain
        if refusal == SIGNET_PROBED {
            call.answer(.handshake(ProbeResult(chain: chain, isTrusted: true)))
            return
        }
        let result = transfer.result
        if result == SIGNET_FAILED_TLS, !chain.isEmpty {
            let reason = transfer.message
            call.answer(
                .handshake(ProbeResult(chain: chain, isTrusted: false, reason: reason)))
            return
        }
        if result == SIGNET_OK {
            call.fail(
                TransportError(code: .malformedResponse, message: "the handshake showed no chain"))
        } else {
            call.fail(error(transfer, call, result))
        }
    }

    // MARK: Values

    /// The verified chain that the caller's verdict is of; with its certificates where that verdict will
    /// be a report, and not as often as there are replies otherwise.
    private mutating func judgedChain(
        of transfer: Transfer, _ plan: RequestPlan
    ) -> (chain: [SeenCertificate], served: [[UInt8]]) {
        guard let pins = plan.pins else { return ([], []) }
        let chain = chain(of: transfer)
        if pins.isEnforced { return (chain, []) }
        let wanted = plan.policy?.rule(for: plan.host)?.pins ?? []
        return chain.contains { wanted.contains($0.pin) } ? (chain, []) : transfer.certificates()
    }

    private mutating func chain(of transfer: Transfer) -> [SeenCertificate] {
        transfer.chain(&chains, limit: TransferDriver.knownChains)
    }
}
