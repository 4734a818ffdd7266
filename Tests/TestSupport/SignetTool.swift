package import Foundation

/// The built `signet` program, which is next to the test bundle in every kind of build.
package enum SignetTool {
    /// Its path.
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

    /// Whether the tests themselves, and so this program, were built with `-c release`.
    package static let isRelease = url.deletingLastPathComponent().lastPathComponent == "release"

    /// The release build of `signet`, if there is one that is not older than any source.
    ///
    /// `make check-all` makes it first; without it, the tests that need it are skipped.
    package static let release: URL? = {
        let program = PackageLayout.url(".build/release/signet").resolvingSymlinksInPath()
        guard let built = modified(program) else { return nil }
        let sources = FileManager.default.enumerator(
            at: PackageLayout.url("Sources"), includingPropertiesForKeys: nil)
        while let source = sources?.nextObject() as? URL {
            if let changed = modified(source), changed > built { return nil }
        }
        return program
    }()

    /// The time of a file's last change; nil if it isn't a file.
    private static func modified(_ url: URL) -> Date? {
        let values = try? url.resourceValues(forKeys: [
            .isRegularFileKey, .contentModificationDateKey,
        ])
        return values?.isRegularFile == true ? values?.contentModificationDate : nil
    }

    /// Whether a program next to `signet` has symbols that match an extended regular expression.
    package static func hasSymbols(_ pattern: String, in program: String) async throws -> Bool {
        let path = url.deletingLastPathComponent().appending(path: program).path
        // Only their number: a program has hundreds of thousands.
        let output = try await ChildProcess.run(
            "/bin/sh", ["-c", "nm \"$0\" | grep -Ec \"$1\"", path, pattern])
        let count = String(decoding: output.stdout, as: UTF8.self).split(separator: "\n").first
            .flatMap { Int($0) }
        guard let count, output.stderr.isEmpty else {
            throw TestSupportError("nm \(program): \(output.stderr)")
        }
        return count > 0
    }

    private static func isProgram(_ url: URL) -> Bool {
        (try? url.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true
    }

    /// The user's configuration folder, so that no test writes into the real one.
    private static let configuration = Result { try TemporaryDirectory() }

    private static func with(_ environment: [String: String]) throws -> [String: String] {
        ["XDG_CONFIG_HOME": try configuration.get().url.path].merging(environment) { $1 }
    }

    /// Runs `signet` to its end: its standard output, its words on standard error, its exit code.
    package static func run(
        _ arguments: [String], stdin: [UInt8] = [], environment: [String: String] = [:],
        directory: URL? = nil, timeout: Double = 120
    ) async throws -> ProcessOutput {
        try await ChildProcess.run(
            url.path, arguments, stdin: stdin, environment: with(environment), directory: directory,
            timeout: timeout)
    }

    /// Starts `signet` without waiting for it, for the tests that send it a signal.
    package static func start(
        _ arguments: [String], stdin: [UInt8] = [], environment: [String: String] = [:],
        directory: URL? = nil
    ) throws -> ChildProcess {
        try ChildProcess(
            url.path, arguments, stdin: stdin, environment: with(environment), directory: directory)
    }
}
