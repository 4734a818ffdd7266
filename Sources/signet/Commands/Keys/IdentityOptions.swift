#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetSystem

/// The private key that opens shared key sets.
struct IdentityOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Your private key, for a shared key set: a PEM, a JWK or a set with one. Without it, "
                + "SIGNET_IDENTITY, else ~/.config/signet/identity.", valueName: "SOURCE"),
        completion: .file())
    var identity: String?

    /// The source of the identity, or nil without one.
    var source: KeySource? {
        get throws(ToolError) {
            if let identity { return KeySource(identity) }
            if let named = try Project.variable("SIGNET_IDENTITY") { return KeySource(named) }
            guard let folder = try? UserFolder.configuration() else { return nil }
            let file = folder + "/identity"
            return Folder.exists(file) ? .file(file) : nil
        }
    }

    /// Reads the keys of a source, also of a shared key set.
    ///
    /// - Parameters:
    ///   - project: The project that may have named the source. If its file was found, a shared set
    ///     needs the user's trust, and can have only the roots that the user trusts.
    ///   - terminal: Where the roots of a shared set are shown when it is opened for the first
    ///     time. A quiet command shows nothing, and leaves that to the next one.
    /// - Throws: `KeyError`, `ToolError` for a folder that isn't trusted.
    func load(
        _ keys: String, of project: Project = Project(), notingOn terminal: Terminal
    ) throws -> KeySet {
        let set = try KeySource(keys).load(identity: source)
        guard set.isShared else { return set }
        let roots = set.roots
        if project.isFound, let path = project.path, let named = project.keySource,
            sameBytes(named, keys)
        {
            guard project.isTrusted, let trusted = project.trustedKeys else {
                throw ToolError.usage(
                    "\(printable(path)) names a shared key set, and its folder isn't trusted; look at "
                        + "it, then run signet project trust, or give --keys")
            }
            if let unknown = roots.first(where: { !trusted.contains($0) }) {
                throw KeyError(
                    .unknownRoot,
                    "\(set.source) has the root \(unknown), which isn't one of those that you trust; "
                        + "ask its author, then run signet project trust")
            }
        } else if !terminal.isQuiet,
            let file = KeySource(keys).filePath.flatMap(Folder.resolved),
            !TrustList.knows(roots, of: file)
        {
            let shown = roots.isEmpty ? "no root" : "the roots " + roots.joined(separator: ", ")
            terminal.note(
                "\(set.source) has \(shown); compare with its author, because anybody can write it")
        }
        return set
    }
}

extension KeySet {
    /// The thumbprints of the vaults' roots, sorted.
    var roots: [String] { keys.filter { $0.kind == .vault }.compactMap(\.thumbprint).sorted() }
}
#endif
