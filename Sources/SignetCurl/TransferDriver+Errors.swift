import CSignetCurl
import SignetBase
import SignetCrypto
import SignetPinning
import SignetTransport

extension TransferDriver {
    /// Returns the error of a transfer that failed.
    func error(of transfer: Transfer, call: Call) -> TransportError {
        var error = cause(of: transfer, call: call)
        error.isUnsent = !transfer.wasSent
        return error
    }

    private func cause(of transfer: Transfer, call: Call) -> TransportError {
        let plan = call.plan
        let host = "\(plan.host.uriText):\(plan.port)"
        let message = transfer.message
        let result = transfer.result
        switch result {
        case SIGNET_FAILED_REFUSED:
            return refusalError(of: transfer, plan: plan)
        case SIGNET_FAILED_NAME:
            return unreachable(.unresolvedHost, of: plan, reason: message)
        case SIGNET_FAILED_UNREACHABLE:
            return unreachable(.connect, of: plan, reason: message)
        case SIGNET_FAILED_CONNECT:
            return TransportError(.connect, "\(host): \(message)")
        case SIGNET_FAILED_TLS:
            if let problem = ClientCertificateProblem(of: transfer) {
                return TransportError(.tls, "\(host) \(problem.text(for: call.trust.subject))")
            }
            return TransportError(
                .tls,
                transfer.isUntrusted
                    ? "\(host) is not trusted: \(transfer.trustProblem ?? message)"
                    : "\(host): \(message)")
        case SIGNET_FAILED_PROXY, SIGNET_FAILED_PROXY_REFUSED, SIGNET_FAILED_PROXY_LOGIN:
            return proxyError(of: transfer, plan: plan)
        case SIGNET_FAILED_TIMEOUT:
            guard transfer.isAtProxy, let proxy = plan.proxy else {
                return TransferDriver.timeout(of: plan, reason: message)
            }
            return TransportError(
                .timeout, "the proxy \(proxy) did not connect to \(host) in time: \(message)")
        case SIGNET_FAILED_CUT_OFF:
            return TransportError(.cutOff, "\(host): the connection ended early: \(message)")
        case SIGNET_FAILED_MALFORMED:
            return TransportError(
                .malformedResponse, "\(host) sent an invalid response: \(message)")
        case SIGNET_FAILED_TRUST_STORE:
            return TransportError(.trustStore, message)
        case SIGNET_FAILED_RESOURCES:
            return TransferDriver.noMemory
        default:
            return TransportError(.connect, "\(host): \(message)")
        }
    }

    /// Returns the error of a transfer that its proxy refused or that didn't reach it.
    private func proxyError(of transfer: Transfer, plan: RequestPlan) -> TransportError {
        let host = "\(plan.host.uriText):\(plan.port)"
        let (code, problem): (TransportError.Code, String) =
            switch transfer.result {
            case SIGNET_FAILED_PROXY_REFUSED: (.proxyRefused, "refused to connect to \(host)")
            case SIGNET_FAILED_PROXY_LOGIN:
                (
                    .proxyAuthentication,
                    plan.proxy?.hasCredentials == true
                        ? "rejected the credentials for a connection to \(host)"
                        : "requires credentials to connect to \(host)"
                )
            default: (.proxy, "could not be used to connect to \(host)")
            }
        let status = transfer.proxyStatus
        let reason =
            status > 0
            ? "its status for CONNECT is \(status)"
            : plan.proxy.flatMap { TransferDriver.wrongHost(of: transfer, expected: $0.host) }
                ?? transfer.message
        return TransportError(code, "the proxy \(plan.proxy?.url ?? "") \(problem): \(reason)")
    }

