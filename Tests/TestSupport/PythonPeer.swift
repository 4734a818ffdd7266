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

    /// The path of `Peers/NAME.py`.
    package static func script(_ name: String) -> String {
        PackageLayout.url("Tests/TestSupport/Peers/\(name).py").path
    }

    /// Runs `Peers/NAME.py` with the peers importable.
    package static func run(
        _ name: String, _ arguments: [String] = [], stdin: [UInt8] = [],
        environment: [String: String] = [:]
    ) async throws -> ProcessOutput {
        try await ChildProcess.run(
            interpreter.value, ["-I", script(name)] + arguments, stdin: stdin,
            environment: environment)
    }

    /// Starts the server `Peers/NAME.py` with the peers importable; its argument is the port.
    package static func serve(_ name: String) async throws -> (server: ServerProcess, port: Int) {
        let port = freePort()
        let server = try await ServerProcess.start(
            interpreter.value, ["-I", script(name), "\(port)"], ready: .listening(port: port))
        return (server, port)
    }
}
