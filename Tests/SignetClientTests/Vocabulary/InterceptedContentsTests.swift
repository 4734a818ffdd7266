import HTTPTypes
import SignetClient
import SignetRPC
import SignetTransport
import TestSupport
import Testing

/// The contents of a call before and after its interceptors.
@Suite(.enabled(if: RunMode.isSwitchable)) struct InterceptedContentsTests {
    private static let name = HTTPField.Name("X-Added")!
    private static let secret = "ZZZZZZ"

    private struct Adding: CallInterceptor, AttemptInterceptor {
        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            var call = call
            call.fields[name] = "call"
            call.fields[.authorization] = "Bearer \(secret)"
            return try await next(call)
        }

        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            var call = call
            call.request.headerFields[name] = "attempt"
            return try await next(call)
        }
    }

    private struct Answering: CallInterceptor, AttemptInterceptor {
        let raw = RawResponse(
            status: 200, fields: [:], body: Array(#"{"jsonrpc":"2.0","id":1,"result":1}"#.utf8))

        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            UnboxedResponse(raw)
        }

        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            EngineResponse(
                response: HTTPResponse(status: .ok), body: HTTPResponseBody(bytes: raw.body),
                httpVersion: .init(major: 1, minor: 1))
        }
    }

    private struct Repeating: AttemptInterceptor {
        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            _ = try await next(call)
            var response = try await next(call)
            response.response.headerFields[name] = "answer"
            return response
        }
    }

    private static func contents(
        change: (inout RequestOptions) -> Void
    ) async throws -> [StageContents] {
        let answer = #"{"jsonrpc":"2.0","id":1,"result":1}"#
        let engine = RecordingEngine(responses: [.init(body: answer), .init(body: answer)])
        let system = try await Pipeline.system(engine, payload: .jsonRPC2) {
            $0.runMode = .development
        }
        var options = RequestOptions()
        options.idempotency = .always
        change(&options)
        let response = await system.response(
            to: ProcedureCall(RPCCall("orders.list"), on: "a"), options: options)
        await system.shutdown()
        return try #require(response.record?.counted.contents)
    }

    private static func added(_ message: StageContents.Message?) -> String? {
        message?.fields.first { $0.name == "X-Added" }?.value
    }

    @Test(.features("000-40")) func theyHaveWhatInterceptorsChange() async throws {
        let contents = try await Self.contents {
            $0.interceptors = [Adding()]
            $0.attemptInterceptors = [Adding()]
        }
        #expect(
            contents.map(\.stage) == [
                .interceptors, .building, .attemptInterceptors, .signing, .request, .unboxing,
                .interceptors,
            ])
        #expect(contents[0].before?.head == "orders.list")
        #expect(Self.added(contents[0].before) == nil && Self.added(contents[0].after) == "call")
        #expect(Self.added(contents[2].before) == "call")
        #expect(Self.added(contents[2].after) == "attempt")
        #expect(contents[2].after?.head == "POST https://api.example.com/v1")
        #expect(contents[6].before?.head == "200" && contents[6].after == contents[6].before)
        var text = ""
        dump(contents, to: &text)
        #expect(text.contains("(redacted)") && !text.contains(Self.secret))
    }

    /// An interceptor that answers is a stage that has an end.
    @Test func anInterceptorThatAnswersHasAnEnd() async throws {
        let attempt = try await Self.contents { $0.attemptInterceptors = [Answering()] }
        #expect(attempt.map(\.stage) == [.building, .attemptInterceptors, .unboxing])
        #expect(attempt[1].before?.head == "POST https://api.example.com/v1")
        #expect(attempt[1].after?.head == "200")
        let call = try await Self.contents { $0.interceptors = [Answering()] }
        #expect(call.map(\.stage) == [.interceptors])
        #expect(call[0].before == nil && call[0].after?.head == "200")
    }

    @Test func eachRequestOfAnInterceptorIsAStage() async throws {
        let contents = try await Self.contents { $0.attemptInterceptors = [Repeating()] }
        let stages = contents.filter { $0.stage == .attemptInterceptors }
        #expect(stages.count == 3 && stages.allSatisfy { $0.after != nil })
        #expect(Self.added(stages[2].before) == nil && Self.added(stages[2].after) == "answer")
    }
}
