#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON

/// `signet keys remove`: a key file without one of its keys.
struct KeysRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Delete a key from a file.",
        discussion: """
            The last key is deleted only with --force. Everything that was sealed or signed with a \
            deleted key can no longer be opened or verified with this file. The old file's bytes \
            are overwritten on the disk, if the disk allows it.
            """,
        examples: ["signet keys remove --id orders-2026 keys"])

    @OptionGroup var options: KeyChangeOptions

    @Flag(help: "Delete the last key too.")
    var force = false

    @OptionGroup var common: CommonOptions

    func run() throws {
        var keys = try options.open()
        guard force || keys.set.keys.count > 1 else {
            throw ToolError(
                .usage("last-key"),
                "\(printable(options.file)): found one key, which is the last one; --force deletes "
                    + "it")
        }
        try TrustList.carryOn(changing: options.file) { try keys.remove(options.id) }
        try common.terminal.result(
            options.object,
            lines: [Terminal.printable("removed the key \(options.id) from \(options.file)")])
    }
}

/// `signet keys revoke`: a key that is refused from now on.
struct KeysRevokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Mark a key as revoked, so that it is refused at once.",
        discussion: """
            Sets "revoked": true. The key stays in the file, and each use of it fails with \
            key-revoked.
            """,
        examples: ["signet keys revoke --id orders-2026 keys"])

    @OptionGroup var options: KeyChangeOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        var keys = try options.open()
        try TrustList.carryOn(changing: options.file) { try keys.revoke(options.id) }
        try common.terminal.result(
            options.object,
            lines: [Terminal.printable("revoked the key \(options.id) in \(options.file)")])
    }
}

/// A key of a file that a command changes.
struct KeyChangeOptions: ParsableArguments {
    @Option(parsing: .unconditional, help: "The key's id (kid).")
    var id: String

    @Argument(help: ArgumentHelp("The key file.", valueName: "FILE"), completion: .file())
    var file: String

    /// Locks the file, which must have the key.
    ///
    /// - Throws: `ToolError` with `unknown-key`, which is wrong usage here, and `KeyError`.
    func open() throws -> LockedKeyFile {
        let keys = try LockedKeyFile(file)
        guard keys.set[id] != nil else {
            var failure = ToolError(
                .unknownKey, "\(printable(file)): no key has the id \"\(printable(id))\"")
            // The id is an argument of this command.
            failure.status = .usage
            throw failure
        }
        return keys
    }

    /// The key and the file, for `--json`.
    var object: JSONObject { ["id": .string(id), "file": .string(file)] }
}
#endif
