import HTTPTypes
import SignetClient
import SignetJSON
import SignetPinning
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// A service given as a value, on an engine with scripted responses.
enum Pipeline {
    static func system(
        _ engine: any HTTPEngine, payload: ServiceConfiguration.PayloadProtocol = .rest,
        changeOptions: (inout NetworkSystem.Options) -> Void = { _ in },
        changeService: (inout ServiceConfiguration) -> Void = { _ in }
    ) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.engine = engine
        changeOptions(&options)
        var service = ServiceConfiguration(
            baseURL: "https://api.example.com/v1", payloadProtocol: payload)
        changeService(&service)
        return try await NetworkSystem.start(
            services: ["a": service], policy: .allowingAll(), options: options)
    }

    static func code(
        _ work: () async throws(ClientError) -> some Sendable
    ) async -> ClientError.Code? {
        do throws(ClientError) {
            _ = try await work()
            return nil
        } catch {
            return error.code
        }
    }
}

/// An engine that doesn't respond until a test releases it or its task is cancelled.
final class WaitingEngine: HTTPEngine {
    let capabilities: EngineCapabilities
    private let waiting = AsyncStream<Void>.makeStream()
    private let asked = Mutex(0)
    /// Whether the engine ignores the cancellation of its tasks.
    let isStubborn: Bool
    private let held = Mutex<[CheckedContinuation<Void, Never>]>([])

    init(isStubborn: Bool = false, pins: Bool = true) {
        self.isStubborn = isStubborn
        capabilities = EngineCapabilities(
            name: "waiting", pinsPublicKeys: pins, speaksHTTP2: false)
    }

    var count: Int { asked.withLock { $0 } }

    func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        if isStubborn {
            await withCheckedContinuation { continuation in
                held.withLock { $0.append(continuation) }
                asked.withLock { $0 += 1 }
            }
        } else {
            asked.withLock { $0 += 1 }
            do {
                try await Task.sleep(for: .seconds(3600))
            } catch {
                throw TransportError(.cancelled, "cancelled")
            }
        }
        return EngineResponse(
            response: HTTPResponse(status: .ok), body: ResponseBody(bytes: Array("1".utf8)),
            httpVersion: .init(major: 1, minor: 1))
    }

    func letGo() { for continuation in held.withLock({ $0 }) { continuation.resume() } }

    func shutdown() async {}
}

@Suite struct CallOptionsTests {
    @Test func theLaterLevelWins() throws {
        var system = CallOptions(scenario: "a", deadline: .seconds(9), tags: ["system"])
        system.fields = [.accept: "a/a", .userAgent: "system"]
        system.attempts = 5
        system.responseChecks = [BusinessCodeCheck(field: "code", goodCodes: [0])]
        var call = CallOptions(deadline: .seconds(1), isIdempotent: true, tags: ["call"])
        call.fields = [.accept: "b/b"]
        call.responseChecks = []
        let merged = system.merging(call)
        #expect(merged.scenario == "a" && merged.deadline == .seconds(1))
        #expect(merged.attempts == 5 && merged.isIdempotent == true)
        #expect(merged.tags == ["system", "call"])
        #expect(merged.fields[values: .accept] == ["b/b"])
        #expect(merged.fields[.userAgent] == "system")
        #expect(merged.responseChecks?.isEmpty == true)
        let other = call.merging(system)
        #expect(other.deadline == .seconds(9) && other.isIdempotent == true)
        #expect(other.fields[values: .accept] == ["a/a"])
        #expect(other.responseChecks?.count == 1)
    }

