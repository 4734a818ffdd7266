#if Inspector
import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet inspect`.
@Suite struct InspectToolTests {
    private static let recording = """
        {"log":{"version":"1.2","creator":{"name":"other","version":"1"},"entries":[{"startedDateTime":"2026-11-27T09:00:00.000Z",
        "time":5,"request":{"method":"GET","url":"https://api.example.com/a</script>","httpVersion":"HTTP/1.1","headers":[],
        "queryString":[],"cookies":[],"headersSize":-1,"bodySize":0},"response":{"status":200,"statusText":"OK",
        "httpVersion":"HTTP/1.1","headers":[],"cookies":[],"content":{"size":3,"mimeType":"text/plain","text":"tea"},
        "redirectURL":"","headersSize":-1,"bodySize":3},"cache":{},"timings":{"send":0,"wait":4,"receive":1}}]}}
        """

    private static func run(_ arguments: String..., in folder: TemporaryDirectory) async throws
        -> ProcessOutput
    {
        try await ChildProcess.run(
            SignetTool.url.path, ["inspect"] + arguments, directory: folder.url)
    }

    @Test(.features("000-59")) func aRecordingBecomesOneFile() async throws {
        let folder = try TemporaryDirectory()
        _ = try folder.write(Array(Self.recording.utf8), to: "shop.har")
        let done = try await Self.run("shop.har", "--html", "shop.html", "--json", in: folder)
        #expect(done.exit == 0, "\(done.stderr)")
        #expect(try JSONValue(parsing: done.stdout)["calls"] == 1)
        let page = String(decoding: try folder.read("shop.html"), as: UTF8.self)
        #expect(page.contains(#"a\u003c/script>"#) && page.contains("tea"))
        // A page of this tool is replaced, any other file isn't.
        #expect(try await Self.run("shop.har", "--html", "shop.html", in: folder).exit == 0)
        #expect(try await Self.run("shop.har", "--html", "shop.har", in: folder).exit == 2)
    }

    @Test(arguments: ["", "{}", "[]", #"{"log":{}}"#, "no JSON"])
    func whatIsNoRecordingIsRefused(_ text: String) async throws {
        let folder = try TemporaryDirectory()
        _ = try folder.write(Array(text.utf8), to: "shop.har")
        let done = try await Self.run("shop.har", "--json", in: folder)
        #expect(done.exit == 2)
        let error = try #require(JSONValue(parsing: done.stdout)["error"])
        #expect(error["code"] == "malformed-recording")
        #expect(error["message"]?.string?.hasPrefix("shop.har: ") == true)
        #expect(error["message"]?.string?.contains("no recording was given") == text.isEmpty)
        #expect(try await Self.run("missing.har", in: folder).exit == 2)
    }

    @Test func itServesThePageUntilItIsEnded() async throws {
        let folder = try TemporaryDirectory()
        _ = try folder.write(Array(Self.recording.utf8), to: "shop.har")
        let tool = try ChildProcess(
            SignetTool.url.path, ["inspect", "shop.har"], directory: folder.url)
        var link = ""
        while link.isEmpty, tool.isRunning {
            let text = String(decoding: tool.output.stdout, as: UTF8.self)
            if text.hasSuffix("\n") { link = String(text.dropLast()) }
            try await Task.sleep(for: .milliseconds(20))
        }
        let browser = try await PageBrowser(opening: link)
        let answer = try await browser.get("/api/calls?after=0")
        #expect(answer["about"]?["title"] == "shop.har")
        #expect(answer["calls"]?.array?.first?["host"] == "api.example.com")
        await browser.close()
        let ended = ContinuousClock.now
        tool.send(signal: SIGINT)
        _ = try await tool.outcome(timeout: 10)
        #expect(ContinuousClock.now - ended < .seconds(5))
    }
}
#endif
