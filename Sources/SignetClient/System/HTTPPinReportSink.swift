import HTTPTypes
import SignetPinning
import SignetTransport

/// Sends reports to a collector through a pipeline that makes no reports of its own.
struct HTTPPinReportSink: PinReportSink {
    let target: PreparedCollector
    let pipeline: CallPipeline

    /// The maximum size of a collector's response in bytes. The response isn't used.
    private static let responseLimit = 64 << 10

    var name: String { "\(target.url.scheme)://\(target.url.authority)" }

    func receive(_ report: PinReport) async throws(PinError) {
        guard let body = target.collector.format.body(of: report) else { return }
        var host = target.host
        host.policy = try policy()
        var options = RequestOptions()
        options.maximumResponseSize = Self.responseLimit
        let asked = CallTarget(
            service: host.name, method: HTTPRequest.Method.post.rawValue, options: options,
            isBoxed: false, host: host)
        let url = target.url
        let status: Int
        do throws(ClientError) {
            status = try await pipeline.admission.admit(asked) { context throws(ClientError) in
                try await pipeline.exchange(
                    PendingCall.Exchange(
                        method: .post, target: url.target, body: HTTPRequestBody(body)),
                    at: url, fields: [.contentType: "application/json"], in: context
                ).status
            }
        } catch {
            throw PinError(.reportFailed, "\(error.code.name): \(error.message)")
        }
        guard (200..<300).contains(status) else {
            throw PinError(.reportFailed, "the collector responded with \(status), expected 2xx")
        }
    }

    /// The collector's own pins, or the policy's, under which unlisted hosts may be called.
    private func policy() throws(PinError) -> PinPolicy {
        try PinPolicy(
            rules: (target.host.policy ?? pipeline.admission.snapshots.current.policy)?.rules ?? [],
            unlisted: .allow)
    }
}

/// A collector with its parsed URL and policy.
struct PreparedCollector: Sendable {
    let collector: PinReportCollector
    let url: WebURL
    /// The collector as the pipeline calls it, with its own pins.
    let host: SystemHost

    init(_ collector: PinReportCollector) throws(ClientError) {
        self.collector = collector
        url = try WebURL(collector.url)
        guard url.scheme == "https" else {
            throw .refusedURL("the URL for pin reports must start with https://")
        }
        let policy: PinPolicy?
        do throws(PinError) {
            policy =
                collector.pins.isEmpty
                ? nil
                : try PinPolicy(rules: [PinRule(host: url.origin.host.text, pins: collector.pins)])
        } catch {
            throw .refusedURL(error.message)
        }
        host = try SystemHost(
            "pin-reports", url: collector.url, timeout: collector.timeout, policy: policy,
            isReport: true)
    }
}
