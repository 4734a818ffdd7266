import SignetJSON
import Synchronization

/// What is answered to a request of the peer.
struct RPCResponse: Sendable {
    /// Null where the request's cannot be told.
    let id: JSONValue
    let outcome: Result<JSONValue, RPCServerError>

    static func invalid(_ standard: RPCServerError.Standard, _ id: JSONValue = .null) -> RPCResponse
    {
        RPCResponse(id: id, outcome: .failure(RPCServerError(standard)))
    }

    /// The response object; with 1.0 both members, one of them null.
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

/// The answers to one batch of the peer, sent together when the last is there.
final class BatchResponses: Sendable {
    private let state: Mutex<(open: Int, answers: [RPCResponse])>
    private let send: @Sendable ([RPCResponse]) -> Void

    init(count: Int, _ send: @escaping @Sendable ([RPCResponse]) -> Void) {
        self.state = Mutex((count, []))
        self.send = send
    }

    /// Takes one element's answer; nil for a notification.
    func take(_ answer: RPCResponse?) {
        let all = state.withLock { state -> [RPCResponse]? in
            if let answer { state.answers.append(answer) }
            state.open -= 1
            return state.open == 0 ? state.answers : nil
        }
        if let all, !all.isEmpty { send(all) }
    }
}
