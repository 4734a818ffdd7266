import HTTPTypes
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// Retries under a clock that does not wait, with pauses that are not random.
@Suite struct RetryTests {
    /// The pauses that were waited for.
    final class Pauses: Sendable {
        private let kept = Mutex<[Duration]>([])
        var all: [Duration] { kept.withLock { $0 } }
        func add(_ pause: Duration) { kept.withLock { $0.append(pause) } }
    }

    private static func system(
        _ engine: any HTTPEngine, _ pauses: Pauses = Pauses(), random: Double = 1,
        change: (inout ServiceConfiguration) -> Void = { _ in }
    ) async throws -> NetworkSystem {
        try await Pipeline.system(engine) { options in
            options.clock.random = { random }
            options.clock.sleep = { pauses.add($0) }
        } changeService: {
            change(&$0)
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

    @Test(
        arguments: [
            (.get, 503, 3), (.put, 502, 3), (.delete, 504, 3), (.get, 429, 3), (.post, 503, 1),
            (.patch, 503, 1), (.post, 429, 1), (.get, 500, 1), (.get, 404, 1), (.get, 401, 1),
            (.get, 400, 1),
        ] as [(HTTPRequest.Method, Int, Int)])
    func threeAttemptsAndIdempotentMethodsOnly(
        _ method: HTTPRequest.Method, _ status: Int, _ count: Int
    ) async throws {
        let engine = RecordingEngine(responses: [.init(status: status, body: "")])
        let system = try await Self.system(engine)
        #expect(await Self.call(system, method) == .httpStatus)
        #expect(engine.count == count)
        await system.shutdown()
    }

    @Test(arguments: [(Idempotency.always, HTTPRequest.Method.post, 3), (.never, .get, 1)])
    func theProgramDecides(_ idempotency: Idempotency, _ method: HTTPRequest.Method, _ count: Int)
        async throws
    {
        let engine = RecordingEngine(responses: [.init(status: 503, body: "")])
        let system = try await Self.system(engine)
        #expect(
            await Self.call(system, method, RequestOptions(idempotency: idempotency))
                == .httpStatus)
        #expect(engine.count == count)
        await system.shutdown()
    }

    @Test(
        arguments: [
            (.connect, .post, 3), (.unresolvedHost, .post, 3), (.cutOff, .get, 3),
            (.cutOff, .post, 1),
            (.tls, .get, 1), (.pinMismatch, .get, 1), (.timeout, .get, 1),
            (.malformedResponse, .get, 1), (.cancelled, .get, 1), (.invalidRequest, .get, 1),
        ] as [(TransportError.Code, HTTPRequest.Method, Int)])
    func failuresAreDistinguished(
        _ code: TransportError.Code, _ method: HTTPRequest.Method, _ count: Int
    ) async throws {
        let engine = RecordingEngine(responses: [
            .init(failure: TransportError(code, "no"))
        ])
        let system = try await Self.system(engine)
        #expect(await Self.call(system, method)?.name == code.name)
        #expect(engine.count == count)
        await system.shutdown()
    }

    @Test func pausesDoubleWithinTheirLimits() async throws {
        let (longest, shortest) = (Pauses(), Pauses())
        for (random, pauses) in [(1.0, longest), (0.0, shortest)] {
            let engine = RecordingEngine(responses: [.init(status: 503, body: "")])
            let system = try await Self.system(engine, pauses, random: random) { service in
                service.attempts = 6
                service.options.retry = RetryStrategy()
                service.options.retry?.longestPause = .milliseconds(500)
            }
            #expect(await Self.call(system) == .httpStatus)
            await system.shutdown()
        }
        #expect(longest.all == [100, 200, 400, 500, 500].map { .milliseconds($0) })
        #expect(shortest.all == [50, 100, 200, 250, 250].map { .milliseconds($0) })
    }

    @Test(
        arguments: [
            ("3", nil, .seconds(3)), ("0", nil, .milliseconds(100)),
            (
                "Sun, 06 Nov 1994 08:49:40 GMT", "Sun, 06 Nov 1994 08:49:37 GMT",
                .seconds(3)
            ),
            ("Sunday, 06-Nov-94 08:49:40 GMT", "Sun Nov  6 08:49:37 1994", .seconds(3)),
            ("Sun Nov  6 08:49:40 1994", "Sunday, 06-Nov-94 08:49:37 GMT", .seconds(3)),
            // A date that has passed asks for nothing.
            (
                "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:40 GMT",
                .milliseconds(100)
            ),
            ("soon", nil, .milliseconds(100)), ("-1", nil, .milliseconds(100)),
            ("1.5", nil, .milliseconds(100)),
            ("Sun, 06 Foo 1994 08:49:37 GMT", nil, .milliseconds(100)),
            ("Sun, 06 Nov 1994 25:49:37 GMT", nil, .milliseconds(100)),
            ("Sun, 31 Feb 2094 08:49:37 GMT", nil, .milliseconds(100)),
            ("", nil, .milliseconds(100)), ("3, 4", nil, .milliseconds(100)),
            ("Sunday, 31-Feb-94 08:49:37 GMT", nil, .milliseconds(100)),
            ("Sunday, 06-Nov-1994 08:49:37 GMT", nil, .milliseconds(100)),
            ("Sun Nov 31 08:49:37 1994", nil, .milliseconds(100)),
            ("5", nil, .seconds(5)),
            // More than the longest pause: the call ends.
            ("6", nil, nil), ("99999999999999999999", nil, nil),
            ("Sun, 06 Nov 1994 08:50:40 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", nil),
            ("Fri, 06 Nov 2093 08:50:40 GMT", nil, nil),
        ] as [(String, String?, Duration?)])
    func readsRetryAfterAsSecondsAndDate(
        _ text: String, _ date: String?, _ pause: Duration?
    ) async throws {
        var fields: HTTPFields = [.retryAfter: text]
        fields[.date] = date
        let engine = RecordingEngine(responses: [
            .init(status: 503, body: "", fields: fields), .init(body: "1"),
        ])
        let pauses = Pauses()
        let system = try await Self.system(engine, pauses)
        #expect(await Self.call(system) == (pause == nil ? .httpStatus : nil))
        #expect(pauses.all == (pause.map { [$0] } ?? []))
        await system.shutdown()
    }

    @Test func anOutageDoesNotMultiplyTraffic() async throws {
        for response in [
            RecordingEngine.Response(status: 503, body: ""),
            .init(failure: TransportError(.connect, "down")),
        ] {
            let engine = RecordingEngine(responses: [response])
            let system = try await Self.system(engine)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<1000 { group.addTask { _ = await Self.call(system) } }
            }
            // 500 tokens, 14 for each further attempt.
            #expect(engine.count == 1035)
            await system.shutdown()
        }
    }

