#if Inspector
import SignetInspector
import SignetJSON
import SignetRecording
import TestSupport
import Testing

/// Recordings as pages.
@Suite struct RecordingPageTests {
    private static let hostile = "</script><script>alert(1)</script>"

    /// A call that is redirected, fails once, and has pins and a hostile body.
    private static var recording: Recording {
        var first = RecordedExchange(
            request: .init(
                method: "POST", url: "https://api.example.com/rpc?token=redacted-1",
                fields: [RecordedField(name: "Authorization", value: "redacted-2")],
                body: RecordedBody(text: #"{"method":"orders.list"}"#)))
        first.failure = "timeout"
        first.attempt = 1
        first.pins = .init(seen: ["sha256/A"], wanted: ["sha256/B"], isMatch: false)
        var second = RecordedExchange(
            request: first.request, response: .init(status: 307, body: RecordedBody(bytes: [])))
        second.attempt = 2
        var third = RecordedExchange(
            request: .init(method: "POST", url: "https://api.example.com/other"),
            response: .init(
                status: 200, fields: [RecordedField(name: "X-A", value: hostile)],
                body: RecordedBody(text: #"{"error":{"code":-7},"text":"\#(hostile)"}"#)))
        third.attempt = 2
        third.times.wait = .milliseconds(5)
        var call = RecordedCall(
            method: "orders.list", started: 1_795_228_551_000, exchanges: [first, second, third])
        call.id = 1
        call.service = hostile
        call.failure = "rpc-error"
        call.tags = ["a"]
        call.cache = "signet;hit;ttl=53"
        call.contents = [
            .init(stage: "building", before: "orders.list", after: "POST /rpc\nA: b\n\n{}")
        ]
        return Recording(calls: [call])
    }

    @Test(.features("000-59")) func aRecordingIsOneFile() throws {
        let page = String(decoding: try Self.recording.html(title: Self.hostile), as: UTF8.self)
        #expect(page.hasPrefix("<!DOCTYPE html>\n<!-- Written by signet. -->\n"))
        #expect(page.contains("default-src 'none'; script-src 'sha256-"))
        #expect(!page.contains("<!--DATA-->") && !page.contains("<!--HEAD-->"))
        // What is in calls ends no element.
        #expect(!page.contains(Self.hostile) && page.contains(#"\u003c/script>"#))
        #expect(!page.contains("src=") && !page.contains("http://"))
    }

    @Test func aRecordingIsServed() async throws {
        let page = try await Inspector.show(Self.recording, title: "shop.har")
        let browser = try await PageBrowser(opening: page.url)
        let answer = try await browser.get("/api/calls?after=0")
        #expect(answer["isEnded"] == true && answer["about"]?["title"] == "shop.har")
        let row = try #require(answer["calls"]?.array?.first)
        #expect(row["code"] == "rpc-error" && row["serverCode"] == "-7" && row["status"] == 200)
        #expect(row["attempts"] == 2 && row["redirects"] == 1 && row["pin"] == "mismatch")
        #expect(row["cache"] == "hit" && row["path"] == "/rpc" && row["isRPC"] == true)
        let detail = try await browser.get("/api/call?id=1")
        let attempts = try #require(detail["attempts"]?.array)
        #expect(attempts.map { $0["hops"]?.array?.count } == [1, 2])
        #expect(attempts[0]["hops"]?.array?.first?["pins"]?["wanted"] == ["sha256/B"])
        #expect(
            attempts[1]["redirects"]?.array?.first?["to"] == "https://api.example.com/other")
        let built = detail["contents"]?.array?.first?["after"]
        #expect(built?["head"] == "POST /rpc" && built?["body"] == "{}")
        #expect(built?["fields"] == [["A", "b"]])
        #expect(detail["exchange"]?["response"]?["head"] == "200")
        let (status, refused) = try await browser.act(["action": "send"])
        #expect(status == 400 && refused["error"]?["code"] == "not-switchable")
        await page.stop()
        await browser.close()
    }

    /// A body that wasn't kept is its size, unlike an empty one, so that the page offers no copy of
    /// what it doesn't have.
    @Test func aBodyThatWasNotKeptIsOmitted() async throws {
        var omitted = RecordedBody(bytes: [])
        omitted.size = 70_000
        omitted.problem = "the body has 70000 bytes, more than the limit of 65536"
        let bodies = [omitted, RecordedBody(bytes: []), RecordedBody(bytes: [0xFF]), nil]
        var recording = Recording()
        for (index, body) in bodies.enumerated() {
            var call = RecordedCall(
                RecordedExchange(
                    request: .init(method: "POST", url: "https://api.example.com/a", body: body),
                    response: .init(status: 200, body: body)))
            call.id = index + 1
            recording.calls.append(call)
        }
        let page = try await Inspector.show(recording)
        let browser = try await PageBrowser(opening: page.url)
        let expected: [JSONObject] = [
            ["body": "(70000 bytes)", "kind": "omitted"], ["body": ""],
            ["body": "(1 bytes)", "base64": "/w=="], ["body": ""],
        ]
        for (index, members) in expected.enumerated() {
            let detail = try await browser.get("/api/call?id=\(index + 1)")
            for side in ["request", "response"] {
                let message = try #require(detail["exchange"]?[side])
                for name in ["body", "kind", "base64"] {
                    #expect(message[name] == members[name], "\(index) \(side) \(name)")
                }
            }
        }
        await page.stop()
        await browser.close()
    }

    @Test func anEmptyRecordingIsAPageToo() async throws {
        let page = try await Inspector.show(Recording())
        let browser = try await PageBrowser(opening: page.url)
        let answer = try await browser.get("/api/calls?after=0")
        #expect(answer["isEnded"] == true && answer["calls"] == [])
        #expect(try await browser.get("/api/call?id=1")["error"] != nil)
        await page.stop()
        await browser.close()
    }
}
#endif
