#if Tool
import ArgumentParser
import SignetJSON
import SignetVault

/// Which values of a dump may be printed.
struct VaultDisclosureOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The schema, which says which keys are public; without it every key is secret.",
            valueName: "FILE"),
        completion: .file())
    var schema: String?

    @Flag(help: "Print the values of secret keys too.")
    var showSecrets = false

    /// Reads the schema.
    ///
    /// - Parameter project: Names the schema if the option doesn't; nil if only the option does.
    func load(_ project: Project? = nil) throws(VaultError) -> VaultDisclosure {
        VaultDisclosure(
            schema: try (schema ?? project?.schemaFile).map { path throws(VaultError) in
                try Schema(contentsOf: path)
            },
            showsSecrets: showSecrets)
    }
}

/// Decides which values are printed: those of public keys, or all with --show-secrets.
struct VaultDisclosure {
    let schema: Schema?
    let showsSecrets: Bool

    /// Whether a key's value may be printed. A value that a public key's rule refuses, because it
    /// is of another type or looks like a secret, may not.
    func allows(_ name: String, value: JSONValue) -> Bool {
        showsSecrets || schema?.rule(named: name)?.allowsShowing(value) == true
    }
}
#endif
