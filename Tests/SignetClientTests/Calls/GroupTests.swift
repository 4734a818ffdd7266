import HTTPTypes
import SignetClient
import SignetJSON
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// Returns each call's parameter `id`, fails the calls with listed ids, and delays those that a
/// test chooses.
private final class NumberEngine: HTTPEngine {
    private struct State {
        var running = 0
        var most = 0
        var asked: [Int] = []
    }

    let capabilities = EngineCapabilities(
        name: "numbers", pinsPublicKeys: true, speaksHTTP2: false)
    private let state = Mutex(State())
    private let failing: Set<Int>
    private let held: Set<Int>
    /// Held back until so many calls run at once, or have been asked for.
    private let crowd: Int

    init(failing: Set<Int> = [], held: Set<Int> = [], crowd: Int = 1) {
        self.failing = failing
        self.held = held
        self.crowd = crowd
    }

    var asked: [Int] { state.withLock { $0.asked } }
    /// The largest number of calls that ran at once.
    var most: Int { state.withLock { $0.most } }

    func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        let call = try? JSONValue(parsing: request.body.bytes ?? [])
        let path = request.request.path ?? ""
        let id =
            call?["params"]?["id"].flatMap { Int($0.text) } ?? Int(
                path.drop { $0 != "=" }.dropFirst()) ?? 0
        state.withLock { state in
            state.asked.append(id)
            state.running += 1
            state.most = max(state.most, state.running)
        }
        defer { state.withLock { $0.running -= 1 } }
        do {
            if held.contains(id) { try await Task.sleep(for: .seconds(3600)) }
            // Later ids respond first.
            while state.withLock({ $0.asked.count }) < crowd {
                try await Task.sleep(for: .milliseconds(1))
            }
            for _ in 0..<max(0, 50 - id) { await Task.yield() }
        } catch {
            throw TransportError(.cancelled, "cancelled")
        }
        if failing.contains(id) { throw TransportError(.timeout, "id \(id)") }
        let body =
            call?["id"].map { #"{"jsonrpc":"2.0","id":\#($0.text),"result":\#(id)}"# } ?? "\(id)"
        return EngineResponse(
            response: HTTPResponse(status: .ok), body: HTTPResponseBody(bytes: Array(body.utf8)),
            httpVersion: .init(major: 1, minor: 1))
    }

    func shutdown() async {}
}

@Suite struct GroupTests {
    private struct Number: Endpoint {
        typealias Success = Int
        var service: ServiceName { "rpc" }
        var method: RPCMethod { "number" }
        var id: Int
    }

    private struct Resource: RESTEndpoint {
        typealias Success = Int
        var service: ServiceName { "rest" }
        var httpMethod: HTTPRequest.Method { .get }
        var path: PathTemplate { "/number" }
        var id: Int
    }

