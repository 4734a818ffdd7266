import Foundation
import SignetJSON
import TestSupport
import Testing

/// `--cache` of `signet send` and `signet call`, and `signet cache`.
@Suite struct CacheToolTests {
    let directory: TemporaryDirectory
    var folder: String { directory.path("cache") }

    init() throws { directory = try TemporaryDirectory() }

    private static let routes = [
        "/a": "200 OK\r\nCache-Control: max-age=600\r\n\r\n\"one\"",
        "/b": "200 OK\r\nCache-Control: no-store\r\n\r\n2",
        "/old": "200 OK\r\nCache-Control: max-age=0, stale-while-revalidate=600\r\n"
            + "ETag: \"x\"\r\n\r\n3",
    ]

    /// Sends a GET.
    private func send(
        _ url: String, _ more: [String] = [], fields: String = ""
    ) async throws -> ProcessOutput {
        // Scheme, host and path.
        let parts = url.split(separator: "/", maxSplits: 2)
        let scheme = parts[0] == "http:" ? ["--plain-http"] : []
        return try await SignetTool.run(
            ["send", "--cache", folder] + scheme + more,
            stdin: Array(
                "GET /\(parts[2]) HTTP/1.1\r\nHost: \(parts[1])\r\n\(fields)\r\n".utf8))
    }

    private func text(_ output: ProcessOutput) -> String {
        String(decoding: output.stdout, as: UTF8.self)
    }

    @Test(.features("003-27")) func aFreshResponseIsUsedAgain() async throws {
        let host = try await RouteServer(Self.routes)
        let first = try await send(host.url + "/a")
        #expect(first.exit == 0, "\(first)")
        #expect(text(first).contains("cache-status: signet;fwd=uri-miss;fwd-status=200;stored"))
        #expect(!text(first).contains("\r\nage:"))
        let second = try await send(host.url + "/a", ["-v"])
        #expect(second.exit == 0 && host.requests.count == 1)
        #expect(text(second).contains("cache-status: signet;hit;ttl="))
        #expect(text(second).contains("\r\nage: ") && text(second).hasSuffix("\r\n\r\n\"one\""))
        #expect(second.stderr.contains("cache: hit, age "))
        // Another user's request isn't answered by it.
        _ = try await send(host.url + "/a", fields: "Authorization: Bearer x\r\n")
        #expect(host.requests.count == 2)
    }

    @Test func theDecisionIsPrinted() async throws {
        let host = try await RouteServer(Self.routes)
        var decisions: [JSONValue?] = []
        for mode in ["default", "default", "refresh", "only"] {
            let output = try await send(
                host.url + "/a", ["--json", "-v", "--cache-mode", mode])
            decisions.append(try JSONValue(parsing: output.stdout)["cache"]?["decision"])
        }
        #expect(decisions == ["miss", "hit", "miss", "hit"])
        #expect(host.requests.count == 2)
    }

    @Test func onlyAsksNoServer() async throws {
        let host = try await RouteServer(Self.routes)
        let output = try await send(host.url + "/a", ["--cache-mode", "only", "--json"])
        #expect(output.exit == 1)
        let error = try JSONValue(parsing: output.stdout)["error"]
        #expect(error?["code"] == "not-cached" && host.requests.isEmpty)
    }

    @Test func aStaleResponseIsRenewedBeforeTheEnd() async throws {
        let host = try await RouteServer(Self.routes)
        _ = try await send(host.url + "/old")
        let output = try await send(host.url + "/old")
        #expect(text(output).contains("signet;hit;ttl=") && text(output).hasSuffix("3"))
        #expect(host.requests.count == 2)
        #expect(host.requests.last?.lowercased().contains("if-none-match: \"x\"") == true)
    }

    @Test func aStaleResponseIsNamed() async throws {
        var host: RouteServer? = try await RouteServer([
            "/a": "200 OK\r\nCache-Control: max-age=0, stale-if-error=600\r\nETag: \"x\"\r\n\r\n1"
        ])
        let url = try #require(host?.url) + "/a"
        _ = try await send(url)
        // The server stops.
        host = nil
        let output = try await send(url)
        #expect(output.exit == 0 && text(output).hasSuffix("\r\n\r\n1"), "\(output)")
        #expect(output.stderr.hasPrefix("signet: warning: the response is a stored one, "))
        #expect(output.stderr.hasSuffix(" s old, because the server failed (connect)\n"))
        let json = try JSONValue(parsing: try await send(url, ["--json"]).stdout)
        #expect(json["warnings"]?.array?.map { $0["code"]?.string } == ["stale-response"])
    }

