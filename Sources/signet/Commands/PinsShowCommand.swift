import ArgumentParser
import SignetCrypto
import SignetCurl
import SignetJSON
import SignetPinning

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
            seen.chain.map { (pin: $0.pin.text, kind: "certificate", subject: $0.subject) })
    }

    private func showFile() throws {
        let found: [X509Facts.PublicKeyDigest]
        do {
            found = try X509Facts.publicKeyDigests(of: InputFile.read(target, limit: 16 << 20))
        } catch let failure as X509Failure {
            throw ToolError(.usage, failure.codeName, "\(shownFile): \(failure.message)")
        }
        try tell(
            found.map {
                (try Pin(bytes: $0.spkiSHA256).text, $0.kind.rawValue, $0.subject)
            })
    }

    private var shownFile: String {
        guard let target, target != "-" else { return "standard input" }
        return Terminal.printable(target)
    }

    private func tell(_ pins: [(pin: String, kind: String, subject: String)]) throws {
        try common.terminal.result(
            [
                "pins": .array(
                    pins.map {
                        [
                            "pin": .string($0.pin), "kind": .string($0.kind),
                            "subject": .string($0.subject),
                        ]
                    })
            ], lines: pins.map(\.pin))
    }
}
