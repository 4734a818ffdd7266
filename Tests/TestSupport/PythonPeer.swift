import Foundation

/// Implementations that are not ours, in Python, in a virtual environment under `.build/python` that
/// `Scripts/python-peers` makes once of `Scripts/python-requirements.txt`.
package enum PythonPeer {
    private static let interpreter = Task { () -> String in
        let script = PackageLayout.url("Scripts/python-peers").path
        let output = try await ChildProcess.run(script, timeout: 600)
        guard output.exit == 0 else {
            throw TestSupportError("\(script): \(output.stderr)")
        }
        return output.text.trimmingCharacters(in: .whitespacesAndNewlines)
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
}
