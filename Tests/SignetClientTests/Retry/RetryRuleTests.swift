import Foundation
import HTTPTypes
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// Retries don't send a POST twice, spend the tokens of other hosts, or trust a clock.
@Suite struct RetryRuleTests {
    private static let host = "api.example.com"
    private static let down = RecordingEngine.Response(failure: TransportError(.connect, "down"))
    private static let busy = RecordingEngine.Response(status: 503, body: "")

    private struct Each: AttemptInterceptor {
        let work: @Sendable (OutgoingCall, NextAttempt) async throws -> EngineResponse
        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            try await work(call, next)
        }
    }

    private static func options(
        _ work: @escaping @Sendable (OutgoingCall, NextAttempt) async throws -> EngineResponse
    ) -> RequestOptions {
        var options = RequestOptions()
        options.attemptInterceptors = [Each(work: work)]
        return options
    }

    private static func system(
        _ engine: any HTTPEngine, change: (inout NetworkSystem.Options) -> Void = { _ in }
    ) async throws -> NetworkSystem {
        try await Pipeline.system(engine) { options in
            options.clock.random = { 1 }
            options.clock.sleep = { _ in }
            change(&options)
        }
    }

    private static func call(
        _ system: NetworkSystem, _ method: HTTPRequest.Method = .get,
        _ options: RequestOptions = RequestOptions()
    ) async -> ClientError.Code? {
        await Pipeline.code { () async throws(ClientError) in
            try await system.call(RESTRequest(method, "/x"), on: "a", options: options)
        }
    }

    // MARK: Once

    /// The error says that nothing was sent, but it isn't the request's.
    @Test func aPostIsNotRetriedForAnInterceptorsError() async throws {
        let engine = RecordingEngine(responses: [.init(body: "1")])
        let system = try await Self.system(engine)
        let options = Self.options { call, next in
            _ = try await next(call)
            throw TransportError(.connect, "the interceptor's own server is down")
        }
        #expect(await Self.call(system, .post, options) == .connect)
        #expect(engine.count == 1)
        // A GET may arrive again.
        #expect(await Self.call(system, .get, options) == .connect)
        #expect(engine.count == 4)
        await system.shutdown()
    }

    /// The server may have seen the first request, and certainly not the second one.
    @Test func aPostRepeatedByAnInterceptorIsNotRetried() async throws {
        let engine = RecordingEngine(responses: [
            .init(failure: TransportError(.cutOff, "cut off")), Self.down,
        ])
        let system = try await Self.system(engine)
        let options = Self.options { call, next in
            do { return try await next(call) } catch { return try await next(call) }
        }
        #expect(await Self.call(system, .post, options) == .connect)
        #expect(engine.count == 2)
        await system.shutdown()
    }

    @Test func aMethodThatAnInterceptorChangesDecides() async throws {
        let engine = RecordingEngine(responses: [Self.busy])
        let system = try await Self.system(engine)
        var options = Self.options { call, next in
            var call = call
            call.request.method = .post
            return try await next(call)
        }
        #expect(await Self.call(system, .get, options) == .httpStatus)
        #expect(engine.count == 1)
        options.idempotency = .always
        #expect(await Self.call(system, .get, options) == .httpStatus)
        #expect(engine.count == 4)
        await system.shutdown()
    }

    @Test func aPostThatWasRedirectedIsNotSentAgain() async throws {
        let engine = RecordingEngine(responses: [
            .init(status: 307, body: "", fields: [.location: "/v1/y"]), Self.down,
        ])
        let system = try await Self.system(engine)
        #expect(await Self.call(system, .post) == .connect)
        #expect(engine.count == 2)
        await system.shutdown()
    }

    @Test func aStreamThatCanBeReadOnceIsNotAskedForAgain() async throws {
        let engine = RecordingEngine(responses: [Self.down])
        let system = try await Self.system(engine)
        let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
        producer.finish()
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.exchange(
                "a", method: .put, target: "/x", fields: [:], body: .stream(chunks))
        }
        #expect(code == .connect && engine.count == 1)
        await system.shutdown()
    }

    // MARK: The budget

    @Test func aCallWithoutTimeTakesNoTokens() async throws {
        let engine = RecordingEngine(responses: [Self.busy])
        let system = try await Self.system(engine)
        var options = RequestOptions(deadline: .seconds(2))
        options.retry = RetryStrategy()
        options.retry?.firstPause = .seconds(3)
        #expect(await Self.call(system, .get, options) == .httpStatus)
        #expect(system.pipeline.attempts.budget.tokens(for: .failed, of: Self.host) == 500)
        await system.shutdown()
    }

    @Test func aPauseThatIsCancelledGivesItsTokensBack() async throws {
        let engine = RecordingEngine(responses: [Self.busy])
        let system = try await Self.system(engine) { options in
            options.clock.sleep = { try await Task.sleep(for: $0) }
        }
        var options = RequestOptions()
        options.retry = RetryStrategy()
        options.retry?.firstPause = .seconds(3600)
        options.retry?.longestPause = .seconds(3600)
        let given = options
        let calls = (0..<30).map { _ in
            Task {
                await Pipeline.code { () async throws(ClientError) in
                    try await system.exchange(
                        "a", method: .get, target: "/x", fields: [:], body: [], options: given)
                }
            }
        }
        let budget = system.pipeline.attempts.budget
        #expect(try await eventually { budget.tokens(for: .failed, of: Self.host) == 80 })
        for call in calls { call.cancel() }
        for call in calls { #expect(await call.value == .cancelled) }
        #expect(try await eventually { budget.tokens(for: .failed, of: Self.host) == 500 })
        #expect(engine.count == 30)
        await system.shutdown()
    }

    @Test(arguments: [(200, 1), (404, 1), (500, 0), (501, 0), (503, 0)])
    func aFailureGivesNothingBack(_ status: Int, _ amount: Int) async throws {
        let engine = RecordingEngine(responses: [.init(status: status, body: "")])
        let system = try await Self.system(engine)
        let budget = system.pipeline.attempts.budget
        #expect(budget.withdraw(for: .failed, from: Self.host))
        _ = await Self.call(system, .post)
        #expect(budget.tokens(for: .failed, of: Self.host) == 486 + amount)
        await system.shutdown()
    }

    @Test func unsentRequestsTakeTokensOfTheirOwn() async throws {
        let engine = RecordingEngine(responses: [Self.down])
        let system = try await Self.system(engine)
        for _ in 0..<40 { #expect(await Self.call(system, .post) == .connect) }
        #expect(engine.count == 40 + 35)
        #expect(system.pipeline.attempts.budget.tokens(for: .unsent, of: Self.host) == 10)
        #expect(system.pipeline.attempts.budget.tokens(for: .failed, of: Self.host) == 500)
        await system.shutdown()
    }

    @Test func hostsDoNotShareABudget() async throws {
        var options = NetworkSystem.Options()
        let engine = RecordingEngine(responses: [Self.busy])
        options.engine = engine
        options.clock.sleep = { _ in }
        func service(_ host: String) -> ServiceConfiguration {
            ServiceConfiguration(baseURL: "https://\(host)", payloadProtocol: .rest)
        }
        let system = try await NetworkSystem.start(
            services: ["a": service("a.example.com"), "b": service("b.example.com")],
            policy: .allowingAll(), options: options)
        for _ in 0..<50 { _ = await Self.call(system) }
        #expect(engine.count == 50 + 35)
        let budget = system.pipeline.attempts.budget
        #expect(budget.tokens(for: .failed, of: "a.example.com") == 10)
        #expect(budget.tokens(for: .failed, of: "b.example.com") == 500)
        await system.shutdown()
    }

    /// Each attempt brings bytes, so that it may continue, but not as often as there are calls.
    @Test func downloadsThatContinueAreWithinTheBudget() async throws {
        let engine = CuttingEngine()
        let system = try await Self.system(engine)
        let folder = try TemporaryDirectory()
        for number in 0..<40 {
            let code = await Pipeline.code { () async throws(ClientError) in
                try await system.download("a", target: "/x", to: folder.path("\(number)"))
            }
            #expect(code == .cutOff)
        }
        #expect(engine.count == 40 + 35)
        await system.shutdown()
    }

    /// Sends one byte of two, and is cut off.
    private final class CuttingEngine: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "cutting", pinsPublicKeys: true, speaksHTTP2: false)
        private let asked = Mutex(0)
        var count: Int { asked.withLock { $0 } }

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            asked.withLock { $0 += 1 }
            let buffer = BodyBuffer(capacity: 100, drained: {}, abandoned: {})
            _ = buffer.offer([1])
            buffer.finish(TransportError(.cutOff, "cut off"))
            return EngineResponse(
                response: HTTPResponse(status: .ok, headerFields: [.contentLength: "2"]),
                body: HTTPResponseBody(buffer), httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async {}
    }

    // MARK: Clocks

    /// The wall clock jumps by years between any two looks. Pauses stay in their limits, a date
    /// that is too far away ends the attempts, and deadlines and durations are of another clock.
    @Test func aClockThatJumpsChangesOnlyPauses() async throws {
        let times: [Int64] = [0, 4_000_000_000, -5_000_000_000, .max / 4, 1_000, 784_111_777]
        let looks = Mutex(0)
        let pauses = RetryTests.Pauses()
        let engine = RecordingEngine(responses: [
            .init(
                status: 503, body: "", fields: [.retryAfter: "Sun, 06 Nov 1994 08:49:37 GMT"])
        ])
        let system = try await Self.system(engine) { options in
            options.clock.now = {
                times[
                    looks.withLock { looks in
                        looks += 1
                        return looks % times.count
                    }]
            }
            options.clock.sleep = { pauses.add($0) }
        }
        let events = system.events
        for _ in 0..<12 {
            #expect(
                await Self.call(system, .get, RequestOptions(deadline: .seconds(60))) == .httpStatus
            )
        }
        await system.shutdown()
        #expect((1...24).contains(pauses.all.count))
        #expect(pauses.all.allSatisfy { $0 >= .milliseconds(100) && $0 <= .milliseconds(5200) })
        for await case .finished(let record) in events {
            #expect(record.duration >= .zero && record.duration < .seconds(60))
        }
    }

    @Test func theLongestDurationsDoNotOverflow() async throws {
        let pauses = RetryTests.Pauses()
        let engine = RecordingEngine(responses: [Self.busy])
        let system = try await Self.system(engine) { $0.clock.sleep = { pauses.add($0) } }
        var options = RequestOptions()
        options.attempts = 10
        options.retry = RetryStrategy()
        options.retry?.firstPause = .seconds(Int64.max / 2)
        options.retry?.longestPause = .seconds(Int64.max)
        #expect(await Self.call(system, .get, options) == .httpStatus)
        #expect(pauses.all.count == 9 && pauses.all.allSatisfy { $0 > .seconds(1) })
        await system.shutdown()
    }

    @Test(arguments: [(-1, 5000), (0, -1)])
    func aPauseBelowZeroIsRefused(_ first: Int, _ longest: Int) async throws {
        let engine = RecordingEngine()
        let system = try await Self.system(engine)
        var options = RequestOptions()
        var retry = RetryStrategy()
        retry.firstPause = .milliseconds(first)
        retry.longestPause = .milliseconds(longest)
        options.retry = retry
        #expect(await Self.call(system, .get, options) == .invalidOptions)
        #expect(engine.count == 0)
        await system.shutdown()
    }
}