    @Test func theMergedOptionsOfAServiceCanBeLookedAt() async throws {
        let system = try await Pipeline.system(RecordingEngine()) { options in
            options.callOptions.deadline = .seconds(40)
            options.callOptions.timeout = .seconds(4)
            options.callOptions.tags = ["system"]
        } changeService: { service in
            service.timeout = .seconds(7)
            service.options.tags = ["service"]
        }
        let merged = try system.callOptions(for: "a", merging: CallOptions(tags: ["call"]))
        #expect(merged.timeout == .seconds(7) && merged.deadline == .seconds(40))
        #expect(merged.tags == ["system", "service", "call"])
        #expect(
            await Pipeline.code { () throws(ClientError) in try system.callOptions(for: "b") }
                == .unknownService)
        let wrong = CallOptions(scenario: "none")
        #expect(
            await Pipeline.code { () throws(ClientError) in
                try system.callOptions(for: "a", merging: wrong)
            } == .unknownScenario)
        await system.shutdown()
    }

    @Test(arguments: ["deadline", "timeout", "connectTimeout", "attempts", "attempts11", "size"])
    func wrongValuesSendNothing(_ name: String) async throws {
        var options = CallOptions()
        switch name {
        case "deadline": options.deadline = .zero
        case "timeout": options.timeout = .seconds(-1)
        case "connectTimeout": options.connectTimeout = .zero
        case "attempts": options.attempts = 0
        case "attempts11": options.attempts = 11
        default: options.maximumResponseSize = 0
        }
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine)
        let given = options
        #expect(
            await Pipeline.code { () async throws(ClientError) in
                try await system.call(RESTRequest(.get, "/x"), on: "a", options: given)
            } == .invalidOptions)
        #expect(engine.count == 0)
        await system.shutdown()
    }

    @Test(.features("001-02")) func theRequestsOwnFieldWins() async throws {
        let engine = RecordingEngine(responses: [.init(body: "1")])
        let system = try await Pipeline.system(engine) { _ in
        } changeService: { service in
            service.commonFields = [.authorization: "common"]
        }
        _ = try await system.exchange(
            "a", method: .get, target: "/x", fields: [.authorization: "own"], body: [])
        #expect(engine.requests[0].request.headerFields[values: .authorization] == ["own"])
        await system.shutdown()
    }

    @Test func aCallsOptionsWinOverItsEndpoints() async throws {
        struct Pay: Endpoint {
            typealias Success = Int
            var service: Service { "a" }
            var method: RPCMethod { "pay" }
            var amount: Int
            var callOptions: CallOptions { CallOptions(isIdempotent: true, tags: ["pay"]) }
        }
        let engine = RecordingEngine(responses: [
            .init(status: 503, body: ""), .init(body: #"{"jsonrpc":"2.0","id":1,"result":7}"#),
            .init(status: 503, body: ""),
        ])
        let system = try await Pipeline.system(engine, payload: .jsonRPC2) {
            $0.clock.sleep = { _ in }
        }
        #expect(try await system.send(Pay(amount: 1)) == 7)
        #expect(engine.count == 2)
        // The computed property `options` isn't sent as a parameter.
        let params = try JSONValue(parsing: engine.requests[0].bytes)["params"]
        #expect(params == ["amount": 1])
        let error = await #expect(throws: ClientError.self) {
            try await system.send(Pay(amount: 1), options: CallOptions(isIdempotent: false))
        }
        #expect(error?.status == 503 && error?.identity?.tags == ["pay"] && engine.count == 3)
        await system.shutdown()
    }

    @Test func aServiceWithACodeOfItsOwnChecksNothing() async throws {
        let engine = RecordingEngine(responses: [.init(body: #"{"code":"EUR"}"#)])
        let check = BusinessCodeCheck(field: "code", goodCodes: [0])
        let strict = try await Pipeline.system(engine) { $0.callOptions.responseChecks = [check] }
        #expect(
            await Pipeline.code { () async throws(ClientError) in
                try await strict.call(RESTRequest(.get, "/x"), on: "a")
            } == .businessCode)
        let lenient = try await Pipeline.system(engine) {
            $0.callOptions.responseChecks = [check]
        } changeService: {
            $0.options.responseChecks = []
        }
        #expect(try await lenient.call(RESTRequest(.get, "/x"), on: "a").status == 200)
        await strict.shutdown()
        await lenient.shutdown()
    }

    @Test(.features("000-24", "002-25")) func anErrorNamesItsCall() async throws {
        let engine = RecordingEngine(responses: [.init(status: 404, body: "no")])
        let system = try await Pipeline.system(engine)
        let error = await #expect(throws: ClientError.self) {
            try await system.call(
                RESTRequest(.get, "/x", query: ["token": "ZZZZZZ"]), on: "a",
                options: CallOptions(tags: ["t"]))
        }
        #expect(error?.identity?.service == "a" && error?.identity?.method == "GET")
        #expect(error?.identity?.tags == ["t"] && error?.attempts == 1)
        #expect(error?.url == "https://api.example.com/v1/x")
        var text = "\(String(describing: error))"
        dump(error, to: &text)
        #expect(!text.contains("ZZZZZZ"))
        await system.shutdown()
    }
}

