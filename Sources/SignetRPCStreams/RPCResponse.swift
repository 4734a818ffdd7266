import SignetJSON
import SignetRPC
import Synchronization

/// A response to a request of the peer.
struct RPCResponse: Sendable {
    /// The request's id; null if the request has no readable one.
    let id: JSONValue
    let outcome: Result<JSONValue, RPCServerError>

    static func invalid(
        _ standard: RPCServerError.Standard, id: JSONValue = .null
    ) -> RPCResponse {
        RPCResponse(id: id, outcome: .failure(RPCServerError(standard)))
    }

    /// Returns the response object; with version 1.0 it has both members, one of them null.
    func object(_ version: JSONRPCAdapter.Version) -> JSONObject {
        switch (version, outcome) {
        case (.v2, .success(let value)): ["jsonrpc": "2.0", "result": value, "id": id]
        case (.v2, .failure(let error)):
            ["jsonrpc": "2.0", "error": .object(error.object), "id": id]
        case (.v1, .success(let value)): ["result": value, "error": nil, "id": id]
        case (.v1, .failure(let error)):
            ["result": nil, "error": .object(error.object), "id": id]
        }
    }
}

/// The responses to one batch of the peer, sent together when all are complete.
final class BatchResponses: Sendable {
    private let state: Mutex<(pending: Int, responses: [RPCResponse])>
    private let send: @Sendable ([RPCResponse]) -> Void

    init(count: Int, _ send: @escaping @Sendable ([RPCResponse]) -> Void) {
        self.state = Mutex((count, []))
        self.send = send
    }

    /// Adds the response to one element; nil for a notification.
    func add(_ response: RPCResponse?) {
        let all = state.withLock { state -> [RPCResponse]? in
            if let response { state.responses.append(response) }
            state.pending -= 1
            return state.pending == 0 ? state.responses : nil
        }
        if let all, !all.isEmpty { send(all) }
    }
}
