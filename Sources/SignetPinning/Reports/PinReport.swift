internal import SignetCrypto
public import SignetJSON

/// That a host showed no wanted key, or was refused by its policy, as values for those who look after
/// the pins. It holds nothing of the call: no path, no field, no body.
public struct PinReport: Sendable, Hashable {
    /// When, in Unix seconds.
    public let date: Int64
    /// The host that was asked for.
    public let host: HostName
    /// The port that was asked for.
    public let port: Int
    /// The rule that decided; nil where none is for the host.
    public let rule: PinRule?
    /// What was wrong: `pin-mismatch`, `unlisted-host`, `policy-expired` or `cleartext-to-pinned-host`.
    public let kind: PinError.Code
    /// Whether the call was refused; in report mode it passed.
    public let isEnforced: Bool
    /// The verified chain, leaf first; empty where the call was refused before any connection.
    public let chain: [SeenCertificate]
    /// The chain as the server sent it, each certificate as DER; empty where none was seen.
    public let served: [[UInt8]]
    /// How many reports were dropped before this one because a sink was too slow for them.
    public var dropped = 0

    /// The rule's pins, any of which would have done.
    public var wanted: [Pin] { rule?.pins ?? [] }

    /// Takes the values of a refusal or a finding.
    ///
    /// - Parameters:
    ///   - refusal: What was wrong.
    ///   - kind: Its code.
    ///   - port: The port, where the refusal does not know it.
    ///   - isEnforced: Whether the call was refused.
    ///   - date: Unix seconds.
    public init(
        _ refusal: PinRefusal, kind: PinError.Code, port: Int, isEnforced: Bool, date: Int64
    ) {
        self.date = date
        self.host = refusal.host
        self.port = refusal.port ?? port
        self.rule = refusal.rule
        self.kind = kind
        self.isEnforced = isEnforced
        self.chain = refusal.seen
        self.served = refusal.served
    }

    /// The report without certificates, in the words of `signet pins check --json`.
    public var json: JSONObject {
        var object: JSONObject = [
            "date": .string(UnixTime.rfc3339(date)), "kind": .string(kind.name),
            "host": .string(host.text), "port": .number(JSONNumber(port)),
            "rule": rule.map { .string($0.pattern.description) } ?? .null,
            "mode": .string(isEnforced ? "enforce" : "report"),
            "chain": .array(
                chain.map { ["subject": .string($0.subject), "pin": .string($0.pin.text)] }),
            "wanted": .array(wanted.map { .string($0.text) }),
            "expires": rule?.expires.map { .string($0.text) } ?? .null,
        ]
        if dropped > 0 { object["dropped"] = .number(JSONNumber(dropped)) }
        return object
    }
}

/// Where pin reports go.
///
/// A sink gets one report at a time, never from within a call; what it throws is logged and counted, and
/// nothing else comes of it.
public protocol PinReportSink: Sendable {
    /// What it is, for the log.
    var name: String { get }

    /// Takes a report.
    ///
    /// - Throws: `PinError` with code `report-failed`.
    func receive(_ report: PinReport) async throws(PinError)
}
