import Foundation

/// Foreign implementations in Python, in virtual environments under `.build` that
/// `Scripts/python-peers` makes once of `Scripts/python-requirements.txt` and its like.
package enum PythonPeer {
    private static let interpreter = Task { try await environment("python") }
    private static let interceptor = Task { try await environment("mitmproxy") }

    private static func environment(_ name: String) async throws -> String {
        let script = PackageLayout.url("Scripts/python-peers").path
        let output = try await ChildProcess.run(script, [name], timeout: 1800)
        guard output.exit == 0 else {
            throw TestSupportError("\(script): \(output.stderr)")
        }
        return output.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The path of mitmproxy's `mitmdump`.
    package static var mitmdump: String {
        get async throws {
            URL(filePath: try await interceptor.value).deletingLastPathComponent()
                .appending(path: "mitmdump").path
        }
    }

    /// The path of the Python that has the peers.
    package static var path: String {
        get async throws { try await interpreter.value }
    }

    /// Runs a script, given as text, with the peers importable.
    package static func run(
        _ script: String, _ arguments: [String] = [], stdin: [UInt8] = [],
        environment: [String: String] = [:]
    ) async throws -> ProcessOutput {
        try await ChildProcess.run(
            interpreter.value, ["-I", "-c", script] + arguments, stdin: stdin,
            environment: environment)
    }

    /// Starts a server, given as a script's text, with the peers importable; its arguments are the
    /// port and then `arguments`.
    package static func serve(
        _ script: String, on port: Int, _ arguments: [String] = []
    ) async throws -> ServerProcess {
        try await .start(
            interpreter.value, ["-I", "-c", script, "\(port)"] + arguments,
            ready: .listening(port: port))
    }
}
