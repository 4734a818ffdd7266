import Foundation
import TestSupport

/// A program of the package's users, which sees the built modules.
enum UserProgram {
    /// Type-checks a program.
    ///
    /// - Parameter settings: More options of swiftc.
    static func typeCheck(
        _ program: String, settings: [String] = ["-swift-version", "6"]
    ) async throws -> ProcessOutput {
        let folder = try TemporaryDirectory()
        let source = try folder.write("import SignetClient\n" + program, to: "program.swift")
        let build = SignetTool.url.deletingLastPathComponent()
        let maps = [
            PackageLayout.url("Sources/CSignetBase64/module.modulemap").path,
            PackageLayout.url("Sources/CSignetOpenSSL/module.modulemap").path,
            PackageLayout.url("Sources/CSignetLibcurl/module.modulemap").path,
            build.appending(path: "CSignetCurl.build/module.modulemap").path,
            build.appending(path: "CSignetSystem.build/module.modulemap").path,
        ]
        return try await ChildProcess.run(
            "swiftc",
            ["-typecheck", "-warnings-as-errors", "-I", build.appending(path: "Modules").path]
                + settings + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] } + [source])
    }
}
