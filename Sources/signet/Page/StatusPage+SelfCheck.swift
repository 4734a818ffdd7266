#if Tool
import SignetBase
import SignetClient
import SignetCrypto
import SignetPinning

extension StatusPage {
    /// The page of `signet self-check`.
    ///
    /// - Parameters:
    ///   - report: The checks.
    ///   - keys: The project's key set; nil if it has none that can be read.
    ///   - policy: The project's pin policy; nil if it has none that can be read.
    ///   - now: Unix seconds.
    ///   - leadTime: Seconds; what ends within them is a warning.
    init(
        of report: SelfCheckReport, keys: KeySet?, policy: PinPolicy?, now: Int64, leadTime: Int64
    ) {
        let bad = report.lines.count { $0.status == .bad }
        let warnings = report.lines.count { $0.status == .warning }
        var timeline = Timeline(now: now, leadTime: leadTime)
        for rule in policy?.rules ?? [] where !rule.isExclusion {
            timeline.rows.append(Timeline.Row(of: rule, now: now, leadTime: leadTime))
        }
        for key in keys?.keys ?? [] { timeline.rows.append(key.row(now: now, leadTime: leadTime)) }
        self.init(
            title: "Self-check",
            summary: report.isGood
                ? "No check is bad; \(warnings) \(warnings == 1 ? "warning" : "warnings")."
                : "\(bad) of \(report.lines.count) checks are bad.",
            facts: [
                ("Time", UnixTime.rfc3339(now)), ("Made by", "signet \(VersionReport.tool)"),
            ],
            sections: Self.testCalls(report.testCalls) + [
                Section(
                    title: "Hosts and pins",
                    body: Self.checks(report.hostsAndPins, titled: "Hosts and pins")),
                Section(
                    title: "What is valid when", body: timeline.html(titled: "Pin rules and keys")),
                Section(
                    title: "Other checks", body: Self.checks(report.others, titled: "Other checks")),
                Section(title: "Keys", body: Self.keys(keys, now: now, leadTime: leadTime)),
                Section(title: "Known answers", body: Self.folded(report.knownAnswers)),
            ])
    }

    private static func testCalls(_ lines: [SelfCheckReport.Line]) -> [Section] {
        lines.isEmpty
            ? [] : [Section(title: "Test calls", body: checks(lines, titled: "Test calls"))]
    }

    /// The known answers, which are of interest only if one is wrong.
    private static func folded(_ lines: [SelfCheckReport.Line]) -> HTML {
        let right = lines.count { $0.status == .good }
        let summary: HTML = "<summary>\(right) of \(lines.count) are right</summary>"
        let answers = checks(lines, titled: "Known answers")
        return right == lines.count
            ? "<details>\n\(summary)\n\(answers)\n</details>"
            : "<details open=\"open\">\n\(summary)\n\(answers)\n</details>"
    }

    private static func checks(_ lines: [SelfCheckReport.Line], titled title: String) -> HTML {
        table(
            title, columns: ["Subject", "Area", "Status", "Finding", "What to do"],
            rows: lines.map { line in
                let tone: Timeline.Tone =
                    switch line.status {
                    case .good: .good
                    case .warning: .warning
                    case .bad: .bad
                    case .skipped: .idle
                    }
                return [
                    "\(line.subject)", "\(line.area)", state(line.status.rawValue, tone: tone),
                    words(line.detail), words(line.remedy ?? "–"),
                ]
            })
    }

    private static func keys(_ set: KeySet?, now: Int64, leadTime: Int64) -> HTML {
        guard let set, !set.keys.isEmpty else { return "<p>There is no key set to show.</p>" }
        return table(
            "Keys", columns: ["Id", "Type", "Algorithm", "Half", "From", "Until", "State"],
            rows: set.keys.map { key in
                let (word, tone) = key.condition(now: now, leadTime: leadTime)
                return [
                    "\(key.id)", "\(key.kind.name)", "\(key.algorithm ?? "–")",
                    "\(key.isPrivate ? "private" : "public")",
                    words(Timeline.date(key.notBefore)), words(Timeline.date(key.expires)),
                    state(word, tone: tone),
                ]
            })
    }
}

extension CryptoKey {
    /// The state of the key, with the colour of what it means.
    fileprivate func condition(now: Int64, leadTime: Int64) -> (word: String, tone: Timeline.Tone) {
        if isRevoked { return ("revoked", .bad) }
        if shortHMACByteCount != nil { return ("too short", .warning) }
        if let expires, expires <= now { return ("expired", .bad) }
        if let notBefore, notBefore > now { return ("not yet valid", .warning) }
        if let expires, expires - now < leadTime { return ("ends soon", .warning) }
        return ("usable", .good)
    }

    fileprivate func row(now: Int64, leadTime: Int64) -> Timeline.Row {
        let (word, tone) = condition(now: now, leadTime: leadTime)
        return Timeline.Row(
            group: "Keys", label: "\(id) (\(kind.name))", state: word, tone: tone, start: notBefore,
            end: expires, note: expires == nil ? "without an end" : "", isOpen: expires == nil)
    }
}
#endif
