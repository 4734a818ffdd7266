import ArgumentParser
internal import SignetBase
import SignetCrypto
import SignetCurl
import SignetJSON
import SignetPinning
internal import SignetSystem

/// `signet pins show`: the pins of a server or of a file.
struct PinsShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print the pins of a server's chain or of a file.",
        discussion: """
            A file holds certificates, public keys, certificate requests or private keys, in PEM \
            or DER; the pin of a private key is that of its public half. Of a server the verified \
            chain is printed, leaf first; nothing is requested from it.
            """)

    @Argument(
        help: ArgumentHelp(
            "An https URL, or a file; - or nothing is standard input.", valueName: "TARGET"))
    var target: String?

    @OptionGroup var network: NetworkOptions
    @OptionGroup var common: CommonOptions

    func run() async throws {
        if let target, PinsTarget.isURL(target) {
            try await show(PinsTarget(parsing: target))
        } else {
            try showFile()
        }
    }

    private func show(_ target: PinsTarget) async throws {
        guard target.isSecure else {
            throw ToolError.usage("pins are of TLS: the URL begins with https://")
        }
        let seen = try await target.probe(network)
        guard seen.isTrusted else { throw target.untrusted(seen) }
        try tell(
            seen.chain.map {
                Shown(
                    pin: $0.pin, kind: .certificate, subject: $0.subject,
                    notAfter: try? X509Parser.certificates($0.der).first?.notAfter)
            })
    }

    private func showFile() throws {
        let bytes: [UInt8]
        do {
            bytes = try InputFile.read(target, limit: 16 << 20)
        } catch {
            // Who forgets the scheme means a host.
            guard let target, error.kind == .notFound,
                let host = try? Authority(parsing: target),
                host.writtenPort != nil || host.host.text.utf8.contains(UInt8(ascii: "."))
            else { throw error }
            throw ToolError(
                error.errorCode, "\(error.message); for a host, say https://\(host)")
        }
        let found: [X509Parser.PublicKeyDigest]
        var certificates: ArraySlice<X509Parser.CertificateInfo> = []
        do {
            found = try X509Parser.publicKeyDigests(of: bytes)
            if found.contains(where: { $0.kind == .certificate }) {
                certificates = try X509Parser.certificates(bytes)[...]
            }
        } catch {
            throw ToolError(error.errorCode, "\(shownFile): \(error.message)")
        }
        try tell(
            found.map {
                let certificate = $0.kind == .certificate ? certificates.popFirst() : nil
                return Shown(
                    pin: try Pin(bytes: $0.spkiSHA256), kind: $0.kind, subject: $0.subject,
                    notAfter: certificate?.notAfter)
            })
    }

    private var shownFile: String {
        guard let target, target != "-" else { return "standard input" }
        return Terminal.printable(target)
    }

    /// A key, and what it was found in.
    private struct Shown {
        let pin: Pin
        let kind: X509Parser.Kind
        let subject: String
        let notAfter: Int64?
    }

    private func tell(_ pins: [Shown]) throws {
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

    /// What a person sees; a pipe gets the pins alone.
    private func table(_ pins: [Shown]) -> Table {
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
