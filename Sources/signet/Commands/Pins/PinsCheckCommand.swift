import ArgumentParser
import SignetCrypto
import SignetCurl
import SignetJSON
import SignetPinning
import SignetTransport

/// `signet pins check`: whether a server shows a key that the policy wants.
struct PinsCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check a server's verified chain against a pin policy.",
        discussion: """
            The server is greeted and nothing is requested from it. Exit 1 names every pin that \
            was seen and every pin that was wanted.
            """)

    @Argument(help: ArgumentHelp("The URL of the host.", valueName: "URL"))
    var url: String

    @Option(name: .customLong("policy"), help: "The pin policy, a JSON file.")
    var policyFile: String

    @OptionGroup var network: NetworkOptions
    @OptionGroup var common: CommonOptions

    func run() async throws {
        let policy = try PinPolicy(file: policyFile)
        let target = try PinsTarget(parsing: url)
        let host = target.authority.host
        let now = UnixTime.now()
        let decision = policy.decision(
            for: host, isSecure: target.isSecure, now: now, port: target.port)
        if !target.isSecure {
            if let refusal = decision.refusal { throw refusal }
            throw ToolError.usage("pins are of TLS: the URL begins with https://")
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
            throw ToolError(
                .refused, refusal.code.name, refusal.message, details: refusal.details,
                beside: object(verdict, target))
        }
        if let finding = verdict.finding, !common.json { common.terminal.note(finding.message) }
        try common.terminal.result(object(verdict, target), lines: lines(verdict, target))
    }

    private func object(_ verdict: PinVerdict, _ target: PinsTarget) -> JSONObject {
        [
            "host": .string(verdict.host.text), "port": .number(JSONNumber(target.port)),
            "rule": verdict.rule.map { .string($0.description) } ?? .null,
            "mode": .string(verdict.mode.rawValue), "match": .bool(verdict.isMatch),
            "chain": pinsJSON(verdict.seen),
            "wanted": .array(verdict.wanted.map { .string($0.text) }),
            "expires": verdict.expires.map { .string($0.text) } ?? .null,
        ]
    }

    private func lines(_ verdict: PinVerdict, _ target: PinsTarget) -> [String] {
        let outcome =
            verdict.isPinned
            ? (verdict.isMatch ? "match" : "no match, reported only")
            : "not pinned; CA, dates and host name hold"
        let tone: Table.Tone = verdict.isPinned ? verdict.isMatch ? .good : .warning : .plain
        let isColored = common.terminal.allowsColor
        var lines = ["\(target.origin): \(Table.colored(outcome, tone, isColored))"]
        if let rule = verdict.rule {
            lines.append(
                "rule \(rule) (\(verdict.mode.rawValue)"
                    + (verdict.expires.map { ", expires \($0.text))" } ?? ")"))
        }
        for certificate in verdict.seen {
            let isWanted = verdict.wanted.contains(certificate.pin)
            let line =
                "\(isWanted ? "=" : " ") \(certificate.pin.text) "
                + Terminal.printable(certificate.subject)
            lines.append(Table.colored(line, isWanted ? .good : .plain, isColored))
        }
        return lines
    }
}
