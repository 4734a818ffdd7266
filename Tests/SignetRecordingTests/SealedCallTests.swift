import HTTPTypes
import SignetClient
import SignetCurl
import SignetJSON
import SignetTesting
import SignetTransport
import SignetVault
import Synchronization
import TestSupport
import Testing

@testable import SignetRecording

/// Calls wait sealed in memory, and are redacted when they are read.
@Suite struct SealedCallTests {
    /// Calls as a recorder adds them, with a secret each.
    private struct Calls {
        let redaction: CallRedaction

        init(decoding budget: DecodingBudget? = nil) {
            redaction = CallRedaction(
                redactor: ExchangeRedactor(
                    RedactionRules(), marks: RedactionMarks(), decoding: budget),
                bodyLimit: 1 << 20)
        }

        func pending(
            _ number: Int, secret: String? = nil, body: [UInt8]? = nil, coded: [UInt8]? = nil
        ) -> UnredactedCall {
            let text = #"{"password":"\#(secret ?? "canary-\(number)")","n":\#(number)}"#
            var fields: HTTPFields = [.contentType: "application/json"]
            var exchange = CapturedExchange()
            exchange.request = CapturedRequest(
                HTTPRequest(
                    method: .post, scheme: "https", authority: "a", path: "/\(number)",
                    headerFields: fields),
                body: CapturedBytes(body ?? Array(text.utf8), limit: 1 << 20))
            if let coded {
                fields[.contentEncoding] = "gzip"
                exchange.response = .init(
                    status: 200, fields: fields.map { RecordedField($0) },
                    body: CapturedBytes(coded, limit: 1 << 20))
            }
            var call = RecordedCall(method: "POST", started: Int64(number))
            call.id = number
            let contents = CallContents(exchanges: [exchange], call: call)
            return UnredactedCall(
                bytes: SealedCallTests.bytes(of: contents), exchanges: 1, redaction: redaction)
        }
    }

    /// The number of the mark in place of a call's secret.
    private static func mark(_ call: RecordedCall) throws -> String {
        let body = try JSONValue(parsing: call.exchanges.first?.request.body?.bytes ?? [])
        return body["password"]?.string ?? ""
    }

