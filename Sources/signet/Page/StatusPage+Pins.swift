#if Tool
import SignetBase
import SignetPinning

extension StatusPage {
    /// The page of `signet pins plan`.
    ///
    /// - Parameters:
    ///   - plan: The validity of pins and certificates, and the findings.
    ///   - now: Unix seconds.
    ///   - leadTime: Seconds; what ends within them is a finding.
    ///   - policyFile: The policy's path.
    init(of plan: PinPlan, now: Int64, leadTime: Int64, policyFile: String) {
        var timeline = Timeline(now: now, leadTime: leadTime)
        for host in plan.hosts {
            timeline.rows += Self.rows(of: host, in: plan, now: now, leadTime: leadTime)
        }
        let findings = plan.findings.count
        self.init(
            title: "Pins and certificates",
            summary: findings == 0
                ? "Every pinned host has a certificate and a key in reserve."
                : "\(findings) \(findings == 1 ? "finding needs" : "findings need") a look.",
            facts: [
                ("Time", UnixTime.rfc3339(now)), ("Policy", policyFile),
                ("Lead time", "\(leadTime / 86_400) days"), ("Hosts", String(plan.hosts.count)),
                ("Made by", "signet \(VersionReport.tool)"),
            ],
            sections: [
                Section(title: "Findings", body: Self.findings(plan)),
                Section(
                    title: "What is valid when",
                    body: timeline.html(titled: "Pins, certificates and rules")),
            ])
    }

    private static func findings(_ plan: PinPlan) -> HTML {
        guard !plan.findings.isEmpty else { return "<p>None.</p>" }
        return table(
            "Findings", columns: ["Host", "Severity", "Finding", "Date", "Code"],
            rows: plan.findings.map { finding in
                [
                    "\(finding.host ?? "–")",
                    state(
                        finding.severity.rawValue,
                        tone: finding.severity == .error ? .bad : .warning),
                    words(finding.message), words(Timeline.date(finding.at)),
                    "<code>\(finding.code)</code>",
                ]
            })
    }

    /// A row for the rule's own end, and one for each certificate or, without one, each pin.
    private static func rows(
        of host: PinPlan.Host, in plan: PinPlan, now: Int64, leadTime: Int64
    ) -> [Timeline.Row] {
        let name = host.rule.pattern.description
        var rows: [Timeline.Row] = []
        if host.rule.expires != nil {
            rows.append(Timeline.Row(of: host.rule, now: now, leadTime: leadTime))
        }
        for pin in host.pins {
            let isSoon = plan.findings.contains { $0.pin == pin.pin && $0.code == "ends-soon" }
            let tone: Timeline.Tone =
                switch pin.state {
                case .inUse: isSoon ? .warning : .good
                case .reserve: .good
                case .ended: .bad
                case .noKey: .warning
                }
            let certificates = pin.materials.filter { $0.kind == .certificate }
            for certificate in certificates {
                let isOver = (certificate.notAfter ?? .max) < now
                rows.append(
                    Timeline.Row(
                        group: name, label: pin.pin.text,
                        state: isOver ? "ended" : pin.state.words, tone: isOver ? .bad : tone,
                        start: certificate.notBefore, end: certificate.notAfter,
                        note: "certificate, \(certificate.subject), \(certificate.source)"))
            }
            if certificates.isEmpty {
                let sources = pin.materials.map { "\($0.kind.rawValue), \($0.source)" }
                rows.append(
                    Timeline.Row(
                        group: name, label: pin.pin.text, state: pin.state.words, tone: tone,
                        note: sources.isEmpty
                            ? "no file has its key" : sources.joined(separator: "; "),
                        isOpen: true))
            }
        }
        return rows
    }
}

extension Timeline.Row {
    /// The row of a rule, which may expire.
    init(of rule: PinRule, now: Int64, leadTime: Int64) {
        let isOver = rule.hasExpired(at: now)
        let isWeak = rule.pins.count < 2 || rule.hasExpired(at: now + leadTime)
        let effect =
            rule.expires == nil
            ? "without an end"
            : rule.afterExpiry == .refuse
                ? "after it calls are refused" : "after it CA and host name decide alone"
        self.init(
            group: rule.pattern.description,
            label: "rule, \(rule.pins.count) pin\(rule.pins.count == 1 ? "" : "s")",
            state: isOver ? "expired" : "in force", tone: isOver ? .bad : isWeak ? .warning : .good,
            // The last second in force, so that the date is the one of the rule.
            end: rule.expires.map { $0.end - 1 },
            note: effect + (rule.pins.count < 2 ? "; no backup pin" : ""),
            isOpen: rule.expires == nil)
    }
}

extension PinPlan.State {
    /// The state for people.
    fileprivate var words: String {
        switch self {
        case .inUse: "in use"
        case .reserve: "in reserve"
        case .ended: "ended"
        case .noKey: "no key at hand"
        }
    }
}
#endif
