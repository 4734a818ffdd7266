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

/// Sends reports to a collector through the system's engine, but past everything that reports.
struct HTTPPinReportSink: PinReportSink {
    let target: PreparedCollector
    let engine: any HTTPEngine
    let box: SnapshotBox
    let connectTo: [EngineRequest.ConnectTo]

    /// The most bytes of a collector's answer, which nobody reads.
    private static let answerLimit = 64 << 10

    var name: String { "\(target.url.scheme)://\(target.url.authority)" }

    func receive(_ report: PinReport) async throws(PinError) {
        guard let body = target.collector.format.body(of: report) else { return }
        guard !box.snapshot.mode.simulation.reachesNoHost else {
            throw PinError(.reportFailed, "simulation.offline lets nothing out")
        }
        var head = HTTPRequest(
            method: .post, scheme: target.url.scheme, authority: target.url.authority,
            path: target.url.target)
        head.headerFields[.contentType] = "application/json"
        let policy = try policy()
        var request = EngineRequest(head, body: body, policy: policy)
        request.timeout = target.collector.timeout
        request.connectTimeout = target.collector.timeout
        request.maximumBodySize = Self.answerLimit
        request.connectTo = connectTo
        let status: Int
        do throws(TransportError) {
            request.proxy = box.snapshot.proxies.proxy(for: try WebURL(head).origin)
            let response = try await engine.send(request)
            status = response.response.status.code
            // Read, so that the connection serves again.
            _ = try? await response.body.collect(limit: Self.answerLimit)
        } catch {
            throw PinError(.reportFailed, "\(error.code.name): \(error.message)")
        }
        guard (200..<300).contains(status) else {
            throw PinError(.reportFailed, "the collector answered \(status)")
        }
    }

    /// The collector's own pins, or the policy's, under which unlisted hosts may be spoken to.
    private func policy() throws(PinError) -> PinPolicy {
        let rules = (target.policy ?? box.snapshot.policy)?.rules ?? []
        guard engine.capabilities.pinsPublicKeys || rules.isEmpty else {
            throw PinError(
                .reportFailed, "the engine \(engine.capabilities.name) cannot check pins")
        }
        return try PinPolicy(rules: rules, unlisted: .allow)
    }
}
