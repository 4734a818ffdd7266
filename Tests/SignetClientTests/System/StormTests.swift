import Foundation
import HTTPTypes
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// Many calls at once, in an outage and at the end. With `SIGNET_SOAK` set there are 10,000.
@Suite(.timeLimit(.minutes(5))) struct StormTests {
    private static let isWhole = ProcessInfo.processInfo.environment["SIGNET_SOAK"] != nil
    private static let count = isWhole ? 10_000 : 1000

    /// An engine that fails so many of a hundred requests, by a seed, and counts how often each
    /// arrives.
    final class FailingEngine: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "failing", pinsPublicKeys: true, speaksHTTP2: false)
        private struct State {
            var numbers: SplitMix
            var seen: [String: Int] = [:]
            var isRunning = true
            var late = 0
        }

        private let percent: Int
        private let failures: [RecordingEngine.Response]
        private let state: Mutex<State>

        init(seed: UInt64, percent: Int, failures: [RecordingEngine.Response]) {
            self.percent = percent
            self.failures = failures
            state = Mutex(State(numbers: SplitMix(seed: seed)))
        }

        /// How often each request came, by method and path.
        var seen: [String: Int] { state.withLock { $0.seen } }
        var count: Int { seen.values.reduce(0, +) }
        /// The requests that came after the shutdown.
        var late: Int { state.withLock { $0.late } }

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            let name = "\(request.request.method) \(request.request.path ?? "")"
            let response = state.withLock { state -> RecordingEngine.Response in
                if !state.isRunning { state.late += 1 }
                let isFailure = Int.random(in: 0..<100, using: &state.numbers) < percent
                let response =
                    isFailure ? failures.randomElement(using: &state.numbers) : nil
                // Requests that could not be sent did not arrive.
                if response?.failure?.code != .connect { state.seen[name, default: 0] += 1 }
                return response ?? .init(body: "1")
            }
            if let failure = response.failure { throw failure }
            return EngineResponse(
                response: HTTPResponse(
                    status: .init(code: response.status), headerFields: response.fields),
                body: HTTPResponseBody(bytes: Array(response.body.utf8)),
                httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async { state.withLock { $0.isRunning = false } }
    }

    private static func system(
        _ engine: any HTTPEngine, change: (inout NetworkSystem.Options) -> Void = { _ in }
    ) async throws -> NetworkSystem {
        try await Pipeline.system(engine) { options in
            options.clock.sleep = { _ in }
            change(&options)
        }
    }

    /// Makes calls at once, each to a path of its own; a half of them are POST requests.
    private static func run(_ system: NetworkSystem) async -> [ClientError.Code?] {
        await withTaskGroup(of: ClientError.Code?.self) { group in
            for number in 0..<count {
                group.addTask {
                    await Pipeline.code { () async throws(ClientError) in
                        try await system.call(
                            RESTRequest(number % 2 == 0 ? .post : .get, "/\(number)"), on: "a")
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    // MARK: Outages

    @Test func aStormOf503StaysWithinTheBudget() async throws {
        let engine = FailingEngine(
            seed: 1, percent: 100, failures: [.init(status: 503, body: "")])
        let system = try await Self.system(engine)
        let codes = await Self.run(system)
        #expect(codes.count == Self.count && codes.allSatisfy { $0 == .httpStatus })
        #expect(engine.count == Self.count + 35)
        #expect(engine.seen.allSatisfy { !$0.key.hasPrefix("POST") || $0.value == 1 })
        await system.shutdown()
    }

    /// One request in ten fails: calls succeed, and there is little more traffic.
    @Test(arguments: [1, 2, 3]) func aFewFailuresAreLittleTraffic(seed: UInt64) async throws {
        let engine = FailingEngine(
            seed: seed, percent: 10,
            failures: [
                .init(status: 503, body: ""), .init(status: 429, body: ""),
                .init(failure: TransportError(.cutOff, "cut off")),
                .init(failure: TransportError(.connect, "down")),
            ])
        let system = try await Self.system(engine)
        let codes = await Self.run(system)
        // A POST fails with three of the four faults, a GET only after the third in a row.
        #expect(codes.count { $0 != nil } < Self.count / 15)
        #expect(engine.count <= Self.count + Self.count / 8)
        #expect(engine.seen.allSatisfy { !$0.key.hasPrefix("POST") || $0.value == 1 })
        await system.shutdown()
    }

    @Test func aServerThatDiesInTheMiddleSeesAPostOnce() async throws {
        let engine = DyingEngine()
        let system = try await Self.system(engine)
        for (method, count) in [(HTTPRequest.Method.post, 1), (.get, 3)] {
            let code = await Pipeline.code { () async throws(ClientError) in
                try await system.call(RESTRequest(method, "/x"), on: "a")
            }
            #expect(code?.name == "cut-off")
            #expect(engine.count(of: method) == count)
        }
        await system.shutdown()
    }

    /// Sends the header and half of the body.
    private final class DyingEngine: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "dying", pinsPublicKeys: true, speaksHTTP2: false)
        private let asked = Mutex<[HTTPRequest.Method]>([])

        func count(of method: HTTPRequest.Method) -> Int {
            asked.withLock { asked in asked.count { $0 == method } }
        }

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            asked.withLock { $0.append(request.request.method) }
            let buffer = BodyBuffer(capacity: 100, drained: {}, abandoned: {})
            _ = buffer.offer(Array(#"{"id":"#.utf8))
            buffer.finish(TransportError(.cutOff, "cut off"))
            return EngineResponse(
                response: HTTPResponse(status: .ok), body: HTTPResponseBody(buffer),
                httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async {}
    }

    // MARK: Code of the program

    private struct Call: CallInterceptor {
        let work: @Sendable (PendingCall, NextCall) async throws -> UnboxedResponse
        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            try await work(call, next)
        }
    }

    private struct Failure: Error, CustomStringConvertible { let description = "ZZZZZZ" }

    /// Some throw, some never return, some respond twice.
    @Test func interceptorsThatFailEndEachCallOnce() async throws {
        let hold = Hold()
        let engine = FailingEngine(seed: 4, percent: 0, failures: [])
        let numbers = Mutex(0)
        let system = try await Self.system(engine) { options in
            options.callOptions.deadline = .milliseconds(100)
            options.callOptions.interceptors = [
                Call { call, next in
                    let number = numbers.withLock { number in
                        number += 1
                        return number
                    }
                    switch number % 4 {
                    case 0: throw Failure()
                    case 1: await hold.wait()
                    case 2: return UnboxedResponse(result: RPCResult(2), status: 200)
                    default: break
                    }
                    return try await next(call)
                }
            ]
        }
        let events = system.events
        let codes = await Self.run(system)
        #expect(codes.count == Self.count)
        let known: Set<ClientError.Code?> = [nil, .interceptorFailed, .timeout]
        #expect(codes.allSatisfy { known.contains($0) })
        #expect(codes.count { $0 == .interceptorFailed } <= Self.count / 4)
        #expect(codes.count { $0 == .timeout } >= Self.count / 4)
        #expect(system.runningCalls.isEmpty)
        hold.letGo()
        await system.shutdown()
        var ends: [CallIdentity.ID: Int] = [:]
        var text = ""
        for await event in events {
            guard case .finished(let record) = event else { continue }
            dump(record, to: &text)
            ends[record.identity.id, default: 0] += 1
        }
        #expect(ends.values.allSatisfy { $0 == 1 })
        #expect(!text.contains("ZZZZ"))
    }

    /// An interceptor passes `next` to a task that uses it after the call has ended.
    @Test(arguments: [HTTPRequest.Method.get, .post])
    func nothingIsSentForACallThatHasEnded(_ method: HTTPRequest.Method) async throws {
        let engine = RecordingEngine(responses: [.init(body: "1")])
        let (later, producer) = AsyncStream.makeStream(of: (PendingCall, NextCall).self)
        let system = try await Self.system(engine) { options in
            options.callOptions.interceptors = [
                Call { call, next in
                    producer.yield((call, next))
                    return try await next(call)
                }
            ]
        }
        _ = try await system.call(RESTRequest(method, "/x"), on: "a")
        for await (call, next) in later {
            let code = await Pipeline.code { () async throws(ClientError) in try await next(call) }
            #expect(code == .cancelled)
            break
        }
        #expect(engine.count == 1)
        await system.shutdown()
    }

    @Test(.features("002-09")) func aValueThatCannotBeMadeIsAFailure() async throws {
        struct Order: RESTEndpoint {
            var service: ServiceName { "a" }
            var httpMethod: HTTPRequest.Method { .get }
            var path: PathTemplate { "/order" }
            func success(from response: UnboxedResponse) throws -> Int { throw Failure() }
        }
        let engine = RecordingEngine(responses: [.init(body: #"{"token":"ZZZZZZ"}"#)])
        let system = try await Self.system(engine)
        let error = await #expect(throws: ClientError.self) { try await system.send(Order()) }
        #expect(error?.code == .conversionFailed && error?.kind == .local)
        // The call itself ended well, and isn't made again.
        #expect(engine.count == 1)
        var text = "\(String(describing: error)) \(String(reflecting: error))"
        dump(error, to: &text)
        #expect(!text.contains("ZZZZ"))
        await system.shutdown()
    }

    // MARK: The end

    /// Begins calls in every place where a call can wait, and waits until all of them wait.
    private static func startEverywhere(
        _ system: NetworkSystem, _ hold: Hold, _ engine: WaitingEngine
    ) async throws -> [Task<ClientError.Code?, Never>] {
        let places = WaitingPlace.allCases
        let calls = (0..<count).map { number in
            places[number % places.count].call(on: system, hold, number: number)
        }
        let sent = (0..<count).count { places[$0 % places.count] == .engine } + 1
        let held = (0..<count).count { number in
            let place = places[number % places.count]
            return place != .engine && !place.isShared
        }
        #expect(try await eventually { engine.count == sent && hold.count == held + 1 })
        #expect(system.runningCalls.count == count)
        return calls
    }

    @Test(.features("000-01")) func shutdownUnderLoadEndsEveryCallOnce() async throws {
        let (engine, hold) = (WaitingEngine(isStubborn: true), Hold())
        let system = try await WaitingPlace.system(hold, engine: engine)
        let events = system.events
        let calls = try await Self.startEverywhere(system, hold, engine)
        await system.shutdown(gracePeriod: .zero)
        #expect(system.runningCalls.isEmpty)
        let sent = engine.count
        for call in calls { #expect(await call.value == .notRunning) }
        // The released task sends nothing more.
        hold.letGo()
        engine.letGo()
        var ends: [CallIdentity.ID: Int] = [:]
        for await case .finished(let record) in events {
            ends[record.identity.id, default: 0] += 1
        }
        // A listener keeps the last 10,000 events.
        #expect(Self.isWhole || ends.count == Self.count)
        #expect(ends.values.allSatisfy { $0 == 1 })
        #expect(engine.count == sent)
    }

    @Test func callsThatWaitAnywhereAreCancelledAtOnce() async throws {
        let (engine, hold) = (WaitingEngine(isStubborn: true), Hold())
        let system = try await WaitingPlace.system(hold, engine: engine)
        let calls = try await Self.startEverywhere(system, hold, engine)
        #expect(system.cancelCalls(taggedWith: "all") == Self.count)
        for call in calls { #expect(await call.value == .cancelled) }
        #expect(system.runningCalls.isEmpty)
        hold.letGo()
        engine.letGo()
        await system.shutdown()
    }

    /// A second shutdown has less time.
    @Test func aSecondShutdownDoesNotWaitForTheFirst() async throws {
        let engine = WaitingEngine()
        let system = try await Self.system(engine)
        let call = Task {
            await Pipeline.code { () async throws(ClientError) in
                try await system.call(RESTRequest(.get, "/x"), on: "a")
            }
        }
        #expect(try await eventually { engine.count == 1 })
        async let slow: Void = system.shutdown(gracePeriod: .seconds(3600))
        #expect(try await eventually { !system.calls.isRunning })
        await system.shutdown(gracePeriod: .zero)
        #expect(await call.value == .notRunning)
        await slow
    }
}
