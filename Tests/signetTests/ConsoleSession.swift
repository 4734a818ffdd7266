import Foundation
import SignetBase
import TestSupport

/// A session of a shell as a text shows it: commands after `$ `, and below each its output.
struct ConsoleSession {
    let lines: [Substring]

    /// The commands, one by one.
    var commands: [Substring] {
        lines.filter { $0.hasPrefix("$ ") }.map { $0.dropFirst(2) }
    }

    /// Everything that the session shows.
    var text: String { lines.joined(separator: "\n") + "\n" }

    /// The output of the commands in one shell, each after its own line; a command may fail.
    /// `signet` is the one that was built.
    ///
    /// - Parameter programs: A folder with programs that are found before `signet`; nil for none.
    func run(
        in folder: TemporaryDirectory, environment: [String: String] = [:], programs: URL? = nil
    ) async throws -> ProcessOutput {
        var script = "exec 2>&1\n"
        for command in commands {
            let quoted = command.replacing("'", with: "'\\''")
            script += "printf '$ %s\\n' '\(quoted)'\n\(command)\n"
        }
        try folder.write(script + "exit 0\n", to: "session.sh")
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return try await ChildProcess.run(
            "sh", ["session.sh"],
            environment: environment.merging([
                "PATH": (programs.map { $0.path + ":" } ?? "")
                    + SignetTool.url.deletingLastPathComponent().path + ":" + path
            ]) { $1 }, directory: folder.url)
    }
}
