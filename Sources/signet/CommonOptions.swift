import ArgumentParser

/// What every command takes.
struct CommonOptions: ParsableArguments {
    @Flag(name: .customLong("json"), help: "Print one JSON object on standard output.")
    var json = false

    /// The terminal that the command speaks through.
    var terminal: Terminal { Terminal(json: json) }
}
