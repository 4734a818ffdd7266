import Synchronization

/// A handle that the caller passes to a call: the call's events while it runs, its attempts so far,
/// and its record when it has ended, even if it failed.
///
/// ```swift
/// func listOrders(with system: NetworkSystem) async throws {
///     let trace = CallTrace()
///     let response = try await system.call(
///         RPCCall("orders.list"), on: "orders", options: RequestOptions(trace: trace))
///     print(response.status, trace.record?.duration as Any)
/// }
/// ```
///
/// Several calls may share a trace, such as those of `pages`; it keeps the records of all of them.
public final class CallTrace: Sendable {
    private let logs = Mutex<[CallLog]>([])
    private let hub = EventHub()

    /// Makes an empty trace.
    public init() {}

    /// The attempts so far, of all calls of the trace.
    public var attempts: [CallRecord.Attempt] { logs.withLock { $0 }.flatMap(\.attempts) }

    /// The records of the calls that have ended, in the order in which the calls began.
    public var records: [CallRecord] { logs.withLock { $0 }.compactMap(\.record) }

    /// The record of the call that began last and has ended; nil if none has.
    public var record: CallRecord? { records.last }

    /// The events of the trace's calls from now on. The sequence ends when one of the calls has
    /// finished or was refused, so get it before the call is made. A listener that falls behind
    /// loses the oldest events, as one of ``NetworkSystem/events`` does.
    public var events: CallEvents { hub.events() }

    func add(_ log: CallLog) { logs.withLock { $0.append(log) } }

    var hasListeners: Bool { hub.hasListeners }

    func send(_ event: CallEvent, of call: CallIdentity.ID) { hub.send(event, of: call) }

    /// Ends the events of the listeners so far.
    func endEvents() { hub.endEvents() }
}
