import SignetBase
public import SignetJSON

/// A report that a host used no pinned key, or that a policy refused it.
///
/// It contains nothing else of the call: no path, no field and no body.
public struct PinReport: Sendable, Hashable {
    /// The time of the report, in Unix seconds.
    public let date: Int64
    /// The host of the call.
    public let host: HostName
    /// The port of the call.
    public let port: Int
    /// The rule that decided; nil if no rule covers the host.
    public let rule: PinRule?
    /// The code of the refusal: `pin-mismatch`, `unlisted-host`, `policy-expired` or
    /// `cleartext-to-pinned-host`.
    public let kind: PinRefusal.Code
    /// Whether the call was refused; false in report mode.
    public let isEnforced: Bool
    /// The verified chain, leaf first; empty if the call was refused before any connection.
    public let chain: [SeenCertificate]
    /// The chain as the server sent it, each certificate as DER; empty if none was seen.
    public let served: [[UInt8]]
    /// The number of reports that were dropped before this one because the sink was too slow.
    public var dropped = 0

    /// The rule's pins, any of which would have been accepted.
    public var expected: [Pin] { rule?.pins ?? [] }

    /// Creates a report of a refusal, or of a finding in report mode.
    ///
    /// - Parameters:
    ///   - refusal: The refusal, or the finding.
    ///   - port: The port of the call, if the refusal doesn't have it.
    ///   - isEnforced: Whether the call was refused.
    ///   - date: The time in Unix seconds.
    public init(
        _ refusal: PinRefusal, port: Int, isEnforced: Bool, date: Int64
    ) {
        self.date = date
        self.host = refusal.host
        self.port = refusal.port ?? port
        self.rule = refusal.rule
        self.kind = refusal.code
        self.isEnforced = isEnforced
        self.chain = refusal.seen
        self.served = refusal.served
    }

    /// The report without certificates, with the member names of `signet pins check --json`.
    public var json: JSONObject {
        var object: JSONObject = [
            "date": .string(UnixTime.rfc3339(date)), "kind": .string(kind.name),
            "host": .string(host.text), "port": .number(JSONNumber(port)),
            "rule": rule.map { .string($0.pattern.description) } ?? .null,
            "mode": .string(isEnforced ? "enforce" : "report"),
            "chain": .array(
                chain.map { ["subject": .string($0.subject), "pin": .string($0.pin.text)] }),
            "wanted": .array(expected.map { .string($0.text) }),
            "expires": rule?.expires.map { .string($0.text) } ?? .null,
        ]
        if dropped > 0 { object["dropped"] = .number(JSONNumber(dropped)) }
        return object
    }
}

/// A destination of pin reports.
///
/// A sink receives one report at a time, and never delays a call. Errors that it throws are logged
/// and counted, and have no other effect.
public protocol PinReportSink: Sendable {
    /// The sink's name for the log.
    var name: String { get }

    /// Receives a report.
    ///
    /// - Throws: `PinError` with code `report-failed`.
    func receive(_ report: PinReport) async throws(PinError)
}
