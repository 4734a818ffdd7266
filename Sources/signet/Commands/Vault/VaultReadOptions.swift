#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetSystem
import SignetVault

/// How a command opens a dump that it only reads.
struct VaultReadOptions: ParsableArguments {
    @OptionGroup var key: VaultKeyOptions
    @OptionGroup var binding: VaultBindingOptions
    @OptionGroup var older: VaultOlderVersionOptions
    @OptionGroup var state: VaultStateOptions
    @OptionGroup var project: ProjectOptions

    /// Opens a dump and says on standard error what a person should know.
    ///
    /// - Parameter path: The dump; nil is the project's, else standard input.
    func open(_ path: String?, in project: Project, on terminal: Terminal) throws -> OpenedDump {
        if let path { try Self.requireNoKey(path, in: project) }
        let path = path ?? project.dumpFile
        terminal.awaitInput("a sealed dump", from: path)
        let file = try state.dump(path, in: project)
        let opened = try file.open(
            with: key.load(project, notingOn: terminal), for: binding.binding(project),
            accepting: older.acceptAppVersion, system: older.acceptSystemVersion)
        state.note(opened, on: terminal, of: file)
        return opened
    }

    /// Checks that a word in place of a dump isn't a key of the project's schema.
    private static func requireNoKey(_ word: String, in project: Project) throws(ToolError) {
        guard word != "-", !Folder.exists(word),
            let schema = project.schemaFile.flatMap({ try? Schema(contentsOf: $0) }),
            let key = NearestName.nearest(to: word, among: schema.keys)
        else { return }
        throw .usage(
            "found \(quoted(word)) in place of the dump, and no such file; "
                + "signet vault get \(printable(key)) prints the value of a key")
    }
}
#endif
