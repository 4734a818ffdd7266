import Foundation
import SignetJSON
import SignetTransport
import TestSupport
import Testing

@testable import SignetRecording

/// The HAR files of `shared/vectors/har`, and samples in the manner of other programs.
@Suite struct HARTests {
    private static let hasVectors: Bool = HARSchema.vectors != nil

    private static func vector(_ name: String) throws -> [UInt8] {
        guard let folder = HARSchema.vectors else { throw TestSupportError("no vectors") }
        return try [UInt8](Data(contentsOf: folder.appending(path: "\(name).har")))
    }

    // MARK: Reading

    @Test(
        .enabled(if: hasVectors),
        arguments: [
            ("charles", 1), ("chrome", 3), ("corrupted_gzip_body", 1), ("diff_data", 5),
            ("error_log", 2), ("firefox", 14), ("head-content-length", 1), ("incomplete_log", 2),
            ("successful_log", 2), ("websocket", 1),
        ])
    func readsRecordingsOfOtherPrograms(_ name: String, count: Int) throws {
        let bytes = try Self.vector(name)
        let recording = try Recording(har: bytes)
        let document = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
        let entries = (document?["log"] as? [String: Any])?["entries"] as? [[String: Any]] ?? []
        #expect(recording.exchanges.count == entries.count)
        #expect(entries.count >= count)
        for (call, entry) in zip(recording.calls, entries.sorted(by: Self.isBefore)) {
            let request = entry["request"] as? [String: Any]
            let headers = request?["headers"] as? [[String: Any]] ?? []
            let exchange = try #require(call.exchanges.first)
            #expect(exchange.request.method == request?["method"] as? String)
            #expect(exchange.request.fields.map(\.name) == headers.map { $0["name"] as? String })
            #expect(exchange.request.fields.map(\.value) == headers.map { $0["value"] as? String })
            let content = (entry["response"] as? [String: Any])?["content"] as? [String: Any]
            let text = content?["text"] as? String
            guard content?["encoding"] == nil, let text, exchange.response != nil else { continue }
            #expect(exchange.response?.body?.bytes == Array(text.utf8))
        }
    }

    private static func isBefore(_ left: [String: Any], _ right: [String: Any]) -> Bool {
        func time(_ entry: [String: Any]) -> Int64 {
            HARTime.milliseconds(entry["startedDateTime"] as? String ?? "") ?? 0
        }
        return time(left) < time(right)
    }

    @Test(
        .enabled(if: hasVectors),
        arguments: [
            "charles", "chrome", "diff_data", "error_log", "firefox", "head-content-length",
            "incomplete_log", "successful_log", "websocket",
        ])
    func writesWhatItReadByTheSchema(_ name: String) throws {
        let recording = try Recording(har: Self.vector(name))
        let har = recording.har()
        #expect(try HARSchema().problems(in: har) == [])
        var again = try Recording(har: har)
        #expect(again.problems == [])
        again.creator = recording.creator
        #expect(again.exchanges == recording.exchanges)
        #expect(again.har() == har)
    }

    @Test(.enabled(if: hasVectors))
    func theSchemaFindsWhatFirefoxBreaks() throws {
        #expect(try HARSchema().problems(in: Self.vector("firefox")).count > 10)
    }

