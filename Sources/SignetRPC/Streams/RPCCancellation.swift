import SignetJSON

/// How one side tells the other that it wants no response to a request any more.
public struct RPCCancellation: Sendable, Hashable {
    private enum Value: Sendable { case none, languageServer, modelContext }

    private let value: Value

    /// It does not; a cancelled call ends here only.
    public static let none = RPCCancellation(value: .none)
    /// `$/cancelRequest` (Language Server Protocol 3.17); the request is answered all the same, with
    /// −32800 or its result.
    public static let languageServer = RPCCancellation(value: .languageServer)
    /// `notifications/cancelled` (Model Context Protocol 2025-06-18, Cancellation): the request is not
    /// answered any more, and `initialize` is never cancelled.
    public static let modelContext = RPCCancellation(value: .modelContext)

    /// Whether a request that the peer cancelled is answered.
    var answersCancelled: Bool { value != .modelContext }

    /// What is sent for a call that ended before its response.
    func notification(of id: RPCID, _ method: RPCMethod) -> RPCCall? {
        switch value {
        case .none: nil
        case .languageServer:
            RPCCall("$/cancelRequest", parameters: .object(["id": id.json]), isNotification: true)
        case .modelContext:
            method == "initialize"
                ? nil
                : RPCCall(
                    "notifications/cancelled", parameters: .object(["requestId": id.json]),
                    isNotification: true)
        }
    }

    /// The id of the request that a notification cancels; nil where it is another notification.
    func cancelled(by call: RPCCall) -> RPCID? {
        let (method, member): (RPCMethod, String)
        switch value {
        case .none: return nil
        case .languageServer: (method, member) = ("$/cancelRequest", "id")
        case .modelContext: (method, member) = ("notifications/cancelled", "requestId")
        }
        guard call.method == method else { return nil }
        return switch call.parameters?.json[member] {
        case .string(let text): .string(text)
        case .number(let number): .number(number)
        default: nil
        }
    }
}
