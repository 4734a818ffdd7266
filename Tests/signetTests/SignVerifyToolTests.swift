import Foundation
import TestSupport
import Testing

/// `signet sign`, `signet verify` and `signet schemes`.
@Suite struct SignVerifyToolTests {
    private static let now = "1795228551"
    private static let request = """
        POST /rpc?tea=2 HTTP/1.1
        Host: api.example.com
        Content-Type: application/json

        {"jsonrpc":"2.0","id":1}
        """

    private let folder: TemporaryDirectory
    private let keys: String

    init() throws {
        folder = try TemporaryDirectory()
        let secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
        let set = """
            {"keys":[
            {"kty":"oct","kid":"orders-2026","use":"sig","alg":"HS256","k":"\(secret)"},
            {"kty":"oct","kid":"revoked","use":"sig","alg":"HS256","revoked":true,"k":"\(secret)"},
            {"kty":"oct","kid":"root","use":"enc","k":"\(secret)"}]}
            """
        keys = try folder.write(set, to: "keys")
    }

    private func run(_ arguments: [String], _ input: String = "") async throws -> ProcessOutput {
        try await SignetTool.run(arguments, stdin: Array(input.utf8))
    }

    private func sign(
        _ more: [String] = [], scheme: String = "rfc9421", _ input: String = request
    ) async throws -> ProcessOutput {
        try await run(
            [
                "sign", "--scheme", scheme, "--keys", keys, "--key-id", "orders-2026", "--time",
                Self.now,
            ] + more, input)
    }

    private func verify(
        _ more: [String] = [], scheme: String = "rfc9421", _ input: String
    ) async throws -> ProcessOutput {
        try await run(
            ["verify", "--scheme", scheme, "--keys", keys, "--now", Self.now] + more, input)
    }

    private func errorCode(_ output: ProcessOutput) -> String? {
        let object = try? JSONSerialization.jsonObject(with: Data(output.stdout)) as? [String: Any]
        return (object?["error"] as? [String: Any])?["code"] as? String
    }

