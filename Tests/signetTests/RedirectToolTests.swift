import Foundation
import SignetJSON
import TestSupport
import Testing

/// Redirects of `signet call` and `signet send`.
@Suite struct RedirectToolTests {
    @Test(.features("002-11")) func redirectsAreFollowedHandedBackOrRefused() async throws {
        let authority = try TestAuthority.trusted.get()
        let clear = try await RouteServer(["/b": "200 OK\r\n\r\n1"])
        let host = try await RouteServer(
            [
                "/a": "302 Found\r\nLocation: /b?s3cr3t\r\n\r\n", "/b": "200 OK\r\n\r\n{\"x\":1}",
                "/loop": "302 Found\r\nLocation: /loop2\r\n\r\n",
                "/loop2": "302 Found\r\nLocation: loop\r\n\r\n",
                "/clear": "302 Found\r\nLocation: \(clear.url)/b?s3cr3t\r\n\r\n",
                "/odd": "302 Found\r\nLocation: https://\r\n\r\n",
            ], tls: authority.leaf)
        func call(_ path: String, _ more: String...) async throws -> (ProcessOutput, JSONValue) {
            let output = try await SignetTool.run(
                [
                    "call", host.url + path, "GET", "--protocol", "rest", "--ca-file",
                    authority.caFile, "--json",
                ] + more)
            return (output, try JSONValue(parsing: output.stdout))
        }
        let (done, followed) = try await call("/a", "--trace")
        #expect(done.exit == 0 && followed["result"]?["x"] == 1)
        let hops = try #require(followed["trace"]?.array?.first?.array)
        #expect(hops.count == 2 && hops[0]["status"] == 302 && hops[1]["status"] == 200)
        #expect(hops[1]["url"]?.string == host.url + "/b")
        let times = try #require(hops[1]["microseconds"]?.object)
        #expect((times["total"]?.number?.int64 ?? 0) >= (times["firstByte"]?.number?.int64 ?? 1))
        #expect(!done.text.contains("s3cr3t"))
        for (path, options, exit, code) in [
            ("/a", ["--max-redirects", "0"], 1, "http-status"),
            ("/loop", [], 3, "too-many-redirects"),
            ("/a", ["--max-redirects", "21"], 2, "usage"),
            ("/clear", [], 1, "redirect-refused"), ("/odd", ["--trace"], 3, "malformed-response"),
        ] as [(String, [String], Int32, String)] {
            let output = try await SignetTool.run(
                [
                    "call", host.url + path, "GET", "--protocol", "rest", "--ca-file",
                    authority.caFile, "--json",
                ] + options)
            let object = try JSONValue(parsing: output.stdout)
            #expect(output.exit == exit && object["error"]?["code"]?.string == code, "\(output)")
            #expect(!output.text.contains("s3cr3t"))
            #expect((object["trace"] != nil) == options.contains("--trace"))
        }
        #expect(clear.requests.isEmpty)
    }

    /// A check of robots redirects to the same URL until the request has its cookie.
    @Test func aCookieEndsACircle() async throws {
        let (server, port) = try await SocketServer.start("cookie-circle")
        let output = try await SignetTool.run([
            "call", "http://127.0.0.1:\(port)/a", "GET", "--protocol", "rest", "--http1.1",
        ])
        #expect(output.exit == 0 && output.stdout == Array("true\n".utf8), "\(output)")
        try await server.stop()
    }

    /// A typed URL and a Location get the same escapes.
    @Test func escapesWhatAURLCannotContain() async throws {
        let (server, port) = try await SocketServer.start("raw-location")
        for (typed, sent) in [
            ("/x?filter[a]=b|{c}&d=100%", "/x?filter%5Ba%5D=b%7C%7Bc%7D&d=100%25"),
            ("/a b/ü?%41", "/a%20b/%C3%BC?%41"), ("/moved", "/caf%E9%20x?%5Ba%5D=%7C"),
        ] {
            let output = try await SignetTool.run([
                "call", "http://127.0.0.1:\(port)\(typed)", "GET", "--protocol", "rest",
            ])
            #expect(output.exit == 0, "\(output)")
            #expect(server.stdout.contains("REQ GET \(sent) HTTP/1.1\n"), "\(server.stdout)")
        }
        for typed in ["/a\\b", "/a\tb", "/a\nb"] {
            let output = try await SignetTool.run([
                "call", "http://127.0.0.1:\(port)\(typed)", "GET", "--protocol", "rest",
            ])
            #expect(output.exit == 2, "\(output)")
        }
        try await server.stop()
    }
}
