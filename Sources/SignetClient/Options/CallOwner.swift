import Synchronization

/// An owner of calls, such as a session or a job: when the last reference to the
/// owner is released, its running calls end with `cancelled`.
///
/// ```swift
/// final class Session: Sendable {
///     private let owner = CallOwner()
///
///     func load(_ system: NetworkSystem) {
///         let options = RequestOptions(owner: owner)
///         Task { [weak self] in
///             let call = RPCCall("orders.list")
///             let orders = try await system.call(call, on: "orders", options: options)
///             self?.show(orders)
///         }
///     }
///
///     func show(_ orders: UnboxedResponse) {}
/// }
/// ```
///
/// While an `async` method of an object runs, the object lives: a session whose own method awaits
/// the call is never released before the call has ended. So the task above begins in a method that
/// isn't `async`, and captures the session weakly.
/// ``NetworkSystem/start(_:for:options:on:deliver:)`` needs neither: it takes the receiver itself
/// and holds it weakly.
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

/// A weak reference to an owner. It is an object, because copies of a weak reference cost more.
final class WeakOwner: Sendable {
    weak let object: CallOwner?

    init(object: CallOwner) { self.object = object }
}
