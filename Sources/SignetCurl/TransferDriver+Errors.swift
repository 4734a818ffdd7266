internal import CSignetCurl
internal import SignetPinning
internal import SignetTransport

extension TransferDriver {
    /// What a transfer's end is for its caller.
    mutating func error(
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
            // In report mode too: without a chain nobody knows that there is anything to report of.
            let finding = plan.policy?.verdict(
                for: plan.host, chain: [], now: plan.now, port: plan.port
            ).finding
            let words = "the connection has no verified chain to judge, so it is refused"
            return TransportError(
                code: .pinMismatch,
                message: "\(host): \(words)" + (finding.map { ": \($0.message)" } ?? ""),
                pinRefusal: finding?.refusal)
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
        case SIGNET_FLOODED:
            return TransportError(
                code: .malformedReply,
                message: "\(host) sent far more bytes than the response's header and body have:"
                    + " found empty frames, chunk extensions or their like")
        case SIGNET_BAD_LENGTH:
            return TransportError(
                code: .malformedReply,
                message: "\(host) sent a Content-Length that is not a number of bytes, or two that"
                    + " differ; expected one (RFC 9112, section 6.3)")
        case SIGNET_BAD_CODING:
            return TransportError(
                code: .malformedReply,
                message: "\(host) sent a Transfer-Encoding other than \"chunked\", or one beside a"
                    + " Content-Length or outside HTTP/1.1 (RFC 9112, section 6.3)")
        case SIGNET_BODY_TOO_LARGE:
            return TransferDriver.tooLarge(plan)
        case SIGNET_NO_MEMORY:
            return TransferDriver.noMemory
        case SIGNET_NOT_REPEATED:
            return TransportError(
                code: .cutOff,
                message: "\(host) closed a pooled connection after the request had been sent, and"
                    + " \(plan.method) is not sent twice")
        case SIGNET_STALE:
            return TransportError(
                code: .cutOff,
                message: "\(host) closed the pooled connection before the request"
                    + " was sent, and there was no time left for a new one"
            )
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

    /// The time was over before a reply.
    static func timeout(_ plan: RequestPlan, _ words: String) -> TransportError {
        TransportError(
            code: .timeout, message: "\(plan.host.uriText):\(plan.port): no reply in time: \(words)"
        )
    }

    /// More bytes came than the call takes.
    static func tooLarge(_ plan: RequestPlan) -> TransportError {
        TransportError(
            code: .replyTooLarge,
            message: "\(plan.host.uriText) sent a body of more than \(plan.maximumBodySize) bytes")
    }

    /// Returns the error of a body that its caller did not read, or nil for another refusal.
    func unreadFailure(_ refusal: signet_refusal, _ plan: RequestPlan) -> TransportError? {
        switch refusal {
        case SIGNET_NOT_READ_IN_TIME:
            TransferDriver.timeout(plan, "the caller had not read the whole body by the deadline")
        case SIGNET_NOT_READ:
            TransportError(
                code: .resources,
                message: "the body from \(plan.host.uriText):\(plan.port) was not read in time:"
                    + " unread bodies filled its HTTP/2 connection and held up other calls")
        default: nil
        }
    }

    /// The system gave nothing.
    static let noMemory = TransportError(
        code: .resources, message: "the system gave no memory or socket for the call; see ulimit -n"
    )

    /// The verdict with the certificates, as reports tell of it.
    private func fullVerdict(_ transfer: Transfer, _ plan: RequestPlan) -> PinVerdict? {
        let (chain, served) = transfer.certificates()
        return plan.policy?.verdict(
            for: plan.host, chain: chain, now: plan.now, served: served, port: plan.port)
    }
}
