import SignetClient
import SignetJSON
import SignetRPC
import SignetTransport

extension ClientError: CodedError {
    var codeName: String { code.name }

    /// What `--json` adds to the error: the server's own error with its data.
    var details: JSONObject {
        guard let serverError else { return [:] }
        return ["rpc": .object(serverError.object)]
    }
}

extension RPCError: CodedError {
    var codeName: String { code.name }

    var details: JSONObject {
        guard let server else { return [:] }
        return ["rpc": .object(server.object)]
    }
}

extension TransportError: CodedError {
    var codeName: String { code.name }
}
