#if Tool
import ArgumentParser
import SignetBase
import SignetClient
import SignetSigning

/// The settings of a scheme, for signing and verifying.
struct SchemeOptions: ParsableArguments {
    @Flag(help: "Accept a scheme that signs with MD5 or SHA-1.")
    var insecureSchemeOk = false

    @Option(
        help: ArgumentHelp("A setting of the scheme; may be repeated.", valueName: "name=value"))
    var set: [String] = []

    @Option(help: "The purpose of the signature; one that is verified must have this tag.")
    var tag: String?

    /// Whether any is given.
    var isEmpty: Bool { !insecureSchemeOk && set.isEmpty && tag == nil }

    /// The settings of `--set`, each name once.
    func settings() throws -> [String: String] {
        var values: [String: String] = [:]
        for entry in set {
            guard let equals = entry.utf8.firstIndex(of: UInt8(ascii: "=")) else {
                throw ToolError.usage("--set: found no \"=\", expected NAME=VALUE")
            }
            let name = String(entry[..<equals])
            guard values[name] == nil else {
                throw ToolError.usage("--set \(Terminal.printable(name)) is given twice")
            }
            values[name] = String(entry[entry.utf8.index(after: equals)...])
        }
        return values
    }

    /// The rule by which a service's requests are signed.
    func rule(
        scheme: String, keyID: String, covered: [String]?
    ) throws -> ServiceConfiguration.Signing {
        var rule =
            insecureSchemeOk
            ? ServiceConfiguration.Signing.insecure(scheme: scheme, keyID: keyID)
            : ServiceConfiguration.Signing(scheme: scheme, keyID: keyID)
        rule.covered = covered
        rule.settings = try settings()
        rule.tag = tag
        return rule
    }
}
#endif
