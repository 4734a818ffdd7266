import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet keys import`, `remove` and `revoke`.
@Suite struct KeysImportToolTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func signet(
        _ arguments: [String], stdin: [UInt8] = [], environment: [String: String] = [:]
    ) async throws -> ProcessOutput {
        try await SignetTool.run(
            arguments, stdin: stdin, environment: environment, directory: folder.url)
    }

    private func code(_ output: ProcessOutput) throws -> String? {
        try JSONValue(parsing: output.stdout)["error"]?["code"]?.string
    }

    /// The keys of a file.
    private func keys(_ name: String = "keys") throws -> [JSONObject] {
        try JSONValue(parsing: folder.read(name))["keys"]?.array?.compactMap(\.object) ?? []
    }

    /// The options of `openssl genpkey`, the type, and the label of the older PEM form.
    static let families: [(options: [String], type: String, alg: String, traditional: Bool)] = [
        (["-algorithm", "ed25519"], "ed25519", "Ed25519", false),
        (["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], "p256", "ES256", true),
        (["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"], "p384", "ES384", true),
        (["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], "rsa", "PS512", true),
    ]

    /// A private key that a variable, an editor or another system has changed.
    @Test(arguments: ["indented", "quoted", "escaped", "utf16", "bom"])
    func readsAPrivateKeyInAnUnusualForm(_ form: String) async throws {
        try await folder.openssl(
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "key.pem")
        let pem = String(decoding: try folder.read("key.pem"), as: UTF8.self)
        let text =
            switch form {
            case "indented": pem.split(separator: "\n").map { "    \($0)\n" }.joined()
            case "quoted": "\"\(pem)\"\n"
            case "escaped": "'" + pem.replacing("\n", with: #"\n"#) + "'"
            case "bom": "\u{FEFF}" + pem.replacing("\n", with: "\r\n")
            default: pem
            }
        let bytes: [UInt8] =
            form == "utf16"
            ? [0xFF, 0xFE] + text.utf8.flatMap { [$0, UInt8(0)] } : Array(text.utf8)
        try folder.write(Data(bytes), to: "changed", mode: 0o600)
        let read = try await signet(["keys", "import", "changed", "--id", "a", "--out", "keys"])
        #expect(read.exit == 0, "\(read.stderr)")
        #expect(try keys().first?["crv"] == "P-256")
        // It never becomes a secret for HMAC.
        try folder.write(Data(bytes).base64EncodedString(), to: "base64", mode: 0o600)
        for (file, encoding) in [("changed", "raw"), ("base64", "base64")] {
            let arguments = [
                "keys", "import", file, "--id", "b", "--encoding", encoding, "--type", "hmac",
            ]
            let refused = try await signet(arguments + ["--out", "secret", "--json"])
            #expect(try code(refused) == "malformed-keys", "\(refused.text)")
            #expect(!(try folder.contents()).contains("secret"))
            let forced = try await signet(arguments + ["--out", "forced-\(encoding)", "--force"])
            #expect(forced.exit == 0, "\(forced.stderr)")
        }
    }

    @Test func aTypeIsEnoughForAKeyInDER() async throws {
        try await folder.openssl(
            "genpkey", "-algorithm", "ed25519", "-outform", "DER", "-out", "key.der")
        let der = ["keys", "import", "key.der", "--id", "a", "--out", "keys"]
        #expect(try await signet(der).exit == 2)
        #expect(try await signet(der + ["--type", "hmac"]).exit == 2)
        #expect(try await signet(der + ["--type", "p256"]).exit == 2)
        // Base64 isn't DER: it needs --encoding, as all but PEM, JWK and DER.
        try folder.write(
            Data(folder.read("key.der")).base64EncodedString(), to: "base64")
        let text = try await signet(
            ["keys", "import", "base64", "--id", "a", "--out", "keys", "--type", "ed25519"])
        #expect(text.exit == 2 && text.stderr.contains("--encoding"), "\(text.stderr)")
        let read = try await signet(der + ["--type", "ed25519"])
        #expect(read.exit == 0, "\(read.stderr)")
    }

    @Test func choosesNoKeyThatHasEnded() async throws {
        for id in ["old", "new"] {
            let made = try await signet(
                ["keys", "new", "--type", "hmac", "--id", id, "--out", "keys"]
                    + (id == "new" ? ["--append"] : []))
            #expect(made.exit == 0)
        }
        let message = Array("GET / HTTP/1.1\nHost: a.example\n\n".utf8)
        let sign = ["sign", "--scheme", "rfc9421", "--keys", "keys"]
        #expect(try await signet(sign, stdin: message).exit == 2)
        #expect(try await signet(["keys", "revoke", "--id", "old", "keys"]).exit == 0)
        let signed = try await signet(sign, stdin: message)
        #expect(signed.exit == 0 && signed.text.contains(#"keyid="new""#), "\(signed.stderr)")
        #expect(try await signet(["keys", "revoke", "--id", "new", "keys"]).exit == 0)
        #expect(try await signet(sign, stdin: message).exit == 2)
    }

    @Test(arguments: families.indices)
    func importsEachPEMFormOfAKey(_ index: Int) async throws {
        let family = Self.families[index]
        let made = try await ChildProcess.run(
            "/usr/bin/env", ["openssl", "genpkey", "-out", "pkcs8.pem"] + family.options,
            directory: folder.url)
        #expect(made.exit == 0, "\(made.stderr)")
        try await folder.openssl("pkey", "-in", "pkcs8.pem", "-pubout", "-out", "public.pem")
        try await folder.openssl(
            "req", "-new", "-x509", "-key", "pkcs8.pem", "-subj", "/CN=a", "-days", "30", "-out",
            "certificate.pem")
        var files = ["pkcs8.pem", "public.pem", "certificate.pem"]
        if family.traditional {
            try await folder.openssl(
                "pkey", "-in", "pkcs8.pem", "-traditional", "-out", "traditional.pem")
            files.append("traditional.pem")
        }
        for file in files {
            let output = try await signet([
                "keys", "import", file, "--id", file, "--out", "keys", "--append", "--json",
            ])
            #expect(output.exit == 0, "\(output.text)")
            let told = try JSONValue(parsing: output.stdout)
            #expect(told["type"]?.string == family.type && told["alg"]?.string == family.alg)
            let isPrivate = file != "public.pem" && file != "certificate.pem"
            #expect(told["private"]?.bool == isPrivate)
        }
        #expect(try folder.mode("keys") == 0o600)
        let listed = try await signet(["keys", "list", "keys"])
        let thumbprints = Set(
            listed.text.split(separator: "\n").map { $0.split(separator: " ")[3] })
        #expect(thumbprints.count == 1 && thumbprints.first?.utf8.count == 43)
        for key in try keys() {
            let id = key["kid"]?.string
            #expect((key["d"] != nil) == (id == "pkcs8.pem" || id == "traditional.pem"))
        }
        // The imported private key signs, and the imported public one verifies.
        try folder.write("GET / HTTP/1.1\nHost: a.test\n\n", to: "request")
        let signed = try await signet([
            "sign", "--scheme", "rfc9421", "-k", "keys", "--key-id", "pkcs8.pem", "request",
        ])
        #expect(signed.exit == 0, "\(signed.stderr)")
        let renamed = try await signet([
            "keys", "import", "public.pem", "--id", "pkcs8.pem", "-o", "public",
        ])
        #expect(renamed.exit == 0)
        let verified = try await signet(
            ["verify", "--scheme", "rfc9421", "--keys", "public"], stdin: signed.stdout)
        #expect(verified.exit == 0, "\(verified.stderr)")
    }

    @Test(
        arguments: [
            ("raw", "secret of a partner\n", "c2VjcmV0IG9mIGEgcGFydG5lcgo"),
            ("base64", "c2VjcmV0IG9mIGEgcGFydG5lcg==\n", "c2VjcmV0IG9mIGEgcGFydG5lcg"),
            ("base64url", "c2VjcmV0IG9mIGEgcGFydG5lcg", "c2VjcmV0IG9mIGEgcGFydG5lcg"),
            ("hex", "73656372657420 6F66".replacing(" ", with: ""), "c2VjcmV0IG9m"),
        ])
    func importsASecret(_ encoding: String, _ text: String, _ k: String) async throws {
        try folder.write(text, to: "secret")
        let arguments = ["keys", "import", "--id", "a", "--encoding", encoding, "--out"]
        let fromFile = try await signet(arguments + ["keys", "secret"])
        #expect(fromFile.exit == 0, "\(fromFile.stderr)")
        let fromInput = try await signet(arguments + ["other", "-"], stdin: Array(text.utf8))
        #expect(fromInput.exit == 0, "\(fromInput.stderr)")
        let fromVariable = try await signet(
            arguments + ["third", "env:SECRET", "--alg", "HS512"], environment: ["SECRET": text])
        #expect(fromVariable.exit == 0, "\(fromVariable.stderr)")
        for (file, alg) in [("keys", "HS256"), ("other", "HS256"), ("third", "HS512")] {
            let key = try #require(try keys(file).first)
            #expect(key["k"]?.string == k && key["use"] == "sig")
            #expect(key["alg"]?.string == alg)
        }
    }

    @Test func importsAVaultRootAndAPublicKeyInDER() async throws {
        let root = String(repeating: "5a", count: 32)
        let imported = try await signet(
            [
                "keys", "import", "-", "--id", "v", "--encoding", "hex", "--type", "vault", "-o",
                "k",
            ],
            stdin: Array(root.utf8))
        #expect(imported.exit == 0 && imported.text == "imported the vault key v into k\n")
        let key = try #require(try keys("k").first)
        #expect(key["use"] == "enc" && key["alg"] == nil)
        try await folder.openssl("genpkey", "-algorithm", "ed25519", "-out", "private.pem")
        try await folder.openssl(
            "pkey", "-in", "private.pem", "-pubout", "-outform", "DER", "-out", "public.der")
        let der = try await signet([
            "keys", "import", "public.der", "--id", "p", "--encoding", "raw", "--type", "ed25519",
            "-o", "k", "--append",
        ])
        #expect(der.exit == 0, "\(der.stderr)")
        #expect(try keys("k").map { $0["kty"] } == ["oct", "OKP"])
    }

    @Test(
        arguments: [
            // Not PEM, and no encoding.
            (["secret"], "usage"), (["-"], "usage"),
            // Encodings that do not fit.
            (["secret", "--encoding", "hex"], "malformed-keys"),
            (["secret", "--encoding", "base64"], "malformed-keys"),
            (["secret", "--encoding", "base64url"], "malformed-keys"),
            (["secret", "--encoding", "pem"], "malformed-keys"),
            (["secret", "--encoding", "utf8"], "usage"),
            (["odd", "--encoding", "hex"], "malformed-keys"),
            (["padded", "--encoding", "base64url"], "malformed-keys"),
            (["empty", "--encoding", "raw"], "malformed-keys"),
            // Types and algorithms that do not fit.
            (["private.pem", "--type", "rsa"], "malformed-keys"),
            (["private.pem", "--alg", "HS256"], "malformed-keys"),
            (["private.pem", "--encoding", "base64"], "malformed-keys"),
            (["secret", "--encoding", "raw", "--type", "vault"], "malformed-keys"),
            (["secret", "--encoding", "raw", "--type", "p256"], "malformed-keys"),
            (["secret", "--encoding", "raw", "--alg", "none"], "malformed-keys"),
            (["secret", "--encoding", "raw", "--type", "unsupported"], "usage"),
            // Keys that this package cannot use, or cannot read.
            (["small.pem"], "malformed-keys"), (["k1.pem"], "malformed-keys"),
            (["encrypted.pem"], "malformed-keys"), (["two.pem"], "malformed-keys"),
            (["torn.pem"], "malformed-keys"), (["parameters.pem"], "malformed-keys"),
            // Sources and ids.
            (["absent"], "unreadable-keys"), (["env:SIGNET_NO_SUCH"], "unreadable-keys"),
            (["private.pem", "--id", ""], "invalid-key-id"),
            (["private.pem", "--id", "a\nb"], "invalid-key-id"),
        ])
    func refusesWithoutShowingASecret(_ arguments: [String], _ wanted: String) async throws {
        try folder.write("ZZZZZZcanary-secret!\n", to: "secret")
        try folder.write("5a5a5", to: "odd")
        try folder.write("5a5a5g==", to: "padded")
        try folder.write("", to: "empty")
        try await folder.openssl("genpkey", "-algorithm", "ed25519", "-out", "private.pem")
        try await folder.openssl(
            "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024", "-out",
            "small.pem")
        try await folder.openssl(
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1", "-out",
            "k1.pem")
        try await folder.openssl(
            "pkey", "-in", "private.pem", "-aes256", "-passout", "pass:ZZZZZZcanary", "-out",
            "encrypted.pem")
        let pem = String(decoding: try folder.read("private.pem"), as: UTF8.self)
        try folder.write(pem + pem, to: "two.pem")
        try folder.write(pem.prefix(60).utf8, to: "torn.pem")
        try folder.write(
            "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n",
            to: "parameters.pem")
        let before = try folder.contents()
        let id = arguments.contains("--id") ? [] : ["--id", "a"]
        let output = try await signet(
            ["keys", "import", "--out", "keys", "--json"] + arguments + id,
            stdin: Array("ZZZZZZcanary".utf8))
        #expect(output.exit == 2, "\(output.text)")
        #expect(try code(output) == wanted, "\(output.text)")
        let body = pem.split(separator: "\n")[1]
        for secret in ["ZZZZ", "WlpaWlpa", "5a5a", String(body.suffix(20))] {
            #expect(!output.text.contains(secret) && !output.stderr.contains(secret))
        }
        #expect(try folder.contents() == before)
    }

    @Test func refusesAFileAndAnIDThatExist() async throws {
        try await folder.openssl("genpkey", "-algorithm", "ed25519", "-out", "private.pem")
        let arguments = ["keys", "import", "private.pem", "--id", "a", "--out", "keys", "--json"]
        #expect(try await signet(arguments).exit == 0)
        let before = try folder.read("keys")
        #expect(try code(await signet(arguments)) == "file-exists")
        #expect(try code(await signet(arguments + ["--append"])) == "key-exists")
        #expect(try folder.read("keys") == before)
        #expect(try folder.contents() == ["keys", "private.pem"])
    }

    @Test func warnsOfASourceThatOthersCanRead() async throws {
        try folder.write("0123456789abcdef", to: "secret", mode: 0o644)
        let arguments = ["keys", "import", "secret", "--id", "a", "--encoding", "raw", "--out"]
        let output = try await signet(arguments + ["one"])
        let note =
            "signet: secret: others than its owner have access to it; chmod 600 secret\n"
        #expect(output.exit == 0 && output.stderr == note, "\(output.stderr)")
        let quiet = try await signet(arguments + ["two", "-q"])
        #expect(quiet.exit == 0 && quiet.stderr.isEmpty)
        // Nothing in a public key is secret.
        let leaf = try TestAuthority.trusted.get().leaf.pem
        let certificate = try await signet(["keys", "import", leaf, "--id", "a", "-o", "three"])
        #expect(certificate.exit == 0 && certificate.stderr.isEmpty, "\(certificate.stderr)")
    }

    @Test func aPEMFileAsKeysNamesTheImportCommand() async throws {
        try await folder.openssl("genpkey", "-algorithm", "ed25519", "-out", "private.pem")
        try folder.write("GET / HTTP/1.1\nHost: a.test\n\n", to: "request")
        for arguments in [
            ["sign", "--scheme", "rfc9421", "--keys", "private.pem", "request"],
            ["keys", "list", "private.pem"],
        ] {
            let output = try await signet(arguments)
            #expect(output.exit == 2)
            #expect(output.stderr.contains("found PEM") && output.stderr.contains("keys import"))
        }
    }

    @Test func revokesAKeyAndKeepsEverythingElse() async throws {
        let set = """
            {
              "note": "ours",
              "keys": [
                {"kid": "a", "kty": "oct", "use": "sig", "alg": "HS256", "k": "AAECAwQFBgcICQoLDA0ODw"},
                {"kid": "b", "kty": "oct", "revoked": false, "k": "AAECAwQFBgcICQoLDA0ODw"}
              ]
            }

            """
        try folder.write(set, to: "keys")
        for _ in 0..<2 {
            for id in ["a", "b"] {
                let output = try await signet(["keys", "revoke", "--id", id, "keys", "--json"])
                #expect(output.exit == 0 && output.text == #"{"id":"\#(id)","file":"keys"}"# + "\n")
            }
        }
        let wanted = set.replacing(
            #""AAECAwQFBgcICQoLDA0ODw"},"#, with: #""AAECAwQFBgcICQoLDA0ODw", "revoked": true},"#
        ).replacing(#""revoked": false"#, with: #""revoked": true"#)
        #expect(String(decoding: try folder.read("keys"), as: UTF8.self) == wanted)
        #expect(try folder.mode("keys") == 0o600)
        try folder.write("GET / HTTP/1.1\nHost: a.test\n\n", to: "request")
        let signed = try await signet([
            "sign", "--scheme", "rfc9421", "-k", "keys", "--key-id", "a", "request", "--json",
        ])
        #expect(try signed.exit == 1 && code(signed) == "key-revoked")
    }

    @Test func removesAKeyAndTheLastOneOnlyByForce() async throws {
        for id in ["a", "b"] {
            let made = try await signet([
                "keys", "new", "--type", "hmac", "--id", id, "--out", "keys", "--append",
            ])
            #expect(made.exit == 0)
        }
        let secret = try #require(try keys().first?["k"]?.string)
        let removed = try await signet(["keys", "remove", "--id", "a", "keys"])
        #expect(removed.exit == 0 && removed.text == "removed the key a from keys\n")
        #expect(try keys().map { $0["kid"] } == ["b"])
        #expect(!String(decoding: try folder.read("keys"), as: UTF8.self).contains(secret))
        let before = try folder.read("keys")
        for (arguments, wanted) in [
            (["remove", "--id", "b"], "last-key"), (["remove", "--id", "a"], "unknown-key"),
            (["remove", "--id", "a", "--force"], "unknown-key"),
            (["revoke", "--id", "a"], "unknown-key"),
        ] {
            let output = try await signet(["keys"] + arguments + ["keys", "--json"])
            #expect(output.exit == 2)
            #expect(try code(output) == wanted)
            #expect(try folder.read("keys") == before)
        }
        let forced = try await signet(["keys", "remove", "--id", "b", "keys", "--force"])
        #expect(forced.exit == 0)
        #expect(try JSONValue(parsing: folder.read("keys")) == ["keys": []])
        #expect(try folder.contents() == ["keys"])
        let listed = try await signet(["keys", "list", "keys"])
        #expect(listed.exit == 0 && listed.text.isEmpty)
    }

    @Test func saysWhichOptionChoosesBetweenKeys() async throws {
        for (type, id) in [("vault", "v1"), ("vault", "v2"), ("hmac", "h1"), ("p256", "e1")] {
            let made = try await signet([
                "keys", "new", "--type", type, "--id", id, "--out", "keys", "--append",
            ])
            #expect(made.exit == 0)
        }
        for name in ["schema.json", "defaults.json"] {
            try folder.write(
                Data(contentsOf: PackageLayout.url("Examples/shop/\(name)")), to: name)
        }
        let seal = [
            "vault", "seal", "--schema", "schema.json", "--defaults", "defaults.json", "--keys",
            "keys", "--app-id", "com.example.shop", "--app-version", "1.4.2", "--out", "shop.dump",
        ]
        let several = try await signet(seal)
        #expect(several.exit == 1 && several.stderr.contains("--key-id"))
        #expect(several.stderr.contains("v1") && several.stderr.contains("v2"))
        try folder.write("GET / HTTP/1.1\nHost: a.test\n\n", to: "request")
        let sign = ["sign", "--scheme", "rfc9421", "--keys", "keys", "request"]
        let signers = try await signet(sign)
        #expect(signers.exit == 2 && signers.stderr.contains("--key-id"))
        #expect(signers.stderr.contains("h1") && signers.stderr.contains("e1"))
        // Revoked keys don't count.
        for id in ["v1", "h1"] {
            #expect(try await signet(["keys", "revoke", "--id", id, "keys"]).exit == 0)
        }
        #expect(try await signet(seal).exit == 0)
        #expect(try await signet(sign).exit == 0)
    }
}
