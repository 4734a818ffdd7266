internal import HTTPTypes
internal import Logging
internal import SignetBase
internal import SignetCrypto
internal import SignetPinning
internal import SignetTransport

/// Tells reports to a logger.
struct LogPinReportSink: PinReportSink {
    let logger: Logger

    var name: String { "log" }

    func receive(_ report: PinReport) async throws(PinError) {
        let seen = report.chain.map { "\($0.pin.text) (\(printable($0.subject)))" }
        logger.log(
            level: report.isEnforced ? .error : .warning, "pin report",
            metadata: [
                "kind": "\(report.kind.name)", "host": "\(report.host.text)",
                "port": "\(report.port)", "mode": "\(report.isEnforced ? "enforce" : "report")",
                "rule": "\(report.rule?.pattern.description ?? "none")",
                "chain": "\(seen.joined(separator: ", "))",
                "wanted": "\(report.wanted.map(\.text).joined(separator: ", "))",
                "dropped": "\(report.dropped)",
            ])
    }
}

/// Sends reports to a collector through the system's pipeline. A refusal of such a request isn't
/// reported again.
struct HTTPPinReportSink: PinReportSink {
    let target: PreparedCollector
    let box: SnapshotBox
    let system: WeakSystem

    /// The maximum size of a collector's response in bytes. The response isn't used.
    private static let responseLimit = 64 << 10

    var name: String { "\(target.url.scheme)://\(target.url.authority)" }

    func receive(_ report: PinReport) async throws(PinError) {
        guard let body = target.collector.format.body(of: report) else { return }
        guard let system = system.object else {
            throw PinError(.reportFailed, "the network system is gone")
        }
        var host = target.host
        host.policy = try policy()
        var options = CallOptions()
        options.maximumResponseSize = Self.responseLimit
        let asked = CallTarget(
            service: host.name, method: HTTPRequest.Method.post.rawValue, options: options,
            isBoxed: false, host: host)
        let url = target.url
        let status: Int
        do throws(ClientError) {
            status = try await system.admitted(asked) { context throws(ClientError) in
                try await system.send(
                    context.request(
                        .post, to: url, fields: [.contentType: "application/json"],
                        body: RequestBody(body)), for: context
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
            rules: (target.host.policy ?? box.snapshot.policy)?.rules ?? [], unlisted: .allow)
    }
}
