import HTTPTypes
import SignetClient
import SignetRPC
import SignetTransport
import TestSupport
import Testing

@Suite struct CallEventTests {
    private static func name(_ event: CallEvent) -> String {
        switch event {
        case .started: "started"
        case .joined: "joined"
        case .readingCache: "reading the cache"
        case .attempt(_, let number): "attempt \(number)"
        case .redirected: "redirected"
        case .readingResponse(_, let status): "reading \(status)"
        case .retrying(_, let reason, _): "retrying after \(reason)"
        case .finished(let record): "finished \(record.failure?.name ?? "well")"
        }
    }

    @Test(.features("000-24", "004-18")) func eventsComeInTheirOrderAndOnce() async throws {
        let engine = RecordingEngine(responses: [
            .init(failure: TransportError(.connect, "down")),
            .init(status: 503, body: ""), .init(body: "1"),
        ])
        let system = try await Pipeline.system(engine) { $0.clock.sleep = { _ in } }
        let events = system.events
        _ = try await system.call(RESTRequest(.get, "/x", query: ["k": "ZZZZZZ"]), on: "a")
        _ = await Pipeline.code { () async throws(ClientError) in
            try await system.call(RESTRequest(.get, "/x"), on: "nothing")
        }
        await system.shutdown()
        var names: [String] = []
        var text = ""
        for await event in events {
            names.append(Self.name(event))
            dump(event, to: &text)
            guard case .finished(let record) = event else { continue }
            #expect(record.attempts.count == 3 && record.status == 200)
            #expect(record.url == "https://api.example.com/v1/x")
            #expect(record.attempts.map { $0.hops.first?.failure } == ["connect", nil, nil])
            #expect(record.identity.service == "a" && record.identity.method == "GET")
        }
        #expect(
            names == [
                "started", "attempt 1", "retrying after connect", "attempt 2", "reading 503",
                "retrying after 503", "attempt 3", "reading 200", "finished well",
            ])
        #expect(!text.contains("ZZZZZZ"))
    }

    @Test(.features("000-30", "002-22")) func everyCallThatStartsFinishesOnce() async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine)
        let events = system.events
        let calls = (0..<50).map { _ in
            Task {
                await Pipeline.code { () async throws(ClientError) in
                    try await system.call(RESTRequest(.get, "/x"), on: "a")
                }
            }
        }
        #expect(try await eventually { engine.count == 50 })
        for call in calls[..<20] { call.cancel() }
        for call in calls[..<20] { #expect(await call.value == .cancelled) }
        await system.shutdown(gracePeriod: .zero)
        for call in calls[20...] { #expect(await call.value == .notRunning) }
        var ends: [CallIdentity: [String]] = [:]
        for await event in events { ends[event.identity, default: []].append(Self.name(event)) }
        #expect(ends.count == 50)
        for names in ends.values {
            #expect(names.count == 3 && names.first == "started", "\(names)")
            #expect(names.last?.hasPrefix("finished ") == true)
        }
    }

    @Test func aListenerAfterTheEndGetsNothing() async throws {
        let system = try await Pipeline.system(RecordingEngine())
        await system.shutdown()
        for await event in system.events { Issue.record("\(event)") }
    }
}
