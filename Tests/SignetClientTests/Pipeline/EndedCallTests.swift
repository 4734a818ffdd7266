import HTTPTypes
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// Calls that ended while an interceptor's own task, which no cancellation reaches, still sends
/// them.
@Suite(.timeLimit(.minutes(2))) struct EndedCallTests {
    /// Does something before each response.
    private final class ActingEngine: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "acting", pinsPublicKeys: true, speaksHTTP2: false)
        private let state = Mutex<(count: Int, action: @Sendable () async -> Void)>((0, {}))
        private let header: HTTPResponse

        init(_ status: Int, fields: HTTPFields = [:]) {
            header = HTTPResponse(status: .init(code: status), headerFields: fields)
        }

        var count: Int { state.withLock { $0.count } }
        func setAction(_ action: @escaping @Sendable () async -> Void) {
            state.withLock { $0.action = action }
        }

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            let action = state.withLock { state in
                state.count += 1
                return state.action
            }
            await action()
            return EngineResponse(
                response: header, body: HTTPResponseBody(bytes: []),
                httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async { setAction {} }
    }

    /// Sends a call in a task of its own, and tells when this task has ended.
    private struct Detaching: CallInterceptor {
        let ends: AsyncStream<Void>.Continuation
        /// Returns a response of its own after this engine has got a request.
        var leaves: ActingEngine?

        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            let task = Task {
                defer { ends.yield() }
                return try await next(call)
            }
            guard let leaves else { return try await task.value }
            _ = try await eventually { leaves.count == 1 }
            return UnboxedResponse(RawResponse(status: 200, body: []))
        }
    }

    /// The same around an attempt, which is a part of the work that joint calls share.
    private struct DetachingEach: AttemptInterceptor {
        let ends: AsyncStream<Void>.Continuation
        let gate: AsyncStream<Void>

        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            if call.attempt == 1 { for await _ in gate { break } }
            let task = Task {
                defer { ends.yield() }
                return try await next(call)
            }
            return try await task.value
        }
    }

    @Test(arguments: ["retry", "redirect"], [false, true])
    func sendNothingMore(_ after: String, _ isJoint: Bool) async throws {
        let engine =
            after == "retry"
            ? ActingEngine(503) : ActingEngine(307, fields: [.location: "/v1/y"])
        let system = try await Pipeline.system(engine) { $0.clock.sleep = { _ in } }
        engine.setAction {
            _ = system.cancelCalls(of: "a")
            // A joint call has ended once its task has noticed that.
            _ = try? await eventually { system.pipeline.duplicates.joinedCount == 0 }
        }
        let (ended, ends) = AsyncStream.makeStream(of: Void.self)
        var options = RequestOptions()
        options.interceptors = [Detaching(ends: ends)]
        if isJoint { options.duplicates = .join }
        let given = options
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.call(RESTRequest(.get, "/x"), on: "a", options: given)
        }
        #expect(code == .cancelled)
        for await _ in ended { break }
        #expect(engine.count == 1)
        await system.shutdown()
    }

    /// Another call still waits for the work.
    @Test func goOnForTheCallsThatJoinedThem() async throws {
        let engine = ActingEngine(503)
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let (ended, ends) = AsyncStream.makeStream(of: Void.self)
        // Those of the system, because a call with interceptors of its own joins no other.
        let system = try await Pipeline.system(engine) { options in
            options.clock.sleep = { _ in }
            options.callOptions.attemptInterceptors = [DetachingEach(ends: ends, gate: gate)]
        }
        let first = Task { await join(system) }
        #expect(try await eventually { system.runningCalls.count == 1 })
        engine.setAction { _ = system.cancelCalls(taggedWith: "first") }
        let second = Task { await join(system, tag: "second") }
        #expect(try await eventually { system.pipeline.duplicates.joinedCount == 2 })
        opener.yield()
        #expect(await first.value == .cancelled)
        for await _ in ended { break }
        #expect(await second.value == .httpStatus && engine.count == 3)
        await system.shutdown()
    }

    private func join(_ system: NetworkSystem, tag: String = "first") async -> ClientError.Code? {
        var options = RequestOptions(tags: [tag])
        options.duplicates = .join
        let given = options
        return await Pipeline.code { () async throws(ClientError) in
            try await system.call(RESTRequest(.get, "/x"), on: "a", options: given)
        }
    }

    @Test func sendNothingMoreAfterTheirOwnResponse() async throws {
        let engine = ActingEngine(503)
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let system = try await Pipeline.system(engine) { options in
            options.clock.sleep = { _ in for await _ in gate { break } }
        }
        let (ended, ends) = AsyncStream.makeStream(of: Void.self)
        var options = RequestOptions()
        options.interceptors = [Detaching(ends: ends, leaves: engine)]
        let response = try await system.exchange(
            "a", method: .get, target: "/x", fields: [:], body: [], options: options)
        #expect(response.status == 200)
        opener.finish()
        for await _ in ended { break }
        #expect(engine.count == 1)
        await system.shutdown()
    }

    /// The writer is a task of an interceptor that has returned.
    @Test func letGoOfWhoWritesToTheirStream() async throws {
        let pipe = StreamPipe()
        try await pipe.write([1])
        let writer = Task.immediate {
            await Pipeline.code { () async throws(ClientError) in try await pipe.write([2]) }
        }
        pipe.finish()
        #expect(await writer.value == .cancelled)
        #expect(try await pipe.next() == [1])
        #expect(try await pipe.next() == nil)
    }
}
