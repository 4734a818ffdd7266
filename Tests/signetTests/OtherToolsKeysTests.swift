import Foundation
import SignetJSON
import TestSupport
import Testing

/// Keys as other tools and libraries write them.
@Suite struct OtherToolsKeysTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func signet(
        _ arguments: String..., stdin: [UInt8] = []
    ) async throws -> ProcessOutput {
        try await SignetTool.run(arguments, stdin: stdin, directory: folder.url)
    }

    /// The keys of a file.
    private func keys(_ name: String = "keys") throws -> [JSONObject] {
        try JSONValue(parsing: folder.read(name))["keys"]?.array?.compactMap(\.object) ?? []
    }

    /// An RSA key with the OID id-RSASSA-PSS, such as that of RFC 9421, appendix B.1.2.
    @Test func importsAKeyForRSASSAPSS() async throws {
        try await folder.openssl(
            "genpkey", "-quiet", "-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048",
            "-out", "private.pem")
        try await folder.openssl("pkey", "-in", "private.pem", "-pubout", "-out", "public.pem")
        for name in ["private", "public"] {
            let imported = try await signet(
                "keys", "import", "\(name).pem", "--id", "a", "--out", name)
            #expect(imported.exit == 0, "\(imported.stderr)")
            #expect(try keys(name).first?["alg"] == "PS512")
        }
        let request = Array("GET / HTTP/1.1\nHost: a.test\n\n".utf8)
        let signed = try await signet(
            "sign", "--scheme", "rfc9421", "--keys", "private", stdin: request)
        let verified = try await signet(
            "verify", "--scheme", "rfc9421", "--keys", "public", stdin: signed.stdout)
        #expect(verified.exit == 0, "\(signed.stderr) \(verified.stderr)")
        let other = try await signet(
            "keys", "import", "private.pem", "--id", "b", "--alg", "RS256", "--out", "other")
        #expect(other.exit == 2 && other.stderr.contains("expected PS512"), "\(other.stderr)")
    }

    @Test func refusesAPSSKeyForAnotherDigest() async throws {
        try await folder.openssl(
            "genpkey", "-quiet", "-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048",
            "-pkeyopt", "rsa_pss_keygen_md:sha256", "-out", "private.pem")
        let refused = try await signet("keys", "import", "private.pem", "--id", "a", "--out", "k")
        #expect(refused.exit == 2 && refused.stderr.contains("restricted"), "\(refused.stderr)")
    }

    /// The private key of RFC 8410, section 10.3, in both versions. ring wrote the public key of
    /// the last one in an element of its own.
    @Test(arguments: [
        "302e020100300506032b657004220420\(secret)",
        "3072020101300506032b657004220420\(secret)"
            + "a01f301d060a2a864886f70d01090914310f0c0d437572646c6520436861697273812100\(point)",
        "3051020101300506032b657004220420\(secret)812100\(point)",
        "3053020101300506032b657004220420\(secret)a123032100\(point)",
    ])
    func readsPKCS8OfBothVersions(_ der: String) async throws {
        try folder.write(bytes(ofHex: der), to: "key.der")
        let imported = try await signet(
            "keys", "import", "key.der", "--id", "a", "--type", "ed25519", "--encoding", "raw",
            "--out", "keys")
        #expect(imported.exit == 0, "\(imported.stderr)")
        let point = Data(bytes(ofHex: Self.point)).base64EncodedString()
        #expect(
            try keys().first?["x"]?.string
                == point.replacing("+", with: "-").replacing("/", with: "_").replacing(
                    "=", with: ""))
        #expect(try keys().first?["alg"] == "Ed25519")
        #expect(try await signet("pins", "show", "key.der").exit == 0)
    }

    @Test(arguments: [
        // Another public key, a shorter one, and unused bits.
        "3051020101300506032b657004220420\(secret)812100\(secret)",
        "3050020101300506032b657004220420\(secret)812000\(point.dropLast(2))",
        "3051020101300506032b657004220420\(secret)812101\(point)",
        // Bytes after the public key and after the structure, and a wrong length.
        "3053020101300506032b657004220420\(secret)812100\(point)0500",
        "3051020101300506032b657004220420\(secret)812100\(point)00",
        "3052020101300506032b657004220420\(secret)812100\(point)",
        // Lengths that aren't DER, a version that isn't 2, and two public keys.
        "308151020101300506032b657004220420\(secret)812100\(point)",
        "3052020101300506032b657004220420\(secret)81812100\(point)",
        "3051020102300506032b657004220420\(secret)812100\(point)",
        "3074020101300506032b657004220420\(secret)812100\(point)812100\(point)",
        // A public key that says it is empty.
        "3031020101300506032b657004220420\(secret)810100",
    ])
    func refusesABrokenVersion2OfPKCS8(_ der: String) async throws {
        try folder.write(bytes(ofHex: der), to: "key.der")
        for (command, output) in [
            (
                "keys",
                ["keys", "import", "key.der", "--id", "a", "--type", "ed25519", "-o", "keys"]
            ),
            ("pins", ["pins", "show", "key.der"]),
        ] {
            let arguments = output + (command == "keys" ? ["--encoding", "raw"] : [])
            let refused = try await SignetTool.run(arguments, directory: folder.url)
            #expect(refused.exit == 2, "\(refused.text)")
        }
    }

    private static let secret = "d4ee72dbf913584ad5b6d8f1f769f8ad3afe7c28cbf1d4fbe097a88f44755842"
    private static let point = "19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1"

    /// `alg` of RFC 9864, and the older one that it deprecates.
    @Test func readsBothAlgorithmsOfEd25519() async throws {
        let made = try await signet("keys", "new", "--type", "ed25519", "--id", "a", "--out", "new")
        #expect(made.exit == 0)
        var key = try #require(try keys("new").first)
        #expect(key["alg"] == "Ed25519")
        let request = Array("GET / HTTP/1.1\nHost: a.test\n\n".utf8)
        for algorithm in ["EdDSA", "Ed25519", "Ed448"] {
            key["alg"] = .string(algorithm)
            let set = JSONValue.object(["keys": [.object(key)]]).serialized()
            try folder.write(set, to: "keys")
            let signed = try await signet(
                "sign", "--scheme", "rfc9421", "--key-id", "a", "--keys", "keys", stdin: request)
            guard algorithm != "Ed448" else {
                #expect(signed.exit != 0)
                continue
            }
            let verified = try await signet(
                "verify", "--scheme", "rfc9421", "--keys", "new", stdin: signed.stdout)
            #expect(verified.exit == 0, "\(algorithm): \(signed.stderr) \(verified.stderr)")
        }
    }

    /// Writes keys that jwcrypto made: `ec.jwk` without kid, `public.jwks` with its public half,
    /// `two.jwks` with a third key that this package can't use, and `oct.jwk`.
    private func writePeerKeys() async throws {
        let made = try await PythonPeer.run("jwcrypto-keys", [folder.path])
        #expect(made.exit == 0, "\(made.stderr)")
    }

    @Test func importsAJWKWithoutAnEncoding() async throws {
        try await writePeerKeys()
        for (file, id, more, type) in [
            ("ec.jwk", "a", [], "p256"), ("public.jwks", "b", [], "p256"),
            ("two.jwks", "ed", [], "ed25519"), ("two.jwks", "rsa", [], "rsa"),
            ("oct.jwk", "c", [], "hmac"), ("oct.jwk", "d", ["--type", "vault"], "vault"),
        ] {
            let arguments = [
                "keys", "import", file, "--id", id, "-o", "keys", "--append", "--json",
            ]
            let imported = try await SignetTool.run(arguments + more, directory: folder.url)
            #expect(imported.exit == 0, "\(imported.text)")
            #expect(try JSONValue(parsing: imported.stdout)["type"]?.string == type)
        }
        // Other members are kept.
        #expect(try keys().first { $0["kid"] == "ed" }?["nbf"]?.number?.int64 == 7)
        for (file, more) in [
            ("two.jwks", []), ("ec.jwk", ["--type", "rsa"]), ("ec.jwk", ["--alg", "ES384"]),
            ("oct.jwk", ["--alg", "A256GCM"]), ("two.jwks", ["--encoding", "base64"]),
        ] {
            let arguments = ["keys", "import", file, "--id", "new", "-o", "other"]
            let refused = try await SignetTool.run(arguments + more, directory: folder.url)
            #expect(refused.exit == 2, "\(file) \(more)")
        }
        #expect(!(try folder.contents()).contains("other"))
    }

    @Test func findsAPublicKeyByItsThumbprint() async throws {
        try await writePeerKeys()
        let imported = try await signet("keys", "import", "ec.jwk", "--id", "a", "--out", "keys")
        #expect(imported.exit == 0, "\(imported.stderr)")
        let thumbprint = String(decoding: try folder.read("thumbprint"), as: UTF8.self)
        var set = try JSONValue(parsing: folder.read("keys"))
        var key = try #require(set["keys"]?.array?.first?.object)
        key["kid"] = .string(thumbprint)
        set = .object(["keys": [.object(key)]])
        try folder.write(set.serialized(), to: "named")
        let request = Array("GET / HTTP/1.1\nHost: a.test\n\n".utf8)
        let signed = try await signet(
            "sign", "--scheme", "rfc9421", "--keys", "named", stdin: request)
        let verified = try await signet(
            "verify", "--scheme", "rfc9421", "--keys", "public.jwks", stdin: signed.stdout)
        #expect(verified.exit == 0, "\(signed.stderr) \(verified.stderr)")
        // A private key needs a name, also beside public ones.
        key["kid"] = nil
        let nameless = JSONValue.object(["keys": [.object(key)]])
        try folder.write(nameless.serialized(), to: "nameless")
        #expect(try await signet("keys", "list", "nameless").exit == 2)
        let before = try folder.read("public.jwks")
        let added = try await signet(
            "keys", "new", "--type", "hmac", "--id", "b", "--out", "public.jwks", "--append")
        #expect(added.exit == 2)
        #expect(try folder.read("public.jwks") == before)
    }

    @Test func choosesNoKeyOfAnUnknownKind() async throws {
        let made = try await signet("keys", "new", "--type", "hmac", "--id", "a", "--out", "keys")
        #expect(made.exit == 0)
        let good = try #require(try keys().first)
        let others: [JSONObject] = [
            ["kid": "x", "kty": "AKP", "alg": "ML-DSA-44", "pub": "AAAA"],
            ["kid": "y", "kty": "OKP", "crv": "Ed448", "x": "AAAA"],
            ["kid": "z", "kty": "oct", "use": "other", "k": "AAAA"],
            ["kid": "p", "kty": "EC", "crv": "secp256k1", "x": "AA", "y": "AA", "d": "AA"],
            ["kty": "AKP", "alg": "ML-DSA-44", "pub": "AAAA"],
        ]
        let request = Array("GET / HTTP/1.1\nHost: a.test\n\n".utf8)
        for (name, extra) in [("named", others.dropLast()), ("nameless", others[4...])] {
            let all = JSONValue.array((extra + [good]).map(JSONValue.object))
            try folder.write(JSONValue.object(["keys": all]).serialized(), to: name)
            let signed = try await signet(
                "sign", "--scheme", "rfc9421", "--keys", name, stdin: request)
            guard name == "named" else {
                // A secret is among them, so every key needs its name.
                #expect(signed.exit == 2)
                continue
            }
            #expect(signed.text.contains(#"keyid="a""#), "\(signed.stderr)")
        }
        var other = try #require(
            try JSONValue(
                parsing: (try await signet("keys", "public", "keys")).stdout)["keys"])
        #expect(other.array == [])
        // Pairs for another use don't count either.
        let pair = try await signet("keys", "new", "--type", "p256", "--id", "b", "--out", "pairs")
        #expect(pair.exit == 0)
        var key = try #require(try keys("pairs").first)
        key["use"] = "other"
        other = .object(["keys": [.object(good), .object(key)]])
        try folder.write(other.serialized(), to: "pairs")
        let signed = try await signet(
            "sign", "--scheme", "rfc9421", "--keys", "pairs", stdin: request)
        #expect(signed.text.contains(#"keyid="a""#), "\(signed.stderr)")
    }

    private static let webhook = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    @Test(arguments: [
        (webhook, "", ""), (webhook + "\n", "white space", "white space"),
        (" v1,\(webhook)\r\n", "\"v1,\"", "\"v1,\""),
    ])
    func repairsAWebhookSecret(_ text: String, _ note: String, _ suspicion: String) async throws {
        try folder.write(text, to: "secret")
        let imported = try await signet("keys", "import", "secret", "--id", "a", "--out", "keys")
        #expect(imported.exit == 0, "\(imported.stderr)")
        #expect(note.isEmpty ? imported.stderr.isEmpty : imported.stderr.contains(note))
        let wanted = Data(Self.webhook.utf8).base64EncodedString()
        #expect(try keys().first?["k"]?.string == wanted.replacing("=", with: ""))
        // As raw bytes nothing is dropped, and that is said.
        let raw = try await signet(
            "keys", "import", "secret", "--id", "a", "--encoding", "raw", "--out", "raw")
        #expect(raw.exit == 0)
        #expect(suspicion.isEmpty ? raw.stderr.isEmpty : raw.stderr.contains(suspicion))
        for encoding in ["base64", "base64url", "hex"] {
            let refused = try await signet(
                "keys", "import", "secret", "--id", "b", "--encoding", encoding, "--out", "other")
            #expect(refused.exit == 2 && refused.stderr.contains("whsec_"), "\(encoding)")
        }
    }

    @Test func namesASecretThatLooksLikeBase64() async throws {
        for (text, isSuspect) in [
            (String(Self.webhook.dropFirst(6)), true), ("whsec_!", false), ("password", false),
            // A hash in hex, and an access key of AWS, are also base64.
            (String(repeating: "5a", count: 32), false),
            ("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", false),
        ] {
            try folder.write(text, to: "secret")
            let arguments = ["keys", "import", "secret", "--id", text, "-o", "keys", "--append"]
            let raw = try await SignetTool.run(
                arguments + ["--encoding", "raw"], directory: folder.url)
            #expect(raw.exit == 0)
            #expect(raw.stderr.contains("base64") == isSuspect, "\(text): \(raw.stderr)")
            let bare = try await SignetTool.run(arguments, directory: folder.url)
            #expect(bare.exit == 2 && !bare.stderr.contains(text))
        }
    }

    @Test(arguments: [
        ("Content-Length: 4\n", "abc", 2), ("Content-Length: 3\n", "abc\n", 2),
        ("Content-Length: 3\n", "", 2), ("Content-Length: 3\nContent-Length: 4\n", "abc", 2),
        ("Content-Length: 4\nContent-Length: 3\n", "abc", 2),
        ("Content-Length: 3, 4\n", "abc", 2), ("Content-Length: +3\n", "abc", 2),
        ("Content-Length:\n", "abc", 2), ("Content-Length: 0\n", "a", 2),
        ("Content-Length: 3\n", "abc", 0), ("Content-Length: 3\nContent-Length: 3\n", "abc", 0),
        ("Content-Length: 0\n", "", 0), ("", "abc", 0),
    ])
    func holdsARecordedBodyToItsLength(_ fields: String, _ body: String, _ exit: Int32) async throws
    {
        let made = try await signet("keys", "new", "--type", "hmac", "--id", "a", "--out", "keys")
        #expect(made.exit == 0)
        let text = "POST / HTTP/1.1\nHost: a.test\n\(fields)\n\(body)"
        for command in ["sign", "verify"] {
            let output = try await signet(
                command, "--scheme", "rfc9421", "--keys", "keys", stdin: Array(text.utf8))
            // A message without a signature is refused only by `verify`, with 1 or 2.
            if command == "sign" { #expect(output.exit == exit, "\(output.stderr)") }
            let named = output.stderr.contains("Content-Length")
            #expect(named == (exit == 2), "\(command): \(output.stderr)")
        }
    }

    @Test func aFullNonceFileIsNamed() async throws {
        let made = try await signet("keys", "new", "--type", "hmac", "--id", "a", "--out", "keys")
        #expect(made.exit == 0)
        let request = Array("GET / HTTP/1.1\nHost: a.test\n\n".utf8)
        let signed = try await signet(
            "sign", "--scheme", "salted-hmac-v1", "--keys", "keys", stdin: request)
        try folder.write("no nonces\n", to: "seen")
        let verified = try await signet(
            "verify", "--scheme", "salted-hmac-v1", "--keys", "keys", "--nonces", "seen",
            "--explain", stdin: signed.stdout)
        #expect(verified.exit != 0 && verified.stderr.contains("seen:"), "\(verified.stderr)")
    }
}
