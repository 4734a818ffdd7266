import Foundation
import TestSupport
import Testing

@testable import SignetRecording

/// `--record`, `har` and `replay`.
@Suite struct RecordingToolTests {
    private static let routes = [
        "/orders":
            "200 OK\r\nContent-Type: application/json\r\n\r\n{\"id\":7,\"token\":\"q7Zr2mVx9LkT4bNw8sYc\"}",
        "/changed": "200 OK\r\nContent-Type: application/json\r\n\r\n{\"id\":\"7\"}",
    ]

    private func record(
        _ path: String = "/orders", from server: RouteServer, to file: String,
        _ more: String...
    ) async throws -> ProcessOutput {
        try await SignetTool.run(
            ["call", server.url + path, "GET", "--protocol", "rest", "--record", file] + more)
    }

    private func entries(_ bytes: [UInt8]) throws -> [[String: Any]] {
        let document = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
        return (document?["log"] as? [String: Any])?["entries"] as? [[String: Any]] ?? []
    }

    @Test(.features("000-42")) func recordsRedactedAndAddsToItsOwnFile() async throws {
        let server = try await RouteServer(Self.routes)
        let folder = try TemporaryDirectory()
        let file = folder.path("a.har")
        for number in 1...2 {
            let output = try await record(
                from: server, to: file, "--secret-header", "X-Note=env:NOTE")
            #expect(output.exit == 2)  // the variable is missing, before anything is sent
            let second = try await SignetTool.run(
                [
                    "call", server.url + "/orders", "GET", "--protocol", "rest", "--record", file,
                    "--secret-header", "X-Note=env:NOTE",
                ],
                environment: ["NOTE": "plain words here"])
            #expect(second.exit == 0, "\(second.stderr)")
            #expect(second.text.contains("q7Zr2mVx9LkT4bNw8sYc"))
            #expect(try entries(folder.read("a.har")).count == number)
        }
        let har = text(try folder.read("a.har"))
        #expect(!har.contains("q7Zr2") && !har.contains("plain words"))
        #expect(har.contains("redacted-1") && har.contains("redacted-4"))
        #expect(har.contains(#""stage": "request""#))
        #expect(try folder.mode("a.har") == 0o600)
        #expect(try folder.contents() == ["a.har"])
        let check = try await SignetTool.run(["har", "check", file])
        #expect(check.exit == 0, "\(check.text)")
        let show = try await SignetTool.run(["har", "show", file])
        #expect(show.text.contains("/orders") && show.exit == 0)
    }

