import ArgumentParser
import SignetCrypto
import SignetJSON

/// `signet keys public`: the public keys that others need to check signatures.
struct KeysPublicCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "public", abstract: "Print the public halves of a key file as a JWK Set.",
        discussion:
            "Secrets that both sides share (oct keys) have no public half and are left out.",
        examples: ["signet keys public keys > partner-keys"])

    @Argument(
        help: "The key file; - or nothing is standard input.", completion: .file())
    var file: String?

    @OptionGroup var identity: IdentityOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let keys = try KeySet(fileOrInput: file, identity: identity, on: common.terminal)
        let halves = keys.publicHalves
        try common.terminal.result(
            halves.object ?? [:], text: halves.serialized(.pretty) + [UInt8(ascii: "\n")])
    }
}
