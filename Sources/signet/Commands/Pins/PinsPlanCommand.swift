#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetPinning
import SignetSystem
import SignetTransport

/// `signet pins plan`: which hosts lose which pin when, and what to add before.
struct PinsPlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "List the hosts that lose a pin, when, and the pins to add before a key changes.",
        discussion: """
            TARGET: an https URL, whose leaf and pinned issuers count, or a file with the \
            certificates of hosts, those of their issuers, and certificate requests or keys in \
            reserve, PEM or DER. Exit 0 without findings, 1 with findings.
            """,
        examples: [
            "signet pins plan --policy policy.json host.pem next.csr",
            "signet pins plan --policy policy.json https://api.example.com next.csr",
            "signet pins plan --policy policy.json host.pem next.csr --html plan.html",
        ])

    @Option(name: .customLong("policy"), help: "The pin policy, a JSON file.", completion: .file())
    var policyFile: String

    @Option(name: .customLong("within"), help: "Report what expires within this many days.")
    var days: Int64 = 30

    @Option(name: .customLong("now"), help: "Unix time in seconds instead of the clock's.")
    var now: Int64?

    @Option(
        name: .customLong("client-cert"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A client certificate, PEM or DER, whose end is reported too.", valueName: "file"),
        completion: .file())
    var clientCertificates: [String] = []

    @Argument(
        help: ArgumentHelp(
            "https URLs, and files with certificates, requests and keys.", valueName: "TARGET"),
        completion: .file())
    var targets: [String] = []

    @OptionGroup var project: ProjectOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var page: PageOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try page.requireUsable(beside: common)
        guard (0...36_500).contains(days) else {
            throw ValidationError("--within is a number of days from 0 to 36500")
        }
        if let now, !(0...253_402_300_799).contains(now) {
            throw ValidationError("--now is a time in Unix seconds")
        }
    }

    func run() async throws {
        let policy = try PinPolicy(file: policyFile)
        var materials: [PinPlan.Material] = []
        for target in targets {
            if PinsTarget.isURL(target) {
                materials += try await certificates(
                    of: PinsTarget(parsing: target), policy: policy)
            } else {
                common.terminal.awaitInput("certificates or keys", from: target)
                materials += try Self.materials(
                    InputFile.read(target, limit: 16 << 20), source: target)
            }
        }
        let clients = try clientCertificates.map(Self.clientCertificate)
        let now = now ?? UnixTime.now()
        let plan = PinPlan(
            policy: policy, materials: materials, clientCertificates: clients, now: now,
            horizon: days * 86_400)
        let isShown = try page.write(
            StatusPage(of: plan, now: now, leadTime: days * 86_400, policyFile: policyFile),
            on: common.terminal)
        if !isShown { try common.terminal.result(object(plan), lines: lines(plan)) }
        if !plan.findings.isEmpty { throw ExitStatus.refused }
    }

    /// The leaf of a server, and the certificates above it whose keys are pinned.
    private func certificates(
        of target: PinsTarget, policy: PinPolicy
    ) async throws -> [PinPlan.Material] {
        guard target.isSecure else {
            throw ToolError.usage("pins need TLS: the URL must begin with https://")
        }
        let seen = try await target.probe(network, of: project.load(), policy: policy)
        guard seen.isTrusted else { throw target.untrusted(seen) }
        let pinned = Set(policy.rules.flatMap(\.pins))
        return try seen.chain.enumerated()
            .filter { $0.offset == 0 || pinned.contains($0.element.pin) }
            .flatMap { try Self.materials($0.element.der, source: target.origin) }
    }

    /// Reads a client's own certificate: the first one of the file, because the others vouch for
    /// it.
    private static func clientCertificate(in file: String) throws -> PinPlan.Material {
        let bytes = try InputFile.read(file, limit: 16 << 20)
        func malformed(_ what: String) -> ToolError {
            ToolError(.malformedInput, "\(Terminal.printable(file)): \(what)")
        }
        guard !KeyBytes.isPKCS12(bytes) else {
            throw malformed(
                "found PKCS #12, expected certificates in PEM or DER; openssl pkcs12 -in FILE "
                    + "-clcerts -nokeys prints the client's own one in PEM")
        }
        let found = try materials(bytes, source: file)
        guard let own = found.first(where: { $0.kind == .certificate }) else {
            throw malformed(
                "found no certificate, expected the client's own one first, in PEM or DER")
        }
        return own
    }

    private static func materials(
        _ bytes: [UInt8], source: String
    ) throws -> [PinPlan.Material] {
        do {
            let found = try X509Parser.publicKeyDigests(of: bytes)
            var certificates =
                found.contains { $0.kind == .certificate }
                ? try X509Parser.certificates(bytes)[...] : []
            return try found.map { fact in
                let certificate = fact.kind == .certificate ? certificates.popFirst() : nil
                return PinPlan.Material(
                    kind: .init(rawValue: fact.kind.rawValue) ?? .publicKey,
                    pin: try Pin(bytes: fact.spkiSHA256), subject: fact.subject,
                    hosts: fact.hosts, notBefore: certificate?.notBefore,
                    notAfter: certificate?.notAfter, source: source)
            }
        } catch let failure as X509Failure {
            throw ToolError(
                failure.code, "\(Terminal.printable(source)): \(failure.message)")
        }
    }

    private func time(_ seconds: Int64?) -> JSONValue {
        seconds.map { .string(UnixTime.rfc3339($0)) } ?? .null
    }

    private func object(_ plan: PinPlan) -> JSONObject {
        [
            "hosts": .array(
                plan.hosts.map { host in
                    [
                        "host": .string(host.rule.pattern.description), "until": time(host.until),
                        "pins": .array(
                            host.pins.map { pin in
                                [
                                    "pin": .string(pin.pin.text),
                                    "state": .string(pin.state.rawValue), "until": time(pin.until),
                                    "from": .array(pin.materials.map { .string($0.source) }),
                                ]
                            }),
                    ]
                }),
            "findings": .array(
                plan.findings.map { finding in
                    [
                        "code": .string(finding.code),
                        "severity": .string(finding.severity.rawValue),
                        "host": finding.host.map { .string($0) } ?? .null,
                        "pin": finding.pin.map { .string($0.text) } ?? .null,
                        "at": time(finding.at),
                        "message": .string(Terminal.printable(finding.message)),
                    ]
                }),
        ]
    }

    private func lines(_ plan: PinPlan) -> [String] {
        var table = Table("HOST", "PIN", "STATE", "UNTIL", "FROM")
        for host in plan.hosts {
            for (index, pin) in host.pins.enumerated() {
                let isSoon = plan.findings.contains { $0.pin == pin.pin && $0.code == "ends-soon" }
                let tone: Table.Tone =
                    switch pin.state {
                    case .inUse: isSoon ? .warning : .good
                    case .reserve: .good
                    case .ended: .bad
                    case .noKey: .warning
                    }
                table.add([
                    (index == 0 ? host.rule.pattern.description : "", .plain),
                    (pin.pin.text, .plain), (pin.state.rawValue, tone),
                    (pin.until.map { String(UnixTime.rfc3339($0).prefix(10)) } ?? "-", tone),
                    (pin.materials.map(\.source).joined(separator: ", "), .plain),
                ])
            }
        }
        let isColored = common.terminal.allowsColor
        return table.lines(colored: isColored) + findingLines(plan.findings, isColored: isColored)
    }

    private func findingLines(_ findings: [PinPlan.Finding], isColored: Bool) -> [String] {
        findings.map { finding in
            let mark = Table.colored(
                finding.severity.rawValue, tone: finding.severity == .error ? .bad : .warning,
                isAllowed: isColored)
            return "\(mark): "
                + Terminal.printable(
                    "\(finding.host.map { "\($0): " } ?? "")\(finding.message) [\(finding.code)]")
        }
    }
}
#endif
