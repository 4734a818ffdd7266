internal import SignetCrypto

/// Lets one report of a kind through in a time: the same host, port, rule, code, mode and chain make a
/// kind.
///
/// It remembers so many kinds at most; when that is full, nothing new passes until the time of an old
/// one is over, so that a server with ever new certificates cannot make a flood. Refusals before any
/// connection, whose host names a redirect can invent, fill at most half of it: the other half is for keys
/// that a host has shown.
public struct PinReportRateLimiter: Sendable {
    private struct Kind: Hashable {
        let host: HostName
        let port: Int
        let rule: PinRule.Pattern?
        let code: PinError.Code
        let isEnforced: Bool
        /// Whether a host showed a chain at all.
        let isOfKeys: Bool
        let chain: [UInt8]
    }

    private let pause: Int64
    private let limit: Int
    private var last: [Kind: Int64] = [:]

    /// Makes a gate.
    ///
    /// - Parameters:
    ///   - pause: Seconds between two reports of a kind.
    ///   - limit: How many kinds are remembered.
    public init(pause: Int64 = 86_400, limit: Int = 1_024) {
        self.pause = max(pause, 0)
        self.limit = max(limit, 1)
    }

    /// Whether a report may go out now; the clock is the report's own date.
    public mutating func admits(_ report: PinReport) -> Bool {
        let pins = report.chain.flatMap(\.pin.bytes)
        // Where OpenSSL gives no digest, the pins themselves tell chains apart as well.
        let kind = Kind(
            host: report.host, port: report.port, rule: report.rule?.pattern, code: report.kind,
            isEnforced: report.isEnforced, isOfKeys: !report.chain.isEmpty,
            chain: (try? Digest.of(pins.span)) ?? pins)
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
        return kind.isOfKeys || last.keys.count { !$0.isOfKeys } < max(limit / 2, 1)
    }

    /// A clock that was set back begins anew.
    private func isOver(_ before: Int64, at now: Int64) -> Bool {
        now < before || now - before >= pause
    }
}
