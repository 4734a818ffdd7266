import Logging
import MetricsTestKit
import ServiceLifecycle
import SignetClient
import SignetLifecycle
import SignetMetrics
import SignetTesting
import Testing

/// A system, its metrics and a server that makes calls in one group: no order hangs.
@Suite struct ServiceGroupTests {
    /// A server that makes a call at its start, and one at its graceful shutdown.
    private struct Server: Service {
        let system: NetworkSystem
        let outcomes: AsyncStream<ClientError.Code?>.Continuation
        let started: AsyncStream<Void>.Continuation

        func run() async throws {
            await call()
            started.yield()
            try? await gracefulShutdown()
            await call()
            outcomes.finish()
        }

        private func call() async {
            do throws(ClientError) {
                _ = try await system.call(RESTRequest(.get, "/orders"), on: "a")
                outcomes.yield(nil)
            } catch {
                outcomes.yield(error.code)
            }
        }
    }

    static let orders = [
        ["system", "metrics", "server"], ["metrics", "system", "server"],
        ["server", "system", "metrics"], ["server", "metrics", "system"],
    ]

    @Test(arguments: orders) func startsRunsAndStops(_ order: [String]) async throws {
        let stub = StubEngine()
        stub.respond(to: .any, with: .status(200))
        let system = try await NetworkSystem.start(
            services: ["a": .init(baseURL: "https://api.example.com", payloadProtocol: .rest)],
            stub: stub)
        let factory = TestMetrics()
        let (outcomes, outcome) = AsyncStream.makeStream(of: ClientError.Code?.self)
        let (starts, started) = AsyncStream.makeStream(of: Void.self)
        let services: [String: any Service] = [
            "system": system,
            "metrics": CallMetricsService(CallMetrics(factory: factory), of: system),
            "server": Server(system: system, outcomes: outcome, started: started),
        ]
        let group = ServiceGroup(
            services: order.compactMap { services[$0] }, logger: Logger(label: "test"))
        let clock = ContinuousClock()
        let begin = clock.now
        async let run: Void = group.run()
        for await _ in starts { break }
        await group.triggerGracefulShutdown()
        try await run
        #expect(clock.now - begin < .seconds(1))
        var found: [ClientError.Code?] = []
        for await code in outcomes { found.append(code) }
        // A server that is shut down after the system makes its last call too late.
        let isLast = order.first == "server"
        #expect(found == [nil, isLast ? .notRunning : nil])
        if order.first == "metrics" {
            #expect(factory.counterTotal(label: "signet.client.calls") == 2)
        } else {
            #expect(factory.counterTotal(label: "signet.client.calls") >= 1)
        }
        let error = await #expect(throws: ClientError.self) {
            try await system.call(RESTRequest(.get, "/orders"), on: "a")
        }
        #expect(error?.code == .notRunning)
    }

    /// A group that is cancelled ends at once too.
    @Test(arguments: orders) func endsWhenItIsCancelled(_ order: [String]) async throws {
        let stub = StubEngine()
        stub.respond(to: .any, with: .status(200))
        let system = try await NetworkSystem.start(
            services: ["a": .init(baseURL: "https://api.example.com", payloadProtocol: .rest)],
            stub: stub)
        let (_, outcome) = AsyncStream.makeStream(of: ClientError.Code?.self)
        let (starts, started) = AsyncStream.makeStream(of: Void.self)
        let services: [String: any Service] = [
            "system": system, "metrics": CallMetricsService(CallMetrics(), of: system),
            "server": Server(system: system, outcomes: outcome, started: started),
        ]
        let group = ServiceGroup(
            services: order.compactMap { services[$0] }, logger: Logger(label: "test"))
        let begin = ContinuousClock.now
        let task = Task { try await group.run() }
        for await _ in starts { break }
        task.cancel()
        _ = await task.result
        #expect(ContinuousClock.now - begin < .seconds(1))
    }
}
