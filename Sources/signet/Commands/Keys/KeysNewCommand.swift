import ArgumentParser
internal import SignetBase
import SignetCrypto
import SignetJSON

/// `signet keys new`: a new key in a new file, or in one that is there.
struct KeysNewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Make a key.",
        discussion: """
            The file is a JWK Set (RFC 7517) that only its owner may read (mode 0600). The key \
            itself is not printed.
            """)

    @Option(help: "What the key is for: \(KeysNewCommand.names).")
    var type: String

    @Option(help: "The key's id (kid).")
    var id: String

    @Option(help: "The file to write.")
    var out: String

    @Flag(help: "Add the key to the file if it is there.")
    var append = false

    @OptionGroup var common: CommonOptions

    private static var names: String { Key.Kind.all.map(\.name).joined(separator: ", ") }

    func run() throws {
        guard let kind = Key.Kind(name: type) else {
            throw ToolError.usage(
                "--type is \"\(type)\", wanted one of \(KeysNewCommand.names)")
        }
        try KeyFile.add(kind, id: id, to: out, append: append)
        try common.terminal.result(
            ["id": .string(id), "type": .string(kind.name), "file": .string(out)],
            lines: [
                Terminal.printable(
                    "\(append ? "added" : "made") the \(kind.name) key \(id) in \(out)")
            ])
    }
}
