/// The value of a call's work. The stages between the work and the caller don't know its type,
/// because generic code costs more at run time (benchmark row `system-empty`).
///
/// It needs no lock: the work sets it before it ends, and the caller gets it only after the work
/// has ended.
final class WorkValue<Value: Sendable>: @unchecked Sendable {
    private var value: Value?

    func set(_ value: Value) { self.value = value }

    /// The value, after the work has returned. Work that failed has none, but then its error is
    /// thrown before this is asked.
    func get() throws(ClientError) -> Value {
        guard let value else { throw .cancelledByCaller }
        return value
    }
}