    @Test(arguments: ["rfc9421", "salted-hmac-v1"])
    func verifiesASignedMessage(_ scheme: String) async throws {
        let signed = try await sign(scheme: scheme)
        #expect(signed.exit == 0)
        #expect(signed.stderr == "")
        #expect(signed.text.hasPrefix("POST /rpc?tea=2 HTTP/1.1\r\nHost: api.example.com\r\n"))
        #expect(signed.text.hasSuffix("\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1}"))
        let verified = try await verify(["--json"], scheme: scheme, signed.text)
        #expect(verified.exit == 0)
        #expect(
            verified.text.hasPrefix(
                #"{"verified":true,"keyid":"orders-2026","created":1795228551,"covered":{"@method":"POST","@authority":"api.example.com","@path":"/rpc","@query":"#
            ))
        #expect(verified.text.hasSuffix("}}\n"))
    }

    @Test(
        arguments: ["--time", "--expires", "--now"])
    func refusesTimesAfterTheYear9999(_ option: String) async throws {
        for time in ["253402300800", "6700000000000", "9223372036854775807"] {
            let output =
                option == "--now"
                ? try await verify(["--json", option, time], try await sign().text)
                : try await sign(["--json", option, time])
            #expect(output.exit == 2)
            #expect(errorCode(output) == "invalid-time")
            #expect(output.text.contains(option))
        }
    }

    @Test func refusesAQueryAddedAfterSigning() async throws {
        let signed = try await sign([], "GET /a HTTP/1.1\nHost: h\n\n").text
        #expect(try await verify([], signed).exit == 0)
        let changed = signed.replacingOccurrences(of: "GET /a ", with: "GET /a?admin=1 ")
        let refused = try await verify(["--explain", "--json"], changed)
        #expect(refused.exit == 1)
        #expect(errorCode(refused) == "not-covered")
        #expect(try await verify(["--covers", "@method,@path"], changed).exit == 0)
    }

    @Test func refusalNamesInsecureSchemeOk() async throws {
        let refused = try await sign(["--json"], scheme: "wechat-v2")
        #expect(refused.exit == 2)
        #expect(errorCode(refused) == "insecure-scheme")
        #expect(refused.text.contains("--insecure-scheme-ok"))
    }

    @Test func showsBaseFieldsAndMessage() async throws {
        let base = try await sign(["--show", "base", "--covers", "@method,\"@path\""])
        #expect(
            base.text == """
                "@method": POST
                "@path": /rpc
                "@signature-params": ("@method" "@path");created=1795228551;keyid="orders-2026"
                """)
        let headers = try await sign([
            "--show", "headers", "--covers=", "--label", "own", "--expires", "1795228552",
            "--nonce",
            "n", "--tag", "t",
        ])
        #expect(
            headers.text.hasPrefix(
                #"Signature-Input: own=();created=1795228551;expires=1795228552;keyid="orders-2026";nonce="n";tag="t""#
                    + "\nSignature: own=:"))
        #expect(headers.text.split(separator: "\n").count == 2)
        let json = try await sign(["--show", "headers", "--json", "--covers="])
        #expect(json.text.hasPrefix(#"{"headers":[{"name":"Signature-Input","value":"sig1=();"#))
    }

    @Test func readsAFileAndStandardInput() async throws {
        let path = try folder.write(Self.request, to: "request.http")
        let direct = try await sign([path], "")
        let piped = try await sign(["-"])
        #expect(direct.exit == 0)
        #expect(direct.stdout == piped.stdout)
    }

    @Test func plainHTTPChangesSchemeAndPort() async throws {
        let request = "GET / HTTP/1.1\nHost: h:80\n\n"
        let more = ["--show", "base", "--covers", "@target-uri"]
        #expect(try await sign(more, request).text.hasPrefix("\"@target-uri\": https://h:80/\n"))
        #expect(
            try await sign(more + ["--plain-http"], request).text.hasPrefix(
                "\"@target-uri\": http://h/\n"))
    }

    @Test func explainsAChangedMessageOnlyIfAsked() async throws {
        let signed = try await sign().text
        let cases: [(String, [String], String)] = [
            (signed.replacingOccurrences(of: "\"id\":1", with: "\"id\":2"), [], "digest-mismatch"),
            (signed.replacingOccurrences(of: "/rpc", with: "/rpd"), [], "signature-mismatch"),
            (signed.replacingOccurrences(of: "orders-2026", with: "nobody"), [], "unknown-key"),
            (signed.replacingOccurrences(of: "orders-2026", with: "revoked"), [], "key-revoked"),
            (signed, ["--now", "1795229000"], "too-old"),
            (signed, ["--now", "1795228000"], "created-in-future"),
            (signed, ["--max-age", "0", "--now", "1795228552"], "too-old"),
            (signed, ["--clock-skew", "0", "--now", "1795228550"], "created-in-future"),
            (signed, ["--covers", "x-request-id"], "not-covered"),
            (signed, ["--tag", "app"], "no-signature"),
            (signed, ["--nonces", folder.path("nonces")], "missing-nonce"),
            (Self.request, [], "no-signature"),
        ]
        var answers: Set<String> = []
        for (message, more, reason) in cases {
            let opaque = try await verify(more, message)
            #expect(opaque.exit == 1, "\(reason)")
            #expect(opaque.stdout.isEmpty)
            answers.insert(opaque.stderr)
            let json = try await verify(more + ["--json"], message)
            answers.insert(json.text)
            let explained = try await verify(more + ["--json", "--explain"], message)
            #expect(explained.exit == 1)
            #expect(errorCode(explained) == reason)
        }
        #expect(answers.count == 2)
    }

    @Test func exits2OnAMalformedMessage() async throws {
        let signed = try await sign().text
        for message in [
            "", "no message", "GET / HTTP/1.1\nHost: h\n", "\u{0}", "{\"keys\":[]}",
            signed.replacingOccurrences(of: "HTTP/1.1", with: "HTTP/1.0"),
            signed.replacingOccurrences(of: "Host:", with: "Host :"),
            signed.replacingOccurrences(of: "Host:", with: "Host: x\r\nHost:"),
        ] {
            let output = try await verify(["--json"], message)
            #expect(output.exit == 2)
            #expect(errorCode(output) == "malformed-message")
            #expect(try await sign([], message).exit == 2)
        }
        for (old, new) in [
            ("sig1=(", "sig1=(("), ("Signature: sig1=:", "Signature: sig1=:*"),
            ("Signature: sig1", "Signature: sig1=:AAAA:, sig1"), ("created=", "created=x"),
        ] {
            let output = try await verify(
                ["--json"], signed.replacingOccurrences(of: old, with: new))
            #expect(output.exit == 2)
            #expect(errorCode(output) == "malformed-signature")
        }
    }

    @Test func takesANonceOnce() async throws {
        let signed = try await sign(["--nonce", "n-1"]).text
        let more = ["--nonces", folder.path("nonces")]
        #expect(try await verify(more, signed).exit == 0)
        let again = try await verify(more + ["--json", "--explain"], signed)
        #expect(again.exit == 1)
        #expect(errorCode(again) == "replayed-nonce")
        #expect(try folder.contents() == ["keys", "nonces"])
        for path in [folder.path("absent/nonces"), folder.path, keys] {
            let output = try await verify(["--nonces", path], signed)
            #expect(output.exit == 2)
        }
        #expect(String(decoding: try folder.read("keys"), as: UTF8.self).hasPrefix("{\"keys\""))
    }

    @Test(
        arguments: [
            (["--scheme", "nope"], "unknown-scheme"),
            (["--scheme", "aws-sigv5"], "unknown-scheme"),
            (["--scheme", "aws-sigv4"], "missing-option"),
            (["--set", "a=b"], "unsupported-option"), (["--set", "a"], "usage"),
            (["--time=-1"], "usage"),
            (["--time", "soon"], "usage"), (["--time", "1000000000000000"], "invalid-time"),
            (["--expires", "1"], "invalid-time"), (["--label", "A B"], "invalid-value"),
            (["--nonce="], "invalid-value"), (["--tag", "\u{e9}"], "invalid-value"),
            (["--covers", "@method,@method"], "duplicate-component"),
            (["--covers", "@nothing"], "unsupported-component"),
            (["--covers", "\"@query-param\""], "malformed-component"),
            (["--covers", "@method,,"], "malformed-component"),
            (["--covers", "x-absent"], "missing-component"), (["--show", "all"], "usage"),
            (["--unknown"], "usage"),
        ])
    func exits2OnWrongUsage(_ more: [String], _ wanted: String) async throws {
        let output = try await sign(more + ["--json"])
        #expect(output.exit == 2)
        #expect(errorCode(output) == wanted)
    }

    @Test func exits1OnAMissingOrExpiredKey() async throws {
        #expect(try await sign(["--key-id", "nobody"]).exit == 1)
        #expect(try await sign(["--key-id", "revoked"]).exit == 1)
        #expect(try await sign(["--key-id", "root"]).exit == 1)
        // Without a name the key is the only one that signs now.
        let output = try await run(
            ["sign", "--scheme", "rfc9421", "--keys", keys], Self.request)
        #expect(output.exit == 0, "\(output.stderr)")
    }

    @Test func exits2AndNamesABadFile() async throws {
        let open = try folder.write(try folder.read("keys"), to: "open", mode: 0o644)
        let empty = try folder.write("", to: "empty")
        let junk = try folder.write([UInt8](repeating: 0x41, count: 64 << 20), to: "junk")
        for path in [open, empty, junk, folder.path, folder.path("absent"), "/dev/zero"] {
            for command in ["sign", "verify"] {
                let output = try await run(
                    [command, "--scheme", "rfc9421", "--keys", path], Self.request)
                #expect(output.exit == 2, "\(command) --keys \(path)")
                #expect(output.stderr.contains(path), "\(output.stderr)")
                #expect(output.stderr.split(separator: "\n").count == 1)
            }
        }
        let permissions = try await run(
            ["sign", "--scheme", "rfc9421", "--keys", open], Self.request)
        #expect(permissions.stderr.contains("chmod 600 \(open)"))
        for path in [empty, junk, folder.path, folder.path("absent"), "/dev/zero"] {
            for command in ["sign", "verify"] {
                let output = try await run(
                    [
                        command, "--scheme", "rfc9421", "--keys", keys, "--key-id", "orders-2026",
                        path,
                    ]
                    .filter { command == "sign" || ($0 != "--key-id" && $0 != "orders-2026") })
                #expect(output.exit == 2, "\(command) \(path)")
                #expect(output.stdout.isEmpty)
                #expect(output.stderr.contains(path), "\(output.stderr)")
            }
        }
    }

    @Test func repeatsNoKeyAndNoFieldValue() async throws {
        let signed = try await sign().text
        let output = try await verify(
            ["--explain"], signed.replacingOccurrences(of: "api.example.com", with: "sec\u{1b}ret"))
        #expect(output.exit == 2)
        #expect(!output.stderr.contains("\u{1b}"))
        #expect(!output.stderr.contains("ret\""))
    }

    @Test func saysHowAFileOfASchemeIsNamed() async throws {
        let output = try await run(["sign", "--scheme", "acme", "--keys", "none"])
        let words = "or a file's path with a dot or a slash"
        #expect(output.exit == 2 && output.stderr.contains(#"found "acme", expected one of"#))
        #expect(output.stderr.contains(words))
        let shown = try await run(["schemes", "show", "acme"])
        #expect(shown.exit == 2 && !shown.stderr.contains(words))
    }

    @Test func refusesHMACWithSHA1UnlessAllowed() async throws {
        let output = try await SignetTool.run(["sign", "--scheme", "twilio", "--keys", "none"])
        #expect(output.exit == 2 && output.stderr.contains("HMAC with sha1, which is outdated"))
        #expect(output.stderr.contains("--insecure-scheme-ok"))
    }

    @Test(arguments: ["whsec_c2VjcmV0c2VjcmV0", "plain secret", "12345", "\"text\"", "[1"])
    func pointsToTheImportOfABareSecret(_ secret: String) async throws {
        let output = try await SignetTool.run(
            ["sign", "--scheme", "github", "--keys", "env:SECRET"],
            environment: ["SECRET": secret])
        #expect(output.exit == 2 && output.stderr.contains("signet keys import SOURCE --id ID"))
        #expect(!output.stderr.contains(secret) && output.stdout.isEmpty)
        let broken = try await SignetTool.run(
            ["sign", "--scheme", "github", "--keys", "env:SECRET"],
            environment: ["SECRET": #" {"keys":[}"#])
        #expect(broken.exit == 2 && !broken.stderr.contains("keys import"))
    }

    /// Prints the file in Sources.
    @Test func printsTheJSONSchemaOfSchemes() async throws {
        let file = PackageLayout.url("Sources/SignetSigning/Schemes/signet-scheme.schema.json")
        let text = try await run(["schemes", "schema"])
        #expect(text.exit == 0)
        #expect(text.stdout == [UInt8](try Data(contentsOf: file)))
        let json = try await run(["schemes", "schema", "--json"])
        let object = try JSONSerialization.jsonObject(with: Data(json.stdout)) as? [String: Any]
        #expect(json.exit == 0 && object?["$defs"] != nil)
    }

    /// `show` prints what `--scheme FILE` accepts.
    @Test func listsAndShowsTheBuiltInSchemes() async throws {
        let names = try await run(["schemes", "list"]).text.split(separator: "\n")
        #expect(
            names.starts(with: ["rfc9421", "salted-hmac-v1", "aws-sigv4"]) && names.count == 19)
        let folder = try TemporaryDirectory()
        for name in names.map(String.init) {
            let shown = try await run(["schemes", "show", name])
            let file = try folder.write(shown.text, to: name)
            #expect(shown.exit == 0)
            let again = try await run([
                "sign", "--scheme", file, "--insecure-scheme-ok", "--keys", "none",
            ])
            #expect(again.text.contains("malformed-scheme") == false)
        }
    }
}
