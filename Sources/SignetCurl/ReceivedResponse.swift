import HTTPTypes
import SignetPinning
import SignetTransport

/// A response's header as libcurl delivered it. The caller's thread parses it, so that the loop's
/// thread can continue with other calls.
struct ReceivedResponse: Sendable {
    /// The start line and fields, line by line.
    let head: [UInt8]
    let timings: Timings
    /// The verified chain; empty if nothing is pinned.
    let chain: [SeenCertificate]
    /// The chain as the server sent it, each certificate as DER; empty if there is nothing to
    /// report.
    let served: [[UInt8]]
    /// Whether the server asked for a client certificate.
    let wasAskedForCertificate: Bool
    /// Receives the timings of the whole call.
    let record: TimingsRecord

    /// Parses the header and judges the chain.
    ///
    /// - Parameter subject: That of the call's client certificate; `nil` without one.
    /// - Throws: `TransportError`: `malformed-response`, or the policy's refusal.
    func engineResponse(
        to plan: RequestPlan, showing subject: String?, body: BodyBuffer
    ) throws(TransportError) -> EngineResponse {
        guard let head = ResponseHead(head.span) else { throw Self.malformed(from: plan.host) }
        let verdict =
            plan.pins == nil
            ? nil
            : plan.policy?.verdict(
                for: plan.host, chain: chain, now: plan.now, served: served, port: plan.port)
        if let refusal = verdict?.refusal { throw TransportError(refusal) }
        var response = EngineResponse(
            response: head.response, body: HTTPResponseBody(body), httpVersion: head.version,
            timings: timings, verdict: verdict, peerChain: chain, record: record)
        response.interim = head.interim
        if wasAskedForCertificate {
            response.certificateRequest =
                subject.map { .answered(subject: $0) } ?? .unanswered
        }
        return response
    }

    /// The error of a header that isn't HTTP.
    static func malformed(from host: HostName) -> TransportError {
        TransportError(
            .malformedResponse, "\(host.uriText) sent a header that is not valid HTTP (RFC 9110)")
    }
}