    @Test(.features("000-42")) func nothingReadableWaits() async throws {
        let stub = StubEngine()
        stub.respond(
            with: .status(
                200,
                fields: [.setCookie: "sid=canary-1", .contentType: "application/json"],
                body: Array(#"{"token":"canary-1"}"#.utf8)))
        let system = try await startSystem(stub)
        let store = MemoryRecordingStore()
        let recorder = Recorder(.anywhere, into: store)
        try recorder.start(on: system)
        for _ in 0..<3 {
            _ = try await system.exchange(
                "shop", method: .post, target: "/x?access_token=canary-1",
                fields: [.authorization: "Bearer canary-1", .contentType: "application/json"],
                body: Array(#"{"password":"canary-1"}"#.utf8))
        }
        let sealed = store.sealed
        #expect(sealed.count == 3 && Set(sealed.map(\.number)).count == 3)
        for call in sealed {
            #expect(call.bytes.count > 200)
            for text in ["canary", "shop.example.com", "password", "Bearer"] {
                #expect(call.bytes.firstRange(of: Array(text.utf8)) == nil, "\(text)")
            }
        }
        #expect(Set(sealed.map { $0.bytes.prefix(16) }).count == 3)
        let first = try await recorder.recording()
        #expect(store.sealed.isEmpty && first.calls.count == 3)
        #expect(try await recorder.recording() == first)
        #expect(first.calls.allSatisfy { $0.exchanges[0].redactions.count >= 5 })
        #expect(!String(decoding: first.har(), as: UTF8.self).contains("canary"))
        // Not in a description either.
        var text = ""
        dump(store, to: &text)
        #expect(!text.contains("canary"))
    }

    /// The bytes that a redaction decompresses count the redactions.
    @Test func aCallIsRedactedOnce() async throws {
        let text = [UInt8](repeating: 0x20, count: 5000)
        let body = try ContentEncoder.encode(whole: text)
        let budget = DecodingBudget()
        let (store, calls) = (MemoryRecordingStore(), Calls(decoding: budget))
        func spent() -> Int { budget.size - budget.rest }
        _ = calls.pending(0, body: body).redacted()
        let once = spent()
        #expect(once >= text.count)
        for number in 1...3 { store.add(calls.pending(number, body: body)) }
        #expect(spent() == once)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { _ = await store.recording() } }
        }
        #expect(spent() == 4 * once)
        #expect(await store.recording().calls.count == 3)
        #expect(spent() == 4 * once)
    }

    /// Their secrets have no marks.
    @Test func dropsUnreadCallsAsTheyAre() async throws {
        var limits = RecordingLimits()
        limits.calls = 3
        let (store, calls) = (MemoryRecordingStore(limits: limits), Calls())
        for number in 1...10 { store.add(calls.pending(number)) }
        #expect(store.sealed.count == 3)
        let recording = await store.recording()
        #expect(recording.droppedCount == 7)
        #expect(
            try recording.calls.map(Self.mark) == ["redacted-1", "redacted-2", "redacted-3"])
        #expect(recording.exchanges.map(\.request.url) == (8...10).map { "https://a/\($0)" })
        store.add(calls.pending(11))
        #expect(store.sealed.count == 1)
        let later = await store.recording()
        #expect(try later.calls.map(Self.mark) == ["redacted-2", "redacted-3", "redacted-4"])
        await store.removeAll()
        #expect(await store.recording() == Recording())
    }

    @Test func usesTheRulesOfTheCall() async throws {
        func configuration(_ hidden: String) throws -> GlobalConfiguration {
            let schema = try Schema(
                parsing: Array(
                    """
                    {"keys":{"hidden":{"type":"string"},
                    "services.shop.baseURL":{"type":"string","visibility":"public"},
                    "services.shop.protocol":{"type":"string","visibility":"public"}}}
                    """.utf8))
            let values: JSONValue = [
                "hidden": .string(hidden), "services.shop.baseURL": "https://shop.example.com",
                "services.shop.protocol": "rest",
            ]
            return try GlobalConfiguration(schema: schema, defaults: .json(values.serialized()))
        }
        let stub = StubEngine()
        stub.respond(with: .status(200))
        var options = NetworkSystem.Options()
        options.engine = stub
        options.runMode = .development
        options.dangerous.allowUnpinnedServices()
        let system = try await NetworkSystem.start(configuration("plain words"), options: options)
        let recorder = Recorder(.anywhere)
        try recorder.start(on: system)
        func send() async throws {
            _ = try await system.exchange(
                "shop", method: .post, target: "/", fields: [.contentType: "text/plain"],
                body: Array("plain words, other words".utf8))
        }
        try await send()
        try system.update(configuration("other words"))
        try await send()
        let bodies = try await recorder.recording().exchanges.map { $0.request.body?.text }
        #expect(bodies == ["redacted-1, other words", "plain words, redacted-2"])
    }

    /// A listener and a store of the program's get redacted calls, at once.
    @Test func othersGetRedactedCalls() async throws {
        final class OwnStore: RecordingStore {
            let calls = Mutex<[RecordedCall]>([])
            func add(_ call: RecordedCall) { calls.withLock { $0.append(call) } }
            func recording() async -> Recording { Recording(calls: calls.withLock { $0 }) }
            func removeAll() async { calls.withLock { $0 = [] } }
        }
        let stub = StubEngine()
        stub.respond(with: .status(200))
        let system = try await startSystem(stub)
        let (own, listened) = (Recorder(.anywhere, into: OwnStore()), Recorder(.anywhere))
        let updates = listened.updates
        for recorder in [own, listened] { try recorder.start(on: system) }
        _ = try await system.exchange(
            "shop", method: .post, target: "/", fields: [.contentType: "application/json"],
            body: Array(#"{"password":"canary-1"}"#.utf8))
        var iterator = updates.makeAsyncIterator()
        let update = try #require(await iterator.next())
        let stored = (own.store as? OwnStore)?.calls.withLock { $0 } ?? []
        for call in [update] + stored { #expect(try Self.mark(call) == "redacted-1") }
        #expect(stored.count == 1)
        #expect((listened.store as? MemoryRecordingStore)?.sealed.isEmpty == true)
    }

    @Test(.timeLimit(.minutes(2))) func callsAreAddedWhileOthersRead() async throws {
        let (store, calls) = (MemoryRecordingStore(), Calls())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<2 {
                group.addTask {
                    for number in 0..<200 {
                        store.add(
                            calls.pending(2 * number + writer, secret: "canary-\(number % 7)"))
                    }
                }
            }
            for _ in 0..<3 {
                group.addTask {
                    var before: [Int64: String] = [:]
                    while before.count < 400 {
                        for call in await store.recording().calls {
                            let mark = try Self.mark(call)
                            #expect(mark == before[call.started, default: mark])
                            before[call.started] = mark
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let marks = try await store.recording().calls.map(Self.mark)
        #expect(marks.count == 400 && Set(marks).count == 7)
        #expect(Set(marks) == Set((1...7).map { "redacted-\($0)" }))
    }

    /// The limit counts bodies without their content codings when these are undone.
    @Test func aBodyThatGrowsCountsWhenItIsRead() async throws {
        let text = Array("{\"items\":\"\(String(repeating: "tea ", count: 2000))\"}".utf8)
        var limits = RecordingLimits()
        limits.size = 40_000
        let (store, calls) = (MemoryRecordingStore(limits: limits), Calls())
        for number in 0..<10 {
            try store.add(calls.pending(number, coded: ContentEncoder.encode(whole: text)))
        }
        #expect(store.sealed.count == 10)
        let recording = await store.recording()
        #expect(recording.calls.count == 4 && recording.droppedCount == 6)
        #expect(recording.exchanges.allSatisfy { $0.response?.body?.bytes == text })
        #expect(recording.exchanges.map(\.request.url) == (6..<10).map { "https://a/\($0)" })
    }

    @Test func aDamagedCallIsLeftOut() async throws {
        let (store, calls) = (MemoryRecordingStore(), Calls())
        let sealer = try #require(CallSealer())
        let sealed = try #require(sealer.seal(calls.pending(1).bytes))
        var bytes = sealed.bytes
        bytes[20] ^= 1
        let damaged = CallSealer.Sealed(number: sealed.number, bytes: bytes, tag: sealed.tag)
        let moved = CallSealer.Sealed(
            number: sealed.number + 1, bytes: sealed.bytes, tag: sealed.tag)
        let plain = calls.pending(1).takeBytes()
        #expect(sealer.open(sealed) == plain)
        #expect(CallSealer()?.open(sealed) == nil)
        for wrong in [damaged, moved] {
            store.add(StoredCall(.sealed(wrong, by: sealer, calls.redaction), size: 100))
        }
        store.add(calls.pending(2))
        let recording = await store.recording()
        #expect(recording.exchanges.map(\.request.url) == ["https://a/2"])
        #expect(recording.problems.map(\.message) == ["found 2 damaged calls; left out"])
    }

    /// A call with every part.
    private static var wholeCall: RecordedCall {
        var call = RecordedCall(method: "orders.create", started: -1)
        (call.id, call.service, call.path, call.tags) = (300, "orders", "/é", ["a", ""])
        (call.mode, call.duration, call.joinedCall) = ("staging", .seconds(3), 299)
        (call.failure, call.message, call.serverCode) = ("rpc-error", "no tea", "17")
        (call.isSimulated, call.isCancelled, call.source) = (true, true, .cache)
        (call.cache, call.stubs) = ("signet; hit", ["before x"])
        call.stages = [.init(name: "attempt", start: .nanoseconds(5), duration: .seconds(-1))]
        call.contents = [.init(stage: "signing", before: nil, after: "GET / \n\nx")]
        call.contents[0].base = .init(
            scheme: "v1", keyID: "k", text: "t", parts: [.init(name: "@method", value: "GET")])
        return call
    }

    /// An exchange with every part.
    private static var wholeExchange: CapturedExchange {
        var exchange = CapturedExchange(started: 1_796_000_000_000, attempt: 2)
        let body = CapturedBytes(Array("a=1".utf8), limit: 10)
        exchange.request = CapturedRequest(
            HTTPRequest(
                method: .put, scheme: "http", authority: "a:1", path: "/b?c",
                headerFields: [.cookie: "a=b", .contentType: "text/plain"]), body: body)
        exchange.response = .init(
            status: 503, reason: "Busy", major: 2, fields: [.init(name: "Server", value: "x")],
            body: CapturedBytes([0xFF, 0], limit: 1))
        exchange.timings.nameResolved = .nanoseconds(1_234_567_891)
        exchange.timings.total = .seconds(100)
        (exchange.failure, exchange.message) = ("timeout", "no response")
        (exchange.source, exchange.engine) = (.stub, "curl (standard)")
        exchange.address = .init("192.0.2.1", reason: "fastest", failed: ["2001:db8::1"])
        exchange.isSigned = true
        exchange.pins = .init(seen: ["sha256/a"], wanted: [], isMatch: true)
        return exchange
    }

    @Test func bytesHaveEveryPartOfACall() throws {
        let (call, exchange) = (Self.wholeCall, Self.wholeExchange)
        let bytes = Self.bytes(of: call)
        #expect(ByteForm.value(of: bytes) == call)
        let second = Self.bytes(of: exchange)
        let read = try #require(ByteForm.value(of: second) as CapturedExchange?)
        #expect(read.recorded(limit: 1) == exchange.recorded(limit: 1))
        #expect(read.recorded(limit: 1).response?.body?.problem?.contains("early") == false)
        #expect(read.recorded(limit: 9).request.body?.text == "a=1")
        // Every stored property is set, so that none can be forgotten.
        let parts = [Mirror(reflecting: call), Mirror(reflecting: exchange)]
        for case let (name?, value) in parts.flatMap(\.children) where name != "exchanges" {
            #expect(!["nil", "false", "[]", "0"].contains("\(value)"), "\(name)")
        }
        requireRefusals(of: bytes, as: RecordedCall.self)
        requireRefusals(of: second, as: CapturedExchange.self)
    }

    /// Messages and summaries are written as they pass, and read as calls with their exchanges.
    @Test func writesTheFormThatItReads() async throws {
        final class BytesStore: UnredactedCallStore {
            let all = Mutex<[[UInt8]]>([])
            func add(_ call: consuming UnredactedCall) {
                let bytes = call.takeBytes()
                all.withLock { $0.append(bytes) }
            }
            func add(_ call: RecordedCall) {}
            func recording() async -> Recording { Recording() }
            func removeAll() async {}
        }
        let stub = StubEngine()
        stub.respond(
            to: .request(.get, path: "/a"),
            with: .status(404, fields: [.setCookie: "a=\u{E9}"], body: [0x78]))
        stub.respond(to: .request(.post, path: "/b"), with: .failure(.timeout))
        let system = try await startSystem(stub) { $0.callOptions.attempts = 1 }
        let store = BytesStore()
        let recorder = Recorder(.anywhere, into: store)
        try recorder.start(on: system)
        var options = RequestOptions()
        (options.tags, options.keepsContents) = (["b", "a"], true)
        _ = try await system.exchange(
            "shop", method: .get, target: "/a?b", body: [], options: options)
        _ = try? await system.exchange(
            "shop", method: .post, target: "/b", fields: [.contentType: "text/plain"],
            body: Array("canary-1".utf8))
        let written = store.all.withLock { $0 }
        let read = try written.map { try #require(ByteForm.value(of: $0) as CallContents?) }
        #expect(read.map(Self.bytes(of:)) == written && read.count == 2)
        let (first, second) = (read[0], read[1])
        #expect(first.call.tags == ["a", "b"] && first.call.contents.count > 1)
        #expect(first.exchanges[0].response?.fields.first?.value == "a=\u{E9}")
        #expect(first.exchanges[0].engine == "standard (standard)")
        #expect(first.exchanges[0].timings.total > .zero)
        #expect(first.call.stages.first?.name == "admission" && first.call.service == "shop")
        #expect(first.call.duration ?? .zero > .zero)
        #expect(first.call.source == first.exchanges[0].source)
        #expect(second.call.id == 2 && second.call.failure == "timeout")
        #expect(second.exchanges[0].request.fields.first?.name == "Content-Type")
        #expect(second.exchanges[0].failure == "timeout" && second.call.message != nil)
    }

    fileprivate static func bytes(of value: consuming some ByteFormed) -> [UInt8] {
        var form = ByteForm(size: 0)
        form.pass(&value)
        return form.bytes
    }

    private func requireRefusals<Value: ByteFormed>(of bytes: [UInt8], as type: Value.Type) {
        for count in bytes.indices {
            #expect(ByteForm.value(of: Array(bytes[..<count])) as Value? == nil)
        }
        #expect(ByteForm.value(of: bytes + [0]) as Value? == nil)
        let endless = [UInt8](repeating: 0xFF, count: 40)
        #expect(ByteForm.value(of: endless) as Value? == nil)
        for index in bytes.indices {
            var other = bytes
            other[index] ^= 0xFF
            _ = ByteForm.value(of: other) as Value?
        }
    }
}
