import HTTPTypes
import SignetClient
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct InterceptorTests {
    final class Notes: Sendable {
        private let notes = Mutex<[String]>([])
        var all: [String] { notes.withLock { $0 } }
        func add(_ note: String) { notes.withLock { $0.append(note) } }
    }

    /// Records its entry and exit, and the error that was thrown.
    struct Noting: CallInterceptor, AttemptInterceptor {
        let name: String
        let notes: Notes

        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            notes.add("\(name)>")
            do {
                let response = try await next(call)
                notes.add("\(name)<\(response.status)")
                return response
            } catch {
                notes.add("\(name)!\(error.code.name)")
                throw error
            }
        }

        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            notes.add("\(name)\(call.attempt ?? 0)>")
            return try await next(call)
        }
    }

    struct Call: CallInterceptor {
        let work: @Sendable (PendingCall, NextCall) async throws -> UnboxedResponse
        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            try await work(call, next)
        }
    }

    struct Each: AttemptInterceptor {
        let work: @Sendable (OutgoingCall, NextAttempt) async throws -> EngineResponse
        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            try await work(call, next)
        }
    }

    static func options(
        _ work: @escaping @Sendable (PendingCall, NextCall) async throws -> UnboxedResponse
    ) -> RequestOptions {
        var options = RequestOptions()
        options.interceptors = [Call(work: work)]
        return options
    }

    private static func get(
        _ engine: any HTTPEngine, _ options: RequestOptions, body: HTTPRequestBody = [],
        method: HTTPRequest.Method = .get
    ) async throws -> Result<RawResponse, ClientError> {
        let system = try await Pipeline.system(engine)
        let result: Result<RawResponse, ClientError>
        do throws(ClientError) {
            result = .success(
                try await system.exchange(
                    "a", method: method, target: "/x", fields: [:], body: body, options: options))
        } catch {
            result = .failure(error)
        }
        await system.shutdown()
        return result
    }

    private static func code(_ result: Result<RawResponse, ClientError>) -> ClientError.Code? {
        if case .failure(let error) = result { error.code } else { nil }
    }

    @Test(.features("002-22", "003-40")) func theyRunInDeclaredOrderAndSeeEachAttempt() async throws
    {
        let notes = Notes()
        let engine = RecordingEngine(failingFirst: 1)
        let system = try await Pipeline.system(engine) { options in
            options.callOptions.interceptors = [Noting(name: "system", notes: notes)]
            options.callOptions.attemptInterceptors = [Noting(name: "each", notes: notes)]
            options.callOptions.attempts = 2
        } changeService: { service in
            service.attempts = 2
            service.options.interceptors = [Noting(name: "service", notes: notes)]
        }
        var options = RequestOptions()
        options.interceptors = [Noting(name: "call", notes: notes)]
        options.retry = RetryStrategy()
        options.retry?.firstPause = .milliseconds(1)
        _ = try await system.exchange(
            "a", method: .get, target: "/x", fields: [:], body: [], options: options)
        #expect(
            notes.all == [
                "system>", "service>", "call>", "each1>", "each2>", "call<200", "service<200",
                "system<200",
            ])
        await system.shutdown()
    }

    @Test(.features("002-24")) func theySeeFailures() async throws {
        let notes = Notes()
        var options = RequestOptions()
        options.interceptors = [Noting(name: "a", notes: notes)]
        let result = try await Self.get(RecordingEngine(failingFirst: 9), options)
        #expect(Self.code(result) == .connect)
        #expect(notes.all == ["a>", "a!connect"])
    }

    @Test func withoutAnyTheBytesAreTheSame() async throws {
        let engine = RecordingEngine()
        _ = try await Self.get(engine, RequestOptions(), body: [1, 2], method: .post)
        let notes = Notes()
        var options = RequestOptions()
        options.interceptors = [Noting(name: "a", notes: notes)]
        options.attemptInterceptors = [Noting(name: "b", notes: notes)]
        _ = try await Self.get(engine, options, body: [1, 2], method: .post)
        #expect(notes.all.count == 3)
        #expect(engine.requests[0].request == engine.requests[1].request)
        #expect(engine.requests[0].bytes == engine.requests[1].bytes)
    }

    @Test(.features("000-61", "002-21", "002-24")) func theyChangeRequestsAndResponses()
        async throws
    {
        let engine = RecordingEngine()
        let options = Self.options { call, next in
            var call = call
            call.fields[.acceptLanguage] = "en"
            call.exchange?.target = "/changed"
            call.exchange?.body = [9]
            var response = try await next(call)
            response.raw.body = [7]
            return response
        }
        let result = try await Self.get(engine, options, body: [1], method: .post)
        #expect(try result.get().body == [7])
        #expect(engine.requests[0].request.path == "/changed")
        #expect(engine.requests[0].request.headerFields[.acceptLanguage] == "en")
        #expect(engine.requests[0].bytes == [9])
    }

    @Test(.features("003-40")) func theyMayRespondThemselves() async throws {
        let engine = RecordingEngine()
        let options = Self.options { _, _ in
            UnboxedResponse(RawResponse(status: 203, body: [5]))
        }
        #expect(try await Self.get(engine, options).get() == RawResponse(status: 203, body: [5]))
        var each = RequestOptions()
        each.attemptInterceptors = [
            Each { _, _ in
                EngineResponse(
                    response: HTTPResponse(status: .accepted), body: HTTPResponseBody(bytes: [6]),
                    httpVersion: .init(major: 1, minor: 1))
            }
        ]
        #expect(try await Self.get(engine, each).get() == RawResponse(status: 202, body: [6]))
        #expect(engine.count == 0)
    }

    @Test func anOwnResponseIsWrittenToTheFileOfADownload() async throws {
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine)
        let folder = try TemporaryDirectory()
        let path = folder.path("file")
        let result = try await system.download(
            "a", target: "/x", to: path,
            options: Self.options { _, _ in
                UnboxedResponse(RawResponse(status: 200, body: Array("tea".utf8)))
            })
        #expect(result.byteCount == 3 && engine.count == 0)
        let refused = await Pipeline.code { () async throws(ClientError) in
            try await system.download(
                "a", target: "/x", to: path,
                options: Self.options { _, _ in UnboxedResponse(RawResponse(status: 404, body: []))
                })
        }
        #expect(refused == .httpStatus)
        await system.shutdown()
    }

    @Test(.features("003-40")) func callingNextAgainNeedsAReplayableBody()
        async throws
    {
        let twice = Self.options { call, next in
            _ = try await next(call)
            return try await next(call)
        }
        let engine = RecordingEngine()
        let good = try await Self.get(engine, twice, body: [1], method: .post)
        #expect(try good.get().status == 200 && engine.count == 2)
        let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
        producer.yield([1])
        producer.finish()
        let once = try await Self.get(engine, twice, body: .stream(chunks), method: .post)
        #expect(Self.code(once) == .bodyNotReplayable)
        #expect(engine.count == 3)
    }

    @Test(arguments: ["http://api.example.com", "https://other.example.com"])
    func theyCannotLeadElsewhere(_ origin: String) async throws {
        let parts = origin.split(separator: ":", maxSplits: 1)
        let (scheme, authority) = (String(parts[0]), String(parts[1].dropFirst(2)))
        let engine = RecordingEngine()
        let around = Self.options { call, next in
            var call = call
            call.exchange?.target = "\(scheme)://\(authority)/x"
            return try await next(call)
        }
        #expect(Self.code(try await Self.get(engine, around)) == .refusedURL)
        var each = RequestOptions()
        each.attemptInterceptors = [
            Each { call, next in
                var call = call
                call.request.scheme = scheme
                call.request.authority = authority
                return try await next(call)
            }
        ]
        #expect(Self.code(try await Self.get(engine, each)) == .refusedURL)
        #expect(engine.count == 0)
    }

    @Test func urlRulesHoldForAChangedPath() async throws {
        var options = NetworkSystem.Options()
        let engine = RecordingEngine()
        options.engine = engine
        let system = try await NetworkSystem.start(
            Settings.configuration([
                "services.a.protocol": "rest", "urlRules.refused": ["/secret"],
            ]), options: options)
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.call(
                RESTRequest(.get, "/x"), on: "a",
                options: Self.options { call, next in
                    var call = call
                    call.setRequest(.resource(RESTRequest(.get, "/secret")))
                    return try await next(call)
                })
        }
        #expect(code == .refusedURL && engine.count == 0)
        await system.shutdown()
    }

    @Test(arguments: [".evil.test/", "@evil.test/", ":1/", "a", "/a#b", "/a\\b"])
    func aChangedTargetThatIsNotAPathIsRefused(_ target: String) async throws {
        let engine = RecordingEngine()
        let options = Self.options { call, next in
            var call = call
            call.exchange?.target = target
            return try await next(call)
        }
        #expect(Self.code(try await Self.get(engine, options)) == .refusedURL)
        #expect(engine.count == 0)
    }

    @Test func aForeignErrorShowsOnlyItsType() async throws {
        struct Failure: Error, CustomStringConvertible { let description = "ZZZZZZ" }
        let options = Self.options { _, _ in throw Failure() }
        guard case .failure(let error) = try await Self.get(RecordingEngine(), options) else {
            Issue.record("a response")
            return
        }
        #expect(error.code == .interceptorFailed && error.kind == .local)
        #expect(error.message == "the interceptor Call threw Failure")
        let cancelled = Self.options { _, _ in throw CancellationError() }
        #expect(Self.code(try await Self.get(RecordingEngine(), cancelled)) == .cancelled)
    }

    @Test func aStuckOneEndsAtTheDeadlineAndAtShutdown() async throws {
        let hold = Hold()
        var options = RequestOptions()
        options.interceptors = [hold]
        var limited = options
        limited.deadline = .milliseconds(20)
        let engine = RecordingEngine()
        #expect(Self.code(try await Self.get(engine, limited)) == .timeout)
        let (system, given) = (try await Pipeline.system(engine), options)
        let call = Task {
            await Pipeline.code { () async throws(ClientError) in
                try await system.call(RESTRequest(.get, "/x"), on: "a", options: given)
            }
        }
        #expect(try await eventually { hold.count == 2 })
        await system.shutdown(gracePeriod: .zero)
        #expect(await call.value == .notRunning)
        hold.letGo()
    }

    /// The rest of a call that an interceptor holds shows neither the call's fields nor its body.
    @Test func aDumpOfNextShowsNoSecret() async throws {
        let notes = Notes()
        @Sendable func note(_ next: Any) {
            var text = ""
            dump(next, to: &text)
            notes.add(text)
        }
        var options = RequestOptions()
        options.fields[.authorization] = "Bearer canary-1"
        options.interceptors = [
            Call { call, next in
                defer { note(next) }
                return try await next(call)
            }
        ]
        options.attemptInterceptors = [
            Each { call, next in
                defer { note(next) }
                return try await next(call)
            }
        ]
        let engine = RecordingEngine(responses: [.init(body: "canary-2")])
        _ = try await Self.get(
            engine, options, body: HTTPRequestBody(Array("canary-3".utf8)), method: .post
        ).get()
        #expect(notes.all.count == 2)
        #expect(notes.all.allSatisfy { !$0.contains("canary") && $0.contains("Next") })
    }
}
