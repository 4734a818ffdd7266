import Foundation
import SignetJSON
import TestSupport
import Testing

/// The parameters and batches of `signet call`, and the errors of a wrong usage.
@Suite struct CallSecurityToolTests {
    func json(_ output: ProcessOutput) throws -> JSONValue {
        try JSONValue(parsing: output.stdout)
    }

    func body(_ request: [UInt8]) throws -> JSONValue {
        let text = String(decoding: request, as: UTF8.self)
        let body = try #require(text.range(of: "\r\n\r\n"))
        return try JSONValue(parsing: Array(text[body.upperBound...].utf8))
    }

    static let document = #"""
        {"openrpc":"1.3.2","info":{"title":"Tea"},"methods":[
         {"name":"order","summary":"Orders tea","params":[
          {"name":"item","required":true,"schema":{"type":"string"}},
          {"name":"cups","schema":{"type":"integer","maximum":9}}]},
         {"name":"rpc.discover","params":[]}]}
        """#

    static let openAPI = #"""
        {"openapi":"3.1.0","info":{"title":"Shop"},"paths":{"/orders/{id}":{
         "get":{"operationId":"order","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}},
          {"name":"tags","in":"query","style":"pipeDelimited","schema":{"type":"array"}}]},
         "put":{"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}}],
          "requestBody":{"content":{"application/x-www-form-urlencoded":{"schema":{"type":"object"}}}}}}}}
        """#

    @Test func parametersByNameAreJSONOrText() async throws {
        let server = try await CaptureServer(
            response: #"{"jsonrpc":"2.0","id":1,"result":{"a":1e400}}"#)
        let output = try await SignetTool.run([
            "call", server.url, "order", "--param", "item=tea", "--param", "cups=2", "--param",
            "x=",
            "--param", "eq=a=b", "--param", "o={\"a\":[null]}", "--param", "q=\"3\"", "--param",
            "z=007",
            "--text-param", "t=3", "--text-param", "n=null", "--header", "X-Trace: a:b ",
            "--header",
            "X-Trace: c", "--header", "X-Empty:",
        ])
        #expect(output.exit == 0, "\(output.stderr)")
        #expect(output.text == "{\"a\":1e400}\n")
        let request = try #require(try await server.requests(count: 1).first)
        let text = String(decoding: request, as: UTF8.self).lowercased()
        #expect(text.contains("x-trace: a:b\r\n") && text.contains("x-trace: c\r\n"))
        #expect(
            try body(request)["params"]?.text
                == #"{"item":"tea","cups":2,"x":"","eq":"a=b","o":{"a":[null]},"q":"3","z":"007","t":"3","n":"null"}"#
        )
        try await server.stop()
    }

    @Test func parametersJoinThoseOfParams() async throws {
        let server = try await CaptureServer(response: #"{"jsonrpc":"2.0","id":1,"result":null}"#)
        let output = try await SignetTool.run([
            "call", server.url, "m", "--params", #"{"a":1}"#, "--param", "b=2", "--json",
        ])
        #expect(output.exit == 0 && output.text == "{\"result\":null}\n", "\(output.stderr)")
        let request = try #require(try await server.requests(count: 1).first)
        #expect(try body(request)["params"] == ["a": 1, "b": 2])
        try await server.stop()
    }

    @Test func parametersComeFromFilesAndStandardInput() async throws {
        let server = try await CaptureServer(response: #"{"jsonrpc":"2.0","id":1,"result":null}"#)
        let folder = try TemporaryDirectory()
        // More than an argument may hold.
        let big = String(repeating: "x", count: 200_000)
        let file = try folder.write(#"{"a":"\#(big)"}"#, to: "params.json")
        var count = 0
        for (arguments, stdin, wanted) in [
            (["--params", "@\(file)", "--param", "b=2"], "", ["a": .string(big), "b": 2]),
            (["--params", "-"], #"{"c":[1]}"#, ["c": [1]]),
            (["--params=@-"], "[1]", [1]),
        ] as [([String], String, JSONValue)] {
            let output = try await SignetTool.run(
                ["call", server.url, "m"] + arguments, stdin: Array(stdin.utf8))
            #expect(output.exit == 0, "\(output.stderr)")
            // Only the response is printed.
            #expect(output.text == "null\n" && output.stderr.isEmpty)
            count += 1
            let request = try #require(try await server.requests(count: count).last)
            #expect(try body(request)["params"] == wanted)
        }
        try await server.stop()
    }

    @Test func aProblemIsPrintedWhole() async throws {
        let server = try await RouteServer([
            "/a":
                "409 No\r\nContent-Type: application/problem+json\r\n\r\n{\"title\":\"No\\u001b[2J tea\",\"left\":1e400}"
        ])
        let call = ["call", "\(server.url)/a", "GET", "--protocol", "rest"]
        let output = try await SignetTool.run(call + ["--json"])
        #expect(output.exit == 1)
        #expect(try json(output)["error"]?["code"] == "http-status")
        #expect(try json(output)["error"]?["problem"]?["left"]?.text == "1e400")
        let words = try await SignetTool.run(call)
        #expect(words.exit == 1 && words.text.isEmpty)
        #expect(words.stderr.contains("409") && words.stderr.contains("tea"))
        #expect(!words.stderr.contains("\u{1B}"))
    }

    @Test(
        arguments: [
            (["m", "--param", "x"], "usage", "NAME=VALUE"),
            (["m", "--param", "=x"], "usage", "NAME=VALUE"),
            (["m", "--text-param", "x"], "usage", "NAME=VALUE"),
            (["m", "--param"], "usage", "--param"),
            (["m", "--param", "a=1", "--param", "a=2"], "invalid-params", "twice"),
            (["m", "--params", "{\"a\":1}", "--param", "a=s3cr3t"], "invalid-params", "twice"),
            (["m", "--params", "[1]", "--param", "a=1"], "usage", "position"),
            (["m", "--params", "{"], "invalid-params", "JSON"),
            (["m", "--params", "null"], "invalid-params", "null"),
            (["m", "--params", "@/nothing"], "unreadable-file", "/nothing"),
            (["m", "--params", "@/dev/null"], "invalid-params", "/dev/null"),
            (["m", "--params", "@"], "usage", "missing the name of the file"),
            (["m", "--params", "-"], "invalid-params", "JSON"),
            (["m", "--params", "-", "--description", "-"], "usage", "standard input"),
            (["m", "--batch", "f"], "usage", "one of them"),
            (["m", "--header", "x"], "usage", "--header"),
            (["m", "--header", "a b: c"], "usage", "--header"),
            (["m", "--header", "X-A: b\r\nX-B: s3cr3t"], "usage", "--header"),
            (["m", "--header", "Host: evil"], "usage", "host"),
            (["m", "--header", "Authorization: s3cr3t"], "usage", "--secret-header"),
            (["m", "--header", "cookie: s3cr3t"], "usage", "--secret-header"),
            (["m", "--secret-header", "X"], "usage", "NAME=SOURCE"),
            (["m", "--secret-header", "X="], "usage", "NAME=SOURCE"),
            (["m", "--secret-header", "Host=env:X"], "usage", "host"),
            (["m", "--secret-header", "X=/nothing"], "unreadable-keys", "/nothing"),
            (["m", "--header", "Content-Length: 3"], "usage", "content-length"),
            (["m", "--header", "content-type: x"], "usage", "content-type"),
            (["m", "--list"], "usage", "--list"),
            (["--list", "--param", "a=1"], "usage", "--list"),
            (["--list", "--batch", "f"], "usage", "--list"),
            (["--batch", "f", "--param", "a=1"], "usage", "batch"),
            (["--list", "--protocol", "rest"], "usage", "--description"),
            (["--discover", "m", "--protocol", "jsonrpc-1.0"], "usage", "--description"),
            (["m", "--discover", "--description", "f"], "usage", "--description"),
            (["m", "--description", "/nothing"], "unreadable-file", "/nothing"),
            (
                ["m", "--params", "{\"a\":1}", "--protocol", "jsonrpc-1.0"], "invalid-params",
                "position"
            ),
            (["rpc.x", "--discover"], "reserved-method", "rpc."),
            (["GET", "--notify", "--protocol", "rest"], "unsupported-call", "notification"),
            (["GET", "--params", "[1]", "--protocol", "rest"], "invalid-params", "position"),
            (["GET", "--params", "{\"a\":null}", "--protocol", "rest"], "invalid-params", "null"),
            (["GET orders", "--protocol", "rest"], "invalid-method", "method"),
            (["GET /{id}", "--protocol", "rest"], "invalid-params", "id"),
            (["GET /{id}", "--param", "id=..", "--protocol", "rest"], "invalid-path", "path"),
            (["GET /../x", "--protocol", "rest"], "invalid-path", "path"),
        ] as [([String], String, String)])
    func namesTheWrongOption(_ arguments: [String], _ code: String, _ words: String) async throws {
        let output = try await SignetTool.run(
            ["call", "http://localhost:1"] + arguments + ["--json"])
        #expect(output.exit == 2, "\(output.text)")
        let error = try json(output)["error"]
        #expect(error?["code"]?.string == code, "\(output.text)")
        #expect(error?["message"]?.string?.contains(words) == true, "\(output.text)")
        #expect(!output.text.contains("s3cr3t") && !output.stderr.contains("s3cr3t"))
    }

    @Test func aBatchIsCheckedToo() async throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write(Self.document, to: "tea.json")
        let batch = try folder.write(
            #"[{"method":"order","params":["tea"]},{"method":"order"}]"#, to: "batch.json")
        let output = try await SignetTool.run([
            "call", "http://localhost:1", "--batch", batch, "--description", file, "--json",
        ])
        #expect(output.exit == 2)
        #expect(try json(output)["error"]?["code"] == "invalid-params")
        for (content, code) in [
            ("[]", "empty-batch"), ("{}", "malformed-input"), ("[1]", "malformed-input"),
            (#"[{"method":"a","id":1}]"#, "malformed-input"),
            (#"[{"params":[]}]"#, "malformed-input"),
            (#"[{"method":"a","params":3}]"#, "invalid-params"), ("", "malformed-input"),
            (#"[{"method":"a","notify":1}]"#, "malformed-input"),
            (
                "[" + Array(repeating: #"{"method":"a"}"#, count: 101).joined(separator: ",") + "]",
                "batch-too-large"
            ),
        ] {
            let bad = try folder.write(content, to: "bad.json")
            let output = try await SignetTool.run([
                "call", "http://localhost:1", "--batch", bad, "--json",
            ])
            #expect(output.exit == 2)
            #expect(try json(output)["error"]?["code"]?.string == code, "\(content.prefix(40))")
        }
    }

    @Test func reservedMethodsNeedTheOption() async throws {
        let server = try await CaptureServer(response: #"{"jsonrpc":"2.0","id":1,"result":1}"#)
        let output = try await SignetTool.run(["call", server.url, "rpc.ping", "--allow-reserved"])
        #expect(output.exit == 0 && output.text == "1\n", "\(output.stderr)")
        try await server.stop()
    }

    @Test func version1IsSpokenByPosition() async throws {
        let server = try await CaptureServer(
            response: #"{"result":[1e400],"error":null,"id":1}"#)
        let call = ["call", server.url, "--protocol", "jsonrpc-1.0"]
        let output = try await SignetTool.run(call + ["tea", "--params", #"["a",2]"#])
        #expect(output.exit == 0 && output.text == "[1e400]\n", "\(output.stderr)")
        // The method that JSON-RPC reserves, with and without --allow-reserved.
        let ping = try await SignetTool.run(call + ["rpc.ping", "--allow-reserved", "--json"])
        #expect(ping.exit == 0 && ping.text == "{\"result\":[1e400]}\n", "\(ping.text)")
        let refused = try await SignetTool.run(call + ["rpc.ping", "--json"])
        #expect(refused.exit == 2)
        #expect(try json(refused)["error"]?["code"] == "reserved-method")
        // It never has batches.
        let folder = try TemporaryDirectory()
        let file = try folder.write(#"[{"method":"rpc.ping"}]"#, to: "batch.json")
        for more in [[], ["--allow-reserved"]] {
            let batch = try await SignetTool.run(call + ["--batch", file, "--json"] + more)
            #expect(batch.exit == 2)
            #expect(try json(batch)["error"]?["code"] == "unsupported-call")
        }
        let requests = try await server.requests(count: 2)
        #expect(
            try requests.map { try body($0).text } == [
                #"{"method":"tea","params":["a",2],"id":1}"#,
                #"{"method":"rpc.ping","params":[],"id":1}"#,
            ])
        try await server.stop()
    }

    @Test func aReservedMethodOfABatchNeedsTheOption() async throws {
        let server = try await CaptureServer(response: #"[{"jsonrpc":"2.0","id":1,"result":1}]"#)
        let folder = try TemporaryDirectory()
        let file = try folder.write(#"[{"method":"rpc.ping"}]"#, to: "batch.json")
        let call = ["call", server.url, "--batch", file, "--json"]
        let refused = try await SignetTool.run(call)
        #expect(refused.exit == 2)
        #expect(try json(refused)["error"]?["code"] == "reserved-method")
        let output = try await SignetTool.run(call + ["--allow-reserved"])
        #expect(output.exit == 0, "\(output.text)")
        #expect(try await server.requests(count: 1).count == 1)
        try await server.stop()
    }

    @Test func secretHeadersAreNoArguments() async throws {
        let server = try await CaptureServer(response: #"{"jsonrpc":"2.0","id":1,"result":1}"#)
        let output = try await SignetTool.run(
            ["call", server.url, "m", "--secret-header", "Authorization=env:TOKEN", "--trace"],
            environment: ["TOKEN": "Bearer s3cr3t"])
        #expect(output.exit == 0, "\(output.stderr)")
        #expect(!output.text.contains("s3cr3t") && !output.stderr.contains("s3cr3t"))
        let request = String(decoding: try await server.requests(count: 1)[0], as: UTF8.self)
        #expect(request.lowercased().contains("authorization: bearer s3cr3t\r\n"))
        let split = try await SignetTool.run(
            ["call", server.url, "m", "--secret-header", "Authorization=env:TOKEN"],
            environment: ["TOKEN": "Bearer s3cr3t\r\nX-Evil: 1"])
        #expect(split.exit == 2 && !split.stderr.contains("s3cr3t"))
        #expect(try await server.requests(count: 1).count == 1)
        try await server.stop()
    }

    @Test func aNotificationPrintsNothing() async throws {
        let server = try await CaptureServer(status: "204 No Content", response: "")
        let silent = try await SignetTool.run(["call", server.url, "m", "--notify"])
        #expect(silent.exit == 0 && silent.text.isEmpty)
        let told = try await SignetTool.run(["call", server.url, "m", "--notify", "--json"])
        #expect(told.exit == 0 && told.text == "{\"notified\":true}\n")
        try await server.stop()
    }
}