    /// Returns the error of a transfer that the C code ended.
    private func refusalError(of transfer: Transfer, plan: RequestPlan) -> TransportError {
        let host = plan.host.uriText
        func error(_ code: TransportError.Code, _ problem: String) -> TransportError {
            TransportError(code, "\(host) \(problem)")
        }
        return switch transfer.refusal {
        case SIGNET_PIN_MISMATCH: pinMismatch(of: transfer, plan: plan)
        case SIGNET_NO_CHAIN: TransferDriver.missingChain(for: plan)
        case SIGNET_WRONG_HOST:
            TransportError(
                .tls,
                "\(host):\(plan.port) is not trusted: "
                    + (TransferDriver.wrongHost(of: transfer, expected: plan.host)
                        ?? transfer.message))
        case SIGNET_NO_TLS: error(.tls, "has an https URL, but the connection has no TLS")
        case SIGNET_HEAD_TOO_LARGE:
            error(
                .responseTooLarge,
                "sent a header of more than \(configuration.maximumHeaderSize) bytes or"
                    + " \(configuration.maximumHeaderFields) fields")
        case SIGNET_PROXY_HEAD_TOO_LARGE:
            TransportError(
                .proxy,
                "the proxy \(plan.proxy?.url ?? "") responded to CONNECT with a header of"
                    + " more than \(configuration.maximumHeaderSize) bytes")
        case SIGNET_FLOODED:
            error(
                .malformedResponse,
                "sent far more bytes than the response's header and body have: found empty frames,"
                    + " chunk extensions or the like")
        case SIGNET_BAD_LENGTH:
            error(
                .malformedResponse,
                "sent a Content-Length that is not a number of bytes, or two that differ; expected"
                    + " one (RFC 9112, section 6.3)")
        case SIGNET_BAD_CODING:
            error(
                .malformedResponse,
                "sent a transfer coding other than \"chunked\", or one with a Content-Length or"
                    + " outside HTTP/1.1 (RFC 9112, section 6.3)")
        case SIGNET_BODY_TOO_LARGE: TransferDriver.bodyTooLarge(for: plan)
        case SIGNET_NO_MEMORY: TransferDriver.noMemory
        case SIGNET_NOT_REPEATED:
            error(
                .cutOff,
                "ended the connection after the request had been sent, and a \(plan.method)"
                    + " request is not sent twice")
        case SIGNET_NEEDS_HTTP1:
            error(
                .cutOff,
                "requires HTTP/1.1 (HTTP_1_1_REQUIRED) for a request that it got over HTTP/2, and a"
                    + " \(plan.method) request is not sent twice; offer HTTP/1.1"
                    + " alone (offersHTTP2, or --http1.1)")
        case SIGNET_STALE:
            error(
                .cutOff,
                "closed the pooled connection before the request was sent, and there was no time"
                    + " left for a new one")
        case SIGNET_NO_TRAILERS:
            error(
                .unsupportedTrailers,
                "speaks HTTP/2, over which libcurl cannot send the trailers of a request; expected"
                    + " HTTP/1.1, or a request without trailers")
        case SIGNET_BODY_SPENT:
            error(
                .bodyNotReplayable,
                "closed a pooled connection while the request's body was sent, and the body can be"
                    + " read only once")
        default: ReceivedResponse.malformed(from: plan.host)
        }
    }

    /// Returns the policy's refusal, with the certificates for a report.
    private func pinMismatch(of transfer: Transfer, plan: RequestPlan) -> TransportError {
        let (chain, served) = transfer.certificates()
        let verdict = plan.policy?.verdict(
            for: plan.host, chain: chain, now: plan.now, served: served, port: plan.port)
        return verdict?.refusal.map(TransportError.init(_:))
            ?? TransportError(.pinMismatch, "no pin matches for \(plan.host.uriText)")
    }

    /// Returns the error of a connection without a verified chain.
    ///
    /// It is an error in report mode too, because without a chain there would be no report.
    private static func missingChain(for plan: RequestPlan) -> TransportError {
        let finding = plan.policy?.verdict(
            for: plan.host, chain: [], now: plan.now, port: plan.port
        ).finding
        return TransportError(
            finding == nil ? .tls : .pinMismatch,
            "\(plan.host.uriText): the connection is refused, because it has no verified"
                + " certificate chain to check" + (finding.map { ": \($0.message)" } ?? ""),
            pinRefusal: finding)
    }

    /// Returns the hosts that a certificate is for and the one that was expected; `nil` if the
    /// certificate was for its host.
    static func wrongHost(of transfer: Transfer, expected: HostName) -> String? {
        guard let certificate = transfer.misnamedCertificate() else { return nil }
        let names = (try? X509Parser.publicKeyDigests(of: certificate))?.first?.hosts ?? []
        var found = names.prefix(8).map { "\"\($0)\"" }.joined(separator: ", ")
        if names.count > 8 { found += " and \(names.count - 8) more" }
        return "the certificate's subjectAltName has "
            + (names.isEmpty ? "no host (its common name doesn't count)" : found)
            + ", expected \(expected.kind == .name ? "" : "the IP address ")\"\(expected)\""
    }

    /// Returns the error of a call without a response before its deadline.
    static func timeout(of plan: RequestPlan, reason: String) -> TransportError {
        TransportError(
            .timeout, "\(plan.host.uriText):\(plan.port): no response in time: \(reason)")
    }

    /// Returns the error of a call that was queued until its deadline.
    static func queueTimeout(of plan: RequestPlan) -> TransportError {
        timeout(of: plan, reason: "the call waited for a connection until its deadline")
    }

    /// Returns the error of a body that is larger than the call allows.
    static func bodyTooLarge(for plan: RequestPlan) -> TransportError {
        TransportError(
            .responseTooLarge,
            "\(plan.host.uriText) sent a body of more than \(plan.maximumBodySize) bytes")
    }

    /// Returns the error of a body that its caller did not read, or `nil` for another refusal.
    static func unreadFailure(
        _ refusal: signet_refusal, of plan: RequestPlan
    ) -> TransportError? {
        switch refusal {
        case SIGNET_NOT_READ_IN_TIME:
            timeout(of: plan, reason: "the caller had not read the whole body by the deadline")
        case SIGNET_NOT_READ:
            TransportError(
                .resources,
                "the body from \(plan.host.uriText):\(plan.port) was not read in time:"
                    + " unread bodies filled its HTTP/2 connection and held up other calls")
        default: nil
        }
    }

    /// The error of a call for which the system has no memory or socket.
    static let noMemory = TransportError(
        .resources, "the system provided no memory or socket for the call; see ulimit -n")
}
