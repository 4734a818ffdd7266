#if Tool
import ArgumentParser
import SignetCrypto
import SignetTransport

/// The certificate that servers get which ask for one.
struct ClientCertificateOptions: ParsableArguments {
    @Option(
        name: .customLong("client-cert"),
        help: ArgumentHelp(
            "The client certificate: PEM with those that vouch for it, or PKCS #12.",
            valueName: "file"), completion: .file())
    var certificate: String?

    @Option(
        name: .customLong("client-key"),
        help: ArgumentHelp(
            """
            Its private key, if the file has none: FILE, env:NAME, fd:N, credential:NAME or \
            command:LINE.
            """, valueName: "source"), completion: .file())
    var key: String?

    @Option(
        name: .customLong("client-passphrase"),
        help: ArgumentHelp(
            "What the key or the PKCS #12 file is encrypted with, as --client-key.",
            valueName: "source"), completion: .file())
    var passphrase: String?

    func validate() throws {
        guard certificate != nil || (key == nil && passphrase == nil) else {
            throw ValidationError("--client-key and --client-passphrase need --client-cert")
        }
    }

    /// Reads the certificate; nil without the option.
    func load() throws(TransportError) -> ClientCertificate? {
        try certificate.map { file throws(TransportError) in
            try ClientCertificate(
                .file(file), key: key.map { KeySource($0) },
                passphrase: passphrase.map { KeySource($0) })
        }
    }
}
#endif
