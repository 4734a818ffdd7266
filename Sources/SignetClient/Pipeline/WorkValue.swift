import Synchronization

/// The value of a call's work. The stages between the work and the caller don't know its type,
/// because generic code costs more at run time (benchmark row `system-empty`).
final class WorkValue<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)

    func set(_ value: Value) { state.withLock { $0 = value } }

    /// The value, after the work has returned. Work that failed has none, but then its error is
    /// thrown before this is asked.
    func get() throws(ClientError) -> Value {
        guard let value = state.withLock({ $0 }) else { throw .cancelledByCaller }
        return value
    }
}
