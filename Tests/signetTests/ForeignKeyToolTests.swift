import Foundation
import SignetJSON
import TestSupport
import Testing

/// Keys in the forms of public bug reports: OpenSSH, PEM whose lines were lost, JWKs with numbers
/// of another size, and bytes that aren't a secret. Sources are owner/repository#number.
@Suite struct ForeignKeyToolTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func signet(
        _ arguments: String..., stdin: [UInt8] = []
    ) async throws -> ProcessOutput {
        try await SignetTool.run(arguments, stdin: stdin, directory: folder.url)
    }

    private func write(_ bytes: [UInt8], to name: String) throws {
        try folder.write(bytes, to: name, mode: 0o600)
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try folder.read(name), as: UTF8.self)
    }

    /// Imports bytes as a key of a new file, and returns the key.
    private func imported(
        _ bytes: [UInt8], _ options: String..., at location: SourceLocation = #_sourceLocation
    ) async throws -> JSONObject {
        let name = "keys-\(UUID().uuidString)"
        try write(bytes, to: "source")
        let output = try await SignetTool.run(
            ["keys", "import", "source", "--id", "a", "--out", name] + options,
            directory: folder.url)
        try #require(output.exit == 0, "\(output.stderr)", sourceLocation: location)
        let keys = try JSONValue(parsing: folder.read(name))["keys"]?.array
        return try #require(keys?.first?.object)
    }

    private func expectRefusal(
        _ bytes: [UInt8], _ options: [String] = [], saying words: String,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        try write(bytes, to: "source")
        let output = try await SignetTool.run(
            ["keys", "import", "source", "--id", "a", "--out", "none"] + options,
            directory: folder.url)
        #expect(
            output.exit == 2 && output.stderr.contains(words), "\(output.stderr)",
            sourceLocation: location)
        #expect(throws: (any Error).self, sourceLocation: location) { try folder.read("none") }
    }

    // MARK: - OpenSSH (smallstep/certificates#151)

    @Test func readsEd25519KeysOfOpenSSH() async throws {
        let made = try await PythonPeer.run("openssh-keys", ["ed25519", folder.url.path])
        try #require(made.exit == 0, "\(made.stderr)")
        for name in ["private", "public", "pem"] {
            try write(folder.read(name), to: name)
        }
        let key = try await imported(folder.read("private"))
        #expect(key["d"] != nil && key["alg"] == "Ed25519")
        for name in ["public", "pem"] {
            let other = try await imported(folder.read(name))
            #expect(other["x"] == key["x"] && other["d"] == nil, "\(name)")
        }
    }

    /// ssh-keygen converts keys of these types.
    @Test(arguments: ["ecdsa", "rsa"])
    func namesTheCommandForOtherKeysOfOpenSSH(_ type: String) async throws {
        let made = try await PythonPeer.run("openssh-keys", [type, folder.url.path])
        try #require(made.exit == 0, "\(made.stderr)")
        try await expectRefusal(
            folder.read("private"), saying: "ssh-keygen -p -m PKCS8 -f COPY")
        try await expectRefusal(
            folder.read("public"), saying: "ssh-keygen -e -m PKCS8 -f FILE")
    }

    /// The first key of RFC 8032, section 7.1.
    private static let seed = bytes(
        ofHex: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    private static let point = bytes(
        ofHex: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")

    /// A block of OpenSSH with these parts.
    private static func block(
        cipher: String = "none", keys: UInt8 = 1, secondCheck: UInt8 = 7, point: [UInt8] = point,
        pair: [UInt8] = seed + point, after: [UInt8] = []
    ) -> [UInt8] {
        func string(_ bytes: [UInt8]) -> [UInt8] {
            [0, 0, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
        }
        let type = Array("ssh-ed25519".utf8)
        let secret =
            [0, 0, 0, 7, 0, 0, 0, secondCheck] + string(type) + string(point) + string(pair)
            + string([]) + [1, 2, 3]
        let whole =
            Array("openssh-key-v1\u{0}".utf8) + string(Array(cipher.utf8))
            + string(Array("none".utf8)) + string([]) + [0, 0, 0, keys]
            + string(string(type) + string(point)) + string(secret) + after
        let text = Data(whole).base64EncodedString(options: .lineLength64Characters)
        return Array(
            "-----BEGIN \("OPENSSH") PRIVATE KEY-----\n\(text)\n-----END OPENSSH PRIVATE KEY-----\n"
                .utf8
        )
    }

    @Test func refusesAChangedBlockOfOpenSSH() async throws {
        let key = try await imported(Self.block())
        #expect(key["x"] == "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
        let otherSeed = [Self.seed[0] ^ 1] + Self.seed.dropFirst()
        let otherPoint = [Self.point[0] ^ 1] + Self.point.dropFirst()
        for (block, words) in [
            (Self.block(cipher: "aes256-ctr"), "ssh-keygen -p -m PKCS8 -N ''"),
            (Self.block(keys: 2), "malformed"), (Self.block(secondCheck: 8), "malformed"),
            (Self.block(point: otherPoint), "malformed"),
            (Self.block(pair: otherSeed + Self.point), "halves of the Ed25519 key"),
            (
                Self.block(point: otherPoint, pair: Self.seed + otherPoint),
                "halves of the Ed25519 key"
            ),
            (Self.block(pair: Self.seed), "malformed"), (Self.block(after: [0]), "malformed"),
        ] { try await expectRefusal(block, saying: words) }
        for line in [
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1E=",
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5", "ssh-ed25519 AAAA====",
            "ssh-ed25519 AAAAB3NzaC1yc2EAAAADAQAB",
        ] { try await expectRefusal(Array(line.utf8), saying: "public key of OpenSSH is") }
        let line =
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea\n"
        #expect(try await imported(Array(line.utf8))["x"] == key["x"])
        try await expectRefusal(Array((line + line).utf8), saying: "2 lines")
    }

    // MARK: - PEM whose line breaks were lost (gregtwallace/certwarden-frontend#13)

    /// Also auth0/node-jsonwebtoken#191 (`\r`) and openwallet-foundation/didcomm-mediator-credo#76.
    @Test(arguments: [" ", "", "\r", #"\r"#, #"\r\n"#, #"\\n"#, "  ", "\r\r\n", "\r\n"])
    func readsAPEMWithoutItsLineBreaks(_ lineBreak: String) async throws {
        try await folder.openssl(
            "genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out",
            "key.pem")
        try await folder.openssl(
            "req", "-x509", "-key", "key.pem", "-subj", "/CN=a", "-out", "certificate.pem")
        let key = try await imported(folder.read("key.pem"))
        let whole = try text("certificate.pem") + text("key.pem")
        let changed = whole.replacing("\n", with: lineBreak)
        #expect(changed.contains("\n") == lineBreak.contains("\n"))
        #expect(try await imported(Array(changed.utf8)) == key)
        #expect(try await imported(Array("\"\(changed)\"\n".utf8)) == key)
    }

    @Test(arguments: [
        "-----BEGIN \("PRIVATE") KEY----- MC4C", "-----BEGIN \("PRIVATE") KEY----- AAA -----END",
    ])
    func refusesATornPEMOnOneLine(_ text: String) async throws {
        try await expectRefusal(Array(text.utf8), saying: "PEM")
    }

    // MARK: - Encodings (goauthentik/authentik#9552)

    /// `openssl rand -base64 60` and `xxd -p` write several lines; Windows ends them with CR LF.
    @Test(arguments: ["\n", "\r\n", " \n", "\n\n"])
    func readsAnEncodingOnSeveralLines(_ lineBreak: String) async throws {
        let secret = (0..<60).map { UInt8($0 * 4) }
        let base64 = Data(secret).base64EncodedString()
        let k = base64.replacing("+", with: "-").replacing("/", with: "_")
        for (encoding, text) in [
            ("base64", base64), ("base64url", k),
            ("hex", hex(secret)),
        ] {
            let lines = text.prefix(64) + lineBreak + text.dropFirst(64) + lineBreak
            let key = try await imported(Array(lines.utf8), "--encoding", encoding)
            #expect(key["k"]?.string == k, "\(encoding)")
        }
        try await expectRefusal(
            Array("c2Vjcm V0".utf8), ["--encoding", "base64"], saying: "not base64 without spaces")
        try await expectRefusal(
            Array("c2VjcmV0LV8_".utf8), ["--encoding", "base64"], saying: "but base64url")
    }

    // MARK: - Keys that aren't secrets (mpdavis/python-jose#414)

    /// Also jpadilla/pyjwt#362 (OpenSSH) and nearform/fast-jwt#634 (JWK).
    /// The helper imports the key "a".
    @Test(arguments: [#""kty":"AKP""#, #""kty":"OKP","crv":"Ed25519""#, #""kty":7"#])
    func takesNoOtherKeyForANamedOne(_ members: String) async throws {
        let other = #"{"kty":"oct","kid":"b","k":"c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"}"#
        let set = #"{"keys":[{"kid":"a",\#(members)},\#(other)]}"#
        try await expectRefusal(Array(set.utf8), saying: #"the id "a" that signet can't use"#)
        let nameless = #"{"keys":[{\#(members)},\#(other)]}"#
        #expect(try await imported(Array(nameless.utf8))["kty"] == "oct")
    }

    @Test func refusesAKeyInAnyFormAsASecret() async throws {
        try await folder.openssl(
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "key.pem")
        try await folder.openssl("pkey", "-in", "key.pem", "-outform", "DER", "-out", "key.der")
        try await folder.openssl(
            "req", "-x509", "-key", "key.pem", "-subj", "/CN=a", "-outform", "DER", "-out",
            "certificate.der")
        try await folder.openssl(
            "pkcs8", "-topk8", "-in", "key.pem", "-passout", "pass:a", "-outform", "DER", "-out",
            "encrypted.der")
        let pem = try text("key.pem")
        let key = try await imported(Array(pem.utf8))
        let der = try folder.read("key.der")
        let base64 = Array(Data(der).base64EncodedString().utf8)
        let line = Array("ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB a\n".utf8)
        for (bytes, encoding, words) in [
            (der, "raw", "a key or a certificate"), (base64, "base64", "a key or a certificate"),
            (try folder.read("certificate.der"), "raw", "a key or a certificate"),
            (try folder.read("encrypted.der"), "raw", "a key or a certificate"),
            (line, "raw", "OpenSSH"), (line, "base64", "OpenSSH"),
            (Array(pem.replacing("\n", with: "").utf8), "base64url", "BEGIN"),
            (Array(#"{"kty":"oct","k":"c2VjcmV0"}"#.utf8), "raw", "a JWK"),
            (Array("\u{FEFF}{\"kty\":\"oct\",\"k\":\"c2VjcmV0\"}".utf8), "raw", "a JWK"),
            (Array("openssh-key-v1\u{0}none".utf8), "raw", "a key or a certificate"),
            (
                [0, 0, 0, 11] + Array("ssh-ed25519".utf8) + [0, 0, 0, 32] + Self.point, "raw",
                "a key or a certificate"
            ),
            (Array("PuTTY-User-Key-File-3: ssh-ed25519".utf8), "raw", "puttygen"),
        ] {
            try await expectRefusal(bytes, ["--encoding", encoding], saying: words)
            try await expectRefusal(
                bytes, ["--encoding", encoding, "--type", "hmac"], saying: words)
        }
        // A type, the word of the user, and PEM that was encoded once more, are taken.
        #expect(try await imported(base64, "--encoding", "base64", "--type", "p256") == key)
        let forced = try await imported(der, "--encoding", "raw", "--force")
        #expect(forced["kty"] == "oct")
        let twice = Array(Data(pem.utf8).base64EncodedString().utf8)
        #expect(try await imported(twice, "--encoding", "base64") == key)
        try await expectRefusal(
            twice, ["--encoding", "base64", "--type", "hmac"], saying: "BEGIN")
        // Bytes that only begin as DER does.
        let secret = try await imported(
            [0x30, 0x1E] + der.dropFirst(2).prefix(30), "--encoding", "raw")
        #expect(secret["kty"] == "oct")
    }

    /// Discord shows its public key as 32 bytes in hex, and NaCl a private one as 64.
    @Test func readsANaClKeyAndNamesTheHalvesOfABareOne() async throws {
        let digits = hex(Self.seed + Self.point)
        let options = ["--encoding", "hex", "--type", "ed25519"]
        let key = try await imported(Array(digits.utf8), "--encoding", "hex", "--type", "ed25519")
        #expect(key["x"] == "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
        let (seed, point) = (digits.prefix(64), digits.suffix(64))
        for half in [seed, point] {
            try await expectRefusal(Array(half.utf8), options, saying: "302a300506032b6570032100")
        }
        let publicKey = try await imported(
            Array("302a300506032b6570032100\(point)".utf8), "--encoding", "hex", "--type", "ed25519"
        )
        #expect(publicKey["x"] == key["x"] && publicKey["d"] == nil)
        let privateKey = try await imported(
            Array("302e020100300506032b657004220420\(seed)".utf8), "--encoding", "hex", "--type",
            "ed25519")
        #expect(privateKey == key)
        try await expectRefusal(
            Array((point + seed).utf8), options, saying: "halves of the Ed25519 key")
    }

    // MARK: - JWK (keycloak/keycloak#14933, latchset/jwcrypto#158, Abblix/Oidc.Server#263)

    @Test func repairsTheNumbersOfAJWK() async throws {
        let made = try await PythonPeer.run("repaired-jwks")
        try #require(made.exit == 0, "\(made.stderr)")
        for line in made.text.split(separator: "\n") {
            let forms = try #require(JSONValue(parsing: Array(line.utf8)).array)
            let wanted = try await imported(forms[0].serialized())
            for form in forms.dropFirst() {
                #expect(try await imported(form.serialized()) == wanted, "\(form.text.prefix(99))")
                let set: JSONValue = [
                    "keys": [form, ["kty": "EC", "crv": "P-256", "x": 1], .null]
                ]
                #expect(try await imported(set.serialized()) == wanted)
            }
        }
    }

    @Test func saysWhichNumberOfAJWKItRepaired() async throws {
        try write(Array(#"{"kty":"oct","k":"/v7+/v7+/v7+/v7+/v7+/g=="}"#.utf8), to: "source")
        let output = try await signet("keys", "import", "source", "--id", "a", "--out", "keys")
        #expect(output.exit == 0)
        #expect(output.stderr.contains("rewrote k of the JWK by RFC 7518"), "\(output.stderr)")
        #expect(!output.stderr.contains("v7"))
    }

    @Test(arguments: [
        (#"{"kty":"oct","k":"AAAA==="}"#, #""k" is not canonical base64url"#),
        (#"{"kty":"oct","k":"AA A"}"#, #""k" is not canonical base64url"#),
        (#"{"kty":"oct","k":"AB"}"#, #""k" is not canonical base64url"#),
        (#"{"kty":"oct","k":""}"#, #""k" is empty"#),
        (#"{"kty":"oct","k":null}"#, #"missing "k""#),
        (#"{"kty":null,"k":"AAAA"}"#, #"missing "kty""#),
        (#"{"kty":"OKP","crv":"Ed25519","x":"AAAA"}"#, #"found 3 bytes, expected 32 in "x""#),
        (#"{"kty":"EC","crv":"P-256","x":"AQ","y":"AQ"}"#, "the numbers are not a p256 key"),
        (#"{"kty":"EC","crv":"P-256","x":"","y":"AQ"}"#, #"found 0 bytes, expected 32 in "x""#),
        (#"{"keys":[null]}"#, "found 0 keys in the JWK Set"),
    ])
    func refusesAJWKThatIsNotRepaired(_ text: String, saying words: String) async throws {
        try await expectRefusal(Array(text.utf8), saying: words)
    }

    // MARK: - A byte order mark (serde-rs/json#805, jqlang/jq#45)

    @Test func namesAByteOrderMarkBeforeAJWK() async throws {
        let jwk = #"{"kty":"oct","k":"c2VjcmV0LXNlY3JldC1zZWNyZXQ"}"#
        try await expectRefusal(Array("\u{FEFF}\(jwk)".utf8), saying: "found a byte order mark")
        try write(Array("\u{FEFF}{\"keys\":[]}".utf8), to: "marked")
        let output = try await signet(
            "sign", "--scheme", "rfc9421", "--keys", "marked",
            stdin: Array("GET / HTTP/1.1\nHost: a.test\n\n".utf8))
        #expect(output.exit == 2 && output.stderr.contains("a byte order mark"), "\(output.stderr)")
    }
}
