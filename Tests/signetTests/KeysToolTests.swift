import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet keys`.
@Suite struct KeysToolTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func keys(
        _ arguments: String..., stdin: [UInt8] = []
    ) async throws -> ProcessOutput {
        try await SignetTool.run(["keys"] + arguments, stdin: stdin, directory: folder.url)
    }

    private func mode(_ name: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path(name))
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test(arguments: ["hmac", "ed25519", "p256", "p384", "rsa", "vault", "aes"])
    func makesAKeyAndPrintsNothingOfIt(_ type: String) async throws {
        let made = try await keys("new", "--type", type, "--id", "k-1", "--out", "keys", "--json")
        #expect(made.exit == 0 && made.stderr.isEmpty)
        #expect(made.text == #"{"id":"k-1","type":"\#(type)","file":"keys"}"# + "\n")
        #expect(try mode("keys") == 0o600)
        let value = try JSONValue(parsing: folder.read("keys"))
        let key = try #require(value["keys"]?.array?.first?.object)
        let secret = try #require((key["k"] ?? key["d"])?.string)
        let said = try await keys("public", "keys")
        #expect(said.exit == 0 && !said.text.contains(secret))
        let halves = try #require(try JSONValue(parsing: said.stdout)["keys"]?.array)
        #expect(halves.count == (key["k"] == nil ? 1 : 0))
        for name in ["k", "d", "p", "q", "dp", "dq", "qi"] {
            #expect(halves.first?[name] == nil)
        }
    }

    @Test func makesKeysForSealedBodies() async throws {
        for alg in ["A128KW", "A256KW", "A128GCM", "A256GCM"] {
            let made = try await keys(
                "new", "--type", "aes", "--alg", alg, "--id", alg, "--out", "keys", "--append")
            #expect(made.exit == 0, "\(made.stderr)")
        }
        let made = try #require(try JSONValue(parsing: folder.read("keys"))["keys"]?.array)
        #expect(made.map { $0["kty"] } == Array(repeating: "oct", count: 4))
        #expect(made.map { $0["use"] } == Array(repeating: "enc", count: 4))
        #expect(made.map { $0["alg"] } == made.map { $0["kid"] })
        #expect(made.map { $0["k"]?.string?.utf8.count } == [22, 43, 22, 43])
        let listed = try await keys("list", "keys")
        #expect(columns(listed).map { $0[1] } == Array(repeating: "aes", count: 4))
        // A secret of another program, bound to one algorithm too.
        let imported = try await keys(
            "import", "-", "--type", "aes", "--alg", "A128GCM", "--encoding", "hex", "--id", "b",
            "--out", "keys", "--append", stdin: Array("000102030405060708090a0b0c0d0e0f".utf8))
        #expect(imported.exit == 0, "\(imported.stderr)")
        let short = try await keys(
            "import", "-", "--type", "aes", "--encoding", "hex", "--id", "c",
            "--out", "keys", "--append", stdin: Array("000102030405060708090a0b0c0d0e0f".utf8))
        #expect(short.exit == 2 && short.stderr.contains("16 bytes"), "\(short.stderr)")
    }

    @Test(arguments: [
        (["aes", "--alg", "A192KW"], "expected A256KW or A128KW or A256GCM or A128GCM"),
        (["aes", "--alg", "HS256"], "found --alg HS256"),
        (["aes", "--use", "sig"], "found --use sig"),
        (["hmac", "--alg", "A256KW"], "expected HS256 or HS512"),
        (["vault", "--alg", "A256GCM"], "expected none"),
    ])
    func anAlgorithmOfAnotherTypeIsRefused(_ options: [String], _ words: String) async throws {
        let output = try await SignetTool.run(
            ["keys", "new", "--id", "k", "--out", "keys", "--type"] + options,
            directory: folder.url)
        #expect(output.exit == 2)
        #expect(output.stderr.contains(words), "\(output.stderr)")
        #expect(output.stderr.split(separator: "\n").count == 1)
        #expect(try folder.contents().isEmpty)
    }

    private func columns(_ output: ProcessOutput) -> [[String]] {
        output.text.split(separator: "\n").map { line in
            line.split(separator: " ").map { String($0) }
        }
    }

    @Test func listNamesHMACKeysThatAreTooShort() async throws {
        let set = """
            {"keys":[{"kty":"oct","kid":"short","use":"sig","alg":"HS256","k":"AAECAwQFBgcICQoLDA0O"},
            {"kty":"oct","kid":"long","use":"sig","alg":"HS256","k":"AAECAwQFBgcICQoLDA0ODw"}]}
            """
        try folder.write(set, to: "keys")
        let listed = try await keys("list", "keys")
        #expect(listed.exit == 0)
        #expect(listed.text == "short hmac HS256 - too-short\nlong hmac HS256 -\n")
        #expect(listed.stderr.contains("short has 15 bytes"))
        #expect(!listed.stderr.contains("long"))
        let json = try JSONValue(parsing: try await keys("list", "keys", "--json").stdout)
        #expect(json["keys"]?.array?.map { $0["tooShort"] } == [true, nil])
    }

    @Test func listsThumbprintsOfPublicHalvesOnly() async throws {
        for type in ["hmac", "vault", "ed25519", "p256", "p384", "rsa"] {
            let made = try await keys(
                "new", "--type", type, "--id", type, "--out", "keys", "--append")
            #expect(made.exit == 0)
        }
        let listed = try await keys("list", "keys")
        #expect(listed.exit == 0 && listed.stderr.isEmpty)
        let lines = columns(listed)
        #expect(lines.map { $0[0] } == ["hmac", "vault", "ed25519", "p256", "p384", "rsa"])
        #expect(lines.map { $0[2] } == ["HS256", "-", "Ed25519", "ES256", "ES384", "PS512"])
        #expect(lines.map { $0[3].utf8.count } == [1, 1, 43, 43, 43, 43])
        let json = try JSONValue(parsing: try await keys("list", "keys", "--json").stdout)
        let shown = try #require(json["keys"]?.array)
        let thumbprints = shown.map { $0["thumbprint"]?.string ?? "-" }
        #expect(thumbprints == lines.map { $0[3] })
        let halves = try await keys("public", "keys")
        let again = try await keys("list", "-", stdin: halves.stdout)
        let wanted = Array(lines.dropFirst(2).map { $0[3] })
        #expect(columns(again).map { $0[3] } == wanted)
        for key in try #require(try JSONValue(parsing: folder.read("keys"))["keys"]?.array) {
            let secret = try #require((key["k"] ?? key["d"])?.string)
            #expect(!listed.text.contains(secret))
        }
    }

    @Test func printsPublicKeysAsPEM() async throws {
        let kinds = ["ed25519", "p256", "p384", "rsa"]
        for kind in ["hmac"] + kinds {
            let made = try await keys(
                "new", "--type", kind, "--id", kind, "--out", "keys", "--append")
            #expect(made.exit == 0)
        }
        let all = try await keys("public", "keys", "--format", "pem")
        #expect(all.exit == 0)
        var whole = ""
        let shown = try JSONValue(parsing: await keys("list", "keys", "--json").stdout)
        for (index, kind) in kinds.enumerated() {
            let one = try await keys("public", "keys", "--format", "pem", "--id", kind)
            whole += one.text
            // OpenSSL reads it, and writes the same.
            let read = try await ChildProcess.run(
                "openssl", ["pkey", "-pubin", "-pubout"], stdin: one.stdout)
            #expect(read.exit == 0 && read.stdout == one.stdout)
            try folder.write(one.stdout, to: "\(kind).pem")
            let back = try await keys(
                "import", "\(kind).pem", "--id", kind, "--out", "\(kind).keys")
            #expect(back.exit == 0, "\(back.stderr)")
            let again = try JSONValue(parsing: await keys("list", "\(kind).keys", "--json").stdout)
            #expect(
                again["keys"]?.array?.first?["thumbprint"]
                    == shown["keys"]?.array?[index + 1]["thumbprint"])
            let jwk = try JSONValue(
                parsing: await keys("public", "keys", "--id", kind).stdout)
            #expect(jwk["keys"]?.array?.map { $0["kid"] } == [.string(kind)])
            #expect(jwk["keys"]?.array?.first?["d"] == nil)
        }
        #expect(all.text == whole)
        for (arguments, exit) in [
            (["--id", "absent"], 1), (["--id", "hmac"], 1), (["--format", "der"], 2),
            (["--id", "hmac", "--format", "pem"], 1),
        ] as [([String], Int32)] {
            let output = try await SignetTool.run(
                ["keys", "public", "keys", "--json"] + arguments, directory: folder.url)
            #expect(output.exit == exit, "\(output.text)")
        }
    }

    @Test func appendsToAFile() async throws {
        for id in ["one", "two"] {
            let made = try await keys(
                "new", "--type", "hmac", "--id", id, "--out", "keys", "--append")
            #expect(made.exit == 0)
        }
        let value = try JSONValue(parsing: folder.read("keys"))
        #expect(value["keys"]?.array?.compactMap { $0["kid"]?.string } == ["one", "two"])
        #expect(try folder.contents() == ["keys"])
    }

    @Test func refusesAFileAndAnIDThatAreThere() async throws {
        _ = try await keys("new", "--type", "hmac", "--id", "one", "--out", "keys")
        let before = try folder.read("keys")
        let again = try await keys(
            "new", "--type", "hmac", "--id", "two", "--out", "keys", "--json")
        #expect(again.exit == 2 && again.text.contains(#""code":"file-exists""#))
        let twice = try await keys(
            "new", "--type", "hmac", "--id", "one", "--out", "keys", "--append", "--json")
        #expect(twice.exit == 2 && twice.text.contains(#""code":"key-exists""#))
        #expect(try folder.read("keys") == before)
    }

    @Test(arguments: [
        ["new"], ["new", "--type", "hmac", "--id", "a"], ["new", "--type", "hmac", "--out", "k"],
        ["new", "--type", "des", "--id", "a", "--out", "k"],
        ["new", "--type", "unsupported", "--id", "a", "--out", "k"],
        ["new", "--type", "hmac", "--id", "", "--out", "k"],
        ["new", "--type", "hmac", "--id", "a\nb", "--out", "k"],
        ["new", "--type", "hmac", "--id", "a", "--out", ""],
        ["new", "--type", "hmac", "--id", "a", "--out", "."],
        ["new", "--type", "hmac", "--id", "a", "--out", "no/such/folder"],
        ["new", "--type", "hmac", "--id", "a", "--out", "/dev/full"],
        ["public", "absent"], ["public", "."], ["public", "/dev/zero"], ["public", "a", "b"],
        ["public", "env:SIGNET_NO_SUCH_VARIABLE"], ["public", "fd:2147483647"],
        ["public", "command:exit 3"],
        ["public", "credential:../keys"], ["list", "absent"], ["list", "."], ["list", "a", "b"],
    ])
    func refusesWithOneErrorAndLeavesNothing(_ arguments: [String]) async throws {
        let output = try await SignetTool.run(
            ["keys"] + arguments + ["--json"], directory: folder.url)
        #expect(output.exit == 2)
        let error = try JSONValue(parsing: output.stdout)["error"]
        #expect(error?["code"]?.string?.isEmpty == false)
        #expect(error?["message"]?.string?.isEmpty == false)
        #expect(try folder.contents().isEmpty)
    }

    @Test func refusesAKeyFileThatOthersCanRead() async throws {
        _ = try await keys("new", "--type", "hmac", "--id", "one", "--out", "keys")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: folder.path("keys"))
        let output = try await keys("public", "keys", "--json")
        #expect(output.exit == 2)
        let error = try JSONValue(parsing: output.stdout)["error"]
        #expect(error?["code"] == "key-file-permissions")
        #expect(error?["message"]?.string?.contains("chmod 600 keys") == true)
    }

    @Test func readsStandardInput() async throws {
        let set = #"{"keys":[{"kid":"a","kty":"oct","k":"AA"}]}"#
        for file in [[], ["-"]] {
            let output = try await SignetTool.run(
                ["keys", "public", "--json"] + file, stdin: Array(set.utf8))
            #expect(output.exit == 0 && output.text == "{\"keys\":[]}\n")
        }
        for broken in ["", "{", "\u{0}", #"{"keys":[{"kid":"a","kty":"oct","k":"AB"}]}"#] {
            let output = try await keys("public", stdin: Array(broken.utf8))
            #expect(output.exit == 2 && output.stdout.isEmpty && !output.stderr.isEmpty)
        }
    }
}
