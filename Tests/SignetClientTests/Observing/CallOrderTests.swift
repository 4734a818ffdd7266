import HTTPTypes
import SignetJSON
import SignetRPC
import SignetTransport
import TestSupport
import Testing

@testable import SignetClient

/// The order of a call's events, as `CallEvent` describes it.
@Suite struct CallOrderTests {
    /// The name of an event, without its values.
    static func name(_ event: CallEvent) -> String {
        switch event {
        case .started: "started"
        case .joined: "joined"
        case .readingCache: "cache"
        case .attempt: "attempt"
        case .redirected: "redirected"
        case .readingResponse: "reading"
        case .retrying: "retrying"
        case .finished(let record):
            switch record.outcome {
            case .success: "success"
            case .failed: "failed"
            case .cancelled: "cancelled"
            }
        }
    }

    /// The events that may follow each other.
    private static let legal: [String: Set<String>] = {
        let ends: Set<String> = ["success", "failed", "cancelled"]
        let work: Set<String> = ["redirected", "reading", "retrying"]
        return [
            "": ["started"],
            "started": ends.union(["joined", "cache", "attempt"]),
            "joined": ends.union(work).union(["cache", "attempt"]),
            "cache": ends.union(["attempt"]),
            "attempt": ends.union(work),
            "redirected": ends.union(work),
            "reading": ends.union(["attempt", "retrying"]),
            "retrying": ends.union(["attempt"]),
        ]
    }()

    private static func isLegal(_ names: [String]) -> Bool {
        zip([""] + names, names).allSatisfy { legal[$0]?.contains($1) == true }
            && legal[names.last ?? ""] == nil
    }

    /// The names of the events of one call, which is given as work on a system.
    private static func names(
        _ engine: any HTTPEngine,
        changeOptions: (inout NetworkSystem.Options) -> Void = { _ in },
        _ work: (NetworkSystem, CallTrace) async -> Void
    ) async throws -> [String] {
        let system = try await Pipeline.system(engine) { options in
            options.clock.sleep = { _ in }
            changeOptions(&options)
        }
        let (trace, all) = (CallTrace(), system.events)
        let own = trace.events
        await work(system, trace)
        await system.shutdown()
        var names: [String] = []
        for await event in own { names.append(name(event)) }
        var same: [String] = []
        for await event in all { same.append(name(event)) }
        #expect(names == same && own.lostCount == 0)
        return names
    }

    private static func get(
        _ system: NetworkSystem, _ trace: CallTrace,
        change: (inout RequestOptions) -> Void = { _ in }
    ) async -> ClientError.Code? {
        var options = RequestOptions(trace: trace)
        change(&options)
        let given = options
        return await Pipeline.code { () async throws(ClientError) in
            try await system.call(RESTRequest(.get, "/x"), on: "a", options: given)
        }
    }

    private static let down = RecordingEngine.Response(failure: TransportError(.connect, "down"))
    private static let moved = RecordingEngine.Response(
        status: 302, body: "moved", fields: [.location: "/other"])
    private static let ok = RecordingEngine.Response(body: "1")

    static let responses: [([RecordingEngine.Response], [String])] = [
        ([ok], ["started", "attempt", "reading", "success"]),
        ([.init(status: 404, body: "no")], ["started", "attempt", "reading", "failed"]),
        ([.init(body: "{")], ["started", "attempt", "reading", "failed"]),
        (
            [down],
            ["started", "attempt", "retrying", "attempt", "retrying", "attempt", "failed"]
        ),
        (
            [.init(status: 503, body: ""), ok],
            ["started", "attempt", "reading", "retrying", "attempt", "reading", "success"]
        ),
        ([moved, ok], ["started", "attempt", "redirected", "reading", "success"]),
        (
            [moved, down, moved, ok],
            [
                "started", "attempt", "redirected", "retrying", "attempt", "redirected", "reading",
                "success",
            ]
        ),
        (
            [moved, moved],
            ["started", "attempt"] + .init(repeating: "redirected", count: 5) + ["failed"]
        ),
    ]

