import ArgumentParser
internal import SignetBase
import SignetCrypto
import SignetJSON
import SignetPinning
internal import SignetSystem

/// `signet pins lint`: what is wrong or unwise in a policy, all of it at once.
struct PinsLintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint", abstract: "Name what is wrong or unwise in a pin policy.",
        discussion: """
            Exit 0 where it is clean, 1 with findings, 2 where it is no policy at all. Public \
            suffixes are those of \(PublicSuffixes.systemPath) where that file is (Debian's package \
            publicsuffix), or else a short list.
            """)

    @Argument(help: ArgumentHelp("The policy; - or nothing is standard input.", valueName: "FILE"))
    var file: String?

    @OptionGroup var common: CommonOptions

    func run() throws {
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
                    $0.severity.rawValue, $0.severity == .error ? .bad : .warning,
                    common.terminal.allowsColor)
                    + Terminal.printable(
                        ": \($0.host.map { "\($0): " } ?? "")\($0.message) [\($0.code)]")
            })
        if !findings.isEmpty { throw ExitStatus.refused }
    }
}
