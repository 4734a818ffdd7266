#if Tool
import ArgumentParser
import SignetCrypto
import SignetJSON

/// `signet keys public`: the public keys that others need to check signatures.
struct KeysPublicCommand: ParsableCommand {
    /// The form of the output.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case jwk, pem
    }

    static let configuration = CommandConfiguration(
        commandName: "public",
        abstract: "Print the public halves of a key file as a JWK Set or as PEM.",
        discussion: """
            Secrets that both sides share (oct keys) have no public half and are left out. PEM has \
            a block PUBLIC KEY for each key, which OpenSSL reads; it has no ids.
            """,
        examples: [
            "signet keys public keys > partner-keys",
            "signet keys public keys --format pem --id orders-2026 > orders.pem",
        ])

    @Option(help: "Print a JWK Set, or blocks of PEM.")
    var format = Format.jwk

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Print only the key with this id.", valueName: "ID"))
    var id: String?

    @Argument(
        help: "The key file; - or nothing is standard input.", completion: .file())
    var file: String?

    @OptionGroup var identity: IdentityOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let set = try KeySet(fileOrInput: file, identity: identity, on: common.terminal)
        let keys = try id.map { [try set.key(id: $0)] } ?? set.keys
        if let id, keys[0].publicHalf == nil {
            throw KeyError(
                .wrongKeyUse,
                Terminal.printable("\(set.source): the key \"\(id)\" has no public half"))
        }
        switch format {
        case .jwk:
            let halves = keys.publicHalves
            try common.terminal.result(
                halves.object ?? [:], text: halves.serialized(.pretty) + [UInt8(ascii: "\n")])
        case .pem:
            let blocks = try keys.compactMap { (key) -> (id: String, pem: [UInt8])? in
                try key.subjectPublicKeyInfo().map { (id: key.id, pem: PEM.text(ofPublicKey: $0)) }
            }
            guard !blocks.isEmpty else {
                throw KeyError(
                    .wrongKeyUse,
                    Terminal.printable("\(set.source): found no key with a public half"))
            }
            try common.terminal.result(
                [
                    "keys": .array(
                        blocks.map {
                            [
                                "kid": .string($0.id),
                                "pem": .string(String(decoding: $0.pem, as: UTF8.self)),
                            ]
                        })
                ], text: blocks.flatMap(\.pem))
        }
    }
}
#endif
