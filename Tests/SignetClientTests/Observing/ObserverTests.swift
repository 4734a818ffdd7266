import HTTPTypes
import SignetClient
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// Observers, which get events synchronously, and what is made of them.
@Suite(.timeLimit(.minutes(2))) struct ObserverTests {
    final class Noting: CallObserver {
        private let notes = Mutex<[String]>([])
        private let act: @Sendable (CallEvent) -> Void
        var all: [String] { notes.withLock { $0 } }

        init(_ act: @escaping @Sendable (CallEvent) -> Void = { _ in }) { self.act = act }

        func receive(_ event: CallEvent) {
            let name = "\(event)".prefix { $0 != "(" }
            notes.withLock { $0.append(String(name)) }
            act(event)
        }
    }

    private static let call = RESTCall(RESTRequest(.get, "/x"), on: "a")

    @Test(.features("000-30", "002-22")) func theyGetEventsBeforeTheCaller()
        async throws
    {
        let observer = Noting()
        let engine = RecordingEngine(responses: [.init(body: "1")])
        let system = try await Pipeline.system(engine) { $0.observers = [observer] }
        _ = try await system.send(Self.call)
        #expect(observer.all == ["started", "attempt", "readingResponse", "finished"])
        let later = Noting()
        let observation = system.addObserver(later)
        _ = try await system.send(Self.call)
        observation.remove()
        _ = try await system.send(Self.call)
        #expect(later.all.count == 4 && observer.all.count == 12)
        await system.shutdown()
    }

    /// More events than a sequence keeps, of calls of several methods, outcomes and engines.
    @Test(.features("000-46")) func theyLoseNothing() async throws {
        let counter = CallCounter()
        let system = try await Pipeline.system(DelayingEngine()) { options in
            options.observers = [counter]
            options.engines["other"] = DelayingEngine()
        }
        let events = system.events
        var wanted: [String: Int] = [:]
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<10_000 {
                let method = [HTTPRequest.Method.get, .post, .put][number % 3]
                let isMissing = number % 7 == 0
                var options = RequestOptions()
                if number % 11 == 0 { options.engine = EngineChoice("other") }
                // Calls that aren't admitted don't count.
                if number % 10 == 0 {
                    options.scenario = "none"
                } else {
                    let engine = number % 11 == 0 ? "other" : "standard"
                    wanted["\(method) \(isMissing ? "http-status" : "-") \(engine)", default: 0] +=
                        1
                }
                group.addTask { [options] in
                    let request = RESTRequest(method, isMissing ? "/missing" : "/x")
                    _ = await system.response(to: RESTCall(request, on: "a"), options: options)
                }
            }
        }
        let counted = counter.counts.map { kind, count in
            let engine = kind.engine?.name ?? "none"
            return ("\(kind.method) \(kind.failure?.name ?? "-") \(engine)", count)
        }
        #expect(Dictionary(counted, uniquingKeysWith: +) == wanted && wanted.count == 12)
        #expect(counter.count() == 9_000 && counter.runningCount == 0)
        #expect(events.lostCount > 0)
        await system.shutdown()
    }

    @Test(.features("000-46")) func aCounterTellsKindsApart() async throws {
        let counter = CallCounter()
        var mocked = EngineCapabilities(name: "mock", pinsPublicKeys: true, speaksHTTP2: false)
        mocked.source = .mock
        let capabilities = mocked
        let engine = RecordingEngine(responses: [
            .init(status: 404, body: "{}"), .init(body: "1"),
        ])
        let system = try await Pipeline.system(engine) { options in
            options.observers = [counter]
            options.engines["other"] = Mocking(capabilities: capabilities)
        }
        _ = await system.response(to: Self.call)
        for _ in 0..<2 { _ = await system.response(to: Self.call) }
        var other = RequestOptions()
        other.engine = EngineChoice("other")
        _ = await system.response(to: Self.call, options: other)
        var own = RequestOptions()
        own.interceptors = [
            InterceptorTests.Call { _, _ in UnboxedResponse(result: nil, status: 200) }
        ]
        _ = await system.response(
            to: RESTCall(RESTRequest(.post, "/x"), on: "a"), options: own)
        #expect(counter.count() == 5)
        #expect(counter.count { $0.failure == .httpStatus } == 1)
        #expect(counter.count { $0.source == .server && $0.engine == .standard } == 3)
        #expect(counter.count { $0.source == .mock && $0.engine == "other" } == 1)
        #expect(counter.count { $0.source == .interceptor && $0.method == "POST" } == 1)
        #expect(counter.count { $0.service == "b" } == 0)
        counter.reset()
        #expect(counter.count() == 0)
        await system.shutdown()
    }

    private struct Mocking: HTTPEngine {
        let capabilities: EngineCapabilities
        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            EngineResponse(
                response: .init(status: .ok), body: HTTPResponseBody(bytes: Array("1".utf8)),
                httpVersion: .init(major: 1, minor: 1))
        }
        func shutdown() async {}
    }

    /// An observer may end the call whose event it gets; the events keep their order.
    @Test func anObserverMayUseTheSystem() async throws {
        let place = Mutex<NetworkSystem?>(nil)
        let observer = Noting { event in
            guard case .attempt(let call, _) = event else { return }
            place.withLock { $0 }?.cancelCall(call.id)
        }
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine) { $0.observers = [observer] }
        place.withLock { $0 = system }
        let code = await system.response(to: Self.call).result.failureCode
        #expect(code == .cancelled)
        #expect(observer.all == ["started", "attempt", "finished"])
        place.withLock { $0 = nil }
        await system.shutdown()
    }

    /// While an observer is busy with an event, another thread ends the call: `finished` comes
    /// after it, and the caller waits for that.
    @Test func theLastEventComesLast() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: CallIdentity.ID.self)
        let open = Atomic(false)
        let observer = Noting { event in
            guard case .attempt(let call, _) = event else { return }
            begin.yield(call.id)
            while !open.load(ordering: .acquiring) {}
        }
        let system = try await Pipeline.system(WaitingEngine()) { $0.observers = [observer] }
        let handle = system.start(Self.call)
        for await id in begun {
            #expect(system.cancelCall(id))
            break
        }
        open.store(true, ordering: .releasing)
        #expect(await handle.response.result.failureCode == .cancelled)
        #expect(observer.all == ["started", "attempt", "finished"])
        await system.shutdown()
    }

    // MARK: What a page shows

    @Test(.features("000-30")) func aPageShowsWhatItsCallsSay() async throws {
        let states = Mutex<[String]>([])
        let activity = CallActivity(tag: "page") { state in
            states.withLock {
                $0.append("\(state.count) \(state.isShown) \(state.isBlocking)")
            }
        }
        let engine = WaitingEngine(isStubborn: true)
        let system = try await Pipeline.system(engine) { $0.observers = [activity] }
        for (interaction, tag) in [
            (CallInteraction.background, "page"), (.indicator, "page"), (.blocking, "page"),
            (.blocking, "other"),
        ] {
            var options = RequestOptions(tags: [tag])
            options.interaction = interaction
            system.start(Self.call, options: options)
        }
        #expect(try await eventually { activity.state.count == 3 && engine.count == 4 })
        #expect(activity.state.isShown && activity.state.isBlocking)
        engine.letGo()
        #expect(try await eventually { system.runningCalls.isEmpty })
        #expect(activity.state.count == 0 && !activity.state.isShown)
        #expect(states.withLock { $0.count } == 6)
        await system.shutdown()
    }
}
