internal import CSignetCurl
internal import HTTPTypes
internal import SignetPinning
internal import SignetTransport

/// What the loop's thread does with transfers: starts them, hands on what came, ends them.
struct TransferDriver {
    private struct Active {
        let call: Call
        let transfer: Transfer
        var isAnswered = false
    }

    private static let knownChains = 256

    private let loop: LoopHandle
    private let configuration: CurlEngine.Configuration
    private var active: [UInt64: Active] = [:]
    private var chains: [UInt64: [SeenCertificate]] = [:]
    /// Hosts that chose HTTP/1.1: their calls do not wait for a connection to share.
    private var withoutMultiplexing: Set<String> = []

    init(_ loop: LoopHandle, _ configuration: CurlEngine.Configuration) {
        self.loop = loop
        self.configuration = configuration
    }

    // MARK: Beginning

    /// Begins a call.
    ///
    /// - Returns: False where it ended at once.
    mutating func start(_ call: Call) -> Bool {
        let plan = call.plan
        let left = call.deadline - Clock.milliseconds
        guard left > 0 else {
            call.fail(TransferDriver.timeout(plan, "the call waited too long"))
            return false
        }
        guard let transfer = loop.take(call.identifier) else {
            call.fail(TransferDriver.noMemory)
            return false
        }
        let waits = !call.isProbe && plan.isSecure && !withoutMultiplexing.contains(plan.url)
        let isStarted = transfer.start(
            call, milliseconds: left, waitsForMultiplexing: waits, configuration: configuration)
        guard isStarted else {
            transfer.giveBack()
            call.fail(TransferDriver.noMemory)
            return false
        }
        active[call.identifier] = Active(call: call, transfer: transfer)
        return true
    }

    // MARK: Ending

    /// Gives a call up; it has been told already.
    mutating func cancel(_ identifier: UInt64) {
        guard let entry = active.removeValue(forKey: identifier) else { return }
        entry.call.upload?.close()
        entry.transfer.giveBack()
    }

    /// Gives all calls up.
    mutating func cancelAll() {
        for identifier in Array(active.keys) { cancel(identifier) }
    }

    // MARK: Going on

    /// Hands on what a full buffer held back.
    ///
    /// - Returns: Whether the call has ended with it.
    mutating func drain(_ identifier: UInt64) -> Bool {
        guard let entry = active[identifier] else { return false }
        return handle(entry, identifier)
    }

    /// Hands libcurl the next piece of a request's body, if it wants one and there is one.
    ///
    /// - Returns: Whether the call has ended with it.
    mutating func feed(_ identifier: UInt64) -> Bool {
        guard let entry = active[identifier], let upload = entry.call.upload,
            entry.transfer.wantsUpload
        else { return false }
        if entry.transfer.takeRestart() { upload.restart() }
        switch upload.take() {
        case .nothing: return false
        case .chunk(let chunk): if entry.transfer.feed(chunk) { return false }
        case .end: if entry.transfer.feed(nil) { return false }
        case .failed(let error):
            entry.call.fail(error)
            cancel(identifier)
            return true
        }
        entry.call.fail(TransferDriver.noMemory)
        cancel(identifier)
        return true
    }

    /// Handles every transfer that has news; `ended` is told which calls are over.
    mutating func handleReady(_ ended: (UInt64) -> Void) {
        while let transfer = loop.nextReady() {
            let identifier = transfer.identifier
            guard let entry = active[identifier] else { continue }
            if handle(entry, identifier) { ended(identifier) }
        }
    }

    private mutating func handle(_ entry: Active, _ identifier: UInt64) -> Bool {
        var answer: EngineResponse?
        let call = entry.call
        let transfer = entry.transfer
        if transfer.hasHead, !entry.isAnswered, !call.isProbe {
            do throws(TransportError) {
                answer = try response(transfer, call)
                active[identifier]?.isAnswered = true
                transfer.wakeUpload()
            } catch {
                call.fail(error)
                cancel(identifier)
                return true
            }
        }
        let isDrained = moveBody(transfer, call)
        var isOver = false
        if isDrained, transfer.isDone {
            isOver = true
            finish(transfer, call, isAnswered: answer != nil)
        }
        if let answer { call.answer(.response(answer)) }
        if isOver { cancel(identifier) }
        return isOver || feed(identifier)
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

    private mutating func response(_ transfer: Transfer, _ call: Call) throws(TransportError)
        -> EngineResponse
    {
        guard let head = transfer.head() else {
            throw TransportError(
                code: .malformedReply,
                message: "\(call.plan.host.uriText) sent a header that is no HTTP (RFC 9110)")
        }
        if !call.plan.isHead, transfer.contentLength > call.plan.maximumBodySize {
            throw TransferDriver.tooLarge(call.plan)
        }
        if head.version.major < 2, call.plan.isSecure {
            if withoutMultiplexing.count > 1024 { withoutMultiplexing = [] }
            withoutMultiplexing.insert(call.plan.url)
        }
        let chain = call.plan.pins == nil ? [] : chain(of: transfer)
        let verdict =
            call.plan.pins == nil
            ? nil
            : call.plan.policy?.verdict(for: call.plan.host, chain: chain, now: call.plan.now)
        if let refusal = verdict?.refusal { throw TransportError(refusal) }
        return EngineResponse(
            response: head.response, body: ResponseBody(call.body), httpVersion: head.version,
            timings: transfer.timings(), verdict: verdict, peerChain: chain)
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
        case SIGNET_FAILED_TIMEOUT:
            return TransferDriver.timeout(plan, words)
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

    private mutating func refusal(_ transfer: Transfer, _ call: Call) -> TransportError {
        let plan = call.plan
        let host = plan.host.uriText
        switch transfer.refusal {
        case SIGNET_PIN_MISMATCH:
            let chain = chain(of: transfer)
            let verdict = plan.policy?.verdict(for: plan.host, chain: chain, now: plan.now)
            return verdict?.refusal.map(TransportError.init)
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
