import HTTPTypes
import SignetClient
import SignetJSON
import SignetTesting
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetRecording

@Suite struct RecorderTests {
    @Test(.features("000-47")) func recordsACallWithItsRequestAndResponse() async throws {
        let stub = StubEngine()
        stub.respond(
            to: .procedure("orders.create"), with: .result(["id": 7, "token": "tk-12345678"]))
        let system = try await startSystem(stub)
        let recording = try await system.record(.anywhere) {
            let parameters: JSONObject = ["item": "tea", "password": "hunter2hunter2"]
            let response = try await system.call(
                RPCCall("orders.create", parameters: .object(parameters)), on: "orders",
                options: RequestOptions(tags: ["a"]))
            #expect(response.result?.value["token"] == "tk-12345678")
        }
        let call = try #require(recording.calls.first)
        #expect(recording.calls.count == 1)
        #expect(call.id == 1 && call.service == "orders" && call.method == "orders.create")
        #expect(call.failure == nil && call.source == .mock && call.tags == ["a"])
        #expect(call.stages.contains { $0.name == "request" })
        let exchange = try #require(call.exchanges.first)
        #expect(exchange.request.url == "https://api.example.com/rpc")
        let sent = try JSONValue(parsing: exchange.request.body?.bytes ?? [])
        #expect(sent["params"] == ["item": "tea", "password": "redacted-1"])
        let received = try JSONValue(parsing: exchange.response?.body?.bytes ?? [])
        #expect(received["result"] == ["id": 7, "token": "redacted-2"])
        #expect(exchange.response?.status == 200)
        let text = String(decoding: recording.har(), as: UTF8.self)
        #expect(!text.contains("hunter2") && !text.contains("tk-1234"))
    }

