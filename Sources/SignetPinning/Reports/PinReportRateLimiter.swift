import SignetCrypto

/// Admits one report of each kind in a period. Reports with the same host, port, rule, code, mode
/// and chain are of one kind.
///
/// The number of remembered kinds is limited, so that a server that keeps changing its certificate
/// can't cause a flood of reports. At the limit, a new kind is admitted only after the period of an
/// old one is over. Refusals before any connection fill at most half of the limit, because their
/// host names can come from redirects; the other half is reserved for reports with a chain.
public struct PinReportRateLimiter: Sendable {
    private struct Kind: Hashable {
        let host: HostName
        let port: Int
        let rule: PinRule.Pattern?
        let code: PinRefusal.Code
        let isEnforced: Bool
        /// A digest; empty for a report without a chain.
        let chain: [UInt8]
    }

    private let pause: Int64
    private let limit: Int
    private var last: [Kind: Int64] = [:]

    /// Creates a rate limiter.
    ///
    /// - Parameters:
    ///   - pause: Seconds between two reports of a kind.
    ///   - limit: The number of kinds that are remembered.
    public init(pause: Int64 = 86_400, limit: Int = 1_024) {
        self.pause = max(pause, 0)
        self.limit = max(limit, 1)
    }

    /// Whether a report may be sent now. The time is the report's own date.
    public mutating func admits(_ report: PinReport) -> Bool {
        let pins = report.chain.flatMap(\.pin.bytes)
        // If OpenSSL fails to compute a digest, the pins themselves identify the chain.
        let kind = Kind(
            host: report.host, port: report.port, rule: report.rule?.pattern, code: report.kind,
            isEnforced: report.isEnforced,
            chain: pins.isEmpty ? [] : (try? Digest.of(pins.span)) ?? pins)
        if let before = last[kind], !isOver(before, at: report.date) { return false }
        if last[kind] == nil, !hasRoom(for: kind) {
            last = last.filter { !isOver($0.value, at: report.date) }
            guard hasRoom(for: kind) else { return false }
        }
        last[kind] = report.date
        return true
    }

    private func hasRoom(for kind: Kind) -> Bool {
        guard last.count < limit else { return false }
        return !kind.chain.isEmpty || last.keys.count { $0.chain.isEmpty } < max(limit / 2, 1)
    }

    /// Whether a period is over. It is also over if the clock was set back.
    private func isOver(_ before: Int64, at now: Int64) -> Bool {
        now < before || now - before >= pause
    }
}