    @Test(.enabled(if: hasVectors))
    func refusesWhatIsNoRecording() throws {
        for name in ["brokenfile", "har_extractor"] {
            #expect(throws: RecordingError.self) { try Recording(har: Self.vector(name)) }
        }
        let error = #expect(throws: RecordingError.self) {
            try Recording(har: Self.vector("har_extractor"))
        }
        #expect(error?.message.contains("log") == true)
    }

    @Test(.enabled(if: hasVectors))
    func namesADamagedBody() throws {
        let recording = try Recording(har: Self.vector("corrupted_gzip_body"))
        #expect(recording.problems.map(\.place) == ["log.entries[0].response.content"])
        #expect(
            recording.exchanges.first?.response?.body?.problem == "the gzip of the body is damaged")
    }

    @Test(arguments: [
        "", "{", "[]", "1", #"{"log":1}"#, #"{"log":{}}"#, #"{"log":{"entries":{}}}"#,
        #"{"entries":[]}"#,
        #"{"log":{"entries":[]},"log":{"entries":[]}}"#, #"{"log":{"entries":[],}}"#,
    ])
    func refuses(_ text: String) {
        let error = #expect(throws: RecordingError.self) { try Recording(har: Array(text.utf8)) }
        #expect(error?.code == .malformedRecording)
    }

    @Test(arguments: [
        #"{}"#, #"{"request":{}}"#, #"{"request":{"method":"GET"}}"#, #"{"request":{"url":"a"}}"#,
        #"1"#, #"null"#, #"{"request":{"method":1,"url":"a"}}"#,
    ])
    func leavesOutAnEntryWithoutRequest(_ entry: String) throws {
        let recording = try Recording(har: Array("{\"log\":{\"entries\":[\(entry)]}}".utf8))
        #expect(recording.calls.isEmpty)
        #expect(recording.problems.map(\.place).first == "log.entries[0].request")
    }

    @Test(arguments: ["safari", "insomnia", "by-hand"])
    func readsTheManner(of name: String) throws {
        let recording = try Recording(har: Array((Self.samples[name] ?? "").utf8))
        let exchange = try #require(recording.exchanges.first)
        #expect(exchange.request.method == "POST")
        #expect(exchange.request.body?.text == "a=1&b=%26")
        #expect(exchange.response?.status == 201)
        #expect(exchange.response?.body?.text == "{\"id\":7}")
        #expect(recording.problems.isEmpty)
        #expect(exchange.started == 1_795_766_400_123)
        #expect(try HARSchema.vectors == nil || HARSchema().problems(in: recording.har()) == [])
    }

    /// A byte order mark and floating sizes (Safari), parameters in place of text and base64 with
    /// line ends (Insomnia), and the least that a person writes.
    private static let samples = [
        "safari": "\u{FEFF}" + #"""
            {"log":{"version":"1.2","creator":{"name":"WebKit Web Inspector","version":"1.0"},"pages":[{"id":"page_0"}],
            "entries":[{"pageref":"page_0","startedDateTime":"2026-11-27T08:00:00.123Z","time":12.5,
            "request":{"method":"POST","url":"https://api.example.com/a","httpVersion":"","cookies":[],
            "headers":[{"name":":method","value":"POST"}],"queryString":[],"headersSize":-1,"bodySize":9.0,
            "postData":{"mimeType":"application/x-www-form-urlencoded","text":"a=1&b=%26"}},
            "response":{"status":201,"statusText":"","httpVersion":"HTTP/2","cookies":[],"headers":[],
            "content":{"size":8.0,"mimeType":"application/json","text":"{\"id\":7}"},"redirectURL":"",
            "headersSize":-1,"bodySize":-1,"_transferSize":100},"cache":{},
            "timings":{"blocked":-1,"dns":-1,"connect":-1,"ssl":-1,"send":0,"wait":11.2,"receive":1.3},
            "serverIPAddress":"127.0.0.1","_serverPort":443}]}}
            """#,
        "insomnia": #"""
        {"log":{"version":"1.2","creator":{"name":"Insomnia REST Client","version":"insomnia.desktop.app:v8.4.5"},
        "entries":[{"startedDateTime":"2026-11-27 08:00:00.123+0000","time":30,
        "request":{"method":"POST","url":"https://api.example.com/a","httpVersion":"HTTP/1.1","cookies":[],
        "headers":[{"name":"Content-Type","value":"application/x-www-form-urlencoded"}],"queryString":[],
        "postData":{"mimeType":"application/x-www-form-urlencoded","params":[{"name":"a","value":"1"},{"name":"b","value":"&"}]},
        "headersSize":-1,"bodySize":-1,"settingEncodeUrl":true},
        "response":{"status":201,"statusText":"Created","httpVersion":"HTTP/1.1","cookies":[],"headers":[],
        "content":{"size":8,"mimeType":"application/json","text":"eyJp\nZCI6\nN30","encoding":"base64"},
        "redirectURL":null,"headersSize":-1,"bodySize":-1},"cache":{},
        "timings":{"send":0,"wait":30,"receive":0},"comment":"Create"}]}}
        """#,
        "by-hand": #"""
        {"log":{"entries":[{"startedDateTime":"2026-11-27T09:00:00.123+01:00",
        "request":{"method":"POST","url":"https://api.example.com/a","postData":{"text":"a=1&b=%26"}},
        "response":{"status":201,"content":{"mimeType":"application/json","text":"{\"id\":7}"}}}]}}
        """#,
    ]

    // MARK: Writing

    @Test func keepsEverythingThatASystemRecords() throws {
        var exchange = RecordedExchange.json(request: #"{"a":1}"#, started: 1_795_766_400_007)
        exchange.request.fields.append(RecordedField(name: "X-Raw", bytes: [0x41, 0xFF]))
        exchange.request.body = RecordedBody(bytes: [0, 0xFF, 1], mediaType: "image/png")
        exchange.request.httpVersion = "HTTP/2"
        exchange.response?.fields = [
            RecordedField(
                name: "Set-Cookie", value: "a=redacted-1; Path=/; Domain=b; HttpOnly; Secure"),
            RecordedField(name: "Location", value: "/x"),
        ]
        exchange.response?.body = RecordedBody(bytes: [0xFE, 0, 2], mediaType: "image/png")
        exchange.response?.body?.encodedSize = 99
        exchange.response?.reason = "Fine"
        exchange.response?.httpVersion = "HTTP/2"
        exchange.times.connect = .milliseconds(3)
        exchange.times.tls = .microseconds(1500)
        exchange.times.send = .zero
        exchange.times.wait = .milliseconds(20)
        exchange.times.receive = .milliseconds(1)
        (exchange.attempt, exchange.isSigned, exchange.source) = (2, true, .stub)
        exchange.engine = "standard (standard)"
        (exchange.failure, exchange.message) = ("cut-off", "the connection ended early")
        exchange.pins = .init(seen: ["sha256/a"], wanted: ["sha256/b"], isMatch: false)
        exchange.redactions = [.init(place: "response.fields.set-cookie.a", mark: 1)]
        var call = RecordedCall(method: "orders.create", started: 1_795_766_400_006)
        (call.id, call.service, call.path, call.tags) = (1, "orders", "/orders/{id}", ["a", "b"])
        (call.mode, call.duration, call.failure) = ("staging", .milliseconds(25), "http-status")
        (call.isCancelled, call.source, call.cache, call.stubs) = (
            true, .stub, "signet; hit", ["s"]
        )
        call.stages = [.init(name: "attempt", start: .milliseconds(1), duration: .microseconds(20))]
        (call.message, call.serverCode, call.isSimulated) = ("it failed", "-7", true)
        call.contents = [.init(stage: "signing", before: "a", after: nil)]
        call.contents[0].base = .init(
            scheme: "rfc9421", keyID: "k", text: "\"@method\": GET",
            parts: [.init(name: "@method", value: "GET")])
        call.exchanges = [exchange]
        var joined = RecordedCall(method: "orders.create", started: 1_795_766_400_008)
        (joined.id, joined.service, joined.joinedCall) = (2, "orders", 1)
        var recording = Recording(calls: [call, joined])
        recording.droppedCount = 3
        let har = recording.har()
        var again = try Recording(har: har)
        #expect(again.creator?.name == "signet")
        again.creator = nil
        #expect(again == recording)
        if HARSchema.vectors != nil { #expect(try HARSchema().problems(in: har) == []) }
    }

    @Test func namesSecretsByTheirEntries() throws {
        func entry(_ started: String, _ url: String, _ more: String = "") -> String {
            #"{"startedDateTime":"\#(started)","request":{"method":"GET","url":"\#(url)"}\#(more)}"#
        }
        let secret = "q7Zr2mVx9LkT4bNw8sYc"
        let har = """
            {"log":{"entries":[{"request":{}},\(entry("2026-11-28T08:00:00Z", "https://a/?token=\(secret)")),
            \(entry("2026-11-27T08:00:00Z", "https://a/")),
            \(entry("2026-11-26T08:00:00Z", "https://a/", #","comment":"password=\#(secret)""#)),
            \(entry("2026-11-26T08:00:00Z", "https://a/", #","_initiator":{"url":"https://u:\#(secret)@h/"}"#)),
            \(entry("2026-11-26T08:00:00Z", "https://a/", #","response":{"status":200,"cookies":[{"name":"a","value":"x"}]}"#)),
            \(entry("2026-11-26T08:00:00Z", "https://a/", #","response":{"status":302,"redirectURL":"https://b/?access_token=\#(secret)"}"#))],
            "pages":[{"title":"Orders"},{"title":"https://a/?access_token=\(secret)"}]}}
            """
        let findings = try Recording.findings(inHAR: Array(har.utf8)).filter { $0.code == .secret }
        #expect(
            findings.map(\.place) == [
                "log.pages[1].title", "log.entries[1].request.url.query.token",
                "log.entries[3].comment", "log.entries[4]._initiator",
                "log.entries[5].response.cookies", "log.entries[6].response.redirectURL",
            ])
    }

    @Test func numbersCallsByTheirStarts() throws {
        let recording = Recording(
            .json("GET", "https://a/2", started: 2), .json("GET", "https://a/1", started: 1),
            .json("GET", "https://a/3", started: 2))
        #expect(recording.calls.map(\.id) == [1, 2, 3])
        #expect(
            recording.exchanges.map(\.request.url) == ["https://a/1", "https://a/2", "https://a/3"])
    }

    @Test func readsAFileWithHugeNumbersAndOtherTypes() throws {
        let text = #"""
            {"log":{"entries":[{"startedDateTime":5,"request":{"method":"GET","url":"https://a/","headers":[1,{"name":"a"}],
            "postData":{"text":1},"bodySize":1e300},"response":{"status":2e300,"content":{"size":1e300}},
            "timings":{"wait":1e300,"connect":-5,"ssl":3}}],"_signet":{"version":1,"calls":[{"id":1e9},{"id":0},1]}}}
            """#
        let recording = try Recording(har: Array(text.utf8))
        #expect(recording.exchanges.count == 1)
        #expect(recording.exchanges[0].response == nil)
        #expect(recording.problems.count == 2)
    }

    @Test(arguments: [0, 1, 999, 1000, -1, -1001, 1_795_766_400_123])
    func writesDatesThatItReads(_ milliseconds: Int64) {
        #expect(HARTime.milliseconds(HARTime.text(milliseconds)) == milliseconds)
    }
}
