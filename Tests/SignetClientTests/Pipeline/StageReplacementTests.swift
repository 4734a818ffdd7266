import HTTPTypes
import SignetClient
import SignetJSON
import SignetRPC
import SignetSigning
import SignetTransport
import TestSupport
import Testing

/// Each stage of a call has a default and a protocol or value that replaces it, and it alone.
@Suite struct StageReplacementTests {
    enum Stage: CaseIterable, Sendable {
        case adapter, signer, credentials, retry, check, callInterceptor, attemptInterceptor
    }

    private struct Signer: ExternalSigner {
        let keyID = "kms"
        let algorithm = HTTPSignatureAlgorithm.ed25519
        func sign(_ base: [UInt8]) async throws -> [UInt8] { [UInt8](repeating: 1, count: 64) }
    }

    private struct Token: CredentialSource {
        let scope = "user"
        func credential(
            replacing old: Credential?, for call: CallIdentity
        ) async throws -> Credential { .bearer("1") }
    }

    private struct Refusing: ResponseCheck {
        func failure(in response: UnboxedResponse) -> String? { "refused" }
    }

    private struct Naming: CallInterceptor, AttemptInterceptor {
        static let field = HTTPField.Name("X-Stage")!

        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            var call = call
            call.fields[Self.field] = "1"
            return try await next(call)
        }

        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            var call = call
            call.request.headerFields[Self.field] = "1"
            return try await next(call)
        }
    }

    /// The requests of one call, and its outcome.
    private static func requests(
        replacing stage: Stage?
    ) async throws -> (requests: [HTTPRequest], outcome: String) {
        let response = #"{"code":0,"data":7}"#
        let engine = RecordingEngine(responses: [
            .init(status: 418, body: response), .init(body: response),
        ])
        let system = try await Pipeline.system(engine) { options in
            options.externalSigners = [Signer()]
            options.clock.sleep = { _ in }
        } changeService: { service in
            switch stage {
            case .adapter: service.adapter = EnvelopeAdapter()
            case .signer: service.signing = .init(scheme: "rfc9421", keyID: "kms")
            case .credentials: service.options.credentials = Token()
            case .retry:
                service.options.retry = RetryStrategy()
                service.options.retry?.statusCodes = [418]
            case .check: service.options.responseChecks = [Refusing()]
            case .callInterceptor: service.options.interceptors = [Naming()]
            case .attemptInterceptor: service.options.attemptInterceptors = [Naming()]
            case nil: break
            }
        }
        // The first call fails with 418 unless that is worth another attempt.
        var outcome = ""
        for _ in 0..<(stage == .retry ? 1 : 2) {
            do throws(ClientError) {
                let result = try await system.call(RESTRequest(.get, "/x"), on: "a").result
                outcome = result?.value.text ?? "none"
            } catch {
                outcome = error.code.name
            }
        }
        await system.shutdown()
        return (engine.requests.map(\.request), outcome)
    }

    @Test(.features("002-03", "000-61"), arguments: Stage.allCases)
    func aStageIsReplacedAlone(_ stage: Stage) async throws {
        let usual = try await Self.requests(replacing: nil)
        let changed = try await Self.requests(replacing: stage)
        #expect(usual.requests.count == 2 && changed.requests.count == 2)
        #expect(usual.outcome == #"{"code":0,"data":7}"#)
        let added: Set<HTTPField.Name> =
            switch stage {
            case .signer:
                [try #require(.init("Signature")), try #require(.init("Signature-Input"))]
            case .credentials: [.authorization]
            case .callInterceptor, .attemptInterceptor: [Naming.field]
            case .adapter, .retry, .check: []
            }
        for (new, old) in zip(changed.requests, usual.requests) {
            #expect(Set(new.headerFields.map(\.name)) == added.union(old.headerFields.map(\.name)))
            var rest = new
            for name in added { rest.headerFields[name] = nil }
            #expect(rest == old)
        }
        switch stage {
        case .adapter: #expect(changed.outcome == "7")
        case .check: #expect(changed.outcome == "business-code")
        default: #expect(changed.outcome == usual.outcome)
        }
    }
}
