import HTTPTypes
import SignetTransport

/// An engine that responds after a few milliseconds; to `/endless` never, to `/missing` with 404.
final class DelayingEngine: HTTPEngine {
    let capabilities = EngineCapabilities(
        name: "delaying", pinsPublicKeys: true, speaksHTTP2: false)

    func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        let isEndless = request.request.path == "/v1/endless"
        do {
            try await Task.sleep(
                for: isEndless ? .seconds(3600) : .microseconds(Int.random(in: 0...3000)))
        } catch {
            throw TransportError(.cancelled, "cancelled")
        }
        return EngineResponse(
            response: HTTPResponse(
                status: request.request.path == "/v1/missing" ? .notFound : .ok),
            body: HTTPResponseBody(bytes: Array("1".utf8)),
            httpVersion: .init(major: 1, minor: 1))
    }

    func shutdown() async {}
}