    /// Another process holds the database, so that nothing is known of it.
    @Test func aCacheThatCannotBeReadIsAnError() async throws {
        let host = try await RouteServer(Self.routes)
        _ = try await send(host.url + "/a")
        let holder = try await ServerProcess.start(
            "python3", ["-I", PythonPeer.script("sqlite-lock"), "\(folder)/signet-cache.sqlite"],
            ready: .output("held"))
        let list = try await SignetTool.run(["cache", "list", folder])
        #expect(list.exit == 2 && list.stderr.contains("so nothing can be listed"), "\(list)")
        let clear = try await SignetTool.run(["cache", "clear", folder])
        #expect(clear.exit == 0 && text(clear).hasPrefix("removed: the whole cache"), "\(clear)")
        try await holder.stop()
        _ = try await send(host.url + "/a")
        #expect(host.requests.count == 2)
    }

    @Test func callsOfRESTAreCached() async throws {
        let host = try await RouteServer(Self.routes)
        for _ in 0..<2 {
            let output = try await SignetTool.run([
                "call", host.url + "/a", "GET", "--protocol", "rest", "--cache", folder,
            ])
            #expect(text(output) == "\"one\"\n")
        }
        #expect(host.requests.count == 1)
        let rpc = try await SignetTool.run(["call", host.url + "/a", "m", "--cache", folder])
        #expect(rpc.exit == 2)
    }

    @Test func theFolderCanBeListedAndCleared() async throws {
        let host = try await RouteServer(Self.routes)
        for path in ["/a", "/b", "/old"] { _ = try await send(host.url + path) }
        let list = try await SignetTool.run(["cache", "list", folder, "--json"])
        let responses = try JSONValue(parsing: list.stdout)["responses"]?.array ?? []
        #expect(list.exit == 0 && responses.count == 2)
        #expect(responses.map { $0["url"]?.string } == ["\(host.url)/old", "\(host.url)/a"])
        #expect(responses.last?["bytes"] == 5 && responses.last?["status"] == 200)
        let lines = try await SignetTool.run(["cache", "list", folder])
        #expect(text(lines).split(separator: "\n").count == 3)
        let other = try await SignetTool.run(
            ["cache", "clear", "--host", "other.example", folder, "--json"])
        #expect(try JSONValue(parsing: other.stdout)["removed"] == 0)
        let host2 = try await SignetTool.run(["cache", "clear", "--host", "LOCALHOST", folder])
        #expect(text(host2) == "removed: 2\n")
        let empty = try await SignetTool.run(["cache", "list", folder, "--json"])
        #expect(try JSONValue(parsing: empty.stdout)["responses"]?.array?.isEmpty == true)
        #expect(empty.stderr == "signet: no responses are stored\n")
    }

    @Test(arguments: [
        ["cache", "list", "/nonexistent/cache"], ["cache", "clear", "/nonexistent/cache"],
        ["cache", "list"], ["send", "--cache-mode", "only", "-"],
        ["send", "--cache-size", "1000000", "-"],
        ["send", "--cache", "x", "--cache-size", "9", "-"], ["send", "--cache", "", "-"],
        ["send", "--cache", "x", "--cache-mode", "sometimes", "-"],
        ["cache", "clear", "--host", "a b", "/nonexistent/cache"],
    ])
    func wrongUsageIsRefused(_ arguments: [String]) async throws {
        let output = try await SignetTool.run(
            arguments, stdin: Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
        #expect(output.exit == 2, "\(output)")
    }

    @Test(arguments: [0o770, 0o777]) func anUnsafeFolderIsRefused(_ mode: Int) async throws {
        let host = try await RouteServer(Self.routes)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder)
        let output = try await send(host.url + "/a", ["--json"])
        #expect(output.exit == 2 && host.requests.isEmpty)
        let error = try JSONValue(parsing: output.stdout)["error"]
        #expect(error?["code"] == "unusable-cache-folder")
    }

    @Test func anUnlistedOrWithdrawnPinIsNeverServed() async throws {
        let authority = try TestAuthority.trusted.get()
        let host = try await RouteServer(Self.routes, tls: authority.leaf)
        let shown = try await SignetTool.run([
            "pins", "show", host.url, "--ca-file", authority.caFile,
        ])
        let pins = text(shown).split(separator: "\n").map(String.init)
        let other = "sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
        func policy(_ name: String, _ pins: [String]) throws -> [String] {
            let text = pins.map { "\"\($0)\"" }.joined(separator: ",")
            let path = try directory.write(
                #"{"hosts":{"localhost":{"pins":[\#(text)]}}}"#, to: name)
            return ["--policy", path, "--ca-file", authority.caFile]
        }
        let good = try policy("good", [pins[0], other])
        #expect(try await send(host.url + "/a", good).exit == 0)
        #expect(try await send(host.url + "/a", good + ["--cache-mode", "only"]).exit == 0)
        // The pin was withdrawn after the response had been stored.
        let bad = try policy("bad", [other])
        let refused = try await send(host.url + "/a", bad + ["--cache-mode", "only", "--json"])
        #expect(refused.exit == 1)
        #expect(try JSONValue(parsing: refused.stdout)["error"]?["code"] == "not-cached")
        let mismatch = try await send(host.url + "/a", bad + ["--json"])
        #expect(
            mismatch.exit == 1
                && text(mismatch).contains("pin-mismatch") && !text(mismatch).contains(#"\"one\""#))
    }
}
