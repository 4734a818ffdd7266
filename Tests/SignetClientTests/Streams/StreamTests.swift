import HTTPTypes
import SignetClient
import SignetJSON
import SignetPinning
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// Responses that are read while they arrive: when they begin and how they end.
@Suite(.timeLimit(.minutes(2))) struct StreamTests {
    private let engine = FeedingEngine()
    private let sum = HTTPField.Name("X-Sum")!

    private func stream(
        _ system: NetworkSystem, _ options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> StreamedResponse {
        try await system.stream("a", method: .get, target: "/x", options: options)
    }

    /// The code with which the rest of a body ends.
    private func ending(_ response: StreamedResponse) async -> ClientError.Code? {
        await Pipeline.code { () async throws(ClientError) in
            try await response.body.collect(limit: 1 << 20)
        }
    }

    /// The outcomes of the calls after the system was shut down.
    private func endings(of events: CallEvents) async -> [String] {
        var endings: [String] = []
        for await event in events {
            guard case .finished(let record) = event else { continue }
            endings.append("\(record.status ?? 0) \(record.failure?.name ?? "well")")
        }
        return endings
    }

    @Test func returnWithTheHeaderAndRunToTheEndOfTheBody() async throws {
        let system = try await Pipeline.system(engine)
        let events = system.events
        let response = try await stream(system)
        #expect(response.status == 200 && response.trailers == nil)
        #expect(system.runningCalls == [response.identity])
        var chunks = response.body.makeAsyncIterator()
        for text in ["one", "two"] {
            engine.feed(text)
            #expect(try await chunks.next() == Array(text.utf8))
        }
        #expect(system.runningCalls.count == 1)
        engine.end(trailers: [sum: "7"])
        #expect(try await chunks.next() == nil)
        #expect(try await chunks.next() == nil)
        #expect(response.trailers == [sum: "7"] && response.fields[sum] == nil)
        #expect(system.runningCalls.isEmpty)
        await system.shutdown()
        #expect(await endings(of: events) == ["200 well"])
    }

    @Test(arguments: [
        "id", "tag", "service", "owner", "ownersEnd", "response", "deadline", "shutdown",
    ])
    func endWithTheCall(_ by: String) async throws {
        let system = try await Pipeline.system(engine)
        let events = system.events
        var owner: CallOwner? = CallOwner()
        var options = RequestOptions(tags: ["t"], owner: owner)
        if by == "deadline" { options.deadline = .milliseconds(400) }
        let response = try await stream(system, options)
        engine.feed("x")
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() == Array("x".utf8))
        let reading = Task { await ending(response) }
        switch by {
        case "id": #expect(system.cancelCall(response.identity.id))
        case "tag": #expect(system.cancelCalls(taggedWith: "t") == 1)
        case "service": #expect(system.cancelCalls(of: "a") == 1)
        case "owner": #expect(owner?.cancelCalls() == 1)
        case "ownersEnd": owner = nil
        case "response": response.cancel()
        case "shutdown": await system.shutdown(gracePeriod: .zero)
        default: break
        }
        let wanted: ClientError.Code =
            by == "deadline" ? .timeout : by == "shutdown" ? .notRunning : .cancelled
        #expect(await reading.value == wanted)
        // It stays so.
        #expect(await ending(response) == wanted)
        #expect(try await eventually { system.runningCalls.isEmpty && engine.abandoned == 1 })
        await system.shutdown()
        #expect(await endings(of: events) == ["200 \(wanted.name)"])
        _ = owner
    }

    /// The call has ended, or is about to, and its body is unread.
    @Test func discardWhatArrivedWhenCancelled() async throws {
        let engine = RecordingEngine(
            responses: Array(repeating: .init(body: "12"), count: 100))
        let system = try await Pipeline.system(engine)
        for number in 0..<100 {
            let response = try await system.stream("a", method: .get, target: "/x")
            #expect(try await eventually { system.runningCalls.isEmpty })
            for _ in 0..<number { await Task.yield() }
            response.cancel()
            let error = await #expect(throws: ClientError.self) {
                _ = try await response.body.collect(limit: 9)
            }
            #expect(error?.code == .cancelled)
        }
        await system.shutdown()
    }

    @Test func endWithTheReadersTask() async throws {
        let system = try await Pipeline.system(engine)
        let response = try await stream(system)
        let reading = Task { await ending(response) }
        reading.cancel()
        #expect(await reading.value == .cancelled)
        #expect(try await eventually { system.runningCalls.isEmpty && engine.abandoned == 1 })
        await system.shutdown()
    }

    @Test(arguments: [false, true])
    func endIfTheBodyIsNotRead(_ hasChunks: Bool) async throws {
        let system = try await Pipeline.system(engine)
        let events = system.events
        do {
            let response = try await stream(system)
            if hasChunks { for _ in 0..<10 { engine.feed("x") } }
            #expect(response.status == 200)
        }
        #expect(try await eventually { system.runningCalls.isEmpty && engine.abandoned == 1 })
        await system.shutdown()
        #expect(await endings(of: events) == ["200 cancelled"])
    }

    @Test func waitForTheirReader() async throws {
        let system = try await Pipeline.system(engine)
        let response = try await stream(system)
        for number in 0..<5 { engine.feed("\(number)") }
        engine.end()
        // All bytes have arrived, and the call continues until they have been read.
        #expect(system.runningCalls.count == 1)
        #expect(try await response.body.collect(limit: 5) == Array("01234".utf8))
        #expect(system.runningCalls.isEmpty)
        await system.shutdown()
    }

    @Test func areReadByOneReaderAtATime() async throws {
        let system = try await Pipeline.system(engine)
        let response = try await stream(system)
        let readers = (0..<2).map { _ in Task { await ending(response) } }
        // One of them is refused while the other one waits.
        #expect(try await eventually { engine.requests.count == 1 })
        let codes = await withTaskGroup(of: ClientError.Code?.self) { group in
            for reader in readers { group.addTask { await reader.value } }
            var codes: [ClientError.Code?] = [await group.next() ?? nil]
            engine.end()
            for await code in group { codes.append(code) }
            return codes
        }
        #expect(codes == [.invalidRequest, nil])
        await system.shutdown()
    }

    @Test func areCancelledBeforeTheirHeader() async throws {
        let waiting = WaitingEngine()
        let system = try await Pipeline.system(waiting)
        let call = Task {
            await Pipeline.code { () async throws(ClientError) in try await stream(system) }
        }
        #expect(try await eventually { waiting.count == 1 })
        call.cancel()
        #expect(await call.value == .cancelled)
        #expect(system.runningCalls.isEmpty)
        await system.shutdown()
        let late = await Pipeline.code { () async throws(ClientError) in try await stream(system) }
        #expect(late == .notRunning)
    }

    @Test func passOnTheErrorThatEndsTheBody() async throws {
        let system = try await Pipeline.system(engine)
        let events = system.events
        let response = try await stream(system)
        engine.feed("part")
        engine.end(TransportError(.cutOff, "cut"))
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() == Array("part".utf8))
        #expect(await ending(response) == .cutOff)
        #expect(response.trailers == nil)
        // The header had been handed out, so there was no other attempt.
        #expect(engine.requests.count == 1)
        await system.shutdown()
        #expect(await endings(of: events) == ["200 cut-off"])
    }

    @Test func areTriedAgainBeforeTheirHeaderIsHandedOut() async throws {
        let recording = RecordingEngine(responses: [
            .init(failure: TransportError(.connect, "down")), .init(status: 503, body: "no"),
            .init(body: "yes"),
        ])
        let system = try await Pipeline.system(recording) { $0.clock.sleep = { _ in } }
        let response = try await stream(system)
        #expect(response.status == 200 && recording.count == 3)
        #expect(try await response.body.collect(limit: 9) == Array("yes".utf8))
        await system.shutdown()
    }

    @Test func theLastResponseIsReturnedWithAnyStatus() async throws {
        let recording = RecordingEngine(responses: [.init(status: 503, body: "no")])
        let system = try await Pipeline.system(recording) { $0.clock.sleep = { _ in } }
        let response = try await stream(system)
        #expect(response.status == 503 && recording.count == 3)
        #expect(try await response.body.collect(limit: 9) == Array("no".utf8))
        await system.shutdown()
    }

    @Test func haveALimitOfTheirSize() async throws {
        let system = try await Pipeline.system(engine)
        var options = RequestOptions()
        options.maximumResponseSize = 77
        let response = try await stream(system, options)
        #expect(engine.requests.first?.maximumBodySize == 77)
        engine.feed("12345")
        let code = await Pipeline.code { () async throws(ClientError) in
            try await response.body.collect(limit: 4)
        }
        #expect(code == .responseTooLarge)
        #expect(try await eventually { system.runningCalls.isEmpty && engine.abandoned == 1 })
        await system.shutdown()
    }

    @Test func anEngineThatForgetsTheLimitIsHeldToIt() async throws {
        let system = try await Pipeline.system(engine)
        var options = RequestOptions()
        options.maximumResponseSize = 7
        let response = try await stream(system, options)
        engine.feed("12345")
        engine.feed("678")
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() == Array("12345".utf8))
        #expect(await ending(response) == .responseTooLarge)
        #expect(try await eventually { system.runningCalls.isEmpty && engine.abandoned == 1 })
        await system.shutdown()
    }

    // MARK: Decoding and records

    /// `hello` in gzip.
    static let packed: [UInt8] = [
        0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10,
        0x36,
        5, 0, 0, 0,
    ]

    @Test func areDecoded() async throws {
        for (bytes, code) in [(Self.packed, nil), (Self.packed.dropLast(), .malformedResponse)]
            as [([UInt8], ClientError.Code?)]
        {
            let engine = FeedingEngine(fields: [.contentEncoding: "gzip", .contentLength: "25"])
            let system = try await Pipeline.system(engine) { $0.decoding = ContentDecoding() }
            let response = try await stream(system)
            #expect(response.fields[.contentEncoding] == nil)
            #expect(response.fields[.contentLength] == nil)
            engine.feed(bytes)
            engine.end()
            #expect(await ending(response) == code)
            await system.shutdown()
        }
        let unknown = FeedingEngine(fields: [.contentEncoding: "br"])
        let system = try await Pipeline.system(unknown) { $0.decoding = ContentDecoding() }
        let code = await Pipeline.code { () async throws(ClientError) in try await stream(system) }
        #expect(code == .unsupportedEncoding)
        await system.shutdown()
    }

    struct Item: Decodable, Sendable, Equatable { var id: Int }

    @Test func areReadRecordByRecord() async throws {
        let system = try await Pipeline.system(engine)
        let response = try await system.stream(RESTRequest(.get, "/feed"), from: "a")
        #expect(engine.requests.first?.request.path == "/v1/feed")
        var records = response.records(of: Item.self, in: .lines).makeAsyncIterator()
        engine.feed("{\"id\":1}\n{\"id\"")
        #expect(try await records.next() == Item(id: 1))
        engine.feed(":2}\n")
        #expect(try await records.next() == Item(id: 2))
        engine.end()
        #expect(try await records.next() == nil)
        await system.shutdown()
    }

    @Test(arguments: [
        ("{\"id\":1,}\n", ClientError.Code.malformedResponse), ("{\"id\":\"x\"}\n", .typeMismatch),
        ("{}\n", .typeMismatch),
        ("[" + String(repeating: " ", count: 200) + "]\n", .responseTooLarge),
    ])
    func refuseARecord(_ line: String, _ code: ClientError.Code) async throws {
        let system = try await Pipeline.system(engine)
        let response = try await system.stream(RESTRequest(.get, "/feed"), from: "a")
        engine.feed(line)
        engine.end()
        let found = await Pipeline.code { () async throws(ClientError) in
            var records = response.records(of: Item.self, in: .lines, maximumRecordSize: 100)
                .makeAsyncIterator()
            return try await records.next() == nil
        }
        #expect(found == code)
        await system.shutdown()
    }

    @Test func ofRESTAreSuccessful() async throws {
        let recording = RecordingEngine(responses: [.init(status: 404, body: "{\"why\":1}")])
        let system = try await Pipeline.system(recording)
        do throws(ClientError) {
            _ = try await system.stream(RESTRequest(.get, "/feed"), from: "a")
            Issue.record("a response with status 404 was handed out")
        } catch {
            #expect(error.code == .httpStatus && error.status == 404)
            #expect(error.responseBody == Array("{\"why\":1}".utf8))
        }
        let rpc = try await Pipeline.system(recording, payload: .jsonRPC2)
        let code = await Pipeline.code { () async throws(ClientError) in
            try await rpc.stream(RESTRequest(.get, "/feed"), from: "a")
        }
        #expect(code == .unsupportedCall)
        await system.shutdown()
        await rpc.shutdown()
    }
}
