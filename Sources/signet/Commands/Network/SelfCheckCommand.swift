#if Tool
import ArgumentParser
import SignetBase
import SignetClient
import SignetCrypto
import SignetJSON
import SignetPinning

/// `signet self-check`: a check of the program and its files.
struct SelfCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "self-check",
        abstract:
            "Check primitives, libcurl, keys, dump, mode, pins and the pinned hosts, and make test calls.",
        discussion: """
            Checks the files of the project that --project FILE, else SIGNET_PROJECT or the \
            signet.json of this folder or a parent names (signet project schema prints its \
            format); without one, only the program. Exit 1 if a line is bad. A certificate, a pin \
            rule or a key that ends soon is a warning, and the exit is 0. The test calls of the \
            configuration (probes.NAME.…) go through the whole system, each with its own timeout. \
            Hosts are reached through --proxy, else through the proxy of the configuration, else \
            through that of the environment. A signet.json that was found needs trust for this; \
            --offline does not.
            """,
        examples: [
            "signet self-check --offline", "signet self-check --within 60 --html check.html",
        ])

    @OptionGroup var common: CommonOptions

    @OptionGroup var project: ProjectOptions
    @OptionGroup var identity: IdentityOptions

    @Flag(name: .customLong("offline"), help: "Skip the hosts and the test calls.")
    var isOffline = false

    @Option(
        name: .customLong("within"),
        help: ArgumentHelp(
            "Warn of a certificate, a pin rule or a key that ends within this many days.",
            valueName: "DAYS"))
    var days: Int64 = 30

    @OptionGroup var proxies: ProxyOptions

    @Option(
        name: .customLong("timeout"),
        help: ArgumentHelp("The time limit of one host.", valueName: "seconds"))
    var timeoutSeconds: Double = 10

    @OptionGroup var page: PageOptions

    func validate() throws {
        try page.requireUsable(beside: common)
        guard (0...36_500).contains(days) else {
            throw ValidationError("--within is a number of days from 0 to 36500")
        }
        guard timeoutSeconds > 0, timeoutSeconds <= 86400 else {
            throw ValidationError("--timeout is a number of seconds above 0 and up to 86400")
        }
    }

    func run() async throws {
        let loaded = try project.load()
        loaded.note(on: common.terminal)
        // A file that was found must not choose which hosts are reached.
        if !isOffline { try loaded.requireTrustForHosts() }
        var project = loaded.file
        project.identity = try identity.source
        // A shared set of a file that was found needs trust in its roots.
        if let keys = project.keys, (try? KeySource(keys).loadShared()) != nil {
            do {
                _ = try identity.load(keys, of: loaded, notingOn: common.terminal)
            } catch let error as KeyError
                where [.missingIdentity, .notARecipient].contains(error.code)
            {
                // The report says it.
            }
        }
        var check = ProjectCheck(
            of: project, isOffline: isOffline,
            hostTimeout: .milliseconds(Int64(timeoutSeconds * 1000)))
        check.horizon = days * 86_400
        let rules = try proxies.rules()
        if proxies.namesProxy { check.proxies = rules } else { check.otherProxies = rules }
        let now = UnixTime.now()
        let report = await check.run(now: now)
        let terminal = common.terminal
        // An unreadable file becomes a `bad` line of the report, so it doesn't end the command.
        let isShown = try page.write(
            StatusPage(
                of: report,
                keys: project.keys.flatMap {
                    try? identity.load($0, of: loaded, notingOn: terminal)
                },
                policy: try? loaded.pinPolicy(nil), now: now, leadTime: check.horizon),
            on: terminal)
        if report.isGood {
            if !isShown { try terminal.result(report.json, lines: table(report)) }
            return
        }
        if !common.json, !isShown { try terminal.result([:], lines: table(report)) }
        let bad = report.lines.count { $0.status == .bad }
        throw ToolError(
            .selfCheckFailed, "\(bad) of \(report.lines.count) checks are bad",
            beside: report.json)
    }

    private func table(_ report: SelfCheckReport) -> [String] {
        let shown =
            report.testCalls + report.hostsAndPins + report.others + report.shortKnownAnswers
        let area = shown.map(\.area.count).max() ?? 0
        let subject = min(40, shown.map { printable($0.subject).count }.max() ?? 0)
        var lines: [String] = []
        for line in shown {
            let start = [
                mark(line.status), padded(line.area, to: area),
                padded(printable(line.subject), to: subject),
            ].joined(separator: "  ")
            let detail = line.pinRefusal?.summary ?? printable(line.detail)
            if start.count + 2 + detail.count <= PinText.width {
                lines.append("\(start)  \(detail)")
            } else {
                lines.append(start.replacing(#/ +$/#, with: ""))
                lines += Terminal.wrapped(detail, firstIndent: 11, indent: 11)
            }
            if let refusal = line.pinRefusal {
                lines += refusal.details(width: PinText.width - 9).map { "         \($0)" }
            } else if let remedy = line.remedy {
                lines += Terminal.wrapped("→ \(remedy)", firstIndent: 11, indent: 13)
            }
        }
        return lines
    }

    private func mark(_ status: SelfCheckReport.Status) -> String {
        let tone: Table.Tone =
            switch status {
            case .good: .good
            case .warning: .warning
            case .bad: .bad
            case .skipped: .plain
            }
        return Table.colored(
            padded(status.rawValue, to: 7), tone: tone, isAllowed: common.terminal.allowsColor)
    }

    private func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

/// The order in which people read a report: first what changes from day to day.
extension SelfCheckReport {
    var hostsAndPins: [Line] {
        lines.filter { $0.area == "hosts" } + lines.filter { $0.area == "pins" }
    }

    var testCalls: [Line] { lines.filter { $0.area == "probes" } }

    var knownAnswers: [Line] { lines.filter { $0.area == "crypto" } }

    var others: [Line] {
        lines.filter { !["hosts", "pins", "probes", "crypto"].contains($0.area) }
    }

    /// The known answers on one line, unless one is wrong.
    fileprivate var shortKnownAnswers: [Line] {
        let answers = knownAnswers
        guard var line = answers.first, answers.allSatisfy({ $0.status == .good }) else {
            return answers
        }
        line.subject = "known answers"
        line.detail = "\(answers.count) of \(answers.count) are right"
        return [line]
    }
}
#endif
