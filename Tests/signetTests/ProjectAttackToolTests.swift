import Foundation
import SignetJSON
import TestSupport
import Testing

/// A repository that came from somebody else, and a project that changes after it was trusted.
@Suite struct ProjectAttackToolTests {
    private let folder: TemporaryDirectory
    private var shop: URL { folder.url.appending(path: "shop") }

    init() async throws {
        folder = try TemporaryDirectory()
        try FileManager.default.createDirectory(at: shop, withIntermediateDirectories: false)
        try folder.write(#"{"orders":{"host":"a.example"}}"#, to: "shop/config.json")
        let made = try await run(["vault", "init", "config.json"])
        #expect(made.exit == 0, "\(made.stderr)")
    }

    private func run(_ arguments: [String]) async throws -> ProcessOutput {
        try await SignetTool.run(
            arguments,
            environment: [
                "HOME": folder.path, "XDG_CONFIG_HOME": folder.path("config"), "SIGNET_PROJECT": "",
            ], directory: shop)
    }

    /// Changes members of the project file.
    private func change(_ members: JSONObject) throws {
        var object = try #require(
            JSONValue(parsing: Array(folder.read("shop/signet.json"))).object)
        for (name, value) in members { object[name] = value }
        try folder.write(JSONValue.object(object).serialized(), to: "shop/signet.json")
    }

    private func state() async throws -> String? {
        let shown = try await run(["project", "show", "--json"])
        return try JSONValue(parsing: shown.stdout)["state"]?.string
    }

    @Test(arguments: [
        ("caFile", "ca.pem"), ("scheme", "./acme.json"), ("passphrase", "pass"),
        ("keys", "partner.json"),
    ])
    func anotherFileEndsTheTrust(_ member: String, _ file: String) async throws {
        let keys = try await run(["keys", "new", "--type", "ed25519", "--id", "a", "--out", "a"])
        #expect(keys.exit == 0)
        let half = try await run(["keys", "public", "a"])
        try folder.write(half.stdout, to: "shop/partner.json", mode: 0o600)
        for name in ["ca.pem", "acme.json", "pass"] {
            try folder.write("first", to: "shop/\(name)", mode: 0o600)
        }
        try change([member: .string(file)])
        #expect(try await run(["project", "trust"]).exit == 0)
        #expect(try await state() == "trusted")
        let other = try await run(["keys", "new", "--type", "ed25519", "--id", "a", "--out", "b"])
        #expect(other.exit == 0)
        let changed = member == "keys" ? try await run(["keys", "public", "b"]).stdout : [0x32]
        try folder.write(changed, to: "shop/\(file)", mode: 0o600)
        #expect(try await state() == "no longer trusted")
    }

