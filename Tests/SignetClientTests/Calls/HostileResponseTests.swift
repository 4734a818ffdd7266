import Foundation
import SignetClient
import SignetJSON
import TestSupport
import Testing

/// Responses of a hostile server over HTTP. Each call ends once, with its own result or with the
/// error that names the defect.
struct HostileResponseTests {
    struct Hostility: Decodable, Sendable {
        let name: String
        let rule: Int
        /// `call`, `notification` or `batch` (two calls, with a notification between them).
        let kind: String
        let mode: String?
        /// The result's text, the error's code, `notified`, or those of a batch's calls.
        let outcome: [String]
        let warnings: [String]
    }

    @Test(.features("000-56", "003-01")) func eachCallEndsOnce() async throws {
        let url = try #require(
            Bundle.module.url(forResource: "Vectors/hostile-responses", withExtension: "json"))
        let cases = try VectorFile<Hostility>.load("hostile-responses", in: .module)
        let server = try await HostileRPCServer(vectors: url)
        var services: [ServiceName: ServiceConfiguration] = [:]
        for (number, hostility) in cases.enumerated() {
            let isSlow = hostility.mode == "drip" || hostility.mode == "hang"
            services[ServiceName("\(number)")] = ServiceConfiguration(
                baseURL: server.url(case: number), payloadProtocol: .jsonRPC2,
                timeout: .seconds(isSlow ? 1 : 120))
        }
        var options = NetworkSystem.Options()
        options.maximumResponseSize = 1 << 20
        let system = try await NetworkSystem.start(
            services: services, policy: .allowingAll(), options: options)
        for (number, hostility) in cases.enumerated() {
            let (outcome, warnings) = await Self.made(
                hostility.kind, ServiceName("\(number)"), system)
            #expect(outcome == hostility.outcome, "\(hostility.name)")
            #expect(warnings == hostility.warnings, "\(hostility.name)")
        }
        await system.shutdown()
    }

    /// Makes a call of a kind, and returns its outcome.
    private static func made(
        _ kind: String, _ service: ServiceName, _ system: NetworkSystem
    ) async -> ([String], [String]) {
        do throws(ClientError) {
            if kind == "batch" {
                let response = try await system.batch(
                    [RPCCall("a"), RPCCall("n", isNotification: true), RPCCall("b")], on: service)
                return (response.outcomes.compactMap(name), response.warnings.map(\.code.name))
            }
            let response = try await system.call(
                RPCCall("a", isNotification: kind == "notification"), on: service)
            let text = response.result.map { String(decoding: $0.bytes, as: UTF8.self) }
            return ([text ?? "notified"], response.warnings.map(\.code.name))
        } catch {
            return ([error.code.name], [])
        }
    }

    private static func name(_ outcome: BatchResponse.Outcome) -> String? {
        switch outcome {
        case .result(let result): String(decoding: result.bytes, as: UTF8.self)
        case .failure(let error): error.code.name
        case .rejected: "rejected"
        case .unanswered: "unanswered"
        case .notified: nil
        }
    }
}
