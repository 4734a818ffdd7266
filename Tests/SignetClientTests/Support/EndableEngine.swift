import HTTPTypes
import SignetTransport
import Synchronization

/// An engine that ends a request when its cancellation says so. The cancellation of the request's
/// task has no effect.
final class EndableEngine: CancellableHTTPEngine {
    /// The engine's response to a request.
    enum Manner: Sendable {
        /// Sends no response.
        case silent
        /// Sends a header and no end of the body.
        case halfway
        /// Responds with a status and a body.
        case responding(Int, body: [UInt8] = [])
        /// Fails.
        case failing(TransportError.Code)
    }

    /// Lives as long as an action of a cancellation.
    private final class Token: Sendable {}

    private struct WeakToken {
        weak var token: Token?
    }

    private struct State {
        var tokens: [WeakToken] = []
        var manner: Manner
        var count = 0
        var untold = 0
    }

    let capabilities = EngineCapabilities(
        name: "endable", pinsPublicKeys: true, speaksHTTP2: false)
    private let state: Mutex<State>

    init(_ manner: Manner) { state = Mutex(State(manner: manner)) }

    /// The number of requests.
    var count: Int { state.withLock { $0.count } }
    /// The number of requests that only the cancellation of their tasks would have ended.
    var untold: Int { state.withLock { $0.untold } }

    /// The number of responses whose requests' cancellations still have an action.
    var actionCount: Int { state.withLock { $0.tokens.count { $0.token != nil } } }

    func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        state.withLock { $0.untold += 1 }
        throw TransportError(.invalidRequest, "the request can't be ended")
    }

    func send(
        _ request: EngineRequest, cancelledBy cancellation: any RequestCancellation
    ) async throws(TransportError) -> EngineResponse {
        let error = TransportError(.cancelled, "the engine was told")
        let manner = state.withLock { state in
            state.count += 1
            return state.manner
        }
        switch manner {
        case .silent:
            await withCheckedContinuation { caller in cancellation.onCancel { caller.resume() } }
            throw error
        case .halfway:
            let buffer = BodyBuffer(capacity: 1 << 16, drained: {}, abandoned: {})
            _ = buffer.offer([0x31])
            cancellation.onCancel { buffer.finish(error) }
            return Self.response(200, body: HTTPResponseBody(buffer))
        case .responding(let status, let body):
            let token = Token()
            state.withLock { $0.tokens.append(WeakToken(token: token)) }
            cancellation.onCancel { _ = token }
            return Self.response(status, body: HTTPResponseBody(bytes: body))
        case .failing(let code): throw TransportError(code, "failed")
        }
    }

    private static func response(_ status: Int, body: HTTPResponseBody) -> EngineResponse {
        EngineResponse(
            response: HTTPResponse(status: .init(code: status)), body: body,
            httpVersion: .init(major: 1, minor: 1))
    }

    func shutdown() async {}
}
