public import SignetJSON
public import SignetRPC

/// A program's handler of the peer's requests and notifications.
///
/// ```swift
/// import SignetJSON
/// import SignetRPC
/// import SignetRPCStreams
///
/// let handler = RPCHandler(methods: [
///     "orders.get": { call, _ in
///         guard case .array(let parameters)? = call.parameters, let id = parameters.first else {
///             throw RPCServerError(.invalidParameters)
///         }
///         return ["id": id, "item": "tea"]
///     }
/// ])
/// let stream = try DescriptorStream(reading: 0, writing: 1)  // standard input and output
/// let connection = RPCConnection(stream, options: .modelContext, handler: handler)
/// _ = await connection.ended()
/// ```
public struct RPCHandler: Sendable {
    /// Returns the result of a request. A thrown `RPCServerError` is sent unchanged; any other
    /// error becomes −32603 without its text.
    public typealias Request = @Sendable (RPCCall, RPCPeer) async throws -> JSONValue
    /// Receives a notification.
    public typealias Notification = @Sendable (RPCCall, RPCPeer) async -> Void

    let request: Request
    let notification: Notification

    /// Creates a handler of all requests, and of notifications, which it receives one after
    /// another.
    ///
    /// Requests start in order too, after the notifications before them, but run concurrently.
    public init(
        request: @escaping Request = { _, _ in throw RPCServerError(.methodNotFound) },
        notification: @escaping Notification = { _, _ in }
    ) {
        self.request = request
        self.notification = notification
    }

    /// Creates a handler with a function for each method. All other requests get the error −32601.
    public init(
        methods: [RPCMethod: Request], notification: @escaping Notification = { _, _ in }
    ) {
        self.init(
            request: { call, peer in
                guard let method = methods[call.method] else {
                    throw RPCServerError(.methodNotFound)
                }
                return try await method(call, peer)
            }, notification: notification)
    }

    /// Creates a handler with a function for each method and for each notification. Other requests
    /// get the error −32601, other notifications are ignored.
    public init(
        methods: [RPCMethod: Request] = [:], notifications: [RPCMethod: Notification]
    ) {
        self.init(methods: methods) { call, peer in await notifications[call.method]?(call, peer) }
    }

    /// A handler without methods: requests get the error −32601, notifications are ignored.
    public static let none = RPCHandler()
}
