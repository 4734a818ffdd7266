import SignetJSON
import SignetRPC

/// What a body says to a call, found in its tree by the specification's words and none of the matcher's
/// code: by types and bytes, not by `RPCID`.
struct ResponseOracle {
    let version: JSONRPCAdapter.Version
    let acceptsStringified: Bool

    /// What one response says.
    enum Content: Equatable {
        case result(JSONValue)
        case error
        case malformed
    }

    /// Whether an id of a response is the call's; a string of its digits is not, unless that is allowed.
    func names(_ found: JSONValue?, _ call: RPCID) -> Bool {
        switch (found, call) {
        case (.number(let found), .number(let sent)): sameBytes(found.text, sent.text)
        case (.string(let found), .string(let sent)): sameBytes(found, sent)
        case (.string(let found), .number(let sent)):
            acceptsStringified && sameBytes(found, sent.text)
        default: false
        }
    }

    /// What a response says, whoever it is for.
    func content(of response: JSONValue) -> Content {
        let result = response["result"]
        let error = response["error"]
        if version == .v2 {
            guard response["jsonrpc"] == "2.0" else { return .malformed }
            if let result { return error == nil ? .result(result) : .malformed }
            guard error?["code"]?.number?.isInteger == true, error?["message"]?.string != nil else {
                return .malformed
            }
            return .error
        }
        if let error, !error.isNull {
            return result == nil || result == .null ? .error : .malformed
        }
        return result.map(Content.result) ?? .malformed
    }

    /// Whether a response is an error that names no call.
    func rejects(_ response: JSONValue) -> Bool {
        response["id"] == .null && content(of: response) == .error
    }

    private func sameBytes(_ left: String, _ right: String) -> Bool {
        left.utf8.elementsEqual(right.utf8)
    }
}
