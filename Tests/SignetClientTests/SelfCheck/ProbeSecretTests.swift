import SignetClient
import SignetJSON
import SignetRPC
import SignetTransport
import TestSupport
import Testing

/// The lines of test calls have no text of a URL's path or of a server, and a test call of any REST
/// service changes nothing.
@Suite struct ProbeSecretTests {
    @Test(
        arguments: [
            (
                .init(
                    body: #"{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"canary"}}"#),
                "rpc-error, status 200, from https://"
            ),
            (.init(status: 503, body: "canary"), "http-status, status 503, from https://"),
        ] as [(RecordingEngine.Response, String)])
    func aRefusalIsCodeStatusAndOrigin(
        _ response: RecordingEngine.Response, _ detail: String
    ) async throws {
        var values = ProbeTests.up
        values["probes.up.path"] = "/canary/token"
        let lines = try await ProbeTests.lines(RecordingEngine(responses: [response]), values)
        #expect(lines[0].status == .bad)
        #expect(lines[0].detail.hasPrefix("a state: \(detail)"), "\(lines[0].detail)")
        #expect(!"\(lines[0])".contains("canary"))
        #expect(!lines[0].detail.contains("/rpc"))
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "DELETE /orders/7", "GET /orders/7"])
    func anEnvelopesServiceIsRESTToo(_ method: String) async throws {
        let engine = RecordingEngine(responses: [.init(body: #"{"code":0,"data":1}"#)])
        func lines(_ method: String) async throws -> [SelfCheckReport.Line] {
            var values = ProbeTests.probe(["service": "a", "method": .string(method)])
            values["services.a.protocol"] = "wrapped"
            return try await ProbeTests.lines(engine, values) {
                $0.adapters["wrapped"] = EnvelopeAdapter()
            }
        }
        let refused = try await lines(method)
        #expect(refused.map(\.status) == [.bad] && engine.count == 0)
        #expect(refused[0].detail.contains("a test call must change nothing"))
        let good = try await lines("GET")
        #expect(good.map(\.status) == [.good], "\(good)")
        #expect(engine.requests[0].request.method == .get)
    }
}
