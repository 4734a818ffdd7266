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
        ])

    @Option(
        help: """
            The key's type; vault is for sealed dumps, x25519 for reading shared key sets, the others \
            are for signatures.
            """)
    var type: CryptoKey.Kind

    @Option(help: "What p256, p384 and rsa are for: sig (default), or enc to read shared key sets.")
    var use: Use?

    /// The value of `use` in a JWK.
    enum Use: String, CaseIterable, ExpressibleByArgument { case sig, enc }

    @OptionGroup var new: NewKeyOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let (id, out) = (new.id, new.out)
        try UserFolder.create(holding: out)
        try TrustList.carryOn(changing: out) {
            try KeyFile.add(type, id: id, use: use?.rawValue, to: out, append: new.append)
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
