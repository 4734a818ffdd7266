import HTTPTypes
import SignetClient
import SignetRPC
import SignetTesting
import SignetTransport
import TestSupport
import Testing

/// A clock that a test moves.
@Suite(.timeLimit(.minutes(1))) struct TestClockTests {
    private let stub = StubEngine()
    private let clock = TestClock()

    private func system() async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.use(clock)
        return try await NetworkSystem.start(
            services: [
                "a": ServiceConfiguration(
                    baseURL: "https://api.example.com/v1", payloadProtocol: .rest)
            ], stub: stub, options: options)
    }

    @Test func pausesEndWhenTheTestSaysSo() async throws {
        stub.respond(with: .status(503, fields: [.retryAfter: "4"]), .json(7))
        let system = try await system()
        let call = Task { try await system.send(.get("/x", on: "a"), as: Int.self) }
        await clock.waitForPauses(1)
        clock.advance(by: .seconds(3))
        #expect(clock.pauseCount == 1 && stub.requests.count == 1)
        clock.advance(by: .seconds(1))
        #expect(try await call.value == 7)
        #expect(stub.requests.count == 2 && clock.passed == .seconds(4))
        await system.shutdown()
    }

    @Test func deadlinesEndWhenTheTestSaysSo() async throws {
        stub.respond(with: .status(503))
        let system = try await system()
        var options = RequestOptions(deadline: .seconds(600))
        options.attempts = 10
        options.retry = RetryStrategy()
        options.retry?.firstPause = .seconds(60)
        options.retry?.longestPause = .seconds(60)
        let given = options
        let call = Task { await system.response(to: .get("/x", on: "a"), options: given) }
        await clock.waitForPauses(1)
        clock.advance(by: .seconds(599))
        // Another pause would end after the deadline.
        guard case .failure(let error) = await call.value.result else {
            Issue.record("found a response")
            return
        }
        #expect(error.code == .httpStatus && stub.requests.count == 2)
        await system.shutdown()
    }

    /// Not a second before the deadline, although the server doesn't respond.
    @Test func aDeadlineEndsACallThatWaits() async throws {
        let (requests, asked) = AsyncStream.makeStream(of: Void.self)
        stub.respond { _ throws(TransportError) in
            asked.yield()
            do {
                try await Task.sleep(for: .seconds(3600))
            } catch {
                throw TransportError(.cancelled, "cancelled")
            }
            return .json(7)
        }
        let system = try await system()
        let options = RequestOptions(deadline: .seconds(600))
        let call = Task { await system.response(to: .get("/x", on: "a"), options: options) }
        for await _ in requests { break }
        clock.advance(by: .seconds(599))
        #expect(system.runningCalls.count == 1)
        clock.advance(by: .seconds(1))
        guard case .failure(let error) = await call.value.result else {
            Issue.record("found a response")
            return
        }
        #expect(error.code == .timeout && stub.requests.count == 1)
        #expect(system.runningCalls.isEmpty && clock.passed == .seconds(600))
        await system.shutdown()
    }

    @Test func aCancelledPauseEnds() async throws {
        stub.respond(with: .status(503))
        let system = try await system()
        let call = Task { await system.response(to: .get("/x", on: "a")) }
        await clock.waitForPauses(1)
        #expect(system.cancelCalls() == 1)
        _ = await call.value
        #expect(clock.pauseCount == 0)
        await system.shutdown()
    }
}
