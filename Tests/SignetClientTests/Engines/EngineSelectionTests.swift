import HTTPTypes
import SignetClient
import SignetPinning
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// Several engines by name: which one sends a call, and the entry in the call's trace.
@Suite struct EngineSelectionTests {
    private let one = RecordingEngine()
    private let two = RecordingEngine()

    private func system(
        _ choice: EngineChoice?, service: EngineChoice? = nil, random: Double = 0.5
    ) async throws -> NetworkSystem {
        try await Pipeline.system(one) { options in
            options.engines["two"] = two
            options.callOptions.engine = choice
            options.clock.random = { random }
        } changeService: {
            $0.options.engine = service
        }
    }

    /// Makes a call, and returns the engines of its requests.
    private func call(
        _ system: NetworkSystem, _ method: HTTPRequest.Method = .get, _ engine: EngineChoice? = nil
    ) async -> (code: ClientError.Code?, engines: [String]) {
        var options = RequestOptions()
        options.engine = engine
        let trace = CallTrace()
        options.trace = trace
        let given = options
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.call(RESTRequest(method, "/x"), on: "a", options: given)
        }
        let hops = trace.attempts.flatMap(\.hops)
        return (code, hops.map { $0.engine?.description ?? "none" })
    }

    @Test(.features("000-43", "000-44")) func theLaterLevelChoosesTheEngine() async throws {
        let plain = try await system(nil)
        #expect(await call(plain) == (nil, ["standard (standard)"]))
        let byService = try await system(EngineChoice("standard"), service: EngineChoice("two"))
        #expect(await call(byService) == (nil, ["two (chosen)"]))
        #expect(await call(byService, .get, EngineChoice()) == (nil, ["standard (chosen)"]))
        #expect(one.count == 2 && two.count == 1)
        #expect(try byService.callOptions(for: "a").engine == EngineChoice("two"))
        await plain.shutdown()
        await byService.shutdown()
    }

    @Test(.features("000-43")) func theRecordOfACallNamesTheEngine() async throws {
        let system = try await system(nil, service: EngineChoice("two"))
        var events = system.events.makeAsyncIterator()
        #expect(await call(system).code == nil)
        var record: CallRecord?
        while record == nil, let event = await events.next() {
            if case .finished(let whole) = event { record = whole }
        }
        let use = try #require(record?.attempts.first?.hops.first?.engine)
        #expect(use.engine == "two" && use.reason == .chosen)
        await system.shutdown()
    }

    @Test(
        .features("000-45"),
        arguments: [(0.0, true), (0.0499, true), (0.05, false), (0.999, false)])
    func aTrialGetsItsShareOfTheCalls(_ random: Double, _ isTried: Bool) async throws {
        let choice = EngineChoice(.standard, trial: .init("two", percent: 5))
        let system = try await system(choice, random: random)
        #expect(
            await call(system).engines == [isTried ? "two (trial)" : "standard (chosen)"])
        #expect(two.count == (isTried ? 1 : 0))
        await system.shutdown()
    }

    @Test(arguments: [(0.0, false), (100.0, true)])
    func aShareMayBeNothingOrAll(_ percent: Double, _ isTried: Bool) async throws {
        for random in [0, 0.9999] {
            let choice = EngineChoice(.standard, trial: .init("two", percent: percent))
            let system = try await system(choice, random: random)
            #expect(
                await call(system).engines == [isTried ? "two (trial)" : "standard (chosen)"])
            await system.shutdown()
        }
    }

    @Test func allAttemptsOfACallBelongToTheTrial() async throws {
        // The trial is chosen by the first number; by a later one it would not be.
        let next = Mutex(0.0)
        let failing = RecordingEngine(failingFirst: 2)
        let system = try await Pipeline.system(one) { options in
            options.engines["two"] = failing
            options.callOptions.engine = EngineChoice(trial: .init("two", percent: 50))
            options.clock.random = {
                next.withLock { next in
                    defer { next = 0.9 }
                    return next
                }
            }
            options.clock.sleep = { _ in }
        }
        let (code, engines) = await call(system)
        #expect(code == nil && engines == Array(repeating: "two (trial)", count: 3))
        await system.shutdown()
    }

    // MARK: Refused

    private static let unusable: [EngineChoice] = [
        EngineChoice("three"), EngineChoice("Two"), EngineChoice(""), EngineChoice("two "),
        EngineChoice(trial: .init("three", percent: 1)),
        EngineChoice(candidates: ["two", "three"]),
        EngineChoice(fallback: .init("three")), EngineChoice(trial: .init("two", percent: -1)),
        EngineChoice(trial: .init("two", percent: 100.1)),
        EngineChoice(trial: .init("two", percent: .nan)),
        EngineChoice(fallback: .init("two", failures: 0)),
        EngineChoice(fallback: .init("two", time: .zero)),
    ]

    @Test(arguments: unusable.indices) func anUnusableChoiceSendsNothing(_ index: Int) async throws
    {
        let choice = Self.unusable[index]
        let system = try await system(nil)
        #expect(await call(system, .get, choice) == (.invalidOptions, []))
        await system.shutdown()
        let codes = [
            await Pipeline.code { () async throws(ClientError) in try await started(choice, nil) },
            await Pipeline.code { () async throws(ClientError) in try await started(nil, choice) },
        ]
        #expect(codes == [.invalidOptions, .invalidService])
        #expect(one.count == 0 && two.count == 0)
    }

    private func started(
        _ choice: EngineChoice?, _ service: EngineChoice?
    ) async throws(ClientError) -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.engine = one
        options.engines["two"] = two
        options.callOptions.engine = choice
        var configuration = ServiceConfiguration(
            baseURL: "https://api.example.com/", payloadProtocol: .rest)
        configuration.options.engine = service
        return try await NetworkSystem.start(
            services: ["a": configuration], policy: PinPolicy.allowingNothing, options: options)
    }

    // MARK: Pins

    @Test(
        .features("000-44", "000-45"),
        arguments: [
            EngineChoice("weak"), EngineChoice(trial: .init("weak", percent: 100)),
            EngineChoice("weak", fallback: .init("standard")),
            EngineChoice("down", fallback: .init("weak", failures: 1)),
            EngineChoice("down", candidates: ["weak"]),
        ])
    func anUnpinningEngineNeverCallsAPinnedHost(_ choice: EngineChoice) async throws {
        let weak = RecordingEngine(pins: false)
        let down = RecordingEngine(failingFirst: 1)
        var options = NetworkSystem.Options()
        options.engine = one
        options.engines["weak"] = weak
        options.engines["down"] = down
        options.callOptions.engine = choice
        options.clock.sleep = { _ in }
        let pin = try Pin(bytes: [UInt8](repeating: 1, count: 32))
        let system = try await NetworkSystem.start(
            services: [
                "a": ServiceConfiguration(
                    baseURL: "https://api.example.com/", payloadProtocol: .rest)
            ], policy: PinPolicy(rules: [PinRule(host: "api.example.com", pins: [pin])]),
            options: options)
        #expect(await call(system, .post).code == .engineCannotPin)
        #expect(weak.count == 0 && one.count == 0)
        await system.shutdown()
    }
}

extension PinPolicy {
    /// A policy under which no host is spoken to.
    fileprivate static var allowingNothing: PinPolicy? { try? PinPolicy(rules: []) }
}
