import Foundation
import HTTPTypes
import SignetClient
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// Queues of calls, limits of services, blocking calls, and URLs without a call.
@Suite(.timeLimit(.minutes(2))) struct CallQueueTests {
    private let engine = WaitingEngine(isStubborn: true)

    private func start(
        _ system: NetworkSystem, _ queue: CallQueue?, path: RESTPath = "/x",
        priority: CallPriority? = nil, change: (inout RequestOptions) -> Void = { _ in }
    ) -> CallHandle<UnboxedResponse> {
        var options = RequestOptions()
        options.queue = queue
        options.priority = priority
        change(&options)
        return system.start(.get(path, on: "a"), options: options)
    }

    @Test func aQueueRunsSoManyAtOnce() async throws {
        let system = try await Pipeline.system(engine)
        let queue = CallQueue(limit: 2)
        let calls = (0..<5).map { _ in start(system, queue) }
        for done in [2, 4, 5] {
            #expect(try await eventually { engine.count == done })
            #expect(queue.runningCount <= 2)
            engine.letGo()
        }
        for call in calls { #expect(try await call.response.get().status == 200) }
        #expect(try await eventually { queue.runningCount == 0 && queue.waitingCount == 0 })
        await system.shutdown()
    }

    @Test func theOrderIsPriorityAndThenComing() async throws {
        let recording = RecordingEngine(responses: [.init(body: "1")])
        let system = try await Pipeline.system(recording)
        let queue = CallQueue(isPaused: true)
        var calls: [CallHandle<UnboxedResponse>] = []
        for (path, priority) in [
            ("/1", nil), ("/2", CallPriority.low), ("/3", .high), ("/4", .normal), ("/5", .high),
        ] as [(RESTPath, CallPriority?)] {
            calls.append(start(system, queue, path: path, priority: priority))
            #expect(try await eventually { queue.waitingCount == calls.count })
        }
        #expect(recording.count == 0 && queue.isPaused)
        queue.resume()
        for call in calls { _ = await call.response }
        #expect(
            recording.requests.map { $0.request.path ?? "" }
                == ["/v1/3", "/v1/5", "/v1/1", "/v1/4", "/v1/2"])
        await system.shutdown()
    }

    @Test(.features("003-15")) func whatWaitsSendsNothingIfItIsEnded() async throws {
        let system = try await Pipeline.system(engine)
        let queue = CallQueue()
        let first = start(system, queue)
        #expect(try await eventually { engine.count == 1 })
        let cancelled = start(system, queue)
        let late = start(system, queue) { $0.deadline = .milliseconds(20) }
        let last = start(system, queue)
        #expect(await late.response.result.failureCode == .timeout)
        #expect(try await eventually { queue.waitingCount == 2 })
        #expect(cancelled.cancel())
        #expect(await cancelled.response.result.failureCode == .cancelled)
        engine.letGo()
        #expect(await first.response.result.failureCode == nil)
        #expect(try await eventually { engine.count == 2 })
        engine.letGo()
        #expect(await last.response.result.failureCode == nil)
        #expect(engine.count == 2)
        await system.shutdown()
    }

    /// The place of a call whose engine never returns is free once the call has ended.
    @Test func aPlaceIsFreeWhenItsCallHasEnded() async throws {
        let system = try await Pipeline.system(engine)
        let queue = CallQueue()
        let first = start(system, queue)
        #expect(try await eventually { engine.count == 1 })
        #expect(first.cancel())
        let second = start(system, queue)
        #expect(try await eventually { engine.count == 2 })
        engine.letGo()
        #expect(await second.response.result.failureCode == nil)
        await system.shutdown()
    }

    @Test func pauseAndCancelAll() async throws {
        let system = try await Pipeline.system(engine)
        let queue = CallQueue(limit: 2)
        let calls = (0..<5).map { _ in start(system, queue) }
        #expect(try await eventually { engine.count == 2 && queue.waitingCount == 3 })
        queue.pause()
        engine.letGo()
        #expect(try await eventually { queue.runningCount == 0 })
        #expect(queue.waitingCount == 3 && engine.count == 2)
        queue.limit = 1
        queue.resume()
        #expect(try await eventually { engine.count == 3 })
        #expect(queue.cancelCalls() == 3)
        var codes: [ClientError.Code?] = []
        for call in calls { codes.append(await call.response.result.failureCode) }
        #expect(codes.count { $0 == .cancelled } == 3 && codes.count { $0 == nil } == 2)
        #expect(try await eventually { queue.runningCount == 0 && queue.waitingCount == 0 })
        await system.shutdown()
    }

    /// With HTTP/2 a limit of connections limits nothing.
    @Test(.features("004-02")) func aServiceHasALimitOfCalls() async throws {
        let values: JSONObject = ["services.a.maximumCalls": 3, "services.a.protocol": "rest"]
        var options = NetworkSystem.Options()
        options.engine = engine
        let system = try await NetworkSystem.start(
            Settings.configuration(values), options: options)
        let calls = (0..<7).map { _ in start(system, nil) }
        #expect(try await eventually { engine.count == 3 })
        // A new configuration counts the calls that run.
        try system.update(
            Settings.configuration(["services.a.maximumCalls": 2, "services.a.protocol": "rest"]))
        let later = start(system, nil)
        engine.letGo()
        #expect(try await eventually { engine.count == 5 })
        engine.letGo()
        #expect(try await eventually { engine.count == 7 })
        engine.letGo()
        #expect(try await eventually { engine.count == 8 })
        engine.letGo()
        for call in calls + [later] { #expect(await call.response.result.failureCode == nil) }
        await system.shutdown()
    }

    @Test func aLimitOfCallsIsAboveZero() async throws {
        var options = NetworkSystem.Options()
        options.engine = engine
        let error = await #expect(throws: ClientError.self) {
            try await NetworkSystem.start(
                Settings.configuration(["services.a.maximumCalls": 0]), options: options)
        }
        #expect(error?.message.contains("maximumCalls") == true)
    }

    @Test(.features("002-25")) func allCallsAreCancelled() async throws {
        let system = try await Pipeline.system(engine)
        let calls = (0..<4).map { _ in start(system, nil) }
        #expect(try await eventually { engine.count == 4 })
        #expect(system.cancelCalls() == 4)
        for call in calls { #expect(await call.response.result.failureCode == .cancelled) }
        #expect(system.cancelCalls() == 0)
        let later = start(system, nil)
        #expect(try await eventually { engine.count == 5 })
        engine.letGo()
        #expect(await later.response.result.failureCode == nil)
        await system.shutdown()
    }

    // MARK: Blocking

    @Test(.features("000-58")) func aThreadWaitsForItsCall() async throws {
        let system = try await Pipeline.system(RecordingEngine(responses: [.init(body: "7")]))
        let value = await Self.onThread { () throws(ClientError) in
            try system.wait(for: Reading())
        }
        #expect(try value.get() == 7)
        await system.shutdown()
        let late = await Self.onThread { () throws(ClientError) in
            try system.wait(for: Reading())
        }
        #expect(late.failureCode == .notRunning)
    }

    @Test func aThreadStopsWaitingAtTheEnd() async throws {
        let system = try await Pipeline.system(engine)
        var options = RequestOptions()
        options.deadline = .milliseconds(20)
        let given = options
        let late = await Self.onThread { () throws(ClientError) in
            try system.wait(for: Reading(), options: given)
        }
        #expect(late.failureCode == .timeout)
        async let cancelled = Self.onThread { () throws(ClientError) in
            try system.wait(for: Reading())
        }
        #expect(try await eventually { engine.count == 2 })
        await system.shutdown(gracePeriod: .zero)
        #expect(await cancelled.failureCode == .notRunning)
        engine.letGo()
    }

    @Test func aTaskMustNotBlock() async throws {
        let system = try await Pipeline.system(engine)
        #expect(Self.codeOfWaiting(for: system) == .wouldBlock && engine.count == 0)
        await system.shutdown()
    }

    private static func codeOfWaiting(for system: NetworkSystem) -> ClientError.Code? {
        do throws(ClientError) {
            _ = try system.wait(for: Reading())
            return nil
        } catch {
            return error.code
        }
    }

    /// Closures and observers of calls run in their tasks.
    @Test func aClosureOrAnObserverMustNotBlock() async throws {
        let place = Mutex<NetworkSystem?>(nil)
        let codes = Mutex<[ClientError.Code?]>([])
        let observer = ObserverTests.Noting { event in
            guard case .attempt = event, let system = place.withLock({ $0 }) else { return }
            let code = Self.codeOfWaiting(for: system)
            codes.withLock { $0.append(code) }
        }
        let recording = RecordingEngine(responses: [.init(body: "7")])
        let system = try await Pipeline.system(recording) { $0.observers = [observer] }
        place.withLock { $0 = system }
        system.start(Reading()) { _ in
            let code = Self.codeOfWaiting(for: system)
            codes.withLock { $0.append(code) }
        }
        #expect(try await eventually { codes.withLock { $0.count } == 2 })
        #expect(codes.withLock { $0 } == [.wouldBlock, .wouldBlock] && recording.count == 1)
        place.withLock { $0 = nil }
        await system.shutdown()
    }

    /// Awaited, started, queued, blocking and raw: the same bytes leave.
    @Test(.features("000-58")) func eachFormSendsTheSameBytes() async throws {
        let recording = RecordingEngine(responses: [.init(body: "7")])
        let system = try await Pipeline.system(recording)
        let queue = CallQueue()
        var queued = RequestOptions()
        queued.queue = queue
        #expect(try await system.send(Reading()) == 7)
        #expect(try await system.start(Reading()).response.get() == 7)
        #expect(try await system.send(Reading(), options: queued) == 7)
        let blocking = await Self.onThread { () throws(ClientError) in
            try system.wait(for: Reading())
        }
        #expect(try blocking.get() == 7)
        let raw = try await system.exchange(
            "a", method: .get, target: "/v1/x", fields: [.accept: "application/json"])
        #expect(raw.text == "7")
        let requests = recording.requests
        #expect(requests.count == 5)
        #expect(requests.allSatisfy { $0.request == requests[0].request && $0.bytes.isEmpty })
        await system.shutdown()
    }

    private struct Reading: RESTEndpoint {
        typealias Success = Int
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .get }
        var path: PathTemplate { "/x" }
    }

    private static func onThread<Value: Sendable>(
        _ work: @escaping @Sendable () throws(ClientError) -> Value
    ) async -> Result<Value, ClientError> {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: Result { () throws(ClientError) in try work() })
            }
        }
    }

    // MARK: URLs

    @Test(.features("002-25")) func aCallsURLIsMadeWithoutSending() async throws {
        let system = try await Pipeline.system(engine)
        var options = RequestOptions()
        options.trace = CallTrace()
        let owner = CallOwner()
        options.owner = owner
        let url = try system.url(
            of: .get("/orders/\("a b")", on: "a", query: ["limit": 2]), options: options)
        #expect(url == "https://api.example.com/v1/orders/a%20b?limit=2")
        #expect(throws: ClientError.self) { try system.url(of: .get("/x", on: "none")) }
        #expect(engine.count == 0 && system.runningCalls.isEmpty && owner.cancelCalls() == 0)
        await system.shutdown()
    }
}
