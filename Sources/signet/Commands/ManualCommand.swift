#if Tool
import ArgumentParser
import SignetSystem

/// `signet manual`: the manual pages, for `make install`.
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual",
        abstract: "Write one manual page for each command into a folder.",
        examples: ["mkdir man1 && signet manual man1"], shouldDisplay: false)

    @Argument(
        help: ArgumentHelp("The folder, which exists.", valueName: "FOLDER"),
        completion: .directory)
    var folder: String

    func validate() throws {
        // An empty name followed by a slash would be the root folder.
        guard !folder.isEmpty else { throw ValidationError("FOLDER is empty") }
    }

    func run() throws {
        var commands = [try CommandTree(of: SignetCommand.self)]
        while let command = commands.popLast() {
            let page = ManualPage(of: command)
            try PrivateFile.writeAtomically(
                Array(page.text.utf8), to: "\(folder)/\(page.name).1", mode: 0o644)
            commands += command.commands.filter { !$0.isHidden }
        }
    }
}
#endif
