#if Tool
import ArgumentParser

/// The name of a new key and the file that gets it.
struct NewKeyOptions: ParsableArguments {
    @Option(parsing: .unconditional, help: "The key's id (kid).")
    var id: String

    @Option(
        name: [.customShort("o"), .long], help: "The file to write.", completion: .file())
    var out: String

    @Flag(help: "Add the key to the file if it exists.")
    var append = false

    func validate() throws { try ToolError.requireFile(out, subject: "a key") }
}
#endif
