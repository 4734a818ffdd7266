internal import HTTPTypes
internal import SignetPinning
internal import SignetTransport

/// A reply's header as libcurl gave it; it is read on the caller's thread, so that the loop's thread
/// goes on with other calls.
final class Reply: Sendable {
    /// The start line and fields, line by line.
    let head: [UInt8]
    let timings: Timings
    /// The verified chain; empty where nothing is pinned.
    let chain: [SeenCertificate]
    /// The chain as sent, each certificate as DER; empty where nothing is to be reported.
    let served: [[UInt8]]
    /// Where the timings of the whole will be.
    let record: TimingsRecord

    init(
        head: [UInt8], timings: Timings, chain: [SeenCertificate], served: [[UInt8]],
        record: TimingsRecord
    ) {
        self.head = head
        self.timings = timings
        self.chain = chain
        self.served = served
        self.record = record
    }

    /// The response that a call's caller gets.
    ///
    /// - Throws: `TransportError`: `malformed-reply`, or the policy's refusal.
    func response(to plan: RequestPlan, body: BodyBuffer) throws(TransportError) -> EngineResponse {
        let lines = head
        guard let head = ReplyHead(lines.span) else {
            throw TransportError(
                code: .malformedResponse,
                message: "\(plan.host.uriText) sent a header that is no HTTP (RFC 9110)")
        }
        let verdict =
            plan.pins == nil
            ? nil
            : plan.policy?.verdict(
                for: plan.host, chain: chain, now: plan.now, served: served, port: plan.port)
        if let refusal = verdict?.refusal { throw TransportError(refusal) }
        return EngineResponse(
            response: head.response, body: ResponseBody(body), httpVersion: head.version,
            timings: timings, verdict: verdict, peerChain: chain, record: record)
    }
}
