#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetSystem

/// `signet keys import`: a key of another program as a key of a key file.
struct KeysImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import a key that another program made.",
        discussion: """
            SOURCE is FILE, env:NAME, fd:N, command:LINE, credential:NAME, or - for standard \
            input. PEM is recognised: private keys (PKCS #8, SEC 1, PKCS #1, Ed25519 of OpenSSH), \
            public keys and certificates, whose key gives the type; so are the line of an Ed25519 \
            key of OpenSSH, a JWK, a JWK Set (whose key with this id is taken, else its only one) \
            and a secret that begins with whsec_. For any other content, --encoding names the \
            format. Decoded bytes are the secret of an hmac, vault or aes key, and PEM or DER \
            for the other types. DER needs --type alone. Line breaks are dropped, but not with --encoding raw.
            """,
        examples: [
            "signet keys import partner.pem --id partner-2026 --out partner.json",
            "signet keys import env:SECRET --encoding base64 --id shop-7 -o shop-keys",
        ])

    @Argument(help: ArgumentHelp("The key.", valueName: "SOURCE"), completion: .file())
    var source: String

    @OptionGroup var new: NewKeyOptions

    @Option(help: "The key's type. Bytes are an hmac key if no type is given.")
    var type: CryptoKey.Kind?

    @Option(
        help: ArgumentHelp(
            "The algorithm, for hmac, rsa and aes: HS256 (default), HS512, PS512 (default), RS256, "
                + "A256KW (default), A128KW, A256GCM, A128GCM.",
            valueName: "alg"),
        completion: .list(CryptoKey.Kind.allAlgorithms))
    var alg: String?

    @Option(help: "The form of the key.")
    var encoding: ImportedKey.Encoding?

    @Flag(help: "Take bytes that are a key in PEM, DER or another form for a secret.")
    var force = false

    @OptionGroup var common: CommonOptions

    func run() throws {
        var (bytes, shown, warning) = try read()
        defer { wipe(&bytes) }
        guard
            let form = encoding.map(ImportedKey.Form.encoded)
                ?? ImportedKey.Form.recognized(in: bytes) ?? binaryForm(of: bytes)
        else {
            throw ToolError.usage(
                "\(shown): found neither PEM nor a JWK; choose what it is with --encoding raw, "
                    + "base64, base64url or hex")
        }
        let key: ImportedKey
        do {
            key = try ImportedKey(
                bytes, form: form, id: new.id, kind: type, algorithm: alg,
                acceptsKeyAsSecret: force)
        } catch {
            throw error.code == .malformedKeys
                ? KeyError(error.code, "\(shown): \(error.message)") : error
        }
        for note in (key.isPrivate ? [warning].compactMap(\.self) : []) + key.notes {
            common.terminal.note(note)
        }
        try UserFolder.create(holding: new.out)
        try TrustList.carryOn(changing: new.out) {
            try KeyFile.add(key, to: new.out, append: new.append)
        }
        try common.terminal.result(
            [
                "id": .string(new.id), "type": .string(key.kind.name),
                "alg": key.algorithm.map(JSONValue.string) ?? .null,
                "private": .bool(key.isPrivate), "file": .string(new.out),
            ],
            lines: [
                Terminal.printable(
                    "imported the \(key.isPrivate ? "" : "public ")\(key.kind.name) key \(new.id) "
                        + "into \(new.out)")
            ])
    }

    /// DER, if the key's type has it.
    private func binaryForm(of bytes: [UInt8]) -> ImportedKey.Form? {
        guard let type, !type.isSecret,
            KeyBytes.isPrivateKey(bytes) || KeyBytes.isKeyOrCertificate(bytes)
        else { return nil }
        return .encoded(.raw)
    }

    /// Reads the source and returns it with its name for messages, and a warning if others can read
    /// it.
    private func read() throws -> (bytes: [UInt8], shown: String, warning: String?) {
        guard source != "-" else {
            common.terminal.awaitInput("a key", from: source)
            return (
                try InputFile.read(nil, limit: KeySet.maximumByteCount), "standard input", nil
            )
        }
        let source = KeySource(source)
        let (bytes, warning) = try source.loadForeignKey()
        return (bytes, source.description, warning)
    }
}
#endif
