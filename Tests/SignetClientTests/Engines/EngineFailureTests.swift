import HTTPTypes
import SignetClient
import SignetSystem
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// Engines that fail or are slow, under a clock that a test sets.
@Suite struct EngineFailureTests {
    /// A monotonic clock that advances only when a test moves it.
    private final class Clock: Sendable {
        private let time = Mutex(MonotonicTime.now)
        var now: MonotonicTime { time.withLock { $0 } }
        func advance(_ duration: Duration) { time.withLock { $0 = $0 + duration } }
    }

    /// An engine whose responses take some time of a clock.
    private final class SlowEngine: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "slow", pinsPublicKeys: true, speaksHTTP2: false)
        private let clock: Clock
        private let state: Mutex<(delay: Duration, failure: TransportError.Code?, count: Int)>

        init(_ clock: Clock, _ delay: Duration) {
            self.clock = clock
            state = Mutex((delay, nil, 0))
        }

        var count: Int { state.withLock { $0.count } }

        func set(_ delay: Duration, failure: TransportError.Code? = nil) {
            state.withLock { ($0.delay, $0.failure) = (delay, failure) }
        }

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            let (delay, failure) = state.withLock { state in
                state.count += 1
                return (state.delay, state.failure)
            }
            clock.advance(delay)
            if let failure { throw TransportError(failure, "it fails") }
            return EngineResponse(
                response: HTTPResponse(status: .ok), body: HTTPResponseBody(bytes: Array("1".utf8)),
                httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async {}
    }

    private let clock = Clock()

    private func system(
        _ first: any HTTPEngine, _ second: any HTTPEngine, _ choice: EngineChoice,
        attempts: Int = 1, mode: RunMode = .production
    ) async throws -> NetworkSystem {
        try await Pipeline.system(first) { options in
            options.engines["second"] = second
            options.callOptions.engine = choice
            options.clock.instant = { [clock] in clock.now }
            options.clock.sleep = { [clock] in clock.advance($0) }
            options.runMode = mode
        } changeService: {
            $0.attempts = attempts
        }
    }

    private func call(
        _ system: NetworkSystem, _ method: HTTPRequest.Method = .post
    ) async -> ClientError.Code? {
        await Pipeline.code { () async throws(ClientError) in
            try await system.call(RESTRequest(method, "/x"), on: "a")
        }
    }

    private static let fallback = EngineChoice(
        fallback: .init("second", failures: 2, time: .seconds(60)))

    @Test(.features("000-45")) func anEngineThatFailsRestsForAWhile() async throws {
        let (first, second) = (RecordingEngine(failingFirst: 3), RecordingEngine())
        let system = try await system(first, second, Self.fallback)
        #expect(await call(system) == .connect)
        #expect(await call(system) == .connect)
        #expect(await call(system) == nil)
        clock.advance(.seconds(59))
        #expect(await call(system) == nil)
        #expect(first.count == 2 && second.count == 2)
        // It gets a call again, and one more failure is enough.
        clock.advance(.seconds(1))
        #expect(await call(system) == .connect)
        #expect(await call(system) == nil)
        #expect(first.count == 3 && second.count == 3)
        // A response makes it whole.
        clock.advance(.seconds(60))
        for _ in 0..<3 { #expect(await call(system) == nil) }
        #expect(first.count == 6 && second.count == 3)
        await system.shutdown()
    }

    @Test(.features("000-45")) func aLaterAttemptGoesThroughTheOtherEngine() async throws {
        let (first, second) = (RecordingEngine(failingFirst: 9), RecordingEngine())
        let system = try await system(first, second, Self.fallback, attempts: 3)
        var options = RequestOptions()
        let trace = CallTrace()
        options.trace = trace
        _ = try await system.call(RESTRequest(.post, "/x"), on: "a", options: options)
        let engines = trace.attempts.flatMap(\.hops).map { $0.engine?.description }
        #expect(engines == ["standard (chosen)", "standard (chosen)", "second (fallback)"])
        await system.shutdown()
    }

    @Test func failuresApartFromEachOtherDoNotCount() async throws {
        let down = RecordingEngine.Response(failure: TransportError(.connect, "down"))
        let good = RecordingEngine.Response()
        let first = RecordingEngine(responses: [down, good, down, good, down, good])
        let second = RecordingEngine()
        let system = try await system(first, second, Self.fallback)
        for _ in 0..<3 {
            #expect(await call(system) == .connect)
            #expect(await call(system) == nil)
        }
        #expect(second.count == 0)
        await system.shutdown()
    }

    /// A request that may have arrived is never given to another engine, unless it is idempotent.
    @Test(arguments: [(HTTPRequest.Method.post, 0), (.patch, 0), (.get, 1)])
    func onlyIdempotentCallsReachTwoEngines(_ method: HTTPRequest.Method, _ count: Int)
        async throws
    {
        let first = SlowEngine(clock, .zero)
        let second = RecordingEngine()
        let choice = EngineChoice(candidates: ["second"])
        let system = try await system(first, second, choice, attempts: 2)
        // The other one is measured, so that the first, not yet measured, is next.
        first.set(.zero, failure: .cutOff)
        let other = RequestOptions.choosing("second", rival: "second")
        _ = try await system.call(RESTRequest(.get, "/x"), on: "a", options: other)
        let before = second.count
        _ = await call(system, method)
        #expect(first.count == 1 && second.count == before + count)
        await system.shutdown()
    }

    @Test(arguments: [
        TransportError.Code.offline, .tls, .pinMismatch, .unlistedHost, .cutOff, .timeout,
        .malformedResponse, .proxy, .invalidRequest, .trustStore,
    ])
    func otherFailuresAreNotTheEngines(_ code: TransportError.Code) async throws {
        let failure = RecordingEngine.Response(failure: TransportError(code, "no"))
        let (first, second) = (RecordingEngine(responses: [failure]), RecordingEngine())
        let system = try await system(first, second, Self.fallback)
        for _ in 0..<4 { #expect(await call(system)?.name == code.name) }
        #expect(first.count == 4 && second.count == 0)
        await system.shutdown()
    }

    @Test func anEngineFailsForOneHostOnly() async throws {
        let (first, second) = (RecordingEngine(failingFirst: 2), RecordingEngine())
        var options = NetworkSystem.Options()
        options.engine = first
        options.engines["second"] = second
        options.callOptions.engine = Self.fallback
        func service(_ host: String) -> ServiceConfiguration {
            ServiceConfiguration(
                baseURL: "https://\(host)/", payloadProtocol: .rest, attempts: 1)
        }
        let system = try await NetworkSystem.start(
            services: ["a": service("a.test"), "b": service("b.test")], policy: .allowingAll(),
            options: options)
        for _ in 0..<2 { #expect(await call(system) == .connect) }
        _ = try await system.call(RESTRequest(.get, "/x"), on: "b")
        #expect(first.count == 3 && second.count == 0)
        #expect(await call(system) == nil)
        #expect(second.count == 1)
        await system.shutdown()
    }

    // MARK: Speed

    @Test(.features("000-45")) func theFastestEngineSends() async throws {
        let first = SlowEngine(clock, .milliseconds(30))
        let second = SlowEngine(clock, .milliseconds(10))
        let system = try await system(first, second, EngineChoice(candidates: ["second"]))
        for _ in 0..<10 { #expect(await call(system) == nil) }
        #expect(first.count == 1 && second.count == 9)
        // The second one becomes slow.
        second.set(.milliseconds(500))
        for _ in 0..<5 { #expect(await call(system) == nil) }
        #expect(first.count == 5 && second.count == 10)
        // Both are measured again.
        second.set(.milliseconds(1))
        clock.advance(.seconds(61))
        for _ in 0..<2 { #expect(await call(system) == nil) }
        #expect(first.count == 6 && second.count == 11)
        await system.shutdown()
    }

    /// Neither a failure that a switch makes nor its delay is one of the engine.
    @Test(
        .enabled(if: RunMode.isSwitchable),
        arguments: [
            FailureSimulation(failureRate: 1), FailureSimulation(timesOut: true),
            FailureSimulation(delay: .seconds(1)),
        ])
    func aSwitchDoesNotSlowAnEngine(_ simulation: FailureSimulation) async throws {
        let first = SlowEngine(clock, .milliseconds(10))
        let second = SlowEngine(clock, .milliseconds(30))
        let choice = EngineChoice(candidates: ["second"])
        let system = try await system(first, second, choice, mode: .development)
        for _ in 0..<3 { #expect(await call(system) == nil) }
        var switches = DebugSwitches()
        switches.simulation = simulation
        try system.update(switches: switches)
        _ = await call(system)
        try system.update(switches: DebugSwitches())
        #expect(await call(system) == nil)
        #expect(second.count == 1)
        await system.shutdown()
    }

    @Test(arguments: [
        TransportError.Code.connect, .timeout, .cutOff, .invalidRequest, .unsupportedTrailers,
    ])
    func aFastFailureDoesNotWin(_ code: TransportError.Code) async throws {
        let first = SlowEngine(clock, .milliseconds(30))
        let second = SlowEngine(clock, .milliseconds(1))
        second.set(.milliseconds(1), failure: code)
        let system = try await system(first, second, EngineChoice(candidates: ["second"]))
        for _ in 0..<10 { _ = await call(system) }
        #expect(second.count == 1 && first.count == 9)
        // It recovers.
        second.set(.milliseconds(1))
        clock.advance(.seconds(61))
        for _ in 0..<10 { #expect(await call(system) == nil) }
        #expect(second.count == 10 && first.count == 10)
        await system.shutdown()
    }
}

extension RequestOptions {
    /// Options whose only engine is measured.
    fileprivate static func choosing(_ name: EngineName, rival: EngineName) -> RequestOptions {
        var options = RequestOptions()
        options.engine = EngineChoice(name, candidates: [rival])
        return options
    }
}