    @Test(arguments: ["", "x", "{}", #"{"log":{"version":"1.2","entries":[]}}"#])
    func keepsAnotherProgramsFile(_ content: String) async throws {
        let server = try await RouteServer(Self.routes)
        let folder = try TemporaryDirectory()
        let file = try folder.write(content, to: "a.har")
        let output = try await record(from: server, to: file)
        #expect(output.exit == 2 && output.stderr.contains("a.har"))
        #expect(text(try folder.read("a.har")) == content)
        #expect(server.requests.isEmpty)
    }

    @Test func recordsAFailureAndASignal() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.path("a.har")
        let failed = try await SignetTool.run(
            ["call", "http://127.0.0.1:1/x", "GET", "--protocol", "rest", "--record", file])
        #expect(failed.exit == 3)
        #expect(try entries(folder.read("a.har")).count == 1)
        let (silent, port) = try await SocketServer.start([.request, .stall])
        let child = try SignetTool.start(
            [
                "call", "http://127.0.0.1:\(port)/slow", "GET", "--protocol", "rest", "--record",
                file,
            ])
        #expect(try await eventually { !silent.received.isEmpty })
        child.send(signal: SIGTERM)
        let output = try await child.outcome(timeout: 10)
        #expect(output.exit == 128 + SIGTERM)
        #expect(try entries(folder.read("a.har")).count == 2)
    }

    /// A large recording is written to its end, unless a second signal ends the command.
    @Test(arguments: [1, 2]) func aSignalWaitsForALargeRecording(_ signals: Int) async throws {
        let (silent, port) = try await SocketServer.start([.request, .stall])
        let folder = try TemporaryDirectory()
        let exchange = RecordedExchange.json("GET", response: #"{"item":"tea"}"#)
        var large = Recording(calls: (0..<3000).map { _ in RecordedCall(exchange) })
        large.number()
        let file = try folder.write(large.har(), to: "a.har")
        let child = try SignetTool.start(
            [
                "call", "http://127.0.0.1:\(port)/slow", "GET", "--protocol", "rest", "--record",
                file,
            ])
        #expect(try await eventually { !silent.received.isEmpty })
        child.send(signal: SIGTERM)
        if signals == 2 {
            // It is there while the file is read and written.
            let lock = file + ".signet-lock"
            #expect(try await eventually { FileManager.default.fileExists(atPath: lock) })
            child.send(signal: SIGTERM)
        }
        #expect(try await child.outcome(timeout: 60).exit == 128 + SIGTERM)
        #expect(try entries(folder.read("a.har")).count == (signals == 1 ? 3001 : 3000))
    }

    @Test(arguments: [
        ("har", "check"), ("har", "show"), ("har", "scrub"), ("har", "curl"), ("replay", ""),
    ])
    func refusesWhatIsNoRecording(_ command: (String, String)) async throws {
        let folder = try TemporaryDirectory()
        for content in ["", "x", "{}", #"{"log":{}}"#] {
            let file = try folder.write(content, to: "a.har")
            let output = try await SignetTool.run(
                [command.0] + (command.1.isEmpty ? [] : [command.1]) + [file, "--json"]
                    + (command.0 == "replay" ? ["--against", "http://127.0.0.1:1"] : []))
            #expect(output.exit == 2)
            #expect(output.text.contains("malformed-recording"))
            #expect(output.text.contains("a.har: "), "\(output.text)")
        }
    }

    private static let foreign = #"""
        {"log":{"version":"1.2","creator":{"name":"a","version":"1"},"entries":[{"startedDateTime":"2026-11-27T08:00:00Z",
        "time":1,"request":{"method":"GET","url":"{self}/orders?token=q7Zr2mVx9LkT4bNw8sYc","httpVersion":"HTTP/1.1",
        "cookies":[],"headers":[{"name":"Cookie","value":"a=q7Zr2mVx9LkT4bNw8sYc"}],"queryString":[],"headersSize":-1,"bodySize":0},
        "response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1","cookies":[],"headers":[{"name":"Content-Type","value":"application/json"}],
        "content":{"size":8,"mimeType":"application/json","text":"{\"id\":7,\"token\":\"q7Zr2mVx9LkT4bNw8sYc\"}"},"redirectURL":"","headersSize":-1,"bodySize":8},"cache":{},
        "timings":{"send":0,"wait":1,"receive":0}}]}}
        """#

    private func foreign(_ server: RouteServer, in folder: TemporaryDirectory) throws -> String {
        try folder.write(
            Self.foreign.replacingOccurrences(of: "{self}", with: server.url), to: "foreign.har")
    }

    @Test func checksAndScrubsAnotherProgramsRecording() async throws {
        let server = try await RouteServer(Self.routes)
        let folder = try TemporaryDirectory()
        let file = try foreign(server, in: folder)
        let check = try await SignetTool.run(["har", "check", file])
        #expect(check.exit == 1 && check.text.contains("request.url.query.token"))
        #expect(!check.text.contains("q7Zr2"))
        let scrub = try await SignetTool.run(["har", "scrub", file])
        #expect(scrub.exit == 0 && !scrub.text.contains("q7Zr2"))
        let out = folder.path("out.har")
        #expect(try await SignetTool.run(["har", "scrub", file, "--out", out]).exit == 0)
        #expect(try folder.read("out.har") == scrub.stdout)
        #expect(try folder.mode("out.har") == 0o600)
        #expect(try await SignetTool.run(["har", "scrub", file, "--out", out]).exit == 2)
        #expect(try await SignetTool.run(["har", "check", out]).exit == 0)
        let curl = try await SignetTool.run(["har", "curl", out])
        #expect(curl.text.contains("$REDACTED_1") && curl.stderr.contains("REDACTED_1"))
        #expect(try await SignetTool.run(["har", "curl", out, "--entry", "2"]).exit == 2)
    }

    @Test(.features("000-57")) func replaysOnlyToNamedHosts() async throws {
        let server = try await RouteServer(Self.routes)
        let folder = try TemporaryDirectory()
        let file = try foreign(server, in: folder)
        #expect(try await SignetTool.run(["replay", file]).exit == 2)
        let other = try await SignetTool.run(["replay", file, "--host", "other.example.com"])
        #expect(other.exit == 1 && other.text.contains("skipped"))
        // A name alone allows no port that the recording chose, and no cleartext.
        let named = try await SignetTool.run(["replay", file, "--host", "localhost"])
        #expect(named.exit == 1 && named.text.contains("skipped"))
        #expect(server.requests.isEmpty)
        let own = try await SignetTool.run([
            "replay", file, "--host", "localhost:\(server.port)", "--exact",
        ])
        #expect(own.exit == 0, "\(own.text) \(own.stderr)")
        let against = try await SignetTool.run(["replay", file, "--against", server.url, "--json"])
        #expect(against.exit == 0 && against.text.contains("\"alike\":1"))
        #expect(server.requests.count == 2)
    }

    /// A descriptor is read once, for the requests of all hosts.
    @Test func signsAllRequestsWithKeysOfADescriptor() async throws {
        let server = try await RouteServer(Self.routes)
        let folder = try TemporaryDirectory()
        let parts = Self.foreign.components(separatedBy: #""entries":["#)
        let entry = parts[1].components(separatedBy: "]}}")[0]
        let entries = ["localhost", "127.0.0.1", "localhost"].map { host in
            entry.replacingOccurrences(of: "{self}", with: "http://\(host):\(server.port)")
        }
        _ = try folder.write(
            parts[0] + #""entries":["# + entries.joined(separator: ",") + "]}}", to: "a.har")
        let key = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"
        _ = try folder.write(
            #"{"keys":[{"kty":"oct","use":"sig","kid":"k","alg":"HS256","k":"\#(key)"}]}"#,
            to: "keys")
        let output = try await ChildProcess.run(
            "/bin/sh",
            [
                "-c", #"exec 7<keys; exec "$0" replay a.har --keys fd:7 "$@""#,
                SignetTool.url.path, "--scheme", "rfc9421", "--host", "localhost:\(server.port)",
                "--host", "127.0.0.1:\(server.port)", "--json",
            ], directory: folder.url)
        #expect(output.exit == 0, "\(output.text) \(output.stderr)")
        #expect(output.text.contains(#""alike":3"#))
        let requests = server.requests
        #expect(requests.count == 3)
        #expect(requests.allSatisfy { $0.contains(#"keyid="k""#) })
        #expect(requests.filter { $0.contains("Host: localhost:") }.count == 2)
    }

    @Test func tellsADifferenceAndFillsMarks() async throws {
        let server = try await RouteServer(Self.routes)
        let folder = try TemporaryDirectory()
        let file = try foreign(server, in: folder)
        let out = folder.path("out.har")
        _ = try await SignetTool.run(["har", "scrub", file, "--out", out])
        let skipped = try await SignetTool.run(["replay", out, "--against", server.url])
        #expect(skipped.exit == 1 && skipped.text.contains("REDACTED_1"))
        #expect(server.requests.isEmpty)
        let page = folder.path("report.html")
        let filled = try await SignetTool.run(
            ["replay", out, "--against", server.url, "--fill", "REDACTED_1=env:V", "--html", page],
            environment: ["V": "abc"])
        #expect(filled.exit == 0, "\(filled.text) \(filled.stderr)")
        #expect(server.requests.first?.contains("GET /orders?token=abc ") == true)
        #expect(server.requests.first?.contains("Cookie: a=abc\r\n") == true)
        #expect(text(try folder.read("report.html")).contains("/orders"))
        let changed = try folder.write(
            Self.foreign.replacingOccurrences(of: "{self}/orders", with: "\(server.url)/changed"),
            to: "changed.har")
        let differs = try await SignetTool.run([
            "replay", changed, "--against", server.url, "--json",
        ])
        #expect(differs.exit == 1 && differs.text.contains("differs-from-recording"))
        #expect(differs.text.contains("response.body.token") && !differs.text.contains("q7Zr2"))
        let gone = try await SignetTool.run(["replay", changed, "--against", "http://127.0.0.1:1"])
        #expect(gone.exit == 3)
    }

    @Test(arguments: [
        ["call", "https://a/", "x", "--record", "-"], ["call", "https://a/", "x", "--record", ""],
        ["replay", "a.har", "--against", "x:y"], ["replay", "a.har", "--fill", "a"],
        ["replay", "a.har", "--against", "https://a", "--record", "b"],
        ["har", "curl", "--entry", "x"],
    ])
    func refusesWrongUsage(_ arguments: [String]) async throws {
        #expect(try await SignetTool.run(arguments).exit == 2)
    }
}
