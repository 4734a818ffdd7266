import SignetCrypto
public import SignetPinning

/// The destinations and limits of reports about pins that didn't match.
///
/// ```swift
/// var options = NetworkSystem.Options()
/// options.pinReports.sinks = [JSONLinesPinReports(path: "/var/log/shop/pins.jsonl")]
/// var collector = PinReportCollector(url: "https://reports.example.com/hpkp")
/// collector.pins = [
///     try Pin(parsing: "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="),
///     try Pin(parsing: "sha256/E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g="),
/// ]
/// options.pinReports.collectors = [collector]
/// ```
///
/// A report is created if a host uses no pinned key, in enforce mode and in report mode, and if a
/// policy refuses a host before any connection, also after a redirect. Reports of the same kind
/// (host, port, rule, code, mode and chain) are sent once in `repeatsAfter`. Each sink has its own
/// queue, so reports neither delay calls nor make them fail.
public struct PinReportOptions: Sendable {
    /// Whether reports are written to the system's logger.
    public var logs = true
    /// Other destinations, such as a `JSONLinesPinReports`.
    public var sinks: [any PinReportSink] = []
    /// The collectors that reports are sent to.
    public var collectors: [PinReportCollector] = []
    /// Seconds between two reports of a kind.
    public var repeatsAfter: Int64 = 86_400
    /// The most reports that wait for one sink. Further ones are dropped, and the next report has
    /// their number.
    public var queueLimit = 256
    /// The longest time that `shutdown` waits for reports to be sent.
    public var flushTime: Duration = .seconds(2)

    /// Creates options that only write reports to the log.
    public init() {}
}

/// A server that collects pin reports.
///
/// Its host is checked against `pins`, or, if they are empty, against the policy's rule for it (RFC
/// 7469, section 2.1.4). A host without a rule is trusted by CA and host name alone, even if the
/// policy refuses unlisted hosts. Sending a report never causes another report.
///
/// If the policy's rule for the collector's host is wrong or has expired, reports to it fail as all
/// calls to that host do; they are counted and logged, and not sent again. To receive them
/// nevertheless, set `pins`. They replace the policy's rule, are enforced without expiration, and
/// aren't changed by policy updates. Use keys that outlive the policy's, including a backup key.
public struct PinReportCollector: Sendable {
    /// An https URL.
    public var url: String
    /// The format that the collector reads.
    public var format: PinReportFormat
    /// Pins of the collector's host that replace the policy's.
    public var pins: [Pin] = []
    /// The timeout for one report.
    public var timeout: Duration = .seconds(10)

    /// Creates a collector.
    public init(url: String, format: PinReportFormat = .rfc7469) {
        self.url = url
        self.format = format
    }
}

/// The numbers of pin reports so far.
public struct PinReportCounts: Sendable, Hashable {
    /// Findings and refusals.
    public internal(set) var made = 0
    /// Reports that weren't admitted: of a kind that was reported shortly before, or beyond the
    /// number of remembered kinds.
    public internal(set) var repeated = 0
    /// Reports that a sink accepted, counted once for each sink.
    public internal(set) var delivered = 0
    /// Reports that a sink refused.
    public internal(set) var failed = 0
    /// Reports that were dropped because a sink was too slow, or at shutdown.
    public internal(set) var dropped = 0

    static func + (left: PinReportCounts, right: PinReportCounts) -> PinReportCounts {
        var sum = left
        sum.made += right.made
        sum.repeated += right.repeated
        sum.delivered += right.delivered
        sum.failed += right.failed
        sum.dropped += right.dropped
        return sum
    }
}
