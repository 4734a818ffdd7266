internal import SignetCrypto
public import SignetPinning

/// Where reports of pins that did not match go, and how many of them.
///
/// A report is made where a host showed no wanted key, refused or only reported, and where a policy refused
/// a host before any connection, also one that a redirect led to. It leaves once in `repeatsAfter` for each kind (host, port, rule, code,
/// mode, chain), through a queue of its own for each sink: no call waits for it or fails by it.
public struct PinReportOptions: Sendable {
    /// Whether reports are told to the system's logger.
    public var logs = true
    /// Where else they go, such as a `JSONLinesPinReports`.
    public var sinks: [any PinReportSink] = []
    /// Collectors that they are sent to.
    public var collectors: [PinReportCollector] = []
    /// Seconds between two reports of a kind.
    public var repeatsAfter: Int64 = 86_400
    /// How many reports wait for one sink at most; more are dropped, counted, and told of in the next.
    public var queueLimit = 256
    /// How long `shutdown` waits for reports that have not left.
    public var flushTime: Duration = .seconds(2)

    /// The log alone.
    public init() {}
}

/// A collector of pin reports.
///
/// Its host is judged by `pins`, or without any by the policy's rule for it (RFC 7469, section 2.1.4); a host
/// without a rule by CA, dates and name alone, also where the policy refuses unlisted hosts. What becomes of
/// a report to it never makes another report.
///
/// Where the policy's rule for the collector's host is itself what is wrong, or has expired, the report that
/// tells of it fails as every call to that host does; it is counted, logged and not sent again. Only `pins`
/// help: they take the place of the policy's rule, in enforce mode and without an end, and no update of the
/// policy changes them. Have them be of keys that outlive the policy's, one in reserve among them.
public struct PinReportCollector: Sendable {
    /// An https URL.
    public var url: String
    /// What it reads.
    public var format: PinReportFormat
    /// Pins of the collector's host in place of the policy's.
    public var pins: [Pin] = []
    /// The time for one report.
    public var timeout: Duration = .seconds(10)

    /// Names a collector.
    public init(url: String, format: PinReportFormat = .rfc7469) {
        self.url = url
        self.format = format
    }
}

/// What became of pin reports so far.
public struct PinReportCounts: Sendable, Hashable {
    /// Findings and refusals.
    public internal(set) var made = 0
    /// Those of a kind that was reported shortly before, or past the number of kinds that is remembered.
    public internal(set) var repeated = 0
    /// Reports that a sink took; one may go to several.
    public internal(set) var delivered = 0
    /// Reports that a sink did not take.
    public internal(set) var failed = 0
    /// Reports that a sink was too slow for, or that were left at the end.
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

/// A collector whose URL can be used.
struct PreparedCollector: Sendable {
    let collector: PinReportCollector
    let url: RequestURL
    /// The policy of `collector.pins`; nil without any.
    let policy: PinPolicy?

    init(_ collector: PinReportCollector) throws(ClientError) {
        self.collector = collector
        url = try RequestURL(collector.url)
        guard url.scheme == "https" else {
            throw .refusedURL("the URL for pin reports begins with https://")
        }
        let host = try url.host()
        do throws(PinError) {
            policy =
                collector.pins.isEmpty
                ? nil : try PinPolicy(rules: [PinRule(host: host.text, pins: collector.pins)])
        } catch {
            throw .refusedURL(error.message)
        }
    }
}
