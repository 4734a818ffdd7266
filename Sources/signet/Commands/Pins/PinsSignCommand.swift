#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetPinning
import SignetSystem

/// `signet pins sign`: a policy that programs take from any web server.
struct PinsSignCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Sign a pin policy, to be served from any web server.",
        discussion: """
            Programs with the public half of the key accept the document while it is valid, and \
            never one with a lower serial number than the one they have. With --app-id, only the \
            programs that name this app accept it. A policy with findings of `signet pins lint` is \
            refused without --lint-ok.
            """,
        examples: [
            "signet pins sign -k pin-keys --serial 8 --days 90 --app-id com.example.shop \\",
            "  policy.json > pins.json",
        ])

    @Option(
        name: [.customShort("k"), .customLong("keys")],
        help: "The key set: FILE, env:NAME, fd:N, credential:NAME or command:LINE.",
        completion: .file())
    var keys: String

    @OptionGroup var identity: IdentityOptions

    @Option(
        name: .customLong("key-id"), parsing: .unconditional,
        help: ArgumentHelp(
            "The Ed25519 key to sign with; not needed if the set has one key that signs.",
            valueName: "ID"))
    var keyID: String?

    @Option(help: ArgumentHelp("The app that the document is for.", valueName: "ID"))
    var appID: String?

    @Option(name: .customLong("serial"), help: "The document's number, higher than the last one's.")
    var serial: Int64

    @Option(name: .customLong("not-before"), help: "Unix time from which it is valid (now).")
    var notBefore: Int64?

    @Option(name: .customLong("days"), help: "The number of days for which it is valid.")
    var days: Int64

    @Flag(name: .customLong("lint-ok"), help: "Sign a policy with findings too.")
    var acceptsFindings = false

    @Option(name: .customLong("now"), help: "Unix time in seconds instead of the clock's.")
    var now: Int64?

    @Argument(
        help: ArgumentHelp("The policy; - or nothing is standard input.", valueName: "FILE"),
        completion: .file())
    var file: String?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (1...36_500).contains(days) else {
            throw ValidationError("--days is a number from 1 to 36500")
        }
        for time in [now, notBefore].compactMap(\.self)
        where !(0...253_402_300_799).contains(time) {
            throw ValidationError("--now and --not-before are times in Unix seconds")
        }
    }

    func run() throws {
        let now = self.now ?? UnixTime.now()
        let shown = Terminal.printable(file ?? "standard input")
        common.terminal.awaitInput("a pin policy", from: file)
        let bytes = try InputFile.read(file, limit: 16 << 20)
        let policy: PinPolicy
        do {
            policy = try PinPolicy(parsing: bytes, filesIn: InputFile.folder(of: file))
        } catch {
            throw PinError(error.code, "\(shown): \(error.message)")
        }
        let findings = try PinLint.findings(of: bytes, now: now, suffixes: .system())
        for finding in findings {
            common.terminal.note(
                "\(shown): \(finding.host.map { "\($0): " } ?? "")\(finding.message)"
                    + " [\(finding.code)]")
        }
        guard findings.isEmpty || acceptsFindings else {
            throw ToolError(
                .lintFindings,
                "\(shown): not signed, because lint finds something (\(findings[0].code)); fix it, or"
                    + " give --lint-ok")
        }
        let start = notBefore ?? now
        guard start + days * 86_400 > now else {
            throw ToolError.usage(
                "--not-before \(start) and --days \(days) end before now (\(now)); no program would"
                    + " accept the document")
        }
        let set = try identity.load(keys, notingOn: common.terminal)
        let key = try keyID.map { try set.key(id: $0) } ?? set.onlySigningKey()
        let signed = try SignedPinPolicy(
            serial: serial, notBefore: start, expires: start + days * 86_400, appID: appID,
            policy: policy)
        let document = try signed.signed(by: key, now: now)
        if let end = key.expires, end < signed.expires {
            common.terminal.note(
                "the key \(Terminal.printable(key.id)) expires before the document:"
                    + " \(UnixTime.rfc3339(end)), and the document \(UnixTime.rfc3339(signed.expires));"
                    + " programs that know when the key expires accept the document only until then"
            )
        }
        try common.terminal.write(document)
    }
}
#endif
