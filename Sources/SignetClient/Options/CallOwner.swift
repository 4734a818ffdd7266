import Synchronization

/// An owner of calls, such as a session or a job: when the last reference to the
/// owner is released, its running calls end with `cancelled`.
///
/// ```swift
/// final class Session {
///     let owner = CallOwner()
///     func load(_ system: NetworkSystem) async throws {
///         let options = RequestOptions(owner: owner)
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

    func add(_ call: any OwnedCall) { calls.add(call) }

    func remove(_ call: any OwnedCall) { calls.remove(call) }
}

/// A running call, as its owner sees it.
protocol OwnedCall: AnyObject, Sendable {
    /// Ends the call.
    ///
    /// - Returns: Whether this was the first to end it.
    @discardableResult
    func end(_ error: ClientError) -> Bool
}

/// The calls of one owner.
final class OwnedCalls: Sendable {
    private let calls = Mutex<[ObjectIdentifier: any OwnedCall]>([:])

    func add(_ call: any OwnedCall) { calls.withLock { $0[ObjectIdentifier(call)] = call } }

    func remove(_ call: any OwnedCall) { calls.withLock { $0[ObjectIdentifier(call)] = nil } }

    @discardableResult
    func end() -> Int {
        let calls = calls.withLock { Array($0.values) }
        return calls.filter { $0.end(.cancelledByCaller) }.count
    }
}

/// A weak reference to an owner.
struct WeakOwner: Sendable {
    private(set) weak var object: CallOwner?
}
