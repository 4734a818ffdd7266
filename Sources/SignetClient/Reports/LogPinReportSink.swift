import Logging
import SignetBase
import SignetPinning

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
                "wanted": "\(report.expected.map(\.text).joined(separator: ", "))",
                "dropped": "\(report.dropped)",
            ])
    }
}