    @Test func recordsAttemptsRedirectsAndFailures() async throws {
        let stub = StubEngine()
        stub.respond(
            to: .request(.get, path: "/a"),
            with: .status(302, fields: [.location: "/b?token=abcdef123456"]))
        stub.respond(
            to: .request(.get, path: "/b"), with: .status(503), .status(200, body: [0x31]))
        stub.respond(to: .request(.get, path: "/c"), with: .failure(.timeout))
        let system = try await startSystem(stub) { $0.clock.sleep = { _ in } }
        let recording = try await system.record(.anywhere) {
            var options = RequestOptions()
            options.attempts = 2
            _ = try await system.exchange(
                "shop", method: .get, target: "/a", body: [], options: options)
            _ = try? await system.exchange("shop", method: .get, target: "/c", body: [])
        }
        #expect(recording.calls.map(\.exchanges.count) == [4, 1])
        #expect(recording.calls.first?.exchanges.map(\.attempt) == [1, 1, 2, 2])
        #expect(
            recording.calls.first?.exchanges.map { $0.response?.status } == [302, 503, 302, 200])
        #expect(recording.calls.last?.failure == "timeout")
        #expect(recording.calls.last?.exchanges.first?.failure == "timeout")
        #expect(recording.calls.last?.exchanges.first?.response == nil)
        #expect(!String(decoding: recording.har(), as: UTF8.self).contains("abcdef123456"))
    }

    @Test func isOffInProductionUnlessAskedByName() async throws {
        let system = try await startSystem(StubEngine()) { $0.runMode = .production }
        let error = #expect(throws: RecordingError.self) { try Recorder().start(on: system) }
        #expect(error?.code == .recordingInProduction)
        let recorder = Recorder(.anywhere)
        try recorder.start(on: system)
        #expect(recorder.isRecording)
    }

    @Test func startsAndStopsWhileTheProgramRuns() async throws {
        let stub = StubEngine()
        stub.respond(with: .status(200))
        let system = try await startSystem(stub)
        let recorder = Recorder(.anywhere)
        func call() async throws {
            _ = try await system.exchange("shop", method: .get, target: "/", body: [])
        }
        try await call()
        try recorder.start(on: system)
        try await call()
        recorder.stop()
        try await call()
        try recorder.start(on: system)
        try await call()
        #expect(try await recorder.recording().calls.map(\.id) == [1, 2])
        try await recorder.store.removeAll()
        #expect(try await recorder.recording().calls.isEmpty)
    }

    @Test func recordsOnlyWhatItIsAskedFor() async throws {
        let stub = StubEngine()
        stub.respond(with: .status(200))
        let system = try await startSystem(stub)
        var options = RecordingOptions.anywhere
        options.isRecorded = { $0.tags.contains("yes") }
        let recording = try await system.record(options) {
            for tag in ["yes", "no"] {
                _ = try await system.exchange(
                    "shop", method: .get, target: "/\(tag)", body: [],
                    options: RequestOptions(tags: [tag]))
            }
        }
        #expect(recording.exchanges.map(\.request.url) == ["https://shop.example.com/yes"])
    }

    @Test func keepsNoPartOfALargeBody() async throws {
        let stub = StubEngine()
        stub.respond(with: .status(200, body: [UInt8](repeating: 0x61, count: 2000)))
        let system = try await startSystem(stub)
        var options = RecordingOptions.anywhere
        options.limits.bodySize = 1000
        let recording = try await system.record(options) {
            let body = HTTPRequestBody.replayable {
                AsyncStream<[UInt8]> { stream in
                    for _ in 0..<3 { stream.yield([UInt8](repeating: 0x62, count: 400)) }
                    stream.finish()
                }
            }
            _ = try await system.exchange("shop", method: .post, target: "/", body: body)
        }
        let exchange = try #require(recording.exchanges.first)
        #expect(exchange.response?.body?.bytes == [] && exchange.response?.body?.size == 2000)
        #expect(exchange.response?.body?.problem?.contains("1000") == true)
        #expect(exchange.request.body?.bytes == [] && exchange.request.body?.size == 1200)
        #expect(try Recording(har: recording.har()).exchanges == recording.exchanges)
    }

    @Test func recordsAStreamedBody() async throws {
        let stub = StubEngine()
        stub.respond(with: .status(200))
        let system = try await startSystem(stub)
        let recording = try await system.record(.anywhere) {
            let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
            for text in ["ab", "cd"] { producer.yield(Array(text.utf8)) }
            producer.finish()
            _ = try await system.exchange(
                "shop", method: .post, target: "/", body: .stream(chunks))
        }
        #expect(recording.exchanges.first?.request.body?.text == "abcd")
        #expect(stub.requests.first?.body == Array("abcd".utf8))
    }

    @Test func dropsTheOldestBeyondEachLimit() async {
        let now = Mutex(Int64(0))
        func store(_ change: (inout RecordingLimits) -> Void) -> MemoryRecordingStore {
            var limits = RecordingLimits()
            change(&limits)
            let store = MemoryRecordingStore(limits: limits, now: { now.withLock { $0 } })
            for index in 1...10 {
                now.withLock { $0 = Int64(index) * 1000 }
                store.add(RecordedCall(.json("GET", "https://a/\(index)", started: Int64(index))))
            }
            return store
        }
        func urls(_ store: MemoryRecordingStore) -> [Substring] {
            store.current.exchanges.map { $0.request.url.dropFirst(10) }
        }
        #expect(urls(store { $0.calls = 3 }) == ["8", "9", "10"])
        #expect(store { $0.calls = 3 }.current.droppedCount == 7)
        #expect(urls(store { $0.age = .milliseconds(1500) }) == ["9", "10"])
        let monthly = store { $0.age = .seconds(60 * 86_400) }
        now.withLock { $0 += 59 * 86_400_000 }
        monthly.add(RecordedCall(.json("GET", "https://a/11")))
        #expect(urls(monthly).count == 11)
        let size = RecordedCall(.json("GET", "https://a/1")).approximateSize
        #expect(urls(store { $0.size = size * 4 }).count <= 4)
        #expect(urls(store { $0.size = 1 }).isEmpty)
    }

    @Test func tellsOfEachCall() async throws {
        let stub = StubEngine()
        stub.respond(with: .status(200))
        let system = try await startSystem(stub)
        let recorder = Recorder(.anywhere)
        let updates = recorder.updates
        try recorder.start(on: system)
        _ = try await system.exchange("shop", method: .get, target: "/x", body: [])
        var iterator = updates.makeAsyncIterator()
        #expect(await iterator.next()?.exchanges.first?.request.url == "https://shop.example.com/x")
    }

    @Test func recordsACallThatIsCancelled() async throws {
        let stub = StubEngine()
        let (reached, reach) = AsyncStream.makeStream(of: Void.self)
        stub.respond(by: { _ throws(TransportError) in
            reach.yield()
            do { try await Task.sleep(for: .seconds(60)) } catch {
                throw TransportError(.cancelled, "cancelled")
            }
            return .status(200)
        })
        let system = try await startSystem(stub)
        let recording = try await system.record(.anywhere) {
            let handle = system.start(.get("/slow", on: "shop"))
            var iterator = reached.makeAsyncIterator()
            _ = await iterator.next()
            system.cancelCalls()
            _ = await handle.response
        }
        let call = try #require(recording.calls.first)
        #expect(call.isCancelled && call.failure == "cancelled")
        #expect(call.exchanges.first?.request.url == "https://shop.example.com/slow")
    }
}
