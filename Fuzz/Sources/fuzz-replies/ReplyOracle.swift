import SignetJSON
import SignetRPC

/// What a body says to a call, found in its tree by the specification's words and none of the matcher's
/// code: by types and bytes, not by `RPCID`.
struct ReplyOracle {
    let version: JSONRPCAdapter.Version
    let acceptsStringified: Bool

    /// What one reply says.
    enum Content: Equatable {
        case result(JSONValue)
        case error
        case malformed
    }

    /// Whether an id of a reply is the call's; a string of its digits is not, unless that is allowed.
    func names(_ found: JSONValue?, _ call: RPCID) -> Bool {
        switch (found, call) {
        case (.number(let found), .number(let sent)): sameBytes(found.text, sent.text)
        case (.string(let found), .string(let sent)): sameBytes(found, sent)
        case (.string(let found), .number(let sent)):
            acceptsStringified && sameBytes(found, sent.text)
        default: false
        }
    }

    /// What a reply says, whoever it is for.
    func content(of reply: JSONValue) -> Content {
        let result = reply["result"]
        let error = reply["error"]
        if version == .v2 {
            guard reply["jsonrpc"] == "2.0" else { return .malformed }
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

    /// Whether a reply is an error that names no call.
    func rejects(_ reply: JSONValue) -> Bool {
        reply["id"] == .null && content(of: reply) == .error
    }

    private func sameBytes(_ left: String, _ right: String) -> Bool {
        left.utf8.elementsEqual(right.utf8)
    }
}
