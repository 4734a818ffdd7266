/// The identity of a call in errors, events, records and interceptors.
public struct CallIdentity: Sendable, Hashable {
    /// The number of a call in its network system, from 1.
    public struct ID: Sendable, Hashable, CustomStringConvertible {
        let number: UInt64

        /// The number in decimal.
        public var description: String { "\(number)" }
    }

    /// The call's number.
    public let id: ID
    /// The service that is called.
    public let service: Service
    /// The remote procedure's name, or the HTTP method of a REST call.
    public let method: String
    /// The tags of `CallOptions.tags`.
    public let tags: Set<String>
    /// The path of a REST call without its values, such as `/orders/{id}`, or with `{}` in place of
    /// a value that the program interpolates; nil if it isn't known.
    public internal(set) var path: String?
}

/// An owner of calls, such as a session or a job: when the last reference to the
/// owner is released, its running calls end with `cancelled`.
///
/// ```swift
/// final class Session {
///     let owner = CallOwner()
///     func load(_ system: NetworkSystem) async throws {
///         let options = CallOptions(owner: owner)
///         let call = RPCCall("orders.list")
///         let orders = try await system.call(call, on: "orders", options: options)
///         print(orders.status)
///     }
/// }
/// ```
///
/// Calls and options hold their owner weakly.
public final class CallOwner: Sendable {
    private let calls = OwnedCalls()

    /// Creates an owner.
    public init() {}

    deinit { calls.end() }

    /// Ends the owner's running calls with `cancelled`.
    ///
    /// - Returns: The number of calls that were ended.
    @discardableResult
    public func cancelCalls() -> Int { calls.end() }

    func add(_ call: RunningCall) { calls.add(call) }

    func remove(_ call: RunningCall) { calls.remove(call) }
}
