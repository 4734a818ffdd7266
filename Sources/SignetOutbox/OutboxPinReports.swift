#if Storage
public import SignetPinning
import SignetJSON
import SignetStorage

/// Pin reports as records of an outbox, so that they survive a restart of the program.
///
/// ```swift
/// import SignetClient
/// import SignetOutbox
///
/// func start(_ configuration: GlobalConfiguration) async throws -> (NetworkSystem, Outbox) {
///     let reports = try Outbox(
///         "pin-reports", in: "/var/lib/shop", to: .post("/pin-reports", on: "reports"))
///     var options = NetworkSystem.Options()
///     options.pinReports.sinks = [OutboxPinReports(reports)]
///     let system = try await NetworkSystem.start(configuration, options: options)
///     try reports.start(through: system)
///     return (system, reports)
/// }
/// ```
///
/// A report about the host that takes the reports waits until that host shows a pinned key again.
public struct OutboxPinReports: PinReportSink {
    private let outbox: Outbox
    private let format: PinReportFormat?

    /// Creates a sink.
    ///
    /// - Parameters:
    ///   - outbox: The outbox.
    ///   - format: The format of the records. Nil is that of `signet pins check --json`, with the
    ///     pins of the chain and without its certificates.
    public init(_ outbox: Outbox, format: PinReportFormat? = nil) {
        self.outbox = outbox
        self.format = format
    }

    /// The name for the log.
    public var name: String { "outbox \(outbox.name)" }

    /// Adds a report, which is on the disk when this returns.
    ///
    /// - Throws: `PinError` with code `report-failed`.
    public func receive(_ report: PinReport) async throws(PinError) {
        do {
            guard let format else {
                return try await outbox.add(JSONValue.object(report.json))
            }
            // A report that the format can't express.
            guard let body = format.body(of: report) else { return }
            try await outbox.add(JSONValue(parsing: body))
        } catch {
            throw PinError(.reportFailed, "the outbox \(outbox.name) took no report: \(error)")
        }
    }
}
#endif
