import ArgumentParser
import SignetCrypto
import SignetCurl
import SignetJSON
import SignetPinning
import SignetTransport

/// `signet pins`: what servers and files show, and what a policy says of it.
struct PinsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pins", abstract: "Show and check public-key pins.",
        subcommands: [PinsShowCommand.self, PinsCheckCommand.self])
}

extension PinError: CodedError {
    var codeName: String { code.name }
}

/// An https or http URL of which only host and port matter.
struct PinTarget {
    let isSecure: Bool
    let authority: Authority

    /// Whether a target looks like a URL, where a file could stand too.
    static func isURL(_ text: String) -> Bool { text.contains("://") }

    /// - Throws: `PinError` for a host that is none, `usage` for another scheme.
    init(_ url: String) throws {
        guard let colon = url.firstRange(of: "://") else {
            throw ToolError.usage("the URL has no scheme, wanted https://HOST")
        }
        let scheme = url[..<colon.lowerBound].lowercased()
        guard scheme == "https" || scheme == "http" else {
            throw ToolError.usage("the URL's scheme is neither https nor http")
        }
        let rest = url[colon.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !rest.isEmpty else {
            throw ToolError.usage("the URL has no host, wanted \(scheme)://HOST")
        }
        isSecure = scheme == "https"
        authority = try Authority(parsing: String(rest))
    }

    var port: Int { authority.port(scheme: isSecure ? "https" : "http") }

    /// Shakes hands and looks at the chain; not a byte of a request leaves.
    func probe(_ network: NetworkOptions) async throws -> ProbeResult {
        var settings = CurlEngine.Configuration()
        settings.caFile = network.caFile
        let engine = try CurlEngine(settings)
        let connectTo = try network.addresses()
        do {
            let result = try await engine.probe(
                authority, connectTo: connectTo, timeout: network.timeout)
            await engine.shutdown()
            return result
        } catch {
            await engine.shutdown()
            throw error
        }
    }
}

/// `signet pins show`: the pins of a server's chain or of a file.
struct PinsShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the pins of a server's chain, or of certificates and keys in a file.",
        discussion: "A pin is SHA-256 of the DER SubjectPublicKeyInfo; a URL's leaf comes first.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var network: NetworkOptions

    @Argument(help: "An https URL, or a PEM or DER file; - is standard input.")
    var target: String

    func run() async throws {
        guard PinTarget.isURL(target) else { return try tell(pins(inFile: target)) }
        let target = try PinTarget(target)
        guard target.isSecure else {
            throw ToolError.usage("only an https URL has certificates to show")
        }
        let seen = try await target.probe(network)
        if !seen.isTrusted {
            common.terminal.note(
                "\(target.authority) is not trusted: \(seen.reason ?? "its certificate fails")")
        }
        try tell(
            seen.chain.map { (pin: $0.pin.text, kind: "certificate", subject: $0.subject) },
            isTrusted: seen.isTrusted)
    }

    private func pins(inFile file: String) throws -> [(pin: String, kind: String, subject: String)]
    {
        let bytes = try InputFile.read(file)
        do {
            return try X509Facts.publicKeyDigests(of: bytes).map { digest in
                (
                    pin: try Pin(bytes: digest.spkiSHA256).text, kind: digest.kind.rawValue,
                    subject: digest.subject
                )
            }
        } catch let error as X509Failure {
            throw ToolError(.usage, error.codeName, "\(file): \(error.message)")
        }
    }

    private func tell(
        _ pins: [(pin: String, kind: String, subject: String)], isTrusted: Bool = true
    ) throws {
        let list = pins.map { pin in
            JSONValue.object([
                "pin": .string(pin.pin), "kind": .string(pin.kind),
                "subject": .string(pin.subject),
            ])
        }
        var object: JSONObject = ["pins": .array(list)]
        if !isTrusted { object["trusted"] = false }
        try common.terminal.result(object, lines: pins.map(\.pin))
    }
}

/// `signet pins check`: whether a server shows a key that the policy wants.
struct PinsCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a server's verified chain against a pin policy.",
        discussion: "Only the handshake is made; not a byte of a request is sent.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var network: NetworkOptions

    @Option(name: .customLong("policy"), help: "The pin policy, a JSON file.")
    var policyFile: String

    @Argument(help: "An https URL; only host and port matter.")
    var url: String

    func run() async throws {
        let policy = try PinPolicy(file: policyFile)
        let target = try PinTarget(url)
        let host = target.authority.host
        let now = UnixTime.now()
        guard target.isSecure else {
            throw policy.decision(for: host, isSecure: false, now: now).refusal
                ?? ToolError.usage("only an https URL has certificates to check")
        }
        let seen = try await target.probe(network)
        guard seen.isTrusted else {
            throw ToolError(
                .network, "tls",
                "\(target.authority) is not trusted: \(seen.reason ?? "its certificate fails")")
        }
        let verdict = policy.verdict(for: host, chain: seen.chain, now: now)
        let object = describe(verdict, target)
        if let refusal = verdict.refusal {
            var failure = ToolError(refusal)
            if refusal.code == .unlistedHost {
                failure.message += "; verified chain: " + shown(seen.chain).joined(separator: ", ")
            }
            failure.beside = object
            throw failure
        }
        if let finding = verdict.finding { common.terminal.note(finding.message) }
        try common.terminal.result(object, lines: lines(verdict, target))
    }

    private func lines(_ verdict: PinVerdict, _ target: PinTarget) -> [String] {
        let word =
            verdict.isMatch
            ? "pinned" : verdict.isPinned ? "reported, no pin matches" : "not pinned"
        return ["\(target.authority): \(word)"]
            + verdict.seen.map { certificate in
                let mark = verdict.wanted.contains(certificate.pin) ? "  <- matches" : ""
                return
                    "  \(certificate.pin.text)  \(Terminal.printable(certificate.subject))\(mark)"
            }
    }

    private func shown(_ chain: [SeenCertificate]) -> [String] {
        chain.map { "\($0.pin.text) (\($0.subject))" }
    }

    private func describe(_ verdict: PinVerdict, _ target: PinTarget) -> JSONObject {
        [
            "host": .string(verdict.host.text), "port": .number(JSONNumber(target.port)),
            "rule": verdict.rule.map { .string($0.description) } ?? .null,
            "mode": .string(verdict.mode.rawValue), "match": .bool(verdict.isMatch),
            "chain": .array(
                verdict.seen.map { certificate in
                    .object([
                        "subject": .string(certificate.subject),
                        "pin": .string(certificate.pin.text),
                    ])
                }),
            "wanted": .array(verdict.wanted.map { .string($0.text) }),
            "expires": verdict.expires.map { .string($0.text) } ?? .null,
        ]
    }
}
