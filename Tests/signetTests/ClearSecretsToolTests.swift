import Foundation
import SignetJSON
import TestSupport
import Testing

/// A value that `vault init` took for public, and whose key a person makes secret in the schema.
@Suite struct ClearSecretsToolTests {
    private let folder: TemporaryDirectory
    private let home: TemporaryDirectory
    private static let secret = "tiger-9Kd2mQx7"

    /// Makes a project whose `database.tag` was taken for public, and corrects its schema.
    init() async throws {
        folder = try TemporaryDirectory()
        home = try TemporaryDirectory()
        try folder.write(
            "database: {host: a.example, tag: \(Self.secret), password: ZZZZZZ}\n",
            to: "config.yaml")
        let made = try await signet("vault", "init", "config.yaml", "--app-id", "shop")
        #expect(made.exit == 0, "\(made.stderr)")
        #expect(try defaults.contains(Self.secret))
        try folder.write(
            """
            {"keys":{"database.host":{"type":"string","visibility":"public"},
              "database.tag":{"type":"string","visibility":"secret"},
              "database.password":{"type":"string","visibility":"secret"}}}
            """, to: "schema.json")
    }

    private func signet(_ arguments: String..., stdin: String = "") async throws -> ProcessOutput {
        let output = try await SignetTool.run(
            arguments, stdin: Array(stdin.utf8),
            environment: ["HOME": home.url.path, "XDG_CONFIG_HOME": ""], directory: folder.url)
        #expect(!output.stderr.contains(Self.secret) && !output.stderr.contains("ZZZZZZ"))
        return output
    }

    private var defaults: String {
        get throws { String(decoding: try folder.read("defaults.json"), as: UTF8.self) }
    }

    private func tag() async throws -> String {
        try await signet("vault", "get", "database.tag", "--show-secrets").text
    }

    @Test func aSealMovesItIntoTheDump() async throws {
        let sealed = try await signet("vault", "seal")
        #expect(sealed.exit == 0, "\(sealed.stderr)")
        #expect(
            sealed.text.hasSuffix(
                "moved out of defaults.json, where they were in the clear: database.tag\n"
                    + "kept the changes that were made in the dump: database.password\n"))
        #expect(sealed.stderr.contains("replace the values that were moved"))
        #expect(try defaults == "{\n  \"database.host\": \"a.example\"\n}\n")
        #expect(try folder.mode("defaults.json") == 0o644)
        #expect(try await tag() == Self.secret + "\n")
        // The next seal keeps it, and has nothing to move.
        let again = try await signet("vault", "seal", "--json")
        #expect(again.exit == 0 && again.stderr.isEmpty, "\(again.stderr)")
        let told = try JSONValue(parsing: again.stdout)
        #expect(told["moved"] == [] && told["inTheClear"] == [])
        #expect(told["kept"] == ["database.tag", "database.password"])
        #expect(try await tag() == Self.secret + "\n")
        #expect(try await signet("vault", "list").stderr.isEmpty)
        #expect(try await signet("self-check", "--offline").exit == 0)
    }

    @Test func otherCommandsNameIt() async throws {
        let clear =
            "defaults.json has values in the clear that the schema calls secret: database.tag"
        let list = try await signet("vault", "list")
        #expect(list.exit == 0 && list.stderr.contains("\(clear); signet vault seal moves them"))
        let json = try await signet("vault", "list", "--json")
        #expect(try JSONValue(parsing: json.stdout)["inTheClear"] == ["database.tag"])
        let set = try await signet("vault", "set", "database.tag=-", stdin: "new\n")
        #expect(set.exit == 0 && set.stderr.contains(clear), "\(set.stderr)")
        let check = try await signet("self-check", "--offline", "--json")
        #expect(check.exit == 1)
        let bad =
            try JSONValue(parsing: check.stdout)["checks"]?.array?
            .filter { $0["status"] == "bad" } ?? []
        #expect(bad.map { $0["detail"]?.string } == [clear])
        #expect(bad.first?["remedy"]?.string?.contains("signet vault seal") == true)
        // The value that was set in the dump wins over the old one, which is removed all the same.
        let sealed = try await signet("vault", "seal", "--json")
        let told = try JSONValue(parsing: sealed.stdout)
        #expect(told["moved"] == ["database.tag"])
        #expect(told["kept"] == ["database.tag", "database.password"])
        #expect(try await tag() == "new\n")
        #expect(try !defaults.contains(Self.secret))
    }

    @Test func namesItAloneInFilesThatWereGiven() async throws {
        let before = try defaults
        for more in [["--defaults", "defaults.json"], ["--out", "other.dump"]] {
            let sealed = try await SignetTool.run(
                ["vault", "seal"] + more,
                environment: ["HOME": home.url.path, "XDG_CONFIG_HOME": ""], directory: folder.url)
            #expect(sealed.exit == 0, "\(sealed.stderr)")
            #expect(
                sealed.stderr.contains("secret: database.tag; signet vault set --origin launch"))
            #expect(try defaults == before)
        }
        let piped = try await signet("vault", "seal", "--defaults", "-", stdin: before)
        #expect(piped.exit == 0 && piped.stderr.isEmpty, "\(piped.stderr)")
        // What the message says works.
        try folder.write(Self.secret, to: "tag")
        #expect(
            try await signet("vault", "set", "--origin", "launch", "database.tag@tag").exit == 0)
        try folder.write(#"{"database.host":"a.example"}"#, to: "defaults.json")
        let sealed = try await signet("vault", "seal")
        #expect(sealed.exit == 0 && sealed.stderr.isEmpty, "\(sealed.stderr)")
        #expect(try await tag() == Self.secret + "\n")
    }

    @Test func readsNestedMembersAndLeavesEmptyOnes() async throws {
        try folder.write(
            #"{"database":{"tag":"\#(Self.secret)","password":""},"database.host":"a.example"}"#,
            to: "defaults.json")
        let sealed = try await signet("vault", "seal", "--json")
        #expect(try JSONValue(parsing: sealed.stdout)["moved"] == ["database.tag"])
        #expect(
            try JSONValue(parsing: folder.read("defaults.json")) == [
                "database": ["password": ""], "database.host": "a.example",
            ])
    }

    /// A value of the launch isn't a change by hand: the next one replaces it.
    @Test func aValueOfTheLaunchStaysOne() async throws {
        for value in ["first", "second"] {
            try folder.write(value, to: "tag")
            let sealed = try await signet("vault", "seal", "--launch", "database.tag@tag")
            #expect(sealed.exit == 0, "\(sealed.stderr)")
            #expect(try await tag() == value + "\n")
        }
        #expect(try !defaults.contains(Self.secret))
    }

    @Test func aRefusedSealMovesNothing() async throws {
        let before = try defaults
        try FileManager.default.moveItem(
            atPath: home.path(".config/signet/shop.keys"), toPath: home.path("lost"))
        let refused = try await signet("vault", "seal")
        #expect(refused.exit == 2)
        #expect(
            refused.stderr.contains("shop.keys, the key set of signet.json, doesn't exist"),
            "\(refused.stderr)")
        #expect(try defaults == before)
    }
}