    private static func system(_ engine: any HTTPEngine) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.engine = engine
        return try await NetworkSystem.start(
            services: [
                "rpc": .init(
                    baseURL: "https://api.example.com/rpc", payloadProtocol: .jsonRPC2),
                "rest": .init(baseURL: "https://api.example.com/v1", payloadProtocol: .rest),
            ], policy: .allowingAll(), options: options)
    }

    private static func codes(_ outcomes: [Result<Int, ClientError>]) -> [String] {
        outcomes.map { outcome in
            switch outcome {
            case .success(let value): "\(value)"
            case .failure(let error): error.code.name
            }
        }
    }

    /// Swift infers no typed throws for a closure with several statements.
    @Test func aClosureMayHaveSeveralStatements() async throws {
        let system = try await Pipeline.system(RecordingEngine(responses: [.init(body: "1")]))
        let values = try await system.values(of: Array(1...5)) { number in
            let value: Int = try await system.send(.get("/x", on: "a"))
            return value + number
        }
        #expect(values == [2, 3, 4, 5, 6])
        struct Odd: Error {}
        let outcomes = await system.outcomes(of: [1, 2]) { number in
            if number == 2 { throw Odd() }
            try Task.checkCancellation()
            return number
        }
        guard case .success(1) = outcomes[0], case .failure(let error) = outcomes[1] else {
            Issue.record("found \(outcomes)")
            return
        }
        #expect(error.code == .interceptorFailed && error.message.contains("Odd"))
        await system.shutdown()
    }

    @Test(.features("004-22")) func outcomesKeepOrderAndFailuresStopNoCall() async throws {
        let engine = NumberEngine(failing: [2], crowd: 4)
        let system = try await Self.system(engine)
        let procedures = await system.outcomes(of: [1, 2, 3, 4].map { Number(id: $0) })
        #expect(Self.codes(procedures) == ["1", "timeout", "3", "4"])
        #expect(engine.most == 4)
        let resources = await system.outcomes(of: [4, 2, 1].map { Resource(id: $0) })
        #expect(Self.codes(resources) == ["4", "timeout", "1"])
        #expect(await system.outcomes(of: [Number]()).isEmpty)
        #expect(system.runningCalls.isEmpty)
        await system.shutdown()
    }

    @Test func valuesKeepTheirOrder() async throws {
        let engine = NumberEngine()
        let system = try await Self.system(engine)
        #expect(try await system.values(of: (1...9).map { Number(id: $0) }) == Array(1...9))
        #expect(
            try await system.values(of: (1...9).reversed().map { Resource(id: $0) })
                == (1...9).reversed())
        #expect(try await system.values(of: [Resource]()) == [])
        await system.shutdown()
    }

    @Test(.features("002-19")) func theFirstFailureCancelsTheOtherCalls()
        async throws
    {
        let engine = NumberEngine(failing: [3], held: [1, 2], crowd: 3)
        let system = try await Self.system(engine)
        let events = system.events
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.values(of: [1, 2, 3].map { Number(id: $0) })
        }
        #expect(code == .timeout && system.runningCalls.isEmpty)
        await system.shutdown()
        var ends: [String] = []
        for await event in events {
            if case .finished(let record) = event { ends.append(record.failure?.name ?? "good") }
        }
        #expect(ends.sorted() == ["cancelled", "cancelled", "timeout"])
    }

    @Test func afterAFailureNoCallBegins() async throws {
        let engine = NumberEngine(failing: [1])
        let system = try await Self.system(engine)
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.values(of: (1...20).map { Resource(id: $0) }, atOnce: 1)
        }
        #expect(code == .timeout && engine.asked == [1])
        await system.shutdown()
    }

    @Test(arguments: [-1, 0, 1, 3])
    func noMoreRunAtOnceThanTheLimit(_ limit: Int) async throws {
        let engine = NumberEngine()
        let system = try await Self.system(engine)
        let numbers = (1...20).map { Number(id: $0) }
        #expect(try await system.values(of: numbers, atOnce: limit) == Array(1...20))
        #expect(engine.most <= max(1, limit) && engine.asked.count == 20)
        await system.shutdown()
    }

    @Test func callsOfAnyKindMakeOneGroup() async throws {
        let system = try await Self.system(NumberEngine(failing: [2]))
        enum Work { case number(Int), resource(Int), batch }
        let work: [Work] = [.number(1), .resource(2), .batch, .number(3)]
        let outcomes = await system.outcomes(of: work) { work throws(ClientError) in
            switch work {
            case .number(let id): try await system.send(Number(id: id))
            case .resource(let id): try await system.send(Resource(id: id))
            case .batch: throw ClientError(.emptyBatch, "none")
            }
        }
        #expect(Self.codes(outcomes) == ["1", "timeout", "empty-batch", "3"])
        await system.shutdown()
    }

    @Test func aCancelledCallerGetsAnEndForEachCall() async throws {
        let engine = NumberEngine(held: [1, 2])
        let system = try await Self.system(engine)
        let numbers = (1...5).map { Number(id: $0) }
        let all = Task { await system.outcomes(of: numbers, atOnce: 2) }
        #expect(try await eventually { engine.asked.count == 2 })
        all.cancel()
        #expect(Self.codes(await all.value) == Array(repeating: "cancelled", count: 5))
        #expect(engine.asked.count == 2)
        let values = Task {
            await Pipeline.code { () async throws(ClientError) in
                try await system.values(of: numbers, atOnce: 2)
            }
        }
        #expect(try await eventually { engine.asked.count == 4 })
        values.cancel()
        #expect(await values.value == .cancelled)
        await system.shutdown()
    }

    @Test func shutdownEndsAllCallsOfAGroup() async throws {
        let engine = NumberEngine(held: [1, 2])
        let system = try await Self.system(engine)
        let all = Task {
            await system.outcomes(of: [1, 2, 3].map { Resource(id: $0) }, atOnce: 2)
        }
        #expect(try await eventually { engine.asked.count == 2 })
        await system.shutdown(gracePeriod: .zero)
        #expect(Self.codes(await all.value) == Array(repeating: "not-running", count: 3))
    }

    /// The options hold for each call, so that one tag finds them all.
    @Test func optionsHoldForEachCall() async throws {
        let engine = NumberEngine(held: [1, 2])
        let system = try await Self.system(engine)
        let all = Task {
            await system.outcomes(
                of: [1, 2].map { Number(id: $0) }, options: RequestOptions(tags: ["group"]))
        }
        #expect(try await eventually { engine.asked.count == 2 })
        #expect(system.cancelCalls(taggedWith: "group") == 2)
        #expect(Self.codes(await all.value) == ["cancelled", "cancelled"])
        await system.shutdown()
    }

    /// A chain is plain code: each step sees the result of the one before, and may add steps.
    @Test(.features("002-20")) func aChainRunsInOrderAndEndsWithItsFirstFailure() async throws {
        let engine = NumberEngine(failing: [13])
        let system = try await Self.system(engine)
        func chain(from first: Int) async throws(ClientError) -> Int {
            var number = try await system.send(Number(id: first))
            while number < 13 { number += try await system.send(Resource(id: number)) }
            return try await system.send(Number(id: number))
        }
        #expect(try await chain(from: 4) == 16)
        #expect(engine.asked == [4, 4, 8, 16])
        let code = await Pipeline.code { () async throws(ClientError) in
            try await chain(from: 13)
        }
        #expect(code == .timeout && engine.asked.dropFirst(4) == [13])
        await system.shutdown()
    }
}
