import HTTPTypes
import SignetTransport
import Synchronization

/// An engine that reads each request's body, and whose responses' bodies a test feeds chunk by
/// chunk.
final class FeedingEngine: HTTPEngine {
    let capabilities = EngineCapabilities(
        name: "feeding", pinsPublicKeys: true, speaksHTTP2: false)

    private struct State {
        var bodies: [BodyBuffer] = []
        var requests: [EngineRequest] = []
        var bytes: [[UInt8]] = []
        var abandoned = 0
    }

    private let state = Mutex(State())
    private let header: HTTPResponse

    init(status: HTTPResponse.Status = .ok, fields: HTTPFields = [:]) {
        header = HTTPResponse(status: status, headerFields: fields)
    }

    /// The requests so far.
    var requests: [EngineRequest] { state.withLock { $0.requests } }
    /// The bytes of their bodies.
    var bytes: [[UInt8]] { state.withLock { $0.bytes } }
    /// How many bodies were left before their end.
    var abandoned: Int { state.withLock { $0.abandoned } }

    func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        var bytes: [UInt8] = []
        var reader = try request.body.makeReader()
        while let chunk = try await reader.next() { bytes += chunk }
        let body = BodyBuffer(
            capacity: 1 << 20, drained: {},
            abandoned: { self.state.withLock { $0.abandoned += 1 } })
        state.withLock { state in
            state.requests.append(request)
            state.bytes.append(bytes)
            state.bodies.append(body)
        }
        return EngineResponse(
            response: header, body: HTTPResponseBody(body), httpVersion: .init(major: 1, minor: 1))
    }

    /// Adds a chunk to the last response's body.
    func feed(_ text: String) { feed(Array(text.utf8)) }

    /// Adds a chunk to the last response's body.
    func feed(_ chunk: [UInt8]) { _ = state.withLock { $0.bodies.last }?.offer(chunk) }

    /// Ends the last response's body.
    func end(_ error: TransportError? = nil, trailers: HTTPFields? = nil) {
        state.withLock { $0.bodies.last }?.finish(error, trailers: trailers)
    }

    func shutdown() async {}
}