    @Test(.features("000-21", "000-38"), arguments: responses.indices)
    func theOrderIsLegal(_ index: Int) async throws {
        let (responses, wanted) = Self.responses[index]
        let names = try await Self.names(RecordingEngine(responses: responses)) { system, trace in
            _ = await Self.get(system, trace)
        }
        #expect(names == wanted)
        #expect(Self.isLegal(names))
    }

    @Test func anAttemptWithANewCredentialIsAnAttempt() async throws {
        struct Tokens: CredentialSource {
            let scope = "user"
            func credential(
                replacing old: Credential?, for call: CallIdentity
            ) async throws -> Credential { .bearer(old == nil ? "old" : "new") }
        }
        let engine = RecordingEngine(responses: [.init(status: 401, body: ""), Self.ok])
        let names = try await Self.names(engine) { system, trace in
            _ = await Self.get(system, trace) { $0.credentials = Tokens() }
            let stages = trace.record?.work.stages.map(\.name) ?? []
            #expect(stages.count { $0 == .credentials } >= 2 && trace.attempts.count == 2)
        }
        #expect(names == ["started", "attempt", "reading", "attempt", "reading", "success"])
        #expect(Self.isLegal(names))
    }

    @Test(.features("000-21")) func anInterceptorsOwnResponseHasNoAttempt() async throws {
        let around = try await Self.names(RecordingEngine()) { system, trace in
            _ = await Self.get(system, trace) { options in
                options.interceptors = [
                    InterceptorTests.Call { _, _ in
                        UnboxedResponse(RawResponse(status: 200, body: [0x31]))
                    }
                ]
            }
            #expect(trace.record?.response?.source == .interceptor)
            #expect(trace.record?.attempts.isEmpty == true)
        }
        #expect(around == ["started", "success"])
        let each = try await Self.names(RecordingEngine()) { system, trace in
            _ = await Self.get(system, trace) { options in
                options.attemptInterceptors = [
                    InterceptorTests.Each { _, _ in
                        EngineResponse(
                            response: HTTPResponse(status: .ok),
                            body: HTTPResponseBody(bytes: [0x31]),
                            httpVersion: .init(major: 1, minor: 1))
                    }
                ]
            }
            #expect(trace.record?.response?.source == .interceptor)
            #expect(trace.record?.attempts.map(\.hops.count) == [0])
        }
        #expect(each == ["started", "attempt", "reading", "success"])
        #expect(Self.isLegal(around) && Self.isLegal(each))
    }

    @Test(.features("000-21"), arguments: ["task", "id", "deadline", "shutdown"])
    func anEndedCallEmitsItsEnd(_ cause: String) async throws {
        let engine = WaitingEngine()
        let names = try await Self.names(engine) { system, trace in
            let call = Task {
                await Self.get(system, trace) { options in
                    if cause == "deadline" { options.deadline = .milliseconds(20) }
                }
            }
            if cause != "deadline" {
                #expect((try? await eventually { engine.count == 1 }) == true)
            }
            switch cause {
            case "task": call.cancel()
            case "id": for call in system.runningCalls { system.cancelCall(call.id) }
            case "shutdown": await system.shutdown(gracePeriod: .zero)
            default: break
            }
            _ = await call.value
        }
        let end = cause == "deadline" ? "failed" : "cancelled"
        #expect(names.first == "started" && names.last == end && Self.isLegal(names))
    }

    @Test(.features("000-21")) func aCallCancelledInItsPauseEmitsItsEnd() async throws {
        let engine = RecordingEngine(responses: [Self.down])
        let names = try await Self.names(engine) { options in
            options.clock.sleep = { _ in try await Task.sleep(for: .seconds(3600)) }
        } _: { system, trace in
            var events = trace.events.makeAsyncIterator()
            let call = Task { await Self.get(system, trace) }
            while let event = await events.next(isolation: nil) {
                if case .retrying = event { break }
            }
            call.cancel()
            #expect(await call.value == .cancelled)
        }
        #expect(names == ["started", "attempt", "retrying", "cancelled"])
    }

