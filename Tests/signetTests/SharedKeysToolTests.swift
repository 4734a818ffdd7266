import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet keys share`, and commands that take a shared key set.
@Suite struct SharedKeysToolTests {
    private let folder: TemporaryDirectory

    /// Makes the key set `keys` with a vault's root.
    init() async throws {
        folder = try TemporaryDirectory()
        let made = try await signet("keys", "new", "--type", "vault", "--id", "v1", "--out", "keys")
        #expect(made.exit == 0)
    }

    private func signet(
        _ arguments: String..., environment: [String: String] = [:]
    ) async throws -> ProcessOutput {
        let own = ["XDG_CONFIG_HOME": folder.path("config"), "SIGNET_IDENTITY": ""]
        return try await SignetTool.run(
            arguments, environment: own.merging(environment) { $1 }, directory: folder.url)
    }

    private func code(_ output: ProcessOutput) throws -> String? {
        try JSONValue(parsing: output.stdout)["error"]?["code"]?.string
    }

    /// Makes an identity and its public half, `NAME` and `NAME.pub`.
    private func makeIdentity(_ name: String, _ type: String) async throws {
        let made = try await SignetTool.run(
            ["keys", "new", "--type", type, "--id", name, "--use", "enc", "--out", name],
            directory: folder.url)
        #expect(made.exit == 0, "\(made.stderr)")
        let half = try await signet("keys", "public", name)
        try folder.write(half.stdout, to: name + ".pub")
    }

    private static let types = ["x25519", "p256", "p384", "rsa"]

    @Test func opensForItsRecipientsAlone() async throws {
        for type in Self.types { try await makeIdentity(type, type) }
        try await makeIdentity("other", "x25519")
        let shared = try await signet(
            "keys", "share", "keys", "--to", "x25519.pub", "p256.pub", "p384.pub", "rsa.pub",
            "--out", "shared")
        #expect(shared.exit == 0, "\(shared.stderr)")
        #expect(try folder.mode("shared") == 0o644)
        let plain = try await signet("keys", "list", "keys").text
        for type in Self.types {
            let listed = try await signet("keys", "list", "shared", "--identity", type)
            #expect(listed.exit == 0 && listed.text == plain, "\(listed.stderr)")
        }
        let byVariable = try await signet(
            "keys", "list", "shared", environment: ["SIGNET_IDENTITY": "p256"])
        #expect(byVariable.text == plain)
        let refused = try await signet("keys", "list", "shared", "--identity", "other", "--json")
        #expect(refused.exit == 1)
        #expect(try code(refused) == "not-a-recipient")
        let none = try await signet("keys", "list", "shared", "--json")
        #expect(none.exit == 2)
        #expect(try code(none) == "missing-identity")
        // The shared file has no plaintext, and no command leaves one behind.
        let secret = try #require(
            try JSONValue(parsing: folder.read("keys"))["keys"]?.array?[0]["k"]?.string)
        for name in try folder.contents() where name != "keys" && name != "config" {
            #expect(!String(decoding: try folder.read(name), as: UTF8.self).contains(secret))
        }
        let changed = try await signet(
            "keys", "new", "--type", "vault", "--id", "v2", "--out", "shared", "--append")
        #expect(changed.exit == 2 && changed.stderr.contains("shared key set"))
    }

    /// The errors tell a person what to do, and what to ask a colleague for.
    @Test func aLostIdentityIsReplacedWithAColleague() async throws {
        for name in ["alice", "bob", "again"] { try await makeIdentity(name, "x25519") }
        let made = try await signet(
            "keys", "share", "keys", "--to", "alice.pub", "bob.pub", "--out", "shared")
        #expect(made.exit == 0, "\(made.stderr)")
        try folder.write(#"{"keys":"shared"}"#, to: "signet.json")
        let check = ["self-check", "--offline", "--json", "--project", "signet.json"]
        for identity in [[], ["--identity", "lost"]] {
            let lost = try await SignetTool.run(
                ["keys", "list", "shared", "--json"] + identity,
                environment: ["XDG_CONFIG_HOME": folder.path("config"), "SIGNET_IDENTITY": ""],
                directory: folder.url)
            #expect(lost.exit == 2 && lost.text.contains("missing-identity"), "\(lost.text)")
            for words in ["signet keys new --type x25519", "signet keys share --add"] {
                #expect(lost.text.contains(words), "\(lost.text)")
            }
            let checked = try await SignetTool.run(
                check + identity,
                environment: ["XDG_CONFIG_HOME": folder.path("config"), "SIGNET_IDENTITY": ""],
                directory: folder.url)
            #expect(checked.exit == 1, "\(checked.text)")
            let bad =
                try JSONValue(parsing: checked.stdout)["checks"]?.array?
                .filter { $0["status"] == "bad" } ?? []
            #expect(bad.map { $0["area"] } == ["keys"])
            #expect(bad.first?["detail"]?.string?.contains("signet keys share --add") == true)
            #expect(bad.first?["remedy"]?.string?.contains("rotate the root") == true)
        }
        let stranger = try await signet("keys", "list", "shared", "--identity", "again")
        #expect(stranger.exit == 1 && stranger.stderr.contains("signet keys share --add"))
        let added = try await signet(
            "keys", "share", "shared", "--add", "again.pub", "--identity", "bob")
        #expect(added.exit == 0, "\(added.stderr)")
        #expect(try await signet("keys", "list", "shared", "--identity", "again").exit == 0)
    }

    /// The roots of a shared set are shown once, and by the first command that isn't quiet.
    @Test func rootsAreShownOnceAndNotByAQuietCommand() async throws {
        try await makeIdentity("alice", "x25519")
        let made = try await signet("keys", "share", "keys", "--to", "alice.pub", "--out", "shared")
        #expect(made.exit == 0, "\(made.stderr)")
        for (arguments, isShown) in [
            (["keys", "list", "shared", "--quiet"], false),
            (["keys", "list", "shared", "-q", "--json"], false),
            (["keys", "list", "shared"], true), (["keys", "list", "shared"], false),
        ] {
            let output = try await SignetTool.run(
                arguments + ["--identity", "alice"],
                environment: ["XDG_CONFIG_HOME": folder.path("config")], directory: folder.url)
            #expect(output.exit == 0)
            #expect(output.stderr.contains("compare with its author") == isShown, "\(arguments)")
            #expect(isShown || output.stderr.isEmpty, "\(output.stderr)")
        }
    }

    @Test func addsAndRemovesRecipients() async throws {
        for (name, type) in [("alice", "x25519"), ("bob", "p256")] {
            try await makeIdentity(name, type)
        }
        let made = try await signet("keys", "share", "keys", "--to", "alice.pub", "--out", "shared")
        #expect(made.exit == 0, "\(made.stderr)")
        #expect(try await signet("keys", "list", "shared", "--identity", "bob").exit == 1)
        let stranger = try await signet(
            "keys", "share", "shared", "--add", "bob.pub", "--identity", "bob")
        #expect(stranger.exit == 1)
        let added = try await signet(
            "keys", "share", "shared", "--add", "bob.pub", "--identity", "alice", "--json")
        #expect(added.exit == 0, "\(added.text)")
        #expect(try await signet("keys", "list", "shared", "--identity", "bob").exit == 0)
        let names = try JSONValue(parsing: added.stdout)["recipients"]?.array ?? []
        let alice = try #require(names.first?.string)
        let removed = try await signet("keys", "share", "shared", "--remove", alice)
        #expect(removed.exit == 0 && removed.stderr.contains("earlier version"))
        #expect(try await signet("keys", "list", "shared", "--identity", "alice").exit == 1)
        #expect(try await signet("keys", "list", "shared", "--identity", "bob").exit == 0)
        for arguments in [
            ["shared", "--remove", alice], ["shared", "--remove", names[1].string ?? ""],
            ["shared", "--add", "bob.pub", "--identity", "bob"], ["keys", "--add", "bob.pub"],
            ["shared"], ["keys", "--to", "alice.pub"], ["keys", "--to", "keys", "--out", "x"],
            ["keys", "--to", "alice.pub", "--out", "shared"],
            ["keys", "--to", "alice.pub", "alice.pub", "--out", "x"],
        ] {
            let refused = try await SignetTool.run(
                ["keys", "share"] + arguments, directory: folder.url)
            #expect(refused.exit != 0, "\(arguments)")
        }
        #expect(!(try folder.contents()).contains("x"))
    }

    /// A thumbprint in base64url begins with a hyphen once in 64 times, and so may an id.
    @Test func aNameMayBeginWithAHyphen() async throws {
        try await makeIdentity("alice", "x25519")
        let made = try await signet("keys", "share", "keys", "--to", "alice.pub", "--out", "shared")
        #expect(made.exit == 0, "\(made.stderr)")
        let removed = try await signet(
            "keys", "share", "shared", "--remove", "-cd", "--identity", "alice")
        #expect(removed.exit == 1)
        #expect(removed.stderr.contains("no recipient has the thumbprint \"-cd\""))
        let named = try await signet("keys", "new", "--type", "p256", "--id", "-ab", "--out", "own")
        #expect(named.exit == 0, "\(named.stderr)")
        #expect(try await signet("keys", "public", "own", "--id", "-ab").exit == 0)
        #expect(try await signet("keys", "public", "own", "--id", "--json").exit == 1)
        #expect(try await signet("keys", "revoke", "--id", "-ab", "own").exit == 0)
        #expect(try await signet("keys", "remove", "--force", "--id", "-ab", "own").exit == 0)
    }

    @Test(arguments: ["jwcrypto", "joserfc"])
    func agreesWithPythonsLibraries(_ library: String) async throws {
        for type in Self.types { try await makeIdentity(type, type) }
        let shared = try await signet(
            "keys", "share", "keys", "--to", "x25519.pub", "p256.pub", "p384.pub", "rsa.pub",
            "--out", "shared")
        #expect(shared.exit == 0, "\(shared.stderr)")
        let opened = try await PythonPeer.run("shared-keys", [folder.path, library, "open"])
        #expect(opened.exit == 0, "\(opened.stderr)")
        let sealed = try await PythonPeer.run("shared-keys", [folder.path, library, "seal"])
        #expect(sealed.exit == 0, "\(sealed.stderr)")
        try folder.write(sealed.stdout, to: "theirs")
        let plain = try await signet("keys", "list", "keys").text
        for type in Self.types {
            let listed = try await signet("keys", "list", "theirs", "--identity", type)
            #expect(listed.text == plain, "\(listed.stderr)")
        }
    }

    /// The tool `jose` has P-256 and P-384 alone.
    @Test func theToolJoseOpensOurs() async throws {
        for type in ["p256", "p384"] { try await makeIdentity(type, type) }
        let shared = try await signet(
            "keys", "share", "keys", "--to", "p256.pub", "p384.pub", "--out", "shared")
        #expect(shared.exit == 0, "\(shared.stderr)")
        for type in ["p256", "p384"] {
            var key = try #require(
                try JSONValue(parsing: folder.read(type))["keys"]?.array?.first?.object)
            for name in ["kid", "use", "alg"] { key[name] = nil }
            try folder.write(JSONValue.object(key).serialized(), to: type + ".jwk")
            let opened = try await ChildProcess.run(
                "/usr/bin/env", ["jose", "jwe", "dec", "-i", "shared", "-k", type + ".jwk"],
                directory: folder.url)
            #expect(opened.exit == 0, "\(opened.stderr)")
            #expect(opened.stdout == (try folder.read("keys")))
        }
    }

    /// A change of a good file, and the expected code.
    @Test(arguments: [
        (#""protected":"#, #""protected":"e30","protected":"#, "malformed-keys"),
        (#""iv":"#, #""unprotected":{"enc":"A256GCM"},"iv":"#, "malformed-keys"),
        (#""iv":"#, #""aad":"AA","iv":"#, "malformed-keys"),
        (#""alg":"#, #""zip":"DEF","alg":"#, "malformed-keys"),
        (#""alg":"#, #""enc":"A256GCM","alg":"#, "malformed-keys"),
        (#""alg":"#, #""crit":["b64"],"alg":"#, "malformed-keys"),
        (#""alg":"#, #""typ":"signet-keys","alg":"#, "malformed-keys"),
        (#""alg":"#, #""apu":"AA","alg":"#, "malformed-keys"),
        (#""alg":"#, #""alg":"dir","alg":"#, "malformed-keys"),
        ("ECDH-ES+A256KW", "ECDH-ES", "malformed-keys"),
        ("ECDH-ES+A256KW", "dir", "malformed-keys"),
        ("ECDH-ES+A256KW", "RSA1_5", "malformed-keys"),
        (#""X25519""#, #""X448""#, "malformed-keys"), (#""X25519""#, #""P-256""#, "malformed-keys"),
        (#""kty":"OKP""#, #""kty":"EC""#, "malformed-keys"),
        (#""kty":"OKP""#, #""d":"AA","kty":"OKP""#, "malformed-keys"),
        (#""recipients":["#, #""recipients":[1,"#, "malformed-keys"),
        (#""tag":""#, #""tag":"AAAA"#, "malformed-keys"),
        (#""iv":""#, #""iv":"AAAA"#, "malformed-keys"),
        (#""encrypted_key":""#, #""encrypted_key":"AAAA"#, "tampered"),
        (#""ciphertext":""#, #""ciphertext":"AAAA"#, "tampered"),
    ])
    func refusesAChangedFile(_ old: String, _ new: String, _ wanted: String) async throws {
        try await makeIdentity("alice", "x25519")
        let made = try await signet("keys", "share", "keys", "--to", "alice.pub", "--out", "shared")
        #expect(made.exit == 0, "\(made.stderr)")
        let text = try JSONValue(parsing: folder.read("shared")).text
        #expect(text.contains(old))
        try folder.write(text.replacing(old, with: new), to: "shared")
        try await expectRefusal(wanted)
    }

    private func expectRefusal(_ wanted: String) async throws {
        let refused = try await signet("keys", "list", "shared", "--identity", "alice", "--json")
        #expect(refused.exit == (wanted == "tampered" ? 1 : 2), "\(refused.text)")
        #expect(try code(refused) == wanted, "\(refused.text)")
    }

    @Test func refusesOtherFormsAndPoints() async throws {
        try await makeIdentity("alice", "x25519")
        let made = try await signet("keys", "share", "keys", "--to", "alice.pub", "--out", "shared")
        #expect(made.exit == 0)
        let good = try #require(try JSONValue(parsing: folder.read("shared")).object)
        let recipient = try #require(good["recipients"]?.array?.first?.object)
        func write(_ change: (inout JSONObject) -> Void) throws {
            var object = good
            change(&object)
            try folder.write(JSONValue.object(object).serialized(), to: "shared")
        }
        func base64(_ text: String) -> JSONValue {
            let encoded = Data(text.utf8).base64EncodedString()
            return .string(encoded.replacing("=", with: ""))
        }
        for protected in [
            #"{"enc":"A256GCM"}"#, #"{"enc":"A256GCM","typ":"JWE"}"#,
            #"{"enc":"A256GCM","enc":"A256GCM","typ":"signet-keys"}"#,
            #"{"enc":"A128GCM","typ":"signet-keys"}"#, #"{"typ":"signet-keys"}"#,
            #"{"enc":"A256GCM","typ":"signet-keys","zip":"DEF"}"#,
            #"{"enc":"A256GCM","typ":"signet-keys","crit":[]}"#,
            #"{"enc":"A256GCM","typ":"signet-keys","alg":"dir"}"#, "[]", "",
        ] {
            try write { $0["protected"] = base64(protected) }
            try await expectRefusal("malformed-keys")
        }
        // Flattened, no recipients, one twice, and too many.
        try write { object in
            object["recipients"] = nil
            object["header"] = recipient["header"]
            object["encrypted_key"] = recipient["encrypted_key"]
        }
        try await expectRefusal("malformed-keys")
        for count in [0, 2, 65] {
            let all = (0..<count).map { index in
                var entry = recipient
                var header = recipient["header"]?.object ?? [:]
                if count > 2, index > 0 { header["kid"] = .string("other \(index)") }
                entry["header"] = .object(header)
                return JSONValue.object(entry)
            }
            try write { $0["recipients"] = .array(all) }
            try await expectRefusal("malformed-keys")
        }
        // Points of small order (RFC 7748, section 6.1), and a short one.
        for (x, wanted) in [
            (String(repeating: "A", count: 43), "tampered"),
            ("AQ" + String(repeating: "A", count: 41), "tampered"), ("AAAA", "malformed-keys"),
        ] {
            var entry = recipient
            var header = recipient["header"]?.object ?? [:]
            header["epk"] = ["kty": "OKP", "crv": "X25519", "x": .string(x)]
            entry["header"] = .object(header)
            try write { $0["recipients"] = [.object(entry)] }
            try await expectRefusal(wanted)
        }
    }

    /// A point that isn't on the curve would give away bits of the private key.
    @Test func refusesAPointThatIsNotOnTheCurve() async throws {
        try await makeIdentity("alice", "p256")
        let made = try await signet("keys", "share", "keys", "--to", "alice.pub", "--out", "shared")
        #expect(made.exit == 0)
        var object = try #require(try JSONValue(parsing: folder.read("shared")).object)
        var entry = try #require(object["recipients"]?.array?.first?.object)
        var header = try #require(entry["header"]?.object)
        let x = String(repeating: "A", count: 42) + "E"
        header["epk"] = ["kty": "EC", "crv": "P-256", "x": .string(x), "y": .string(x)]
        entry["header"] = .object(header)
        object["recipients"] = [.object(entry)]
        try folder.write(JSONValue.object(object).serialized(), to: "shared")
        try await expectRefusal("malformed-keys")
    }
}