    @Test func unsentRequestsAreCountedSeparately() {
        let budget = RetryBudget(capacity: 30)
        #expect(
            budget.withdraw(for: .unsent, from: "a") && budget.withdraw(for: .unsent, from: "a"))
        #expect(!budget.withdraw(for: .unsent, from: "a"))
        #expect(
            budget.withdraw(for: .failed, from: "a") && budget.withdraw(for: .failed, from: "a"))
        #expect(!budget.withdraw(for: .failed, from: "a"))
        #expect(!budget.withdraw(for: .throttled, from: "a"))
        #expect(budget.withdraw(for: .failed, from: "b"))
        budget.deposit(after: .failed, to: "a")
        #expect(budget.withdraw(for: .throttled, from: "a"))
        #expect(!budget.withdraw(for: .unsent, from: "a"))
        for _ in 0..<12 { budget.deposit(after: nil, to: "a") }
        #expect(budget.withdraw(for: .unsent, from: "a"))
    }

    @Test func noPauseGoesPastTheDeadline() async throws {
        let engine = RecordingEngine(responses: [.init(status: 503, body: "")])
        let pauses = Pauses()
        let system = try await Self.system(engine, pauses) { service in
            service.options.retry = RetryStrategy()
            service.options.retry?.firstPause = .seconds(3)
        }
        #expect(
            await Self.call(system, .get, RequestOptions(deadline: .seconds(2))) == .httpStatus)
        #expect(engine.count == 1 && pauses.all.isEmpty)
        await system.shutdown()
    }

    @Test(arguments: [
        RecordingEngine.Response(status: 503, body: ""),
        .init(failure: TransportError(.connect, "down")),
    ])
    func aDownloadIsTriedAgainAsAnyCall(_ first: RecordingEngine.Response) async throws {
        let engine = RecordingEngine(responses: [first, .init(body: "tea")])
        let system = try await Self.system(engine)
        let folder = try TemporaryDirectory()
        let result = try await system.download("a", target: "/x", to: folder.path("file"))
        #expect(result.byteCount == 3 && engine.count == 2)
        await system.shutdown()
    }

    @Test func aBodyThatCanBeReadOnceIsNotSentAgain() async throws {
        let engine = RecordingEngine(responses: [.init(status: 503, body: "")])
        let system = try await Self.system(engine)
        let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
        producer.finish()
        let body = HTTPRequestBody.stream(chunks)
        let response = try await system.exchange(
            "a", method: .put, target: "/x", fields: [:], body: body)
        #expect(response.status == 503 && engine.count == 1)
        await system.shutdown()
    }
}
