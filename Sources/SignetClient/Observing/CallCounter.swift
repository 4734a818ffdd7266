public import SignetTransport
import Synchronization

/// Counts the calls of a system exactly: by service, method, outcome, origin of the response and
/// engine.
///
/// ```swift
/// func start(_ configuration: GlobalConfiguration) async throws {
///     let counter = CallCounter()
///     var options = NetworkSystem.Options()
///     options.observers = [counter]
///     let system = try await NetworkSystem.start(configuration, options: options)
///     _ = try await system.call(RPCCall("orders.list"), on: "orders")
///     print(counter.count { $0.service == "orders" && $0.failure == nil })  // 1
/// }
/// ```
///
/// A call is counted before its caller gets the outcome. Test calls of the configuration
/// (``Probe``) aren't.
public final class CallCounter: CallObserver {
    /// The calls that are counted together.
    public struct Kind: Sendable, Hashable {
        /// The service.
        public let service: ServiceName
        /// The procedure's name, or the HTTP method.
        public let method: String
        /// The code of the error that calls ended with; nil for a success.
        public let failure: ClientError.Code?
        /// The origin of the last response; nil if there was none.
        public let source: ResponseSource?
        /// The engine of the last request; nil if there was none.
        public let engine: EngineName?

        init(_ record: CallRecord) {
            service = record.identity.service
            method = record.identity.method
            failure = record.failure
            source = record.response?.source
            engine = record.lastEngine
        }
    }

    private let state = Mutex<(counts: [Kind: Int], running: Set<CallIdentity.ID>)>(([:], []))

    /// Creates a counter of zero.
    public init() {}

    /// The numbers of calls that have ended.
    public var counts: [Kind: Int] { state.withLock { $0.counts } }

    /// The number of calls that run. Those that began before the counter was added don't count.
    public var runningCount: Int { state.withLock { $0.running.count } }

    /// Returns the number of calls that have ended and meet a condition.
    public func count(where isCounted: (Kind) -> Bool = { _ in true }) -> Int {
        counts.reduce(0) { $0 + (isCounted($1.key) ? $1.value : 0) }
    }

    /// Begins again at zero.
    public func reset() { state.withLock { $0.counts = [:] } }

    /// Takes an event.
    public func receive(_ event: CallEvent) {
        switch event {
        case .started(let call) where !call.isProbe:
            state.withLock { _ = $0.running.insert(call.id) }
        case .finished(let record) where !record.identity.isProbe:
            let kind = Kind(record)
            state.withLock { state in
                state.counts[kind, default: 0] += 1
                state.running.remove(record.identity.id)
            }
        default: break
        }
    }
}

extension CallRecord {
    /// The engine of the last request; nil if none was sent.
    package var lastEngine: EngineName? {
        attempts.last { !$0.hops.isEmpty }?.hops.last?.engine?.engine
    }
}
