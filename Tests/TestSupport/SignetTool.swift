package import Foundation

/// The built `signet` program, which lies beside the test bundle in every kind of build.
package enum SignetTool {
    /// Where it is.
    ///
    /// `signetTests` depends on the executable target, so that it is always built.
    package static let url: URL = {
        let running =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            ?? CommandLine.arguments[0]
        var folder = URL(filePath: running).deletingLastPathComponent()
        // On macOS the program that runs lies deeper inside the bundle than on Linux.
        for _ in 0..<4 where !isProgram(folder.appending(path: "signet")) {
            folder.deleteLastPathComponent()
        }
        return folder.appending(path: "signet")
    }()

    private static func isProgram(_ url: URL) -> Bool {
        (try? url.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true
    }

    /// Runs `signet` to its end: its standard output, its words on standard error, its exit code.
    package static func run(
        _ arguments: [String], stdin: [UInt8] = [], environment: [String: String] = [:],
        directory: URL? = nil, timeout: Double = 120
    ) async throws -> ProcessOutput {
        try await ChildProcess.run(
            url.path, arguments, stdin: stdin, environment: environment, directory: directory,
            timeout: timeout)
    }

    /// Starts `signet` without waiting for it, for the tests that send it a signal.
    package static func start(
        _ arguments: [String], stdin: [UInt8] = [], environment: [String: String] = [:],
        directory: URL? = nil
    ) throws -> ChildProcess {
        try ChildProcess(
            url.path, arguments, stdin: stdin, environment: environment, directory: directory)
    }
}
