import ArgumentParser
internal import SignetBase
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
            seen and every pin that was expected. On a terminal, a table shows the expiration of \
            each certificate; a pipe gets plain lines.
            """,
        examples: [
            "signet pins check https://api.example.com --policy policy.json"
        ])

    @Argument(help: ArgumentHelp("The URL of the host.", valueName: "URL"))
    var url: String

    @Option(name: .customLong("policy"), help: "The pin policy, a JSON file.", completion: .file())
    var policyFile: String?

    @OptionGroup var project: ProjectOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var common: CommonOptions

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
            seen = try await target.probe(network, policy: policy)
        } catch {
            // A host that the policy refuses is refused, whether it can be reached or not.
            if let refusal = decision.refusal { throw refusal }
            throw error
        }
        guard seen.isTrusted else { throw target.untrusted(seen) }
        let verdict = policy.verdict(
            for: host, chain: seen.chain, now: now, port: target.port)
        if let refusal = verdict.refusal {
            if common.terminal.isForPeople {
                try common.terminal.result([:], lines: lines(verdict, of: target, now: now))
            }
            throw ToolError(
                refusal.errorCode, refusal.message, details: refusal.details,
                beside: object(verdict, of: target))
        }
        if let finding = verdict.finding, !common.json { common.terminal.note(finding.message) }
        try common.terminal.result(
            object(verdict, of: target), lines: lines(verdict, of: target, now: now))
    }

    private func object(_ verdict: PinVerdict, of target: PinsTarget) -> JSONObject {
        [
            "host": .string(verdict.host.text), "port": .number(JSONNumber(target.port)),
            "rule": verdict.rule.map { .string($0.description) } ?? .null,
            "mode": .string(verdict.mode.rawValue), "match": .bool(verdict.isMatch),
            "chain": pinsJSON(verdict.seen),
            "wanted": .array(verdict.wanted.map { .string($0.text) }),
            "expires": verdict.expires.map { .string($0.text) } ?? .null,
        ]
    }

    private func lines(_ verdict: PinVerdict, of target: PinsTarget, now: Int64) -> [String] {
        let (outcome, tone): (String, Table.Tone) =
            if verdict.refusal != nil {
                ("refused", .bad)
            } else if !verdict.isPinned {
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
            let mark = verdict.wanted.contains(certificate.pin) ? "=" : " "
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
            let isWanted = verdict.wanted.contains(certificate.pin)
            let notAfter = try? X509Parser.certificates(certificate.der).first?.notAfter
            table.add([
                (certificate.pin.text, .plain),
                isWanted ? ("match", .good) : ("seen", .plain),
                Table.until(notAfter, now: now), (certificate.subject, .plain),
            ])
        }
        for pin in verdict.wanted where !verdict.seen.contains(where: { $0.pin == pin }) {
            table.add([
                (pin.text, .plain), ("not seen", verdict.isMatch ? .plain : .bad),
                ("-", .plain), ("-", .plain),
            ])
        }
        return table
    }
}
