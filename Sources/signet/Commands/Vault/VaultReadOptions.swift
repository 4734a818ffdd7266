import ArgumentParser
import SignetCrypto
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
        let path = path ?? project.dumpFile
        terminal.awaitInput("a sealed dump", from: path)
        let file = try state.dump(path, in: project)
        let opened = try file.open(
            with: key.load(project), for: binding.binding(project),
            accepting: older.acceptAppVersion, system: older.acceptSystemVersion)
        state.note(opened, on: terminal, of: file)
        return opened
    }
}
