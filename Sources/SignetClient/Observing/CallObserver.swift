/// Sees every event of every call, at once and without loss.
///
/// An observer runs on the thread of the call, before the call continues, so it must not block and
/// must not take long. The events of one call come one after another in their order, those of
/// different calls may come at once. An observer may use the system; the events that it causes come
/// after the one that it handles. The caller gets its outcome after `finished` has reached all
/// observers.
///
/// ```swift
/// import Synchronization
///
/// final class Spinner: CallObserver {
///     private let count = Atomic(0)
///
///     func receive(_ event: CallEvent) {
///         switch event {
///         case .started: count.add(1, ordering: .relaxed)
///         case .finished: count.subtract(1, ordering: .relaxed)
///         default: break
///         }
///     }
/// }
/// ```
public protocol CallObserver: Sendable {
    /// Takes an event.
    func receive(_ event: CallEvent)
}

/// An observer that was added to a system, until it is removed.
public struct CallObservation: Sendable {
    let hub: EventHub
    let number: Int

    /// Removes the observer. An event that is being delivered may still reach it.
    public func remove() { hub.removeObserver(number) }
}