/// Ends that come from outside: cancellation, owners, deadlines, shutdown.
@Suite struct RunningCallTests {
    private static func start(
        _ system: NetworkSystem, _ options: CallOptions = CallOptions()
    ) -> Task<ClientError.Code?, Never> {
        Task {
            await Pipeline.code { () async throws(ClientError) in
                try await system.call(RESTRequest(.get, "/x"), on: "a", options: options)
            }
        }
    }

    @Test(.features("001-12", "002-25", "002-28"))
    func callsAreListedAndCancelledByIDTagAndService() async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine)
        let one = Self.start(system, CallOptions(tags: ["one"]))
        #expect(try await eventually { engine.count == 1 })
        let two = Self.start(system, CallOptions(tags: ["two"]))
        let three = Self.start(system)
        #expect(try await eventually { engine.count == 3 })
        let running = system.runningCalls
        #expect(running.count == 3 && running[0].tags == ["one"])
        #expect(Set(running.map(\.id)).count == 3)
        #expect(system.cancelCalls(taggedWith: "none") == 0)
        #expect(system.cancelCalls(of: "b") == 0)
        #expect(system.cancelCall(running[0].id))
        #expect(await one.value == .cancelled)
        #expect(system.cancelCalls(taggedWith: "two") == 1)
        #expect(await two.value == .cancelled)
        #expect(system.cancelCalls(of: "a") == 1)
        #expect(await three.value == .cancelled)
        #expect(system.runningCalls.isEmpty)
        #expect(!system.cancelCall(running[0].id))
        await system.shutdown()
    }

    @Test(.features("003-03", "003-04")) func anOwnersEndCancelsItsCallsAlone() async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine)
        var owner: CallOwner? = CallOwner()
        let owned = Self.start(system, CallOptions(owner: owner))
        let other = Self.start(system)
        #expect(try await eventually { engine.count == 2 })
        let options = CallOptions(owner: owner)
        owner = nil
        #expect(await owned.value == .cancelled)
        #expect(system.runningCalls.count == 1)
        // An owner that is gone starts no call.
        #expect(await Self.start(system, options).value == .cancelled)
        #expect(engine.count == 2)
        other.cancel()
        #expect(await other.value == .cancelled)
        await system.shutdown()
    }

    @Test(arguments: [false, true])
    func shutdownEndsWaitingCalls(_ isStubborn: Bool) async throws {
        let engine = WaitingEngine(isStubborn: isStubborn)
        let system = try await Pipeline.system(engine)
        let calls = (0..<20).map { _ in Self.start(system) }
        #expect(try await eventually { engine.count == 20 })
        await system.shutdown(gracePeriod: .zero)
        for call in calls { #expect(await call.value == .notRunning) }
        #expect(await Self.start(system).value == .notRunning)
        engine.letGo()
    }

    @Test func aCancelledCallReturnsWithoutItsEngine() async throws {
        let engine = WaitingEngine(isStubborn: true)
        let system = try await Pipeline.system(engine)
        let call = Self.start(system)
        #expect(try await eventually { engine.count == 1 })
        call.cancel()
        #expect(await call.value == .cancelled)
        #expect(system.runningCalls.isEmpty)
        engine.letGo()
        await system.shutdown()
    }

    @Test(arguments: [false, true])
    func theDeadlineEndsAllWork(_ isStubborn: Bool) async throws {
        let engine = WaitingEngine(isStubborn: isStubborn)
        let system = try await Pipeline.system(engine)
        #expect(
            await Self.start(system, CallOptions(deadline: .milliseconds(20))).value == .timeout)
        engine.letGo()
        await system.shutdown()
    }

    @Test(.features("002-25")) func tenThousandCallsCancelledAtOnceEndOnce() async throws {
        let engine = WaitingEngine()
        let system = try await Pipeline.system(engine)
        let calls = (0..<10_000).map { _ in Self.start(system, CallOptions(tags: ["all"])) }
        #expect(try await eventually { system.runningCalls.count == 10_000 })
        #expect(system.cancelCalls(taggedWith: "all") == 10_000)
        for call in calls { #expect(await call.value == .cancelled) }
        await system.shutdown()
    }
}
