import Foundation
import SignetJSON
import TestSupport
import Testing

/// The trust in a project after a command of `signet keys` has changed its key file.
@Suite struct KeyTrustToolTests {
    private let folder: TemporaryDirectory
    private let keys: String

    init() async throws {
        folder = try TemporaryDirectory()
        keys = "config/signet/shop.keys"
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "shop"), withIntermediateDirectories: false)
        try folder.write(#"{"orders":{"host":"a.example"}}"#, to: "shop/config.json")
        let made = try await SignetTool.run(
            ["vault", "init", "config.json"], environment: environment,
            directory: folder.url.appending(path: "shop"))
        #expect(made.exit == 0, "\(made.stderr)")
    }

    private var environment: [String: String] {
        ["HOME": folder.path, "XDG_CONFIG_HOME": folder.path("config"), "SIGNET_PROJECT": ""]
    }

    private func run(_ arguments: String...) async throws {
        let output = try await SignetTool.run(
            arguments, environment: environment, directory: folder.url)
        #expect(output.exit == 0, "\(arguments): \(output.stderr)")
    }

    private func state() async throws -> String? {
        let shown = try await SignetTool.run(
            ["project", "show", "shop", "--json"], environment: environment, directory: folder.url)
        return try JSONValue(parsing: shown.stdout)["state"]?.string
    }

    @Test func theCommandsOfKeysCarryTheTrustOn() async throws {
        #expect(try await state() == "trusted")
        try await run("keys", "new", "--type", "vault", "--id", "v2", "-o", keys, "--append")
        #expect(try await state() == "trusted")
        try folder.write(String(repeating: "5a", count: 32), to: "root")
        try await run(
            "keys", "import", "root", "--id", "v3", "--type", "vault", "--encoding", "hex", "-o",
            keys, "--append")
        #expect(try await state() == "trusted")
        try await run("keys", "revoke", "--id", "v2", keys)
        try await run("keys", "remove", "--id", "v3", keys)
        #expect(try await state() == "trusted")
    }

    @Test func aTrustThatHadEndedStaysSo() async throws {
        let stranger = folder.path(keys)
        let before = try folder.read(keys)
        try await run("keys", "new", "--type", "vault", "--id", "other", "-o", keys, "--append")
        try folder.write(before, to: keys)
        #expect(try await state() == "no longer trusted")
        try await run("keys", "new", "--type", "vault", "--id", "v2", "-o", stranger, "--append")
        #expect(try await state() == "no longer trusted")
    }
}
