import Foundation
import SignetJSON
import TestSupport
import Testing

/// `vault init` with nothing but a configuration, and in a git work tree.
@Suite struct VaultInitDefaultsToolTests {
    private let folder: TemporaryDirectory
    private let home: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        home = try TemporaryDirectory()
    }

    private func makeFolder(_ name: String) throws -> URL {
        let url = folder.url.appending(path: name)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return url
    }

    private func signet(
        _ arguments: [String], in directory: URL, _ environment: [String: String] = [:]
    ) async throws -> ProcessOutput {
        let output = try await SignetTool.run(
            arguments,
            environment: ["HOME": home.url.path, "XDG_CONFIG_HOME": ""].merging(environment) { $1 },
            directory: directory)
        #expect(!output.stderr.contains("ZZZZZZ"))
        return output
    }

    private func git(_ arguments: [String], in directory: URL) async throws -> ProcessOutput {
        try await ChildProcess.run(
            "git", ["-c", "user.name=a", "-c", "user.email=a@b"] + arguments,
            environment: ["HOME": home.url.path], directory: directory)
    }

    private func write(_ text: String = "password: ZZZZZZ\nhost: a\n", to name: String) throws {
        try folder.write(text, to: name)
    }

    @Test func needsNothingButAConfiguration() async throws {
        let shop = try makeFolder("My Shop_2")
        try write(to: "My Shop_2/config.yaml")
        let made = try await signet(["vault", "init", "config.yaml"], in: shop)
        #expect(made.exit == 0, "\(made.stderr)")
        let lines = made.stderr.split(separator: "\n")
        #expect(lines.first?.contains("--app-id my-shop-2, --app-version 1.0.0") == true)
        #expect(lines.last?.contains("config.yaml still has the secrets") == true)
        #expect(try home.mode(".config/signet") == 0o700)
        #expect(try home.mode(".config/signet/my-shop-2.keys") == 0o600)
        let project = try JSONValue(parsing: folder.read("My Shop_2/signet.json"))
        #expect(project["app"] == ["id": "my-shop-2", "version": "1.0.0"])
        #expect(project["keys"] == "~/.config/signet/my-shop-2.keys")
        let got = try await signet(["vault", "get", "password", "--show-secrets"], in: shop)
        #expect(got.text == "ZZZZZZ\n", "\(got.stderr)")
        // The project file is each user's own: another home has no such key.
        let other = try await signet(
            ["vault", "get", "host", "--json"], in: shop, ["HOME": folder.url.path])
        #expect(other.exit == 2)
        let list = try await signet(["vault", "list"], in: shop)
        #expect(!list.text.contains("changed") && !list.text.contains("launch"))
    }

    @Test func keepsAnExistingKeyFileAndXDGFolder() async throws {
        let (shop, config) = (try makeFolder("shop"), try makeFolder("config"))
        try write(to: "shop/a.yaml")
        let environment = ["XDG_CONFIG_HOME": config.path]
        #expect(try await signet(["vault", "init", "a.yaml"], in: shop, environment).exit == 0)
        let key = try folder.read("config/signet/shop.keys")
        let again = try await signet(
            ["vault", "init", "a.yaml", "--out", "../two", "--app-id", "shop", "--json"], in: shop,
            environment)
        #expect(again.exit == 0, "\(again.stderr)")
        let told = try JSONValue(parsing: again.stdout)
        #expect(told["madeKeys"] == false)
        #expect(told["assumed"]?.object?.memberNames == ["app-version", "keys"])
        #expect(try folder.read("config/signet/shop.keys") == key)
    }

    @Test func refusesAFolderWithoutAName() async throws {
        let shop = try makeFolder("---")
        try write(to: "---/a.yaml")
        let refused = try await signet(["vault", "init", "a.yaml", "--json"], in: shop)
        try expect(refused, exit: 2, code: "usage")
        #expect(try folder.contents(of: "---") == ["a.yaml"])
    }

    @Test(arguments: ["config.yaml", "a b*[1]?.yaml", "#x.yaml", "ü .yaml", "sub/config.yaml"])
    func gitIgnoresTheSecrets(_ name: String) async throws {
        let shop = try makeFolder("shop")
        _ = try makeFolder("shop/sub")
        #expect(try await git(["init", "-q", "."], in: shop).exit == 0)
        try write("*.log", to: "shop/.gitignore")
        try write(to: "shop/" + name)
        let made = try await signet(["vault", "init", name, "--keys", "keys"], in: shop)
        #expect(made.exit == 0, "\(made.stderr)")
        #expect(try await git(["add", "."], in: shop).exit == 0)
        let added = try await git(["ls-files", "-z"], in: shop).text.split(separator: "\0").sorted()
        let own: [Substring] = name.hasPrefix("sub/") ? ["sub/.gitignore"] : []
        #expect(
            added == [".gitignore", "defaults.json", "schema.json", "signet.dump", "signet.json"]
                + own)
        let rules = String(decoding: try folder.read("shop/.gitignore"), as: UTF8.self)
        #expect(rules.hasPrefix("*.log\n"))
    }

    @Test func addsNoRuleTwice() async throws {
        let shop = try makeFolder("shop")
        #expect(try await git(["init", "-q", "."], in: shop).exit == 0)
        try write("config.yaml\n/keys\n", to: "shop/.gitignore")
        try write(to: "shop/config.yaml")
        let made = try await signet(
            ["vault", "init", "config.yaml", "--keys", "keys"], in: shop)
        #expect(made.exit == 0, "\(made.stderr)")
        #expect(try folder.read("shop/.gitignore") == Array("config.yaml\n/keys\n".utf8))
    }

    @Test func repeatsARuleThatALaterOneUndoes() async throws {
        let shop = try makeFolder("shop")
        #expect(try await git(["init", "-q", "."], in: shop).exit == 0)
        try write("/config.yaml\n/keys\n!*.yaml\n", to: "shop/.gitignore")
        try write(to: "shop/config.yaml")
        let made = try await signet(["vault", "init", "config.yaml", "--keys", "keys"], in: shop)
        #expect(made.exit == 0, "\(made.stderr)")
        #expect(!made.stderr.contains("git rm --cached"))
        #expect(try await git(["check-ignore", "-q", "config.yaml"], in: shop).exit == 0)
    }

    @Test(arguments: ["config.yaml", "it's *.yaml", "-x.yaml", "'\u{301}; touch x; '\u{301}.yaml"])
    func saysThatGitTracksAFile(_ name: String) async throws {
        let shop = try makeFolder("shop")
        #expect(try await git(["init", "-q", "."], in: shop).exit == 0)
        try write(to: "shop/" + name)
        try write(to: "shop/other.yaml")
        #expect(try await git(["add", "./" + name], in: shop).exit == 0)
        // A repository's own program isn't started.
        _ = try await git(["config", "core.fsmonitor", "touch started; false"], in: shop)
        let made = try await signet(
            ["vault", "init", "./" + name, "--keys", "keys", "--json"], in: shop)
        #expect(made.exit == 0, "\(made.stderr)")
        #expect(try JSONValue(parsing: made.stdout)["tracked"] == [.string("./" + name)])
        #expect(made.stderr.contains("run git rm --cached") && made.stderr.contains("replace"))
        let other = try await signet(
            ["vault", "init", "other.yaml", "--out", "other", "--keys", "keys", "--json"], in: shop)
        #expect(try JSONValue(parsing: other.stdout)["tracked"] == [])
        #expect(!other.stderr.contains("git rm --cached"))
        let files = try folder.contents(of: "shop")
        #expect(!files.contains("x") && !files.contains("started"), "\(files)")
    }

    @Test func refusesKeysThatAreOneOfItsFiles() async throws {
        let shop = try makeFolder("shop")
        try write(to: "shop/config.yaml")
        let refused = try await signet(
            [
                "vault", "init", "config.yaml", "--out", "new", "--keys", "new/signet.dump",
                "--json",
            ],
            in: shop)
        try expect(refused, exit: 2, code: "usage")
        #expect(try folder.contents(of: "shop") == ["config.yaml"])
    }

    @Test func writesNoRuleOutsideOfAWorkTree() async throws {
        let shop = try makeFolder("shop")
        try write(to: "shop/config.yaml")
        _ = try await signet(["vault", "init", "config.yaml", "--keys", "keys"], in: shop)
        #expect(!(try folder.contents(of: "shop")).contains(".gitignore"))
    }

    // MARK: - git diff

    @Test func gitGoesOnWithoutTheKey() async throws {
        let shop = try makeFolder("shop")
        _ = try await git(["init", "-q", "."], in: shop)
        try write(to: "shop/config.yaml")
        try write("*.dump diff=signet\n", to: "shop/.gitattributes")
        _ = try await signet(["vault", "init", "config.yaml"], in: shop)
        _ = try await git(
            [
                "config", "diff.signet.textconv",
                "'\(SignetTool.url.path)' vault diff --textconv",
            ], in: shop)
        _ = try await git(["add", "."], in: shop)
        _ = try await git(["commit", "-qm", "one"], in: shop)
        _ = try await signet(
            ["keys", "new", "--type", "vault", "--id", "vault-2027", "--out", "../k2"], in: shop)
        let moved = try await signet(["vault", "rekey", "--to-keys", "../k2"], in: shop)
        #expect(moved.exit == 0, "\(moved.stderr)")
        try write("later", to: "shop/zz.txt")
        _ = try await git(["add", "-N", "zz.txt"], in: shop)
        let diff = try await git(["diff"], in: shop)
        #expect(diff.exit == 0, "\(diff.stderr)")
        #expect(diff.text.contains("-sealed with key vault, which is not in the set\n"))
        #expect(diff.text.contains("+later"))
        _ = try await git(["commit", "-qam", "two"], in: shop)
        try write("<<<<<<< conflict", to: "shop/signet.dump")
        _ = try await git(["commit", "-qam", "three"], in: shop)
        let log = try await git(["log", "-p"], in: shop)
        #expect(log.exit == 0 && log.text.contains("+later") && log.text.contains("one"))
        // Without any key.
        let keyless = try await ChildProcess.run(
            "git", ["log", "-p"], environment: ["HOME": folder.url.path], directory: shop)
        #expect(keyless.exit == 0, "\(keyless.stderr)")
        #expect(!(log.text + diff.text + keyless.text).contains("ZZZZZZ"))
    }
}
