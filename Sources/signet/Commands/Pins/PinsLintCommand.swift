#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetPinning
import SignetSystem

/// `signet pins lint`: all errors and weaknesses of a policy.
struct PinsLintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint", abstract: "List the errors and weaknesses of a pin policy.",
        discussion: """
            Exit 0 without findings, 1 with findings, 2 if the file is not a policy. Public \
            suffixes are those of \(PublicSuffixes.systemPath) if that file exists (Debian's package \
            publicsuffix), or else a short list.
            """,
        examples: [
            "signet pins lint policy.json"
        ])

    @Argument(
        help: ArgumentHelp("The policy; - or nothing is standard input.", valueName: "FILE"),
        completion: .file())
    var file: String?

    @OptionGroup var common: CommonOptions

    func run() throws {
        common.terminal.awaitInput("a pin policy", from: file)
        let policy = try InputFile.read(file, limit: 16 << 20)
        let findings: [PinLint.Finding]
        do {
            findings = try PinLint.findings(
                of: policy, now: UnixTime.now(), suffixes: .system(),
                filesIn: InputFile.folder(of: file))
        } catch {
            throw PinError(error.code, "\(file ?? "standard input"): \(error.message)")
        }
        try common.terminal.result(
            [
                "findings": .array(
                    findings.map {
                        [
                            "code": .string($0.code), "severity": .string($0.severity.rawValue),
                            "host": $0.host.map { .string($0) } ?? .null,
                            "message": .string(Terminal.printable($0.message)),
                        ]
                    })
            ],
            lines: findings.map {
                Table.colored(
                    $0.severity.rawValue, tone: $0.severity == .error ? .bad : .warning,
                    isAllowed: common.terminal.allowsColor)
                    + Terminal.printable(
                        ": \($0.host.map { "\($0): " } ?? "")\($0.message) [\($0.code)]")
            })
        if !findings.isEmpty { throw ExitStatus.refused }
    }
}
#endif
