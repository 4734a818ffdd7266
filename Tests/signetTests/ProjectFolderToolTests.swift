import Foundation
import SignetJSON
import TestSupport
import Testing

/// A project that is named by its folder, and a root that is moved, replaced or lost.
@Suite struct ProjectFolderToolTests {
    private let home: TemporaryDirectory
    private var keys: String { home.path(".config/signet/shop.keys") }

    init() async throws {
        home = try TemporaryDirectory()
        for name in ["shop", "empty"] {
            try FileManager.default.createDirectory(
                atPath: home.path(name), withIntermediateDirectories: false)
        }
        try home.write(#"{"orders":{"host":"a.example"}}"#, to: "shop/config.json")
        let made = try await run(["vault", "init", "config.json"])
        #expect(made.exit == 0, "\(made.stderr)")
    }

    private func run(
        _ arguments: [String], in folder: String = "shop", project: String = ""
    ) async throws -> ProcessOutput {
        try await SignetTool.run(
            arguments,
            environment: ["HOME": home.path, "XDG_CONFIG_HOME": "", "SIGNET_PROJECT": project],
            directory: home.url.appending(path: folder))
    }

    @Test(arguments: ["../shop", "../shop/", "../shop/signet.json"])
    func aFolderNamesItsFile(_ path: String) async throws {
        let get = ["vault", "get", "orders.host"]
        let named = try await run(get + ["--project", path], in: "empty")
        #expect(named.exit == 0 && named.text == "a.example\n", "\(named.stderr)")
        #expect(try await run(get, in: "empty", project: path).text == "a.example\n")
        // What the file names counts from its own folder.
        let changed = try await run(
            ["vault", "set", "orders.host=b.example", "--project", path], in: "empty")
        #expect(changed.exit == 0, "\(changed.stderr)")
        #expect(try await run(get).text == "b.example\n")
    }

    @Test(arguments: [".", "../absent", "../shop/config.json/"])
    func refusesAFolderWithoutAFile(_ path: String) async throws {
        let named = try await run(
            ["vault", "get", "orders.host", "--project", path], in: "empty")
        #expect(named.exit == 2 && named.stdout.isEmpty && named.stderr.contains(path))
    }

    @Test func rekeyNamesTheHomeFolder() async throws {
        let made = try await run([
            "keys", "new", "--type", "vault", "--id", "v2", "--out", home.path("next"),
        ])
        #expect(made.exit == 0, "\(made.stderr)")
        let moved = try await run(["vault", "rekey", "--to-keys", home.path("next")])
        #expect(moved.exit == 0, "\(moved.stderr)")
        let file = try JSONValue(parsing: Array(home.read("shop/signet.json")))
        #expect(file["keys"]?.string == "~/next")
        #expect(try await run(["vault", "get", "orders.host"]).exit == 0)
    }

    /// The advice for a lost root comes only if nothing else changed: it ends in `project trust`.
    @Test func aLostRootIsNamedUnlessMoreChanged() async throws {
        try FileManager.default.removeItem(atPath: keys)
        let lost = try await run(["vault", "seal"])
        #expect(lost.exit == 2 && lost.stderr.contains("restore it from a copy"), "\(lost.stderr)")
        var file = try #require(
            JSONValue(parsing: Array(home.read("shop/signet.json"))).object)
        file["caFile"] = "ca.pem"
        try home.write(JSONValue.object(file).serialized(), to: "shop/signet.json")
        let changed = try await run(["vault", "seal"])
        #expect(changed.exit == 2 && changed.stderr.contains("changed since you trusted"))
        #expect(!changed.stderr.contains("restore it"), "\(changed.stderr)")
    }

    @Test func aReplacedRootIsNamed() async throws {
        try FileManager.default.removeItem(atPath: keys)
        let made = try await run([
            "keys", "new", "--type", "vault", "--id", "v2", "--out", keys,
        ])
        #expect(made.exit == 0, "\(made.stderr)")
        let seal = ["vault", "seal"]
        let changed = try await run(seal)
        #expect(changed.exit == 2 && changed.stderr.contains("changed since you trusted"))
        #expect(try await run(["project", "trust"]).exit == 0)
        let lost = try await run(seal)
        #expect(lost.exit == 1, "\(lost.text)")
        #expect(
            lost.stderr
                == "signet: no key of the set has the id \"vault\"; its vault roots: \"v2\"\n")
        #expect(try await run(["project", "untrust"]).exit == 0)
        let untrusted = try await run(seal)
        #expect(untrusted.exit == 2 && untrusted.stderr.contains("its folder isn't trusted"))
    }
}
