#if Tool && Inspector
import ArgumentParser
import SignetBase
import SignetInspector
import SignetJSON
import SignetRecording
import SignetSystem

/// `signet inspect`: a page for a recording.
struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show a recording on a page in the browser.",
        discussion: """
            Prints a link that opens the page once, and serves it on this machine, for this user \
            alone, until Ctrl-C. With --html the page is one file, which needs no server. FILE is a \
            HAR of signet or of another program. The page shows what it holds: a browser's contains \
            secrets.
            """,
        examples: ["signet inspect shop.har", "signet inspect shop.har --html shop.html"])

    @OptionGroup var common: CommonOptions

    @Argument(
        help: ArgumentHelp("The recording; - or nothing is standard input.", valueName: "FILE"),
        completion: .file(extensions: ["har"]))
    var file: String?

    @OptionGroup var page: PageOptions

    func validate() throws { try page.requireUsable(beside: common) }

    func run() async throws {
        let terminal = common.terminal
        let recording = try HARCommand.recording(in: file, on: terminal)
        for problem in recording.problems { terminal.note("\(problem)") }
        let name = file.flatMap { $0 == "-" ? nil : $0.split(separator: "/").last }
        let title = name.map(String.init) ?? "recording"
        let count = JSONValue.number(JSONNumber(recording.calls.count))
        guard !page.isWanted else {
            let isShown = try page.write(bytes: recording.html(title: title), on: terminal)
            if !isShown { try terminal.result(["calls": count], lines: []) }
            return
        }
        let shown = try await Inspector.show(recording, title: title)
        try terminal.result(["url": .string(shown.url), "calls": count], lines: [shown.url])
        terminal.note("the link is good once; Ctrl-C ends the page")
        while true { try await Task.sleep(for: .seconds(3600)) }
    }
}
#endif
