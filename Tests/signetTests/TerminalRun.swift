import Foundation
import TestSupport

/// Runs of `signet` with standard input and standard error on a pseudo-terminal, as `vault edit`
/// needs them. Standard output stays a file; what goes to the terminal isn't read.
enum TerminalRun {
    /// Python that becomes the program of its arguments, which keeps both ends of the terminal.
    static let python = """
        import os, pty, sys
        master, slave = pty.openpty()
        os.set_inheritable(master, True)
        os.dup2(slave, 0)
        os.dup2(slave, 2)
        os.execv(sys.argv[1], sys.argv[1:])
        """

    private static func words(_ arguments: [String]) -> [String] {
        ["-c", python, SignetTool.url.path] + arguments
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
