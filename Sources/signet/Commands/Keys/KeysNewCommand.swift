#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON

/// `signet keys new`: a new key in a new file, or in one that is there.
struct KeysNewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Make a key.",
        discussion: """
            The file is a JWK Set (RFC 7517) that only its owner may read (mode 0600). The key \
            itself is not printed.
            """,
        examples: [
            "signet keys new --type ed25519 --id shop-2026 --out shop-keys",
            "signet keys new --type vault --id vault-2027 -o keys --append",
            "signet keys new --type aes --alg A256GCM --id bank-2026 --out bank-keys",
        ])

    @Option(
        help: """
            The key's type; vault is for sealed dumps, aes for sealed bodies, x25519 for reading \
            shared key sets and sealed bodies, the others are for signatures.
            """)
    var type: CryptoKey.Kind

    @Option(
        help: """
            What p256, p384 and rsa are for: sig (default), or enc to read shared key sets and \
            sealed bodies.
            """)
    var use: Use?

    /// The value of `use` in a JWK.
    enum Use: String, CaseIterable, ExpressibleByArgument { case sig, enc }

    @Option(
        help: ArgumentHelp(
            """
            The algorithm that the key is bound to. hmac: HS256 (default), HS512; rsa: PS512 \
            (default), RS256; aes: A256KW (default), A128KW, A256GCM, A128GCM; of two for \
            encryption: ECDH-ES+A256KW (default), ECDH-ES.
            """, valueName: "alg"),
        completion: .list(CryptoKey.Kind.allAlgorithms))
    var alg: String?

    @OptionGroup var new: NewKeyOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let (id, out) = (new.id, new.out)
        do throws(KeyError) {
            try KeyFile.requireAgreement(of: type, use: use?.rawValue, algorithm: alg)
        } catch {
            throw ToolError.usage(error.message)
        }
        try UserFolder.create(holding: out)
        try TrustList.carryOn(changing: out) {
            try KeyFile.add(
                type, id: id, use: use?.rawValue, algorithm: alg, to: out, append: new.append)
        }
        try common.terminal.result(
            ["id": .string(id), "type": .string(type.name), "file": .string(out)],
            lines: [
                Terminal.printable(
                    "\(new.append ? "added" : "made") the \(type.name) key \(id) "
                        + "\(new.append ? "to" : "in") \(out)")
            ])
    }
}
#endif
