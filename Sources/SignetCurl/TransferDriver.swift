internal import CSignetCurl
internal import HTTPTypes
internal import SignetPinning
internal import SignetTransport

/// What the loop's thread does with transfers: starts them, hands on what came, ends them.
struct TransferDriver {
    private struct Active {
        let call: Call
        let transfer: Transfer
        let host: HostLine
        var isAnswered = false
    }

    private static let knownChains = 256
    private static let knownHosts = 1024
    /// How many calls more than connections libcurl is given for one host: those that share one.
    private static let sharing = 256

    private let loop: LoopHandle
    private let configuration: CurlEngine.Configuration
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

    // MARK: Beginning

    /// Begins a call, or lets it wait while its host has as many as it gets.
    mutating func start(_ call: Call) {
        let host = host(call.plan.url)
        if call.hasEnded || host.active < configuration.maximumConnectionsPerHost + Self.sharing {
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

    private mutating func host(_ url: String) -> HostLine {
        if let known = hosts[url] { return known }
        if hosts.count >= Self.knownHosts { hosts = hosts.filter { !$0.value.isIdle } }
        let host = HostLine()
        hosts[url] = host
        return host
    }

    /// Begins calls that waited for a place.
    private mutating func admit(_ host: HostLine) {
        while host.active < configuration.maximumConnectionsPerHost + Self.sharing,
            let call = host.next()
        {
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
    /// To wake one costs this thread as much as all else that it does for a call beside libcurl, so
    /// several are handed to the pool at once, whose threads wake them.
    mutating func deliver() {
        if answers.count > 1 {
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
            active[identifier]?.isAnswered = true
            transfer.wakeUpload()
        }
        let isDrained = moveBody(transfer, call)
        var isOver = false
        if isDrained, transfer.isDone {
            isOver = true
            finish(transfer, call, isAnswered: entry.isAnswered || reply != nil)
        }
        if let reply { answers.append((call, .reply(reply))) }
        if isOver { cancel(identifier) } else if call.upload != nil { feed(identifier) }
    }

    /// Moves the body that came into the reader's buffer.
    ///
    /// - Returns: False where the buffer is full; it will ask again.
    private func moveBody(_ transfer: Transfer, _ call: Call) -> Bool {
        let chunk = transfer.body()
        if !chunk.isEmpty {
            guard call.body.offer(chunk) else { return false }
            transfer.dropBody()
        }
        transfer.resume()
        return true
    }

    private mutating func finish(_ transfer: Transfer, _ call: Call, isAnswered: Bool) {
        if call.isProbe {
            finishProbe(transfer, call)
            return
        }
        let result = transfer.result
        call.timings.record(transfer.timings())
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
        if isAnswered { call.body.finish(error) } else { call.fail(error) }
    }

    private mutating func finishProbe(_ transfer: Transfer, _ call: Call) {
        let refusal = transfer.refusal
        let chain = chain(of: transfer)
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
                TransportError(code: .malformedReply, message: "the handshake showed no chain"))
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

    /// The verdict with the certificates, as reports tell of it.
    private func fullVerdict(_ transfer: Transfer, _ plan: RequestPlan) -> PinVerdict? {
        let (chain, served) = transfer.certificates()
        return plan.policy?.verdict(
            for: plan.host, chain: chain, now: plan.now, served: served, port: plan.port)
    }

    private mutating func chain(of transfer: Transfer) -> [SeenCertificate] {
        transfer.chain(&chains, limit: TransferDriver.knownChains)
    }

    // MARK: Errors

    private mutating func error(
        _ transfer: Transfer, _ call: Call, _ result: signet_result
    ) -> TransportError {
        let plan = call.plan
        let host = "\(plan.host.uriText):\(plan.port)"
        let words = transfer.message
        switch result {
        case SIGNET_FAILED_REFUSED:
            return refusal(transfer, call)
        case SIGNET_FAILED_NAME:
            return TransportError(code: .name, message: "\(host): \(words)")
        case SIGNET_FAILED_CONNECT:
            return TransportError(code: .connect, message: "\(host): \(words)")
        case SIGNET_FAILED_TLS:
            return TransportError(
                code: .tls,
                message: transfer.isUntrusted
                    ? "\(host) is not trusted: \(words)" : "\(host): \(words)")
        case SIGNET_FAILED_PROXY, SIGNET_FAILED_PROXY_REFUSED, SIGNET_FAILED_PROXY_LOGIN:
            return proxyFailure(transfer, plan, result)
        case SIGNET_FAILED_TIMEOUT:
            guard transfer.isAtProxy, let proxy = plan.proxy else {
                return TransferDriver.timeout(plan, words)
            }
            return TransportError(
                code: .timeout,
                message: "the proxy \(proxy) did not open the way to \(host) in time: \(words)")
        case SIGNET_FAILED_CUT_OFF:
            return TransportError(
                code: .cutOff, message: "\(host): the connection ended early: \(words)")
        case SIGNET_FAILED_MALFORMED:
            return TransportError(
                code: .malformedReply, message: "\(host) sent no HTTP that is taken: \(words)")
        case SIGNET_FAILED_TRUST_STORE:
            return TransportError(code: .trustStore, message: words)
        case SIGNET_FAILED_RESOURCES:
            return TransferDriver.noMemory
        default:
            return TransportError(code: .connect, message: "\(host): \(words)")
        }
    }

    private func proxyFailure(
        _ transfer: Transfer, _ plan: RequestPlan, _ result: signet_result
    ) -> TransportError {
        let status = transfer.proxyStatus
        let answer = status > 0 ? "answered CONNECT with \(status)" : transfer.message
        let (code, what): (TransportError.Code, String) =
            switch result {
            case SIGNET_FAILED_PROXY_REFUSED: (.proxyRefused, "refused")
            case SIGNET_FAILED_PROXY_LOGIN:
                (
                    .proxyAuthentication,
                    plan.proxy?.hasCredentials == true
                        ? "does not take the credentials it was given for"
                        : "wants credentials for"
                )
            default: (.proxy, "cannot be used for")
            }
        return TransportError(
            code: code,
            message: "the proxy \(plan.proxy?.url ?? "") \(what)"
                + " \(plan.host.uriText):\(plan.port): \(answer)")
    }

    private mutating func refusal(_ transfer: Transfer, _ call: Call) -> TransportError {
        let plan = call.plan
        let host = plan.host.uriText
        switch transfer.refusal {
        case SIGNET_PIN_MISMATCH:
            return fullVerdict(transfer, plan)?.refusal.map(TransportError.init)
                ?? TransportError(code: .pinMismatch, message: "no pin matches for \(host)")
        case SIGNET_NO_CHAIN:
            return TransportError(
                code: .pinMismatch,
                message: "\(host): the connection has no verified chain to judge, so it is refused")
        case SIGNET_NO_TLS:
            return TransportError(
                code: .tls, message: "\(host): https was asked for, and the connection has no TLS")
        case SIGNET_HEAD_TOO_LARGE:
            return TransportError(
                code: .replyTooLarge,
                message: "\(host) sent a header of more than \(configuration.maximumHeaderSize)"
                    + " bytes or \(configuration.maximumHeaderFields) fields")
        case SIGNET_PROXY_HEAD_TOO_LARGE:
            return TransportError(
                code: .proxy,
                message: "the proxy \(plan.proxy?.url ?? "") answered CONNECT with a header of more"
                    + " than \(configuration.maximumHeaderSize) bytes")
        case SIGNET_BODY_TOO_LARGE:
            return TransferDriver.tooLarge(plan)
        case SIGNET_NO_MEMORY:
            return TransferDriver.noMemory
        case SIGNET_NOT_REPEATED:
            return TransportError(
                code: .cutOff,
                message: "\(host) closed a pooled connection after the request had been sent, and"
                    + " \(plan.method) is not sent twice")
        case SIGNET_BODY_SPENT:
            return TransportError(
                code: .bodyNotReplayable,
                message: "\(host) closed a pooled connection while the request's body was sent, and"
                    + " the body can be read once")
        default:
            return TransportError(
                code: .malformedReply, message: "\(host) sent a header that is no HTTP (RFC 9110)")
        }
    }

    private static func timeout(_ plan: RequestPlan, _ words: String) -> TransportError {
        TransportError(
            code: .timeout, message: "\(plan.host.uriText):\(plan.port): no reply in time: \(words)"
        )
    }

    private static func tooLarge(_ plan: RequestPlan) -> TransportError {
        TransportError(
            code: .replyTooLarge,
            message: "\(plan.host.uriText) sent a body of more than \(plan.maximumBodySize) bytes")
    }

    private static let noMemory = TransportError(
        code: .resources, message: "the system gave no memory or socket for the call")
}