    /// A policy's pins change by commands. Its CAs are what the user trusted.
    @Test func otherAuthoritiesOfAPolicyEndTheTrust() async throws {
        func write(_ authority: Result<TestAuthority, any Error>, pin: String) throws {
            let caFile = URL(filePath: try authority.get().caFile)
            try folder.write(Data(contentsOf: caFile), to: "shop/ca.pem")
            let rule = #"{"pins":["sha256/\#(pin)"],"caFile":"ca.pem"}"#
            try folder.write(#"{"hosts":{"localhost":\#(rule)}}"#, to: "shop/policy.json")
        }
        let (one, two) = (
            String(repeating: "A", count: 43), String(repeating: "B", count: 42) + "A"
        )
        try write(TestAuthority.trusted, pin: one + "=")
        try change(["policy": "policy.json"])
        #expect(try await run(["project", "trust"]).exit == 0)
        #expect(try await state() == "trusted")
        try write(TestAuthority.trusted, pin: two + "=")
        #expect(try await state() == "trusted")
        try write(TestAuthority.rogue, pin: two + "=")
        #expect(try await state() == "no longer trusted")
    }

    /// A damaged file is refused by its name, or it names nothing outside its folder.
    @Test func aDamagedFileIsRefusedByName() async throws {
        let project =
            #"{"app":{"id":"i","version":"1"},"schema":"s.json","defaults":"d/x","dump":"x","#
            + #""keys":"k","state":"st","policy":"p.json","caFile":"c","connectTo":["a:1:b:2"]}"#
        let pieces = [
            "../", "/etc/", "\\u002f", "command:", "env:", "\"", "{", "]", "\0", ",", "null",
        ]
        var random = SplitMix(seed: 29)
        var refused = 0
        for _ in 0..<120 {
            var bytes = Array(project.utf8)
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes.insert(contentsOf: pieces.randomElement(using: &random)!.utf8, at: place)
            case 1: bytes.remove(at: place)
            default: bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
            try folder.write(bytes, to: "shop/signet.json")
            let output = try await run(["project", "show", "--json"])
            if output.exit == 0 {
                let shown = String(decoding: output.stdout, as: UTF8.self)
                // `p.../` is a folder's name.
                for path in ["\"../", "/../", "\"/etc/"] {
                    #expect(!shown.contains(path), "\(shown)")
                }
                #expect(!shown.contains("command:"), "\(shown)")
            } else {
                refused += 1
                #expect(output.exit == 2 && output.text.contains("signet.json"), "\(output.text)")
            }
        }
        #expect(refused > 40)
    }

    /// The new keys' source is a command, which replaces the project file before rekey writes it.
    @Test func aFileThatChangedMeanwhileIsNotTrusted() async throws {
        let made = try await run(["keys", "new", "--type", "vault", "--id", "v2", "--out", "next"])
        #expect(made.exit == 0)
        let own = try folder.read("shop/signet.json")
        try change(["caFile": "evil.pem"])
        let evil = try folder.read("shop/signet.json")
        try folder.write(evil, to: "shop/evil.json")
        try folder.write(own, to: "shop/signet.json")
        #expect(try await state() == "trusted")
        let moved = try await run([
            "vault", "rekey", "--to-keys", "command:cp evil.json signet.json; cat next",
            "--to-key-id", "v2",
        ])
        #expect(moved.exit == 0, "\(moved.stderr)")
        #expect(moved.stderr.contains("was changed while this command ran"), "\(moved.stderr)")
        #expect(try folder.read("shop/signet.json") == evil)
        #expect(try await state() == "no longer trusted")
    }

    /// The answers for a file that exists and one that doesn't are the same.
    @Test func aFoundPolicyOpensNoFileOfCAs() async throws {
        #expect(try await run(["project", "untrust"]).exit == 0)
        try change(["policy": "policy.json"])
        for command in [
            ["pins", "check", "https://localhost:1"], ["call", "https://localhost:1", "a"],
            ["self-check", "--offline"],
        ] {
            var answers: Set<String> = []
            for file in ["/etc/passwd", "/nothing", "keys"] {
                try folder.write(
                    #"{"hosts":{"localhost":{"pins":["sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="],"caFile":"\#(file)"}}}"#,
                    to: "shop/policy.json")
                let output = try await run(command + ["--json"])
                #expect(output.exit == (command[0] == "self-check" ? 1 : 2), "\(output.text)")
                answers.insert(output.text)
            }
            #expect(answers.count == 1, "\(answers)")
        }
    }

    /// A file that was found names no host to reach until its folder is trusted.
    @Test func aCheckOfHostsNeedsTrust() async throws {
        #expect(try await run(["project", "untrust"]).exit == 0)
        let refused = try await run(["self-check"])
        #expect(refused.exit == 2, "\(refused.text)")
        #expect(refused.stderr.contains("signet project trust"), "\(refused.stderr)")
        #expect(try await run(["self-check", "--offline"]).exit == 0)
        #expect(try await run(["project", "trust"]).exit == 0)
        #expect(try await run(["self-check"]).exit == 0)
    }

    /// A shared key set, opened by the identity in the user's own folder.
    @Test func aSharedSetHasOnlyTrustedRoots() async throws {
        let identity = folder.path("config/signet/identity")
        func share(_ keys: String, _ file: String) async throws {
            let half = try await run(["keys", "public", identity])
            try folder.write(half.stdout, to: "shop/alice.pub")
            let shared = try await run(["keys", "share", keys, "--to", "alice.pub", "--out", file])
            #expect(shared.exit == 0, "\(shared.stderr)")
        }
        for arguments in [
            ["--type", "x25519", "--id", "alice", "--out", identity],
            ["--type", "vault", "--id", "vault", "--out", "evil"],
        ] {
            let made = try await run(["keys", "new"] + arguments)
            #expect(made.exit == 0, "\(made.stderr)")
        }
        try await share(folder.path("config/signet/shop.keys"), "keys.shared")
        try await share("evil", "evil.shared")
        try change(["keys": "keys.shared"])
        let list = ["vault", "get", "orders.host"]
        let untrusted = try await run(list)
        #expect(untrusted.exit == 2 && untrusted.stderr.contains("signet project trust"))
        #expect(try await run(["project", "trust"]).exit == 0)
        let got = try await run(list)
        #expect(got.text == "a.example\n", "\(got.stderr)")
        try folder.write(folder.read("shop/evil.shared"), to: "shop/keys.shared")
        let other = try await run(list + ["--json"])
        #expect(other.exit != 0 && !other.text.contains("a.example"), "\(other.text)")
        #expect(
            ["unknown-root", "signet project trust"].contains { other.text.contains($0) },
            "\(other.text)")
    }

