#if Tool
import ArgumentParser

/// The options of every command.
struct CommonOptions: ParsableArguments {
    @Flag(name: .customLong("json"), help: "Print one JSON object on standard output.")
    var json = false

    @Flag(
        name: [.customShort("q"), .customLong("quiet")],
        help: "Print no notes on standard error, only errors.")
    var isQuiet = false

    /// The terminal that the command speaks through.
    var terminal: Terminal { Terminal(json: json, isQuiet: isQuiet) }
}
#endif
