import CFloor
import HTTPTypes
import SignetClient
import SignetPinning
import SignetTransport

/// Processor time of a call through the network system, beside the engine alone: an engine without a
/// network, so that the difference is what the pipeline costs.
struct SystemRows {
    static let names = [
        "system-exchange", "system-empty", "system-empty-16", "system-full", "system-full-16",
        "system-interceptor",
    ]

    /// Responds at once.
    private struct InstantEngine: CancellableHTTPEngine {
        let capabilities = EngineCapabilities(
            name: "instant", pinsPublicKeys: true, speaksHTTP2: false)

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            EngineResponse(
                response: HTTPResponse(status: .ok), body: HTTPResponseBody(bytes: Array("7".utf8)),
                httpVersion: .init(major: 1, minor: 1))
        }

        func send(
            _ request: EngineRequest, cancelledBy cancellation: any RequestCancellation
        ) async throws(TransportError) -> EngineResponse { try await send(request) }

        func shutdown() async {}
    }

    /// Accepts every response.
    private struct AcceptingCheck: ResponseCheck {
        func failure(in response: UnboxedResponse) -> String? { nil }
    }

    /// One token for all calls.
    private struct Token: CredentialSource {
        let scope = "user"
        func credential(
            replacing old: Credential?, for call: CallIdentity
        ) async throws -> Credential { .bearer("bench") }
    }

    private struct ReadNumber: RESTEndpoint {
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .get }
        var path: PathTemplate { "/x" }
        typealias Success = Int
    }

    /// Hands the call on.
    private struct Empty: CallInterceptor, AttemptInterceptor {
        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            try await next(call)
        }

        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            try await next(call)
        }
    }

    private static let total = 4000
    private let engine = InstantEngine()

    static func rows() throws -> [Row] { SystemRows().rows() }

    private func rows() -> [Row] {
        [
            Row(
                name: "system-exchange", unit: .microseconds, goal: .value(7),
                ours: {
                    try await calls(
                        callers: 1,
                        call: { system in
                            let response = try await system.exchange(
                                "a", method: .get, target: "/x")
                            try require(response.body.count == 1, "wrong response")
                        })
                },
                floor: { try await alone(callers: 1) }),
            row("system-empty", callers: 1, isFull: false, goal: 30),
            row("system-empty-16", callers: 16, isFull: false, goal: 30),
            row("system-full", callers: 1, isFull: true, goal: 60),
            row("system-full-16", callers: 16, isFull: true, goal: 60),
            Row(
                name: "system-interceptor", unit: .microseconds, goal: .value(2), rounds: 15,
                ours: {
                    // Ten of them, because one disappears in the noise of a call's time.
                    let with = try await calls(callers: 1) {
                        $0.callOptions.interceptors = Array(repeating: Empty(), count: 10)
                    }
                    return try await (with - calls(callers: 1)) / 10
                },
                floor: { try await calls(callers: 1) }),
        ]
    }

    private func row(_ name: String, callers: Int, isFull: Bool, goal: Double) -> Row {
        Row(
            name: name, unit: .microseconds, goal: .value(goal),
            ours: {
                try await calls(callers: callers, isSigned: isFull) { options in
                    guard isFull else { return }
                    options.callOptions.deadline = .seconds(60)
                    options.callOptions.fields[.userAgent] = "bench/1"
                    options.callOptions.interceptors = [Empty()]
                    options.callOptions.attemptInterceptors = [Empty()]
                    options.callOptions.tags = ["bench"]
                    options.callOptions.credentials = Token()
                    options.callOptions.responseChecks = [AcceptingCheck()]
                    options.callOptions.sets = [RequestDefaults.common, "bench"]
                    options.callOptions.trace = CallTrace()
                    options.engines["instant"] = engine
                    options.callOptions.engine = EngineChoice(
                        trial: .init("instant", percent: 50), fallback: .init("instant"))
                }
            },
            floor: { try await alone(callers: callers) })
    }

    /// Microseconds of a call through a system.
    private func calls(
        callers: Int, isSigned: Bool = false,
        change: (inout NetworkSystem.Options) -> Void = { _ in },
        call: @escaping @Sendable (NetworkSystem) async throws -> Void = { system in
            try require(try await system.send(ReadNumber()) == 7, "wrong response")
        }
    ) async throws -> Double {
        var options = NetworkSystem.Options()
        options.engine = engine
        options.logger.logLevel = .error
        change(&options)
        let pin = try Pin(bytes: [UInt8](repeating: 1, count: 32))
        var service = ServiceConfiguration(
            baseURL: "https://api.example.com/v1", payloadProtocol: .rest)
        if isSigned {
            service.signing = ServiceConfiguration.Signing(scheme: "rfc9421", keyID: "bench")
            service.sets["bench"] = RequestDefaults(parameters: ["app": "bench"])
        }
        let system = try await NetworkSystem.start(
            services: ["a": service], keys: SigningJob.keys(#""alg":"HS256","#),
            policy: PinPolicy(rules: [PinRule(host: "api.example.com", pins: [pin])]),
            options: options)
        let time = try await processorTime(callers: callers, total: Self.total) { _ in
            try await call(system)
        }
        await system.shutdown()
        return time
    }

    private func alone(callers: Int) async throws -> Double {
        let head = HTTPRequest(
            method: .get, scheme: "https", authority: "api.example.com", path: "/v1/x")
        return try await processorTime(callers: callers, total: Self.total) { [engine] _ in
            let response = try await engine.send(EngineRequest(head))
            let body = try await response.body.collect(limit: 1 << 20)
            try require(body.count == 1, "wrong response")
        }
    }
}
