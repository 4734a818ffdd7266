import HTTPTypes
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// A 401 renews the credential only if the call may be sent again, and if the credential was sent.
@Suite struct RenewalTests {
    private final class Source: CredentialSource {
        let scope = ""
        private let count = Mutex(0)
        var asked: Int { count.withLock { $0 } }

        func credential(
            replacing old: Credential?, for call: CallIdentity
        ) async throws -> Credential {
            .bearer(
                count.withLock { count in
                    count += 1
                    return "\(count)"
                })
        }
    }

    /// Sends an attempt again if the response is 500.
    private struct Repeating: AttemptInterceptor {
        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            let first = try await next(call)
            return first.response.status == .internalServerError ? try await next(call) : first
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var method = HTTPRequest.Method.post
        /// The server's responses; for a redirect, its target.
        let responses: [String]
        var repeats = false
        var idempotency: Idempotency?
        /// The numbers of requests and of credentials.
        let requests: Int, credentials: Int

        var testDescription: String { "\(method) \(responses) \(requests)" }
    }

    static let cases = [
        Case(responses: ["401", "1"], requests: 2, credentials: 2),
        // The server has processed the POST.
        Case(responses: ["/v1/y", "401", "1"], requests: 2, credentials: 1),
        Case(responses: ["/v1/y", "401", "1"], idempotency: .always, requests: 3, credentials: 2),
        Case(responses: ["500", "401", "1"], repeats: true, requests: 2, credentials: 1),
        Case(
            responses: ["500", "401", "1"], repeats: true, idempotency: .always, requests: 3,
            credentials: 2),
        // The other server got no credential.
        Case(responses: ["https://b.test/", "401", "1"], requests: 2, credentials: 1),
        Case(
            method: .get, responses: ["https://b.test/", "401", "1"], requests: 2, credentials: 1),
        Case(method: .get, responses: ["/v1/y", "401", "1"], requests: 3, credentials: 2),
    ]

    private func response(_ text: String) -> RecordingEngine.Response {
        if let status = Int(text), status > 1 { return .init(status: status, body: "") }
        guard text != "1" else { return .init(body: "1") }
        return .init(status: 303, body: "", fields: [.location: text])
    }

    private func setUp(
        _ one: Case
    ) async throws -> (NetworkSystem, RecordingEngine, Source, RequestOptions) {
        let engine = RecordingEngine(responses: one.responses.map(response))
        let source = Source()
        var options = RequestOptions(idempotency: one.idempotency)
        options.credentials = source
        options.attempts = 1
        if one.repeats { options.attemptInterceptors = [Repeating()] }
        return (try await Pipeline.system(engine), engine, source, options)
    }

    @Test(arguments: cases) func aCallIsSentAgainOnlyIfRefused(_ one: Case) async throws {
        let (system, engine, source, options) = try await setUp(one)
        let response = try await system.exchange(
            "a", method: one.method, target: "/x", fields: [:], body: [], options: options)
        #expect(engine.count == one.requests && source.asked == one.credentials)
        #expect(response.status == (one.credentials == 2 ? 200 : 401))
        await system.shutdown()
    }

    @Test(arguments: cases) func aStreamIsHandedOutOtherwise(_ one: Case) async throws {
        let (system, engine, source, options) = try await setUp(one)
        let response = try await system.stream(
            "a", method: one.method, target: "/x", options: options)
        _ = try await response.body.collect(limit: 10)
        #expect(engine.count == one.requests && source.asked == one.credentials)
        #expect(response.status == (one.credentials == 2 ? 200 : 401))
        await system.shutdown()
    }
}
