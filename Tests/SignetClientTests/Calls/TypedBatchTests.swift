import HTTPTypes
import SignetClient
import SignetJSON
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// Responds to each call of a batch with its parameter `id`; -1 is an error, -2 gets no response,
/// -3 is not a number.
private final class BatchEngine: HTTPEngine {
    let capabilities = EngineCapabilities(name: "batch", pinsPublicKeys: true, speaksHTTP2: false)
    private let recorded = Mutex<[EngineRequest]>([])

    var requests: [EngineRequest] { recorded.withLock { $0 } }

    func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        recorded.withLock { $0.append(request) }
        let calls = (try? JSONValue(parsing: request.body.bytes ?? []))?.array ?? []
        let responses = calls.compactMap { call -> JSONValue? in
            var response: JSONObject = ["jsonrpc": "2.0", "id": call["id"] ?? .null]
            switch call["params"]?["id"] {
            case -1: response["error"] = ["code": -32000, "message": "no", "data": ["a_b": 1]]
            case -2: return nil
            case -3: response["result"] = "text"
            case let id: response["result"] = id ?? .null
            }
            return .object(response)
        }
        return EngineResponse(
            response: HTTPResponse(status: .ok),
            body: HTTPResponseBody(bytes: JSONValue.array(responses).serialized()),
            httpVersion: .init(major: 1, minor: 1))
    }

    func shutdown() async {}
}

/// Endpoints in one request of JSON-RPC 2.0.
@Suite struct TypedBatchTests {
    private struct Number: Endpoint {
        typealias Success = Int
        var service: ServiceName = "a"
        var id: Int
        var options = RequestOptions()

        init(
            _ id: Int, service: ServiceName = "a", change: (inout RequestOptions) -> Void = { _ in }
        ) {
            (self.service, self.id) = (service, id)
            change(&options)
        }

        var method: RPCMethod { "number" }
        var callOptions: RequestOptions { options }

        func validate() throws {
            if id > 99 { throw PayloadError(.invalidParameters, "the id is \(id)") }
        }

        func parameters() throws(PayloadError) -> RPCParameters? {
            .object(["id": .number(.init(id))])
        }

        func encode(to encoder: any Encoder) throws {}
    }

    private let engine = BatchEngine()

    private func system(
        _ payload: ServiceConfiguration.PayloadProtocol = .jsonRPC2
    ) async throws -> NetworkSystem {
        try await Pipeline.system(engine, payload: payload)
    }

    private func names(_ outcomes: [Result<some Sendable, ClientError>]) -> [String] {
        outcomes.map { outcome in
            switch outcome {
            case .success(let value): "\(value)"
            case .failure(let error): error.code.name
            }
        }
    }

    @Test func outcomesAreTyped() async throws {
        let system = try await system()
        let outcomes = try await system.batch([7, -1, -2, -3, 8].map { Number($0) })
        #expect(names(outcomes) == ["7", "rpc-error", "batch-incomplete", "type-mismatch", "8"])
        #expect(engine.requests.count == 1)
        for case .failure(let error) in outcomes {
            #expect(error.identity?.method == "batch" && error.record?.status == 200)
        }
        await system.shutdown()
    }

    @Test func valuesMayHaveTheExpectedType() async throws {
        let system = try await system()
        let outcomes: [Result<Int, ClientError>] = try await system.batch([
            .procedure("number", on: "a", parameters: ["id": 7]),
            .procedure("other", on: "a", parameters: ["id": -1]),
        ])
        #expect(names(outcomes) == ["7", "rpc-error"])
        let raw = try await system.batch([.procedure("x", on: "a")] as [ProcedureCall])
        #expect(try raw[0].get().result?.value == .null)
        await system.shutdown()
    }

    @Test func anInvalidValueSendsNothing() async throws {
        let system = try await system()
        let error = await #expect(throws: ClientError.self) {
            try await system.batch([Number(1), Number(100)])
        }
        #expect(error?.code == .invalidParameters && error?.identity?.service == "a")
        #expect(engine.requests.isEmpty)
        await system.shutdown()
    }

    private struct Silent: CallInterceptor {
        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            try await next(call)
        }
    }

    private struct Token: CredentialSource {
        let scope: String
        func credential(
            replacing old: Credential?, for call: CallIdentity
        ) async throws -> Credential { .bearer(scope) }
    }

    @Test func callsThatCannotShareARequestAreRefused() async throws {
        let system = try await system()
        let others = [
            Number(2, service: "b"), Number(2) { $0.fields[.authorization] = "b" },
            Number(2) { $0.credentials = Token(scope: "b") }, Number(2) { $0.sets = [] },
            Number(2) { $0.json = JSONConventions(keys: .snakeCase) },
            Number(2) { $0.baseURL = "https://other.example.com" },
            Number(2) { $0.interceptors = [Silent()] },
        ]
        for other in others {
            let code = await Pipeline.code { () async throws(ClientError) in
                try await system.batch([Number(1), other])
            }
            #expect(code == .unsupportedCall)
        }
        #expect(engine.requests.isEmpty)
        // They can if all are of one user.
        let own = (1...2).map { Number($0) { $0.credentials = Token(scope: "a") } }
        #expect(names(try await system.batch(own)) == ["1", "2"])
        #expect(engine.requests[0].request.headerFields[.authorization] == "Bearer a")
        await system.shutdown()
    }

    @Test func whatIsNoBatchIsRefused() async throws {
        let system = try await system()
        let empty = await Pipeline.code { () async throws(ClientError) in
            try await system.batch([Number]())
        }
        #expect(empty == .emptyBatch)
        await system.shutdown()
        let rest = try await self.system(.rest)
        for call in [RESTCall.get("/x", on: "a"), RESTCall(RESTRequest(.get), on: "a")] {
            let code = await Pipeline.code { () async throws(ClientError) in
                try await rest.batch([call])
            }
            #expect(code == .unsupportedCall)
        }
        #expect(engine.requests.isEmpty)
        await rest.shutdown()
    }

    /// Only a batch whose calls all may be sent twice is sent twice.
    @Test(arguments: [true, false])
    func aBatchIsIdempotentIfAllCallsAre(_ areAll: Bool) async throws {
        let engine = RecordingEngine(responses: [.init(status: 503, body: "")])
        let system = try await Pipeline.system(engine, payload: .jsonRPC2) {
            $0.clock.sleep = { _ in }
        }
        let calls = [
            Number(1) { $0.idempotency = .always },
            Number(2) { $0.idempotency = areAll ? .always : nil },
        ]
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.batch(calls)
        }
        #expect(code == .httpStatus && engine.count == (areAll ? 3 : 1))
        await system.shutdown()
    }

    private struct NoSeven: ResponseCheck {
        func failure(in response: UnboxedResponse) -> String? {
            response.result?.value == 7 ? "found 7" : nil
        }
    }

    @Test func eachResultIsChecked() async throws {
        let system = try await system()
        var options = RequestOptions()
        options.responseChecks = [NoSeven()]
        let outcomes = try await system.batch([7, 8].map { Number($0) }, options: options)
        #expect(names(outcomes) == ["business-code", "8"])
        await system.shutdown()
    }
}
