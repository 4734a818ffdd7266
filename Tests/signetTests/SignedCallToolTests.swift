import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet call` and `signet send` with partners' schemes. `signet verify` and botocore verify
/// the request that arrives.
@Suite struct SignedCallToolTests {
    private let folder: TemporaryDirectory
    private let server: CaptureServer
    private let keys: String

    init() async throws {
        folder = try TemporaryDirectory()
        server = try await CaptureServer()
        keys = try folder.write(
            #"""
            {"keys":[{"kty":"oct","use":"sig","kid":"AKIDEXAMPLE",
            "k":"d0phbHJYVXRuRkVNSS9LN01ERU5HK2JQeFJmaUNZRVhBTVBMRUtFWQ"}]}
            """#, to: "keys")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: keys)
    }

    private static let aws = [
        "--scheme", "aws-sigv4", "--set", "region=eu-central-1", "--set", "service=execute-api",
    ]
    private static let presigned = aws + ["--set", "placement=query"]
    private static let token = aws + ["--set", "sessionToken=FwoGZXIvYXdzE+/=="]
    private static let weak = ["--insecure-scheme-ok", "--scheme"]

    /// Runs it, and returns the received requests.
    private func arrived(_ arguments: [String], stdin: String = "") async throws -> [UInt8] {
        let output = try await SignetTool.run(
            arguments + ["--keys", keys], stdin: Array(stdin.utf8))
        #expect(output.exit == 0, "\(output.stderr)")
        return try await #require(server.requests(count: 1).last)
    }

    private func verify(_ message: [UInt8], _ options: [String]) async throws -> ProcessOutput {
        try await SignetTool.run(
            ["verify", "--plain-http", "--explain", "--keys", keys] + options, stdin: message)
    }

    @Test(arguments: [
        (aws, "Authorization: AWS4-HMAC-SHA256 "), (presigned, "&X-Amz-Signature="),
        (token, "X-Amz-Security-Token: FwoGZXIvYXdzE+/==\r\n"),
        (["--scheme", "tencent-tc3", "--set", "service=cvm"], "Authorization: TC3-HMAC-SHA256 "),
        (["--scheme", "alibaba-acs3"], "Authorization: ACS3-HMAC-SHA256 "),
        (["--scheme", "standard-webhooks"], "webhook-signature: v1,"),
        (["--scheme", "stripe"], "Stripe-Signature: t="),
        (weak + ["ctnetworking-get"], "&sig="),
    ])
    func aCallArrivesAsItWasSigned(_ options: [String], _ mark: String) async throws {
        let isGet = options.contains("ctnetworking-get")
        let message = try await arrived(
            [
                "call", "\(server.url)/a%20b/c?q=%2Fx&p", isGet ? "GET" : "POST", "--protocol",
                "rest",
            ]
                + (isGet ? [] : ["--params", #"{"tea":2}"#]) + options)
        let text = String(decoding: message, as: UTF8.self)
        #expect(text.lowercased().contains(mark.lowercased()), "\(text)")
        let verified = try await verify(message, options)
        #expect(verified.exit == 0, "\(text) \(verified.stderr)")
        let changed = Array(text.replacing("/a%20b/c?q=", with: "/a%20b/d?q=1").utf8)
        if !options.contains("standard-webhooks"), !options.contains("stripe") {
            #expect(try await verify(changed, options).exit == 1)
        }
        // The message has a Content-Length, unless it is a GET.
        #expect(try await verify(message + [0x20], options).exit == (isGet ? 0 : 2))
        try await server.stop()
    }

    @Test func sendsTheBodyThatTheSchemeMade() async throws {
        let body = "<xml><appid>wx1</appid></xml>"
        for length in ["", "Content-Length: \(body.utf8.count)\r\n"] {
            let server = try await CaptureServer()
            let output = try await SignetTool.run(
                ["send", "--plain-http", "--keys", keys] + Self.weak + ["wechat-v2"],
                stdin: Array(
                    "POST /pay HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\(length)\r\n\(body)"
                        .utf8))
            #expect(output.exit == 0, "\(output.stderr)")
            let message = try #require(await server.requests(count: 1).last)
            let text = String(decoding: message, as: UTF8.self)
            #expect(text.contains("<xml><appid>wx1</appid><sign><![CDATA["))
            #expect(text.hasSuffix("]]></sign></xml>"))
            #expect(try await verify(message, Self.weak + ["wechat-v2"]).exit == 0)
            try await server.stop()
        }
    }

    @Test func aTagIsWrittenAndDemanded() async throws {
        let own = try folder.write(
            #"""
            {"keys":[{"kty":"oct","use":"sig","alg":"HS256","kid":"HS",
            "k":"d0phbHJYVXRuRkVNSS9LN01ERU5HK2JQeFJmaUNZRVhBTVBMRUtFWQ"}]}
            """#, to: "own")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: own)
        let output = try await SignetTool.run([
            "call", "\(server.url)/", "POST", "--protocol", "rest", "--scheme", "rfc9421",
            "--keys", own, "--tag", "orders",
        ])
        #expect(output.exit == 0, "\(output.stderr)")
        let message = try await #require(server.requests(count: 1).last)
        for (tag, exit) in [("orders", 0), ("other", 1)] as [(String, Int32)] {
            let verified = try await SignetTool.run(
                [
                    "verify", "--plain-http", "--scheme", "rfc9421", "--keys", own, "--tag", tag,
                    "--covers", "@method",
                ], stdin: message)
            #expect(verified.exit == exit, "\(verified.stderr)")
        }
        try await server.stop()
    }

    @Test(arguments: [aws, presigned, token])
    func botocoreMakesTheReceivedSignature(_ options: [String]) async throws {
        let message = try await arrived(
            ["call", "\(server.url)/a%20b/c?q=%2Fx&p=", "GET", "--protocol", "rest"] + options)
        let output = try await PythonPeer.run("botocore-check", stdin: message)
        #expect(output.exit == 0, "\(output.stderr)")
        let theirs = output.text.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(theirs.count >= 64)
        #expect(String(decoding: message, as: UTF8.self).contains(theirs), "\(theirs)")
        try await server.stop()
    }

    @Test(arguments: [
        (["--set", "region=x"], "usage"), (["--tag", "t"], "usage"),
        (["--insecure-scheme-ok"], "usage"),
        (["--scheme", "aws-sigv4", "--set", "region=x"], "missing-option"),
        (aws + ["--set", "nothing=1"], "unsupported-option"),
        (aws + ["--set", "region=1"], "usage"), (aws + ["--set", "novalue"], "usage"),
        (aws + ["--tag", "t"], "unsupported-option"),
        (["--scheme", "ctnetworking-get"], "insecure-scheme"),
        (["--scheme", "/nonexistent/scheme.json"], "unreadable-file"),
        (["--scheme", "/dev/null"], "malformed-scheme"), (["--scheme", "none"], "unknown-scheme"),
    ])
    func anUnsignableMessageIsExit2AndUnsent(_ options: [String], _ code: String) async throws {
        let isSigned = options.contains("--scheme")
        for command in [["call", "\(server.url)/", "m"], ["send", "--plain-http"]] {
            let output = try await SignetTool.run(
                command + options + (isSigned ? ["--keys", keys] : []) + ["--json"],
                stdin: Array("GET / HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n".utf8))
            #expect(output.exit == 2)
            let error = try JSONValue(parsing: output.stdout)["error"]
            #expect(error?["code"]?.string == code, "\(output.text)")
        }
        // The one that comes is the first.
        _ = try await SignetTool.run(["call", "\(server.url)/first", "GET", "--protocol", "rest"])
        let all = try await server.requests(count: 1)
        #expect(all.count == 1)
        #expect(all.first?.starts(with: "GET /first".utf8) == true)
        try await server.stop()
    }
}
