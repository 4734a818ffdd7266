public import SignetRPC
public import SignetJSON

/// What a program does with the peer's own requests and notifications.
public struct RPCHandler: Sendable {
    /// Answers a request with a result. `RPCServerError` is sent as it stands; any other error becomes
    /// −32603 without its text.
    public typealias Request = @Sendable (RPCCall, RPCPeer) async throws -> JSONValue
    /// Takes a notification.
    public typealias Notification = @Sendable (RPCCall, RPCPeer) async -> Void

    let request: Request
    let notification: Notification

    /// Takes what answers requests, and what takes notifications, one after another as they came.
    ///
    /// Requests are begun in their order too, behind the notifications before them, and answered at
    /// once or later, many at a time.
    public init(
        request: @escaping Request = { _, _ in throw RPCServerError(.methodNotFound) },
        notification: @escaping Notification = { _, _ in }
    ) {
        self.request = request
        self.notification = notification
    }

    /// Takes what answers each method; every other one is answered with −32601.
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

    /// Knows no method: requests are answered with −32601, notifications are passed over.
    public static let none = RPCHandler()
}
