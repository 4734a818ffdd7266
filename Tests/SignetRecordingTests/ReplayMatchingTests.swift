import HTTPTypes
import SignetTransport
import Testing

@testable import SignetRecording

/// Which requests are those of a recording.
@Suite struct ReplayMatchingTests {
    @Test(arguments: [
        (#"{"jsonrpc":"2.0","method":"a","id":1}"#, #"{"jsonrpc":"2.0","method":"a","id":"x"}"#),
        (#"[{"method":"a","id":1}]"#, #"[{"method":"a","id":2}]"#),
        (#"{"nonce":"a","timestamp":1,"x":1}"#, #"{"x":1,"timestamp":2,"nonce":"b"}"#),
        (#"{"sig":"a"}"#, #"{"sig":"b"}"#), (#"{ "a": 1 }"#, #"{"a":1}"#),
        (#"{"a":{"token":"redacted-4"}}"#, #"{"a":{"token":"plain"}}"#),
        (#"{"a":"x redacted-4 y"}"#, #"{"a":"x plain y"}"#),
    ])
    func masksWhatDiffersByRule(_ recorded: String, _ live: String) {
        #expect(matches(recorded, live))
    }

    @Test(arguments: [
        (#"{"method":"a","params":{"id":1}}"#, #"{"method":"a","params":{"id":2}}"#),
        (#"{"id":1}"#, #"{"id":2}"#),
        (#"{"at":"2026-11-27T09:00:00Z"}"#, #"{"at":"2026-11-28T09:00:00Z"}"#),
        (#"{"a":1}"#, #"{"a":1.0}"#), (#"{"a":"x redacted-4 y"}"#, #"{"a":"x plain z"}"#),
        (#"{"a":["redacted-1"]}"#, #"{"a":["x","y"]}"#), (#"{"a":null}"#, #"{}"#), ("a", "b"),
        (#"{"a":"é"}"#, "{\"a\":\"e\u{301}\"}"),
        // Business data, which in queries or fields would be a nonce or a time.
        (#"{"state":"open"}"#, #"{"state":"closed"}"#), (#"{"_":1}"#, #"{"_":2}"#),
        (#"{"date":"2026-11-27"}"#, #"{"date":"2026-11-28"}"#),
        (#"{"a":[{"created":1}]}"#, #"{"a":[{"created":2}]}"#),
        (#"{"expires":"2026"}"#, #"{"expires":"2027"}"#),
    ])
    func comparesAllElse(_ recorded: String, _ live: String) {
        #expect(!matches(recorded, live))
    }

    private func matches(
        _ recorded: String, _ live: String, _ matching: ReplayMatching = ReplayMatching()
    ) -> Bool {
        let left = RecordedExchange.json(request: recorded).request
        let right = RecordedExchange.json(request: live).redacted().request
        return RequestView(left, matching).differences(to: RequestView(right, matching)).isEmpty
    }

    @Test(arguments: [
        ("?state=a&_=1", "?state=b&_=2", true), ("?Expires=1", "?Expires=2", true),
        ("?date=1", "?date=2", false), ("?created=1", "?created=2", false),
        ("?nonce=a", "?nonce=b", true), ("?states=a", "?states=b", false),
    ])
    func masksNamesInTheirPlaces(_ recorded: String, _ live: String, _ isAlike: Bool) {
        func view(_ query: String) -> RequestView {
            RequestView(.init(method: "GET", url: "https://a/\(query)"), ReplayMatching())
        }
        #expect(view(recorded).differences(to: view(live)).isEmpty == isAlike)
    }

    @Test func takesMasksAndPartsOfTheProgram() {
        var matching = ReplayMatching()
        matching.masks.append(.member("Sequence"))
        #expect(matches(#"{"a":{"sequence":1}}"#, #"{"a":{"sequence":2}}"#, matching))
        let uuids = (
            #"{"a":"0190d5f2-7c1c-7a3e-9f52-0242ac120002"}"#,
            #"{"a":"1190d5f2-7c1c-7a3e-9f52-0242ac120002"}"#
        )
        #expect(!matches(uuids.0, uuids.1, matching))
        matching.masks.append(.uuids)
        #expect(matches(uuids.0, uuids.1, matching))
        matching.parts = [.method, .path]
        #expect(matches(#"{"a":1}"#, #"{"b":2}"#, matching))
    }

    @Test func comparesChosenFields() throws {
        var matching = ReplayMatching()
        matching.parts.insert(.field(.accept))
        func view(_ accept: String) -> RequestView {
            RequestView(
                .init(
                    method: "GET", url: "https://a/", fields: [.init(name: "ACCEPT", value: accept)]
                ),
                matching)
        }
        #expect(view("a").differences(to: view("a")).isEmpty)
        #expect(view("a").differences(to: view("b")).map(\.place) == ["request.fields.accept[0]"])
    }
}
