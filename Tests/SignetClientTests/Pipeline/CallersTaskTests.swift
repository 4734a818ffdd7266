import HTTPTypes
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// Calls whose work runs in the tasks of their callers. Nothing cancels these tasks if a call is
/// ended from outside, so all that the work waits for must hear of it.
@Suite(.timeLimit(.minutes(2))) struct CallersTaskTests {
    /// A place in which a call waits.
    enum Place: CaseIterable, Sendable {
        case header, body, pause, pauseAfterFailure

        var manner: EndableEngine.Manner {
            switch self {
            case .header: .silent
            case .body: .halfway
            case .pause: .responding(503)
            case .pauseAfterFailure: .failing(.connect)
            }
        }
    }

    /// A way to end a call.
    enum End: CaseIterable, Sendable {
        case task, number, deadline, shutdown, owner

        var code: ClientError.Code {
            switch self {
            case .task, .number, .owner: .cancelled
            case .deadline: .timeout
            case .shutdown: .notRunning
            }
        }
    }

    /// A deadline's end, which a test makes pass.
    private final class Deadline: Sendable {
        private let action = Mutex<(@Sendable () -> Void)?>(nil)
        func set(_ action: @escaping @Sendable () -> Void) {
            self.action.withLock { $0 = action }
        }
        func pass() { action.withLock { $0 }?() }
    }

    private struct ReadNumber: RESTEndpoint {
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .get }
        var path: PathTemplate { "/x" }
        typealias Success = Int
    }

    @Test(arguments: Place.allCases, End.allCases)
    func endWhereverTheyWait(_ place: Place, _ end: End) async throws {
        let (engine, hold) = (EndableEngine(place.manner), Hold())
        let deadline = Deadline()
        let system = try await Pipeline.system(engine) { options in
            options.clock.sleep = { _ in await hold.wait() }
            options.clock.alarm = { _, action in deadline.set(action) }
        }
        var owner: CallOwner? = CallOwner()
        var options = RequestOptions(deadline: .seconds(3600))
        if end == .owner { options.owner = owner }
        let given = options
        let call = Task {
            let code = await Pipeline.code { () async throws(ClientError) in
                try await system.send(ReadNumber(), options: given)
            }
            return (code, Task.isCancelled)
        }
        #expect(
            try await eventually {
                switch place {
                case .header, .body: engine.count == 1
                case .pause, .pauseAfterFailure: hold.count == 1
                }
            })
        switch end {
        case .task: call.cancel()
        case .number: #expect(system.cancelCall(system.runningCalls[0].id))
        case .deadline: deadline.pass()
        case .shutdown: await system.shutdown(gracePeriod: .zero)
        case .owner: owner = nil
        }
        let (code, isCancelled) = await call.value
        #expect(code == end.code)
        #expect(isCancelled == (end == .task))
        #expect(engine.count == 1 && engine.untold == 0)
        #expect(system.runningCalls.isEmpty)
        hold.letGo()
        await system.shutdown()
    }

    /// The code that reads the response returned after the end. For a long response it has a task
    /// of its own, which the end cancels.
    @Test(arguments: [100, 70_000])
    func anEndWhileReadingIsNoSuccess(_ length: Int) async throws {
        let body = [UInt8](repeating: UInt8(ascii: "7"), count: length)
        let engine = EndableEngine(.responding(200, body: body))
        let system = try await Pipeline.system(engine)
        let isCancelled = Mutex<Bool?>(nil)
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.pipeline.perform(
                ReadNumber(), options: RequestOptions()
            ) { response in
                #expect(response.raw.body.count == length)
                #expect(system.cancelCalls(of: "a") == 1)
                // The task may have begun before the call knows of it.
                let latest = ContinuousClock.now + .seconds(60)
                while length > 100, !Task.isCancelled, ContinuousClock.now < latest {}
                isCancelled.withLock { $0 = Task.isCancelled }
                return 7
            }
        }
        #expect(code == .cancelled && engine.untold == 0)
        // The caller doesn't wait for the task that reads.
        #expect(try await eventually { isCancelled.withLock { $0 != nil } })
        #expect(isCancelled.withLock { $0 } == (length > 100))
        #expect(system.runningCalls.isEmpty)
        await system.shutdown()
    }

    /// The cancellation came before the call.
    @Test func aCancelledTaskSendsNothing() async throws {
        let engine = EndableEngine(.silent)
        let system = try await Pipeline.system(engine)
        let call = Task {
            while !Task.isCancelled { await Task.yield() }
            return await Pipeline.code { () async throws(ClientError) in
                try await system.exchange("a", method: .get, target: "/x")
            }
        }
        call.cancel()
        #expect(await call.value == .cancelled)
        #expect(engine.count == 0 && engine.untold == 0)
        await system.shutdown()
    }

    /// A call keeps the action of its last request only.
    @Test func forgetTheRequestsThatHaveEnded() async throws {
        let engine = EndableEngine(.responding(503))
        let counts = Mutex<[Int]>([])
        let system = try await Pipeline.system(engine) { options in
            options.clock.sleep = { _ in counts.withLock { $0.append(engine.actionCount) } }
        }
        var options = RequestOptions()
        options.attempts = 3
        let given = options
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.send(ReadNumber(), options: given)
        }
        #expect(code == .httpStatus && engine.count == 3)
        #expect(counts.withLock { $0 } == [1, 1])
        #expect(engine.actionCount == 0)
        await system.shutdown()
    }

    /// They may wait for something that only the cancellation of a task ends.
    @Test(
        arguments: [
            "queue", "interceptor", "attempt", "duplicates", "merging", "cache", "engine",
        ])
    func otherCallsHaveTasksOfTheirOwn(_ reason: String) async throws {
        struct Next: CallInterceptor, AttemptInterceptor {
            func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
                try await next(call)
            }
            func intercept(
                _ call: OutgoingCall, next: NextAttempt
            ) async throws -> EngineResponse { try await next(call) }
        }
        let engine = EndableEngine(.responding(200))
        let system = try await Pipeline.system(engine) { $0.engines["other"] = engine }
        var options = RequestOptions()
        switch reason {
        case "queue": options.queue = CallQueue()
        case "interceptor": options.interceptors = [Next()]
        case "attempt": options.attemptInterceptors = [Next()]
        case "duplicates": options.duplicates = .join
        case "merging": options.merging = CallMerging()
        case "cache": options.cache = .age(.seconds(60))
        default: options.engine = EngineChoice("other")
        }
        let given = options
        _ = await Pipeline.code { () async throws(ClientError) in
            try await system.call(RESTRequest(.get, "/x"), on: "a", options: given)
        }
        #expect(engine.count == 0 && engine.untold > 0)
        await system.shutdown()
    }

    /// An actor's thread has other work than to send.
    @MainActor @Test func callsOfActorsHaveTasksOfTheirOwn() async throws {
        let engine = EndableEngine(.responding(200))
        let system = try await Pipeline.system(engine)
        _ = await Pipeline.code { () async throws(ClientError) in
            try await system.call(RESTRequest(.get, "/x"), on: "a")
        }
        #expect(engine.count == 0 && engine.untold > 0)
        await system.shutdown()
    }
}
