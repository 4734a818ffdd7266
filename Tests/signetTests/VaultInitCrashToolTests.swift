import Foundation
import TestSupport
import Testing

/// `vault init`, killed at each call that makes, names or removes a file: the project is whole or
/// not there, and the next run finds its way.
@Suite(
    .enabled(if: FaultInjection.isPermitted, "strace is missing or may not trace processes here"))
struct VaultInitCrashToolTests {
    private static let arguments = [
        "vault", "init", "config.json", "--out", "out", "--keys", "keys", "--app-id", "a",
        "--app-version", "1",
    ]
    private static let files = ["defaults.json", "schema.json", "signet.dump", "signet.json"]
    private static let decisive: Set<String> = [
        "mkdir", "mkdirat", "link", "linkat", "rename", "renameat", "renameat2", "unlink",
        "unlinkat",
        "rmdir",
    ]

    private static func folder() async throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        try folder.write(
            #"{"database":{"host":"db","password":"ZZZZZZcanary"}}"#, to: "config.json")
        let made = try await SignetTool.run(
            ["keys", "new", "--type", "vault", "--id", "v", "--out", "keys"], directory: folder.url)
        #expect(made.exit == 0, "\(made.stderr)")
        return folder
    }

    @Test func aKilledRunLeavesAllOrNothing() async throws {
        let undisturbed = try await Self.folder()
        let calls = try await FaultInjection.calls(
            of: SignetTool.url, Self.arguments, directory: undisturbed.url, from: "out")
        let points = calls.filter { Self.decisive.contains($0.name) }.map {
            (FaultInjection.Fault.signal("KILL"), $0)
        }
        #expect(points.count > 12, "so few points are not all: \(calls)")
        let missed = try await FaultInjection.missedKills(of: SignetTool.url, points) {
            fault, call in
            let folder = try await Self.folder()
            let killed = try await FaultInjection.run(
                SignetTool.url, Self.arguments, directory: folder.url, fault, at: call)
            guard killed.exit != 0 else { return false }
            try await Self.check(folder, after: "killed at \(call)")
            return true
        }
        #expect(missed == nil, "kills came to nothing")
    }

    /// Checks the state after the kill and after the next run, and that the project opens then.
    private static func check(_ folder: TemporaryDirectory, after point: Comment) async throws {
        let left =
            FileManager.default.fileExists(atPath: folder.path("out"))
            ? try folder.contents(of: "out") : []
        let isWhole = left.contains("signet.json")
        if isWhole { #expect(Set(files).isSubset(of: left), point) }
        let again = try await SignetTool.run(arguments, directory: folder.url)
        #expect(again.exit == (isWhole ? 2 : 0), "\(point): \(again.stderr)")
        #expect(try folder.contents(of: "out") == files, point)
        #expect(try folder.mode("out/signet.dump") == 0o600, point)
        let opened = try await SignetTool.run(
            ["vault", "get", "database.password", "--show-secrets"],
            directory: folder.url.appending(path: "out"))
        #expect(opened.text == "ZZZZZZcanary\n", "\(point): \(opened.stderr)")
    }
}