    @Test(arguments: ["scheme", "caFile"])
    func aCallIsNotSentWithout(_ member: String) async throws {
        let made = try await run(["keys", "new", "--type", "hmac", "--id", "k", "--out", "hmac"])
        #expect(made.exit == 0)
        let authority = try TestAuthority.trusted.get()
        try folder.write(Data(contentsOf: URL(filePath: authority.caFile)), to: "shop/ca.pem")
        try change(["keys": "hmac", member: member == "scheme" ? "rfc9421" : "ca.pem"])
        let call = ["call", "https://localhost:1/", "a", "--json"]
        let untrusted = try await run(call)
        #expect(untrusted.exit == 2, "\(untrusted.text)")
        #expect(untrusted.text.contains("signet project trust"), "\(untrusted.text)")
        // Nothing listens there.
        let given =
            member == "scheme"
            ? ["--scheme", "rfc9421", "--keys", "hmac"] : ["--ca-file", "ca.pem"]
        #expect(try await run(call + given).exit == 3)
        #expect(try await run(["project", "trust"]).exit == 0)
        #expect(try await run(call).exit == 3)
    }

    @Test(arguments: ["/dev/fd/3", "/proc/self/fd/3", "/dev/stdin", "//dev/./fd/3", "/proc/kmsg"])
    func noPathIsADescriptor(_ path: String) async throws {
        for member in ["keys", "passphrase"] {
            try change([member: .string(path)])
            let output = try await run(["vault", "list", "--json"])
            #expect(output.exit == 2 && output.text.contains("malformed-input"), "\(output.text)")
        }
    }

    @Test(arguments: ["/dev/stdin", "/nonexistent/../dev/stdin", "link", "/proc/self/fd/0"])
    func noLinkLeadsToADescriptor(_ target: String) async throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("shop/link"), withDestinationPath: target)
        try change(["keys": "link"])
        let output = try await run(["vault", "list", "--json"])
        #expect(output.exit == 2 && !output.text.contains("partner"), "\(output.text)")
        #expect(target.contains("..") || output.text.contains("malformed-input"))
    }

    @Test(arguments: ["prompt", "-"])
    func aPassphraseIsAFilesName(_ name: String) async throws {
        var object = try #require(
            JSONValue(parsing: Array(folder.read("shop/signet.json"))).object)
        object["keys"] = nil
        object["passphrase"] = .string(name)
        try folder.write(JSONValue.object(object).serialized(), to: "shop/signet.json")
        let output = try await run(["vault", "list"])
        #expect(
            output.exit == 2 && output.stderr.contains("cannot open ./\(name)"), "\(output.stderr)")
    }

    @Test func gitGoesOnBesideABrokenProject() async throws {
        try folder.write("<<<<<<< HEAD", to: "shop/signet.json")
        let output = try await run(["vault", "diff", "--textconv", "signet.dump"])
        #expect(output.exit == 0 && output.text.contains("signet.json"), "\(output.stderr)")
    }

    @Test(arguments: ["link", "folder"])
    func writesNoRuleThroughALink(_ kind: String) async throws {
        try folder.write("private", to: "victim", mode: 0o600)
        let clone = folder.url.appending(path: "clone")
        for name in ["clone", "clone/.git"] {
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: name), withIntermediateDirectories: false)
        }
        let rules = clone.appending(path: ".gitignore")
        if kind == "link" {
            try FileManager.default.createSymbolicLink(
                at: rules, withDestinationURL: folder.url.appending(path: "victim"))
        } else {
            try FileManager.default.createDirectory(at: rules, withIntermediateDirectories: false)
        }
        try folder.write(#"{"password":"tiger-9Kd2mQx7"}"#, to: "clone/config.json")
        let output = try await run([
            "vault", "init", "../clone/config.json", "--out", "../clone", "--app-id", "clone",
        ])
        #expect(output.exit == 2 && output.stderr.contains(".gitignore"), "\(output.stderr)")
        #expect(try folder.read("victim") == Array("private".utf8))
        #expect(try folder.mode("victim") == 0o600)
        #expect(try folder.contents(of: "clone") == [".git", ".gitignore", "config.json"])
    }
}
