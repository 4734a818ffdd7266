#if Inspector && DEBUG
import HTTPTypes
import Logging
import SignetClient
import SignetInspector
import SignetJSON
import SignetRecording
import SignetTransport
import TestSupport
import Testing

/// A page that shows secrets, which a debug build alone has.
@Suite struct EverythingTests {
    private static let secret = "ZZZZZZ"

    private static func send(
        _ system: NetworkSystem, keepsContents: Bool? = nil
    ) async throws -> CallRecord {
        let trace = CallTrace()
        var options = RequestOptions(trace: trace)
        options.keepsContents = keepsContents
        _ = try await system.exchange(
            "shop", method: .post, target: "/orders?api_key=\(secret)1",
            fields: [.authorization: "Bearer \(secret)2", .contentType: "application/json"],
            body: Array(#"{"password":"\#(secret)3"}"#.utf8), options: options)
        return try #require(trace.record)
    }

    @Test func secretsReachNothingButTheirPage() async throws {
        let log = RecordingLog()
        let fixture = try await InspectorFixture(showing: .everything) {
            $0.logger = Logger(label: "test") { _ in log }
            $0.logger.logLevel = .trace
        }
        let other = try await fixture.system.inspect()
        let browser = try await PageBrowser(opening: other.url)
        var record: CallRecord?
        let recording = try await fixture.system.record {
            record = try await Self.send(fixture.system)
        }
        let page = try await fixture.browser.calls { $0.first?["state"] == "success" }
        let detail = try await fixture.browser.get("/api/call?id=1").text
        for number in 1...3 { #expect(detail.contains("\(Self.secret)\(number)")) }
        #expect(page.first?["text"]?.string?.contains(Self.secret) == true)
        let about = try await fixture.browser.get("/api/calls?after=0")["about"]
        #expect(about?["hasSecrets"] == true)

        var dumped = ""
        dump(record, to: &dumped)
        dump(record?.counted, to: &dumped)
        let row = try await browser.calls { $0.first?["state"] == "success" }.first
        let others = [
            dumped, "\(record as Any) \(record?.counted as Any)", log.text,
            String(decoding: recording.har(), as: UTF8.self),
            String(decoding: try recording.html(), as: UTF8.self), row?.text ?? "",
            try await browser.get("/api/call?id=1").text,
        ]
        for text in others { #expect(!text.isEmpty && !text.contains(Self.secret)) }
        #expect(try await browser.get("/api/calls?after=0")["about"]?["hasSecrets"] == false)
        await other.stop()
        await browser.close()
        await fixture.stop()
    }

    /// After the last page that shows them, calls keep no secrets.
    @Test func secretsAreKeptForAPageAlone() async throws {
        let fixture = try await InspectorFixture(showing: .everything)
        let second = try await fixture.system.inspect(showing: .everything)
        await second.stop()
        await second.stop()
        #expect(try await !Self.send(fixture.system).everything.isEmpty)
        await fixture.page.stop()
        let record = try await Self.send(fixture.system)
        #expect(record.everything.isEmpty && !record.counted.contents.isEmpty)
        await fixture.stop()
    }

    @Test(arguments: [false, true]) func inProductionSecretsAreNotShown(_ isAsked: Bool)
        async throws
    {
        var options = InspectorOptions()
        options.dangerous.showProduction()
        let fixture = try await InspectorFixture(.production, options: options)
        let error = await #expect(throws: InspectorError.self) {
            let asked = isAsked ? options : InspectorOptions()
            _ = try await fixture.system.inspect(asked, showing: .everything)
        }
        #expect(error?.code == .notSwitchable)
        fixture.system.secretKeeping.begin()
        let record = try await Self.send(fixture.system, keepsContents: true)
        #expect(record.everything.isEmpty && !record.counted.contents.isEmpty)
        await fixture.stop()
    }
}
#endif
