import SignetJSON
import SignetRPC

/// The notification with which one side cancels its request at the other.
public struct RPCCancellation: Sendable, Hashable {
    private enum Value: Sendable { case none, languageServer, modelContext }

    private let value: Value

    /// No notification: a cancelled call only ends on this side.
    public static let none = RPCCancellation(value: .none)
    /// `$/cancelRequest` (Language Server Protocol 3.17). The request still gets a response: −32800
    /// or its result.
    public static let languageServer = RPCCancellation(value: .languageServer)
    /// `notifications/cancelled` (Model Context Protocol 2025-06-18, Cancellation). The request
    /// gets no response, and `initialize` is never cancelled.
    public static let modelContext = RPCCancellation(value: .modelContext)

    /// Whether a request that the peer cancelled gets a response.
    var respondsToCancelled: Bool { value != .modelContext }

    /// Returns the notification to send for a call that ended before its response; nil if there
    /// isn't one.
    func notification(of id: RPCID, method: RPCMethod) -> RPCCall? {
        guard let (name, member) = notice, value == .languageServer || method != "initialize"
        else { return nil }
        return RPCCall(name, parameters: .object([member: id.json]), isNotification: true)
    }

    /// Returns the id of the request that a notification cancels; nil for other notifications.
    func cancelled(by call: RPCCall) -> RPCID? {
        guard let (name, member) = notice, call.method == name else { return nil }
        return switch call.parameters?.json[member] {
        case .string(let text): .string(text)
        case .number(let number): .number(number)
        default: nil
        }
    }

    /// The method of the notification, and the member with the call's id.
    private var notice: (RPCMethod, String)? {
        switch value {
        case .none: nil
        case .languageServer: ("$/cancelRequest", "id")
        case .modelContext: ("notifications/cancelled", "requestId")
        }
    }
}
