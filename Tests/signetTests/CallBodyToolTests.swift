import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet call` with bodies other than JSON, to httpbin, which describes the request that it
/// received.
@Suite struct CallBodyToolTests {
    private static let peer = Task {
        try await PythonPeer.serve("httpbin")
    }

    private let base: String
    private let folder: TemporaryDirectory

    init() async throws {
        base = "http://127.0.0.1:\(try await Self.peer.value.port)"
        folder = try TemporaryDirectory()
    }

    private func call(
        _ method: String, _ more: [String], stdin: [UInt8] = [], exit: Int32 = 0,
        environment: [String: String] = [:]
    ) async throws -> JSONValue {
        let output = try await SignetTool.run(
            ["call", base, method, "--protocol", "rest"] + more, stdin: stdin,
            environment: environment)
        #expect(output.exit == exit, "\(output.stderr)")
        return try JSONValue(parsing: output.stdout)
    }

    @Test func aFileIsSentUnchanged() async throws {
        let file = try folder.write("a,b\r\n1,\u{0}é\n", to: "table.csv")
        let told = try await call(
            "POST /anything/{id}",
            ["--param", "id=a/b", "--param", "n=1", "--body", file, "--content-type", "text/csv"])
        #expect(told["data"] == "a,b\r\n1,\u{0}é\n")
        #expect(told["args"] == ["n": "1"] && told["method"] == "POST")
        #expect(told["headers"]?["Content-Type"] == "text/csv")
        #expect(told["headers"]?["Content-Length"] == "11")
    }

    @Test func standardInputHasALength() async throws {
        let told = try await call("PUT /put", ["--body", "-"], stdin: [0, 1, 254, 255])
        #expect(told["data"] == "data:application/octet-stream;base64,AAH+/w==")
        #expect(told["headers"]?["Content-Type"] == "application/octet-stream")
        #expect(told["headers"]?["Content-Length"] == "4")
        let empty = try await call("PUT /put", ["--body", "-"])
        #expect(empty["data"] == "")
    }

    @Test func formsKeepEveryByteOfTheirValues() async throws {
        let told = try await call(
            "POST /post",
            [
                "--form", "a=1", "--form", "a=true", "--form", "b=x=y&z +%é", "--form", "c=",
                "--secret-form", "password=env:PASSWORD",
            ], environment: ["PASSWORD": "s3cr3t&x=1"])
        #expect(
            told["form"] == [
                "a": ["1", "true"], "b": "x=y&z +%é", "c": "", "password": "s3cr3t&x=1",
            ])
        #expect(told["headers"]?["Content-Type"] == "application/x-www-form-urlencoded")
    }

    @Test func filesGoOutAsMultipart() async throws {
        let big = String(repeating: "0123456789abcdef", count: 20_000)
        let one = try folder.write(big, to: "one;type=x.txt")
        let quoted = try folder.write("q", to: #"a"b\;type=x"#)
            .replacing(#"\"#, with: #"\\"#).replacing("\"", with: #"\""#)
        let told = try await call(
            "POST /post",
            [
                "--file", "quoted=\"\(quoted)\"", "--file", "typed=\"\(quoted)\";type=text/plain",
                "--form", "note=a\r\n--b", "--file", "one=\(one);type=text/plain", "--file",
                "two=-", "--secret-form", "token=env:TOKEN",
            ], stdin: Array("typed".utf8), environment: ["TOKEN": "s3cr3t"])
        #expect(told["form"] == ["note": "a\r\n--b", "token": "s3cr3t"])
        #expect(told["files"]?["one"]?.string == big && told["files"]?["two"] == "typed")
        #expect(told["files"]?["quoted"] == "q" && told["files"]?["typed"] == "q")
    }

    @Test func fileNamesAndTypesAreSent() async throws {
        let server = try await CaptureServer()
        let file = try folder.write("<p>", to: "a\"b\\.html")
        let output = try await SignetTool.run([
            "call", server.url, "POST", "--protocol", "rest", "--file",
            "f=\(file);type=text/html;charset=utf-8", "--file", "g=\(file)",
        ])
        #expect(output.exit == 0, "\(output.stderr)")
        let request = String(decoding: try await server.requests(count: 1)[0], as: UTF8.self)
        #expect(
            request.contains(
                "name=\"f\"; filename=\"a%22b\\.html\"\r\nContent-Type: text/html;charset=utf-8\r\n\r\n<p>\r\n"
            ))
        #expect(
            request.contains(
                "name=\"g\"; filename=\"a%22b\\.html\"\r\nContent-Type: application/octet-stream\r\n\r\n<p>\r\n"
            ))
        // The folder stays at home.
        #expect(!request.contains(folder.path))
        try await server.stop()
    }

    /// To be signed, a file is read twice, and a pipe is kept in memory; the received message
    /// verifies.
    @Test(arguments: [true, false])
    func bodiesAreSigned(_ isFile: Bool) async throws {
        let secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
        let keys = try folder.write(
            #"{"keys":[{"kty":"oct","kid":"k","use":"sig","alg":"HS256","k":"\#(secret)"}]}"#,
            to: "keys")
        let server = try await CaptureServer()
        let file = try folder.write("signed bytes", to: "body")
        let signing = ["--scheme", "rfc9421", "--keys", keys]
        let output = try await SignetTool.run(
            ["call", server.url, "POST", "--protocol", "rest", "--body", isFile ? file : "-"]
                + signing, stdin: isFile ? [] : Array("signed bytes".utf8))
        #expect(output.exit == 0, "\(output.stderr)")
        let request = try #require(try await server.requests(count: 1).first)
        let verified = try await SignetTool.run(
            ["verify", "--plain-http", "--covers", "@method,content-digest"] + signing,
            stdin: request)
        #expect(verified.exit == 0, "\(verified.stderr)")
        let changed = Array(
            String(decoding: request, as: UTF8.self)
                .replacing("signed bytes", with: "signed bytez").utf8)
        let refused = try await SignetTool.run(
            ["verify", "--plain-http", "--covers", "@method,content-digest"] + signing,
            stdin: changed)
        #expect(refused.exit == 1)
        try await server.stop()
    }

    @Test func aSecretParameterIsNoArgument() async throws {
        let told = try await call(
            "POST /post", ["--param", "user=a", "--secret-param", "password=env:PASSWORD"],
            environment: ["PASSWORD": "12345678"])
        // Always text.
        #expect(told["json"] == ["user": "a", "password": "12345678"])
    }

    @Test(
        arguments: [
            (["POST", "--body", "f"], "jsonrpc-2.0", "usage", "--protocol rest"),
            (["POST", "--form", "a=1"], "jsonrpc-1.0", "usage", "--protocol rest"),
            (["--list", "--description", "f", "--file", "a=f"], "rest", "usage", "METHOD"),
            (["--batch", "f", "--secret-form", "a=env:A"], "jsonrpc-2.0", "usage", "METHOD"),
            (
                ["POST", "--body", "f", "--form", "a=1"], "rest", "usage",
                "--body is the whole body"
            ),
            (
                ["POST", "--body", "f", "--file", "a=f"], "rest", "usage",
                "--body is the whole body"
            ),
            (["POST", "--content-type", "text/csv"], "rest", "usage", "--body"),
            (["POST", "--body", "f", "--content-type", "csv"], "rest", "usage", "media type"),
            (["POST", "--body", "f", "--content-type", "a/b\r\nX: y"], "rest", "usage", "media"),
            (["POST", "--body", "/nothing"], "rest", "body-failed", "/nothing"),
            (["POST", "--body", "/"], "rest", "body-failed", "folder"),
            (["POST", "--form", "a"], "rest", "usage", "NAME=VALUE"),
            (["POST", "--form", "=a"], "rest", "usage", "NAME=VALUE"),
            (["POST", "--form", "password=s3cr3t"], "rest", "usage", "--secret-form"),
            (["POST", "--form", "client_secret=s3cr3t"], "rest", "usage", "--secret-form"),
            (["POST", "--secret-form", "a"], "rest", "usage", "NAME=SOURCE"),
            (["POST", "--secret-form", "a="], "rest", "usage", "NAME=SOURCE"),
            (["POST", "--secret-form", "a=/nothing"], "rest", "unreadable-keys", "/nothing"),
            (["POST", "--secret-param", "a="], "rest", "usage", "NAME=SOURCE"),
            (["POST", "--secret-param", "a=/nothing"], "rest", "unreadable-keys", "/nothing"),
            (
                ["POST", "--param", "a=1", "--secret-param", "a=env:PATH"], "rest",
                "invalid-params", "twice"
            ),
            (["POST", "--file", "a"], "rest", "usage", "NAME=PATH"),
            (["POST", "--file", "a="], "rest", "usage", "NAME=PATH"),
            (["POST", "--file", "a=;type=text/csv"], "rest", "usage", "NAME=PATH"),
            (["POST", "--file", "a=\"f"], "rest", "usage", "ends with one"),
            (["POST", "--file", "a=\"f\"x"], "rest", "usage", "ends with one"),
            (["POST", "--file", "a=f;type=csv"], "rest", "usage", "media type"),
            (["POST", "--file", "a=/nothing"], "rest", "body-failed", "/nothing"),
            (["POST", "--file", "a\u{7}=/dev/null"], "rest", "invalid-params", "control"),
            (["POST", "--body", "-", "--description", "-"], "rest", "usage", "standard input"),
            (["POST", "--file", "a=-", "--file", "b=-"], "rest", "usage", "standard input"),
            (["GET", "--form", "a=1"], "rest", "usage", "GET has no body"),
            (["HEAD /x", "--body", "/dev/null"], "rest", "usage", "HEAD has no body"),
            (["TRACE", "--file", "a=/dev/null"], "rest", "usage", "TRACE has no body"),
            (["POST", "--header", "Content-Type: a/b"], "rest", "usage", "--content-type"),
        ] as [([String], String, String, String)])
    func refusesContradictoryOptions(
        _ arguments: [String], _ name: String, _ code: String, _ words: String
    ) async throws {
        let output = try await SignetTool.run(
            ["call", "http://localhost:1", "--protocol", name] + arguments + ["--json"])
        #expect(output.exit == 2, "\(output.text)")
        let error = try JSONValue(parsing: output.stdout)["error"]
        #expect(error?["code"]?.string == code, "\(output.text)")
        #expect(error?["message"]?.string?.contains(words) == true, "\(output.text)")
        #expect(!output.text.contains("s3cr3t") && !output.stderr.contains("s3cr3t"))
    }

    @Test func tooMuchOfAPipeIsRefusedBeforeItIsSent() async throws {
        let pipe = ["-c", "head -c 70000000 /dev/zero | \"$0\" \"$@\"", SignetTool.url.path]
        let output = try await ChildProcess.run(
            "/bin/sh",
            pipe + ["call", "http://localhost:1", "POST", "--protocol", "rest", "--body", "-"])
        #expect(output.exit == 2)
        #expect(output.stderr.contains("67108864"), "\(output.stderr)")
    }

    // MARK: With a description

    private static let document = #"""
        {"openapi":"3.1.0","info":{"title":"Shop"},"paths":{"/anything/{id}":{
         "parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}},
          {"name":"X-Version","in":"header","required":true,"schema":{"enum":["7-one","7-two"]}},
          {"name":"session","in":"cookie","schema":{"type":"string","maxLength":4}}],
         "post":{"operationId":"photo","requestBody":{"required":true,"content":{"multipart/form-data":{"schema":{"properties":{"n":{"type":"integer"}}}}}}},
         "put":{"operationId":"note","requestBody":{"content":{"application/json":{"schema":{"required":["a"]}}}}},
         "patch":{"operationId":"touch"}}}}
        """#

    @Test func aDescriptionMapsHeadersAndCookies() async throws {
        let file = try folder.write(Self.document, to: "shop.json")
        let described = ["--param", "id=7", "--description", file]
        let told = try await call(
            "photo",
            described + [
                "--file", "f=\(file)", "--param", "X-Version=7-one", "--param", "session=abcd",
                "--secret-header", "Cookie=env:COOKIE",
            ], environment: ["COOKIE": "other=1"])
        #expect(told["headers"]?["X-Version"] == "7-one")
        #expect(told["headers"]?["Cookie"] == "other=1; session=abcd")
        #expect(told["files"]?["f"]?.string == Self.document)
        // A field and a cookie may be given as such, and the body's type is the one of the
        // description.
        let note = try folder.write(#"{"a":1}"#, to: "note.json")
        let given = try await call(
            "note",
            described + [
                "--body", note, "--header", "x-version: 7-two", "--secret-header",
                "Cookie=env:COOKIE",
            ], environment: ["COOKIE": "session=abc"])
        #expect(given["headers"]?["X-Version"] == "7-two")
        #expect(given["headers"]?["Content-Type"] == "application/json")
        #expect(given["data"] == #"{"a":1}"#)
        // A form goes out as the description wants it.
        let form = try await call(
            "photo", described + ["--param", "X-Version=7-one", "--form", "note=x"])
        #expect(form["form"] == ["note": "x"])
        #expect(
            form["headers"]?["Content-Type"]?.string?.hasPrefix("multipart/form-data;") == true)
    }

    @Test(
        arguments: [
            (["photo", "--file", "f=/dev/null"], "\"X-Version\": found nothing"),
            (["photo", "--param", "X-Version=7-one"], "neither JSON nor a form"),
            (
                ["photo", "--file", "f=/dev/null", "--header", "X-Version: 9"],
                "invalid value in its header"
            ),
            (
                ["photo", "--file", "f=/dev/null", "--param", "X-Version=9"],
                "found 9, expected one of \"7-one\""
            ),
            (
                [
                    "photo", "--file", "f=/dev/null", "--param", "X-Version=7-one", "--param",
                    "session=abcde",
                ], "at most 4"
            ),
            (
                [
                    "photo", "--file", "f=/dev/null", "--param", "X-Version=7-one", "--param",
                    "note=x",
                ], "found a parameter \"note\", expected one of id, X-Version, session"
            ),
            (["touch", "--body", "/dev/null", "--param", "X-Version=7-one"], "expected none"),
            (["note", "--param", "X-Version=7-one", "--param", "b=1"], "at .a: found nothing"),
            (["note", "--param", "X-Version=7-one", "--body", "/dev/null"], "not strict JSON"),
            (
                [
                    "note", "--param", "X-Version=7-one", "--body", "/dev/null", "--content-type",
                    "text/csv",
                ], "found a body of the type text/csv, expected application/json"
            ),
            (
                ["note", "--param", "X-Version=7-one", "--form", "a=1"],
                "x-www-form-urlencoded, expected application/json"
            ),
            (
                ["note", "--param", "X-Version=7-one", "--file", "a=/dev/null"],
                "multipart/form-data, expected application/json"
            ),
            (
                [
                    "photo", "--param", "X-Version=7-one", "--body", "/dev/null", "--content-type",
                    "image/png",
                ], "expected multipart/form-data"
            ),
            (
                ["photo", "--param", "X-Version=7-one", "--secret-form", "n=env:SECRET"],
                "at .n: found string, expected integer"
            ),
            (
                ["photo", "--file", "f=/dev/null", "--secret-param", "X-Version=env:SECRET"],
                "does not match the description"
            ),
            (
                ["photo", "--file", "f=/dev/null", "--secret-header", "X-Version=env:SECRET"],
                "invalid value in its header"
            ),
        ] as [([String], String)])
    func aDescriptionRefuses(_ arguments: [String], _ words: String) async throws {
        let file = try folder.write(Self.document, to: "shop.json")
        let output = try await SignetTool.run(
            ["call", "http://localhost:1", "--protocol", "rest", "--json", "--param", "id=7"]
                + arguments + ["--description", file],
            environment: ["SECRET": "s3cr3t-s3cr3t"])
        #expect(output.exit == 2)
        let message = try JSONValue(parsing: output.stdout)["error"]?["message"]?.string
        #expect(message?.contains(words) == true, "\(output.text)")
        #expect(!output.text.contains("s3cr3t"))
    }
}
