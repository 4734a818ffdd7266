#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetSystem

/// `signet keys share`: a key set that is sealed for other people's public keys.
struct KeysShareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share", abstract: "Seal a key set for other people's public keys.",
        discussion: """
            RECIPIENT is a file with a public key in PEM, a certificate, a JWK, or a JWK Set with one \
            key for encryption (X25519, P-256, P-384 or RSA). The result may lie in a repository: \
            every option --keys takes it, with --identity. With --add and --remove, FILE is a shared \
            set, which is changed in place.

            A recipient who was removed can still open each earlier version, so make a new root then \
            (vault rekey). Encryption proves no author: everyone who can write the file can replace it.
            """,
        examples: [
            "signet keys share keys --to alice.pem ci.jwk --out team-keys",
            "signet keys share shared-keys --add bob.pem --identity identity",
        ])

    @Argument(
        help: ArgumentHelp("The key set, or a shared one.", valueName: "FILE"), completion: .file())
    var file: String

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "The public keys of the people who can open it.", valueName: "RECIPIENT"),
        completion: .file())
    var to: [String] = []

    @Option(help: "The file to write.", completion: .file())
    var out: String?

    @Option(
        help: ArgumentHelp("Add a recipient; may be repeated.", valueName: "RECIPIENT"),
        completion: .file())
    var add: [String] = []

    // A thumbprint, as an id and a nonce in base64url, may begin with a hyphen.
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Remove a recipient; may be repeated.", valueName: "THUMBPRINT"))
    var remove: [String] = []

    @OptionGroup var identity: IdentityOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try ToolError.requireFile(out, subject: "a shared key set")
        let changes = !add.isEmpty || !remove.isEmpty
        guard to.isEmpty != (out != nil), changes == to.isEmpty else {
            throw ValidationError(
                "expected --to RECIPIENT and --out FILE, or --add RECIPIENT or --remove THUMBPRINT")
        }
    }

    func run() throws {
        let path = out ?? file
        let shared = try out == nil ? change() : create(path)
        try common.terminal.result(
            [
                "file": .string(path),
                "recipients": .array(shared.thumbprints.map(JSONValue.string)),
            ],
            lines: [Terminal.printable("sealed \(path) for")] + shared.thumbprints)
    }

    private func create(_ path: String) throws -> SharedKeySet {
        let recipients = try to.map { try KeySource($0).loadRecipient() }
        let shared = try SharedKeySet.sealing(
            KeySource(file), identity: identity.source, for: recipients)
        var lock = try FileLock(guarding: path)
        guard lock.hasNoFile else {
            throw KeyError(
                .fileExists,
                "\(printable(path)) already exists; --add and --remove change a shared key set")
        }
        try lock.write(shared.bytes, mode: 0o644)
        return shared
    }

    private func change() throws -> SharedKeySet {
        var lock = try FileLock(guarding: file)
        var shared = try KeySource.file(file).loadShared()
        let recipients = try add.map { try KeySource($0).loadRecipient() }
        if !recipients.isEmpty {
            guard let source = try identity.source else {
                throw KeyError(
                    .missingIdentity, "--add needs your private key: give --identity SOURCE")
            }
            try shared.add(recipients, by: source.loadIdentity())
        }
        for thumbprint in remove { try shared.remove(thumbprint) }
        if !remove.isEmpty {
            common.terminal.note(
                "a recipient who was removed can still open each earlier version; make a new root "
                    + "and run signet vault rekey")
        }
        try lock.write(shared.bytes, mode: 0o644)
        return shared
    }
}
#endif
