import Foundation
import HTTPTypes
import SignetCurl
import SignetPinning
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// The thread that a call begins on, its record, and the limits of its interceptors.
@Suite(.timeLimit(.minutes(2))) struct PlainCallTests {
    /// Notes the thread of each request, and whether it is one of ``OwnThreads``.
    private final class ThreadEngine: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "threads", pinsPublicKeys: true, speaksHTTP2: false)
        private let threads = Mutex<[(thread: ObjectIdentifier, isOwn: Bool)]>([])
        var first: (thread: ObjectIdentifier, isOwn: Bool)? { threads.withLock { $0.first } }

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            note()
            return EngineResponse(
                response: HTTPResponse(status: .ok), body: HTTPResponseBody(bytes: [0x31]),
                httpVersion: .init(major: 1, minor: 1))
        }

        private func note() {
            threads.withLock { $0.append((thread(), OwnThreads.isCurrent)) }
        }

        func shutdown() async {}
    }

    private struct Next: CallInterceptor, AttemptInterceptor {
        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            try await next(call)
        }
        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            try await next(call)
        }
    }

    @Test(arguments: [false, true])
    func beginsOnItsCallersThread(_ isIntercepted: Bool) async throws {
        let engine = ThreadEngine()
        let system = try await Pipeline.system(engine)
        var options = RequestOptions()
        if isIntercepted {
            (options.interceptors, options.attemptInterceptors) = ([Next()], [Next()])
        }
        let given = options
        let task = Task(executorPreference: OwnThreads()) {
            _ = try await system.exchange("a", method: .get, target: "/x", options: given)
        }
        try await task.value
        #expect(engine.first?.isOwn == true)
        await system.shutdown()
    }

    /// Reading a file doesn't wait, so a long one would hold up the caller beyond a deadline.
    @Test func aFileIsNotReadOnItsCallersThread() async throws {
        let folder = try TemporaryDirectory()
        try folder.write("abc", to: "file")
        let engine = ThreadEngine()
        let system = try await Pipeline.system(engine)
        let body = try HTTPRequestBody.file(folder.path("file"))
        let task = Task(executorPreference: OwnThreads()) {
            _ = try await system.exchange("a", method: .put, target: "/x", body: body)
        }
        try await task.value
        #expect(engine.first?.isOwn == false)
        await system.shutdown()
    }

    /// Cancels its own call, and responds.
    private final class Cancelling: CallInterceptor {
        let system = Mutex<NetworkSystem?>(nil)

        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            _ = system.withLock { $0 }?.cancelCall(call.identity.id)
            return UnboxedResponse(RawResponse(status: 200, body: []))
        }
    }

    /// Its work ends before the task that was made for it is known.
    @Test func aCancelledCallIsNoSuccess() async throws {
        let interceptor = Cancelling()
        let system = try await Pipeline.system(ThreadEngine())
        interceptor.system.withLock { $0 = system }
        var options = RequestOptions()
        options.interceptors = [interceptor]
        let given = options
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.exchange("a", method: .get, target: "/x", options: given)
        }
        #expect(code == .cancelled && system.runningCalls.isEmpty)
        interceptor.system.withLock { $0 = nil }
        await system.shutdown()
    }

    /// The main thread has other work than to encode, sign and send.
    @MainActor @Test func leavesTheMainThreadAtOnce() async throws {
        let engine = ThreadEngine()
        let system = try await Pipeline.system(engine)
        let own = thread()
        _ = try await system.exchange("a", method: .get, target: "/x")
        #expect(engine.first != nil && engine.first?.thread != own)
        await system.shutdown()
    }

    @Test func aRecordShowsNoQuery() async throws {
        let system = try await Pipeline.system(RecordingEngine())
        let trace = CallTrace()
        _ = try await system.exchange(
            "a", method: .get, target: "/x?token=ZZZZZZ", options: RequestOptions(trace: trace))
        let record = try #require(trace.record)
        var text = "\(record) \(record.request) \(record.attempts)"
        dump(record, to: &text)
        #expect(!text.contains("ZZZZZZ") && text.contains("/x"), "\(text)")
        #expect(record.url == "https://api.example.com/x")
        #expect(record.attempts.first?.hops.first?.url == "https://api.example.com/x")
        await system.shutdown()
    }

    /// Responds without a request.
    private struct Refusing: CallInterceptor {
        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            UnboxedResponse(RawResponse(status: 404, body: []))
        }
    }

    @Test func aRecordHasTheResponseOfAnInterceptor() async throws {
        let folder = try TemporaryDirectory()
        let system = try await Pipeline.system(RecordingEngine())
        var options = RequestOptions()
        options.interceptors = [Refusing()]
        let given = options
        let error = await #expect(throws: ClientError.self) {
            _ = try await system.download(
                "a", target: "/x", to: folder.path("file"), options: given)
        }
        #expect(error?.record?.response?.status == 404)
        #expect(error?.record?.response?.source == .interceptor)
        await system.shutdown()
    }

    /// Keeps the first call, and sends it with the request of the second one.
    private final class Mixing: CallInterceptor {
        private let first = Mutex<PendingCall?>(nil)

        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            var mixed = first.withLock { first in
                first = first ?? call
                return first ?? call
            }
            mixed.exchange = call.exchange
            return try await next(mixed)
        }
    }

    /// The engine can't pin, and the second call's host is pinned.
    @Test func anotherCallsOriginDoesNotCount() async throws {
        let engine = RecordingEngine(pins: false)
        var options = NetworkSystem.Options()
        options.engine = engine
        options.callOptions.interceptors = [Mixing()]
        let policy = try PinPolicy(
            parsing: Array(
                """
                {"unlisted": "allow", "hosts": {"b.test": {"pins": [
                "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=",
                "sha256/E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g="]}}}
                """.utf8))
        let system = try await NetworkSystem.start(
            services: [
                "a": ServiceConfiguration(baseURL: "https://a.test", payloadProtocol: .rest),
                "b": ServiceConfiguration(baseURL: "https://b.test", payloadProtocol: .rest),
            ], policy: policy, options: options)
        _ = try await system.exchange("a", method: .get, target: "/x")
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.exchange("b", method: .get, target: "/x")
        }
        #expect(code == .engineCannotPin && engine.count == 1)
        await system.shutdown()
    }
}

private func thread() -> ObjectIdentifier { ObjectIdentifier(Thread.current) }
