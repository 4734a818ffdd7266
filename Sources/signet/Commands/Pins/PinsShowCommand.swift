#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetCurl
import SignetJSON
import SignetPinning
import SignetSystem
import SignetTransport

/// `signet pins show`: the pins of servers and of files, as lines or as a policy.
struct PinsShowCommand: AsyncParsableCommand {
    /// The form of the output.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case pins, policy
    }

    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print the pins of servers and files, or a policy of them.",
        discussion: """
            A file contains certificates, public keys, certificate requests or private keys, in \
            PEM or DER; the pin of a private key is that of its public half. For a server, it \
            prints the verified chain, leaf first, and sends no request.

            --format policy prints a policy for --policy: for each host the pin of its leaf, which \
            is a file's first key, and the pins of --backup. With the pin of a backup key, which \
            is kept unused in a safe place, a lost key is not an outage.
            """,
        examples: [
            "signet pins show https://api.example.com",
            "signet pins show https://api.example.com --format policy --backup next.csr > new.json",
            "signet pins show https://api.example.com --format policy \\",
            "  --backup sha256/E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g= > new.json",
            "signet pins show host.pem next.csr --format policy --host api.example.com",
        ])

    @Argument(
        help: ArgumentHelp(
            "An https URL, or a file; - or nothing is standard input.", valueName: "TARGET"),
        completion: .file())
    var targets: [String] = []

    @Option(help: "Print the pins, or a pin policy.")
    var format = Format.pins

    @Option(
        help: ArgumentHelp(
            "A pin of a key in reserve, or a file with it, for each host of the policy; may be "
                + "repeated.",
            valueName: "PIN|FILE"))
    var backup: [String] = []

    @Flag(
        help: "Add the pin of the leaf's issuer, which should also sign the next certificate.")
    var includeIssuer = false

    @Option(help: "The policy's host; required for a file, while a URL names its own.")
    var host: String?

    @OptionGroup var project: ProjectOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard format == .policy || (backup.isEmpty && !includeIssuer && host == nil) else {
            throw ValidationError("--backup, --include-issuer and --host need --format policy")
        }
    }

    func run() async throws {
        // Checked before anything is asked of a server.
        let backups = try backup.map { try backupPin($0) }
        var found: [PinnedTarget] = []
        for target in targets.isEmpty ? ["-"] : targets {
            found.append(
                PinsTarget.isURL(target)
                    ? try await server(PinsTarget(parsing: target)) : try file(target))
        }
        switch format {
        case .pins: try tell(found.flatMap(\.pins))
        case .policy:
            let policy = try PinnedTarget.policy(
                of: found, host: host, backups: backups, includesIssuer: includeIssuer)
            for rule in policy.rules where rule.pins.count == 1 {
                common.terminal.note(
                    "\(rule.pattern): one pin, expected two or more; add one of a key in reserve "
                        + "with --backup PIN")
            }
            for target in found where target.port != 443 {
                common.terminal.note(
                    "\(target.name): a policy has no ports, so its rule is for all ports of the host"
                )
            }
            let text = policy.serialized()
            let document = try JSONValue(parsing: text).object ?? [:]
            try common.terminal.result(document, text: text)
        }
    }

    /// The pin that a text is, or that of a file's first key.
    private func backupPin(_ text: String) throws -> Pin {
        do {
            return try Pin(parsing: text)
        } catch {
            do {
                if let first = try file(text).pins.first { return first.pin }
            } catch let missing as FileFailure where missing.kind == .notFound {
                throw ToolError.usage("--backup: \(error.message), and no file has that name")
            }
            throw ToolError.usage("--backup: found a file without a key")
        }
    }

    private func server(_ target: PinsTarget) async throws -> PinnedTarget {
        guard target.isSecure else {
            throw ToolError.usage("pins need TLS: the URL must begin with https://")
        }
        let seen = try await target.probe(network, of: project.load())
        guard seen.isTrusted else { throw target.untrusted(seen) }
        return PinnedTarget(
            name: target.origin, host: target.authority.host.text, port: target.port,
            pins: seen.chain.map {
                PinnedTarget.Shown(
                    pin: $0.pin, kind: .certificate, subject: $0.subject,
                    notAfter: $0.parsed?.notAfter)
            })
    }

    private func file(_ path: String) throws -> PinnedTarget {
        let bytes: [UInt8]
        do {
            common.terminal.awaitInput("certificates or keys", from: path)
            bytes = try InputFile.read(path, limit: 16 << 20)
        } catch {
            // A host without its scheme.
            guard error.kind == .notFound, let host = try? Authority(parsing: path),
                host.writtenPort != nil || host.host.text.utf8.contains(UInt8(ascii: "."))
            else { throw error }
            throw ToolError(
                error.code, "\(error.message); for a host, say https://\(host)")
        }
        let name = path == "-" ? "standard input" : Terminal.printable(path)
        let found: [X509Parser.PublicKeyDigest]
        var certificates: ArraySlice<X509Parser.CertificateInfo> = []
        do {
            found = try X509Parser.publicKeyDigests(of: bytes)
            if found.contains(where: { $0.kind == .certificate }) {
                certificates = try X509Parser.certificates(bytes)[...]
            }
        } catch {
            throw ToolError(error.code, "\(name): \(error.message)")
        }
        return PinnedTarget(
            name: name, host: nil,
            pins: try found.map {
                let certificate = $0.kind == .certificate ? certificates.popFirst() : nil
                return PinnedTarget.Shown(
                    pin: try Pin(bytes: $0.spkiSHA256), kind: $0.kind, subject: $0.subject,
                    notAfter: certificate?.notAfter)
            })
    }

    private func tell(_ pins: [PinnedTarget.Shown]) throws {
        let terminal = common.terminal
        try terminal.result(
            [
                "pins": .array(
                    pins.map {
                        [
                            "pin": .string($0.pin.text), "kind": .string($0.kind.rawValue),
                            "subject": .string($0.subject),
                        ]
                    })
            ],
            lines: terminal.isForPeople
                ? table(pins).lines(colored: terminal.allowsColor) : pins.map(\.pin.text))
    }

    /// The table for a person; a pipe gets the pins alone.
    private func table(_ pins: [PinnedTarget.Shown]) -> Table {
        let now = UnixTime.now()
        var table = Table("PIN", "KIND", "UNTIL", "SUBJECT")
        for shown in pins {
            table.add([
                (shown.pin.text, .plain), (shown.kind.rawValue, .plain),
                Table.until(shown.notAfter, now: now), (shown.subject, .plain),
            ])
        }
        return table
    }
}
#endif
