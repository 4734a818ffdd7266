#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetCurl
import SignetJSON
import SignetPinning
import SignetTransport

/// `signet pins check`: a server's verified chain against a policy.
struct PinsCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check a server's verified chain against a pin policy.",
        discussion: """
            Makes a TLS connection and requests nothing. With exit 1, it prints every pin that was \
            seen and every pin that was expected, one a line, and what to do. On a terminal, a \
            match is a table with the expiration of each certificate; a pipe gets plain lines. \
            With --within and --enforce, a monitor sees a problem before programs do.
            """,
        examples: [
            "signet pins check https://api.example.com --policy policy.json",
            "signet pins check https://api.example.com --policy policy.json --within 30 --enforce",
        ])

    @Argument(help: ArgumentHelp("The URL of the host.", valueName: "URL"))
    var url: String

    @Option(name: .customLong("policy"), help: "The pin policy, a JSON file.", completion: .file())
    var policyFile: String?

    @Option(
        name: .customLong("within"),
        help: ArgumentHelp(
            "Exit 1 if the rule, or a certificate of the chain, ends within this many days.",
            valueName: "DAYS"))
    var days: Int64?

    @Flag(help: "Refuse what a rule in report mode would only report.")
    var enforce = false

    @OptionGroup var project: ProjectOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (0...36_500).contains(days ?? 0) else {
            throw ValidationError("--within is a number of days from 0 to 36500")
        }
    }

    func run() async throws {
        let project = try project.load()
        guard let policy = try project.pinPolicy(policyFile) else {
            throw ToolError.usage(
                "missing --policy FILE: "
                    + (project.leftOut ?? "give it, or name it in a signet.json (member \"policy\")")
            )
        }
        let target = try PinsTarget(parsing: url)
        let host = target.authority.host
        let now = UnixTime.now()
        let decision = policy.decision(
            for: host, isSecure: target.isSecure, now: now, port: target.port)
        if !target.isSecure {
            if let refusal = decision.refusal { throw refusal }
            throw ToolError.usage("pins need TLS: the URL must begin with https://")
        }
        let seen: ProbeResult
        do {
            seen = try await target.probe(network, of: project, policy: policy)
        } catch {
            // A host that the policy refuses is refused, whether it can be reached or not.
            if let refusal = decision.refusal { throw refusal }
            throw error
        }
        guard seen.isTrusted else { throw target.untrusted(seen) }
        let verdict = policy.verdict(
            for: host, chain: seen.chain, now: now, port: target.port)
        if let refusal = enforce ? verdict.finding : verdict.refusal {
            var failure = ToolError(refusal)
            failure.beside = MemberText(object(verdict, of: target))
            throw failure
        }
        if let failure = ending(of: verdict, target: target, now: now) {
            if common.terminal.isForPeople {
                try common.terminal.result([:], lines: lines(verdict, of: target, now: now))
            }
            throw failure
        }
        if let finding = verdict.finding, !common.json {
            // On a terminal, the table has the pins.
            common.terminal.note(
                common.terminal.isForPeople
                    ? Terminal.wrapped(finding.summary, indent: 2) + finding.remedyLines
                    : finding.lines(endingMessage: finding.message))
        }
        try common.terminal.result(
            object(verdict, of: target), lines: lines(verdict, of: target, now: now))
    }

    /// The failure if something ends within the time that `--within` gives.
    private func ending(of verdict: PinVerdict, target: PinsTarget, now: Int64) -> ToolError? {
        guard let days else { return nil }
        var ends: [(subject: String, end: Int64)] = []
        if let rule = verdict.rule, let expires = verdict.expires {
            ends.append(("the rule \(rule)", expires.end))
        }
        for certificate in verdict.seen {
            if let end = certificate.parsed?.notAfter {
                ends.append(("the certificate \(certificate.subject)", end))
            }
        }
        let soon = ends.filter { $0.end <= now + days * 86_400 }
            .map { "\($0.subject) at \(UnixTime.rfc3339($0.end))" }
        guard !soon.isEmpty else { return nil }
        var failure = ToolError(
            .expiresSoon,
            Terminal.printable(
                "\(target.origin): \(soon.joined(separator: ", ")) ends, expected nothing that"
                    + " ends within \(days) days"), beside: object(verdict, of: target))
        failure.lines =
            Terminal.wrapped(
                "\(target.origin): expected nothing that ends within \(days) days; this ends:",
                indent: 2) + soon.flatMap { Terminal.wrapped($0, firstIndent: 2, indent: 4) }
        return failure
    }

    private func object(_ verdict: PinVerdict, of target: PinsTarget) -> JSONObject {
        [
            "host": .string(verdict.host.text), "port": .number(JSONNumber(target.port)),
            "rule": verdict.rule.map { .string($0.description) } ?? .null,
            "mode": .string(verdict.mode.rawValue), "match": .bool(verdict.isMatch),
            "chain": pinsJSON(verdict.seen),
            "wanted": .array(verdict.expected.map { .string($0.text) }),
            "expires": verdict.expires.map { .string($0.text) } ?? .null,
        ]
    }

    private func lines(_ verdict: PinVerdict, of target: PinsTarget, now: Int64) -> [String] {
        let (outcome, tone): (String, Table.Tone) =
            if !verdict.isPinned {
                ("not pinned; CA, dates and host name are valid", .plain)
            } else if verdict.isMatch {
                ("match", .good)
            } else {
                ("no match, reported only", .warning)
            }
        let isColored = common.terminal.allowsColor
        var lines = [
            "\(target.origin): \(Table.colored(outcome, tone: tone, isAllowed: isColored))"
        ]
        if let rule = verdict.rule {
            let expiry = verdict.expires.map {
                ", expires "
                    + Table.colored(
                        $0.text, tone: Table.until($0.end, now: now).tone, isAllowed: isColored)
            }
            lines.append("rule \(rule) (\(verdict.mode.rawValue)\(expiry ?? ""))")
        }
        if common.terminal.isForPeople {
            return lines + table(verdict, now: now).lines(colored: isColored)
        }
        for certificate in verdict.seen {
            let mark = verdict.expected.contains(certificate.pin) ? "=" : " "
            lines.append(
                "\(mark) \(certificate.pin.text) \(Terminal.printable(certificate.subject))")
        }
        return lines
    }

    /// The certificate chain, leaf first, followed by the wanted pins that the chain doesn't
    /// contain.
    private func table(_ verdict: PinVerdict, now: Int64) -> Table {
        var table = Table("PIN", "STATE", "UNTIL", "SUBJECT")
        for certificate in verdict.seen {
            let isWanted = verdict.expected.contains(certificate.pin)
            table.add([
                (certificate.pin.text, .plain),
                isWanted ? ("match", .good) : ("seen", .plain),
                Table.until(certificate.parsed?.notAfter, now: now), (certificate.subject, .plain),
            ])
        }
        for pin in verdict.expected where !verdict.seen.contains(where: { $0.pin == pin }) {
            table.add([
                (pin.text, .plain), ("not seen", verdict.isMatch ? .plain : .bad),
                ("-", .plain), ("-", .plain),
            ])
        }
        return table
    }
}
#endif