    @Test(.features("000-21")) func joinedCallsGetTheEventsOfTheSharedWork() async throws {
        let engine = WaitingEngine(isStubborn: true)
        let system = try await Pipeline.system(engine)
        let traces = (0..<4).map { _ in CallTrace() }
        let events = traces.map(\.events)
        func start(_ index: Int) -> Task<ClientError.Code?, Never> {
            Task { await Self.get(system, traces[index]) { $0.duplicates = .join } }
        }
        let first = start(0)
        #expect(try await eventually { engine.count == 1 })
        let others = (1..<4).map(start)
        #expect(try await eventually { system.pipeline.duplicates.joinedCount == 4 })
        // The work continues after the call that began it has ended.
        first.cancel()
        #expect(await first.value == .cancelled)
        engine.letGo()
        for other in others { #expect(await other.value == nil) }
        await system.shutdown()
        var names: [[String]] = []
        for list in events {
            var own: [String] = []
            for await event in list { own.append(Self.name(event)) }
            names.append(own)
            #expect(Self.isLegal(own), "\(own)")
        }
        #expect(names[0] == ["started", "attempt", "cancelled"])
        for own in names[1...] { #expect(own == ["started", "joined", "reading", "success"]) }
        let records = traces.compactMap(\.record)
        #expect(records.count == 4 && records[0].work.joinedCall == nil)
        for record in records {
            #expect(record.attempts.count == 1 && record.url == "https://api.example.com/v1/x")
            #expect(record.work.stages.contains { $0.name == .joining })
        }
        for record in records[1...] {
            #expect(record.work.joinedCall == records[0].identity.id && record.status == 200)
            // The others joined work that was under way.
            #expect(record.work.stages.contains { $0.name == .attempt && $0.start < .zero })
        }
    }

    @Test(.features("002-28")) func oneRunningCallIsFollowedByItsID() async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine)
        let calls = (0..<3).map { _ in Task { await Self.get(system, CallTrace()) } }
        #expect(try await eventually { engine.count == 3 })
        let id = system.runningCalls[1].id
        let events = system.events(of: id)
        #expect(system.cancelCalls(of: "a") == 3)
        var names: [String] = []
        for await event in events {
            names.append(Self.name(event))
            #expect(event.identity.id == id)
        }
        #expect(names == ["cancelled"])
        for call in calls { #expect(await call.value == .cancelled) }
        // A call that has ended has no events.
        for await event in system.events(of: id) { Issue.record("\(event)") }
        await system.shutdown()
    }

    /// Observing a call that is never made ends.
    @Test(.timeLimit(.minutes(1)), arguments: ["options", "owner", "shutdown"])
    func aCallThatIsRefusedEndsTheEventsOfItsTrace(_ by: String) async throws {
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine)
        let trace = CallTrace()
        let events = trace.events
        if by == "shutdown" { await system.shutdown() }
        let code = await Self.get(system, trace) { options in
            if by == "options" { options.attempts = 0 }
            if by == "owner" { options.owner = CallOwner() }  // has ended
        }
        #expect(
            code == (by == "options" ? .invalidOptions : by == "owner" ? .cancelled : .notRunning))
        for await event in events { Issue.record("\(event)") }
        #expect(trace.records.isEmpty && engine.count == 0)
        await system.shutdown()
    }

    @Test func aSlowListenerLosesTheOldestAndKnowsHowMany() async {
        let hub = EventHub()
        let (all, one) = (hub.events(), hub.events(of: .init(number: 10_007)))
        for number in 1...10_007 {
            let identity = CallIdentity(
                id: .init(number: UInt64(number)), service: "a", method: "m", tags: [])
            hub.send(.started(identity), of: identity.id)
        }
        hub.finish()
        var ids: [String] = []
        for await event in all { ids.append(event.identity.id.description) }
        #expect(ids.count == 10_000 && ids.first == "8" && ids.last == "10007")
        #expect(all.lostCount == 7)
        ids = []
        for await event in one { ids.append(event.identity.id.description) }
        #expect(ids == ["10007"] && one.lostCount == 0)
    }
}
