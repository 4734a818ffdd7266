import Foundation
import TestSupport

/// Runs of `signet` with standard input and standard error on a pseudo-terminal, as `vault edit`
/// needs them. Standard output stays a file; what goes to the terminal isn't read.
enum TerminalRun {
    private static func words(_ arguments: [String]) -> [String] {
        ["-I", PythonPeer.script("terminal"), SignetTool.url.path] + arguments
    }

    static func start(
        _ arguments: [String], environment: [String: String] = [:], directory: URL
    ) throws -> ChildProcess {
        try ChildProcess(
            "python3", words(arguments), environment: environment, directory: directory)
    }

    static func run(
        _ arguments: [String], environment: [String: String] = [:], directory: URL
    ) async throws -> ProcessOutput {
        try await start(arguments, environment: environment, directory: directory).outcome()
    }
}
