import Synchronization

/// Tells a page which of its calls run: what it shows, and whether it can be touched.
///
/// ```swift
/// func show(_ system: NetworkSystem) -> CallObservation {
///     let activity = CallActivity(tag: "orders") { state in
///         print(state.isShown ? "spinner" : "no spinner", state.isBlocking ? "locked" : "open")
///     }
///     return system.addObserver(activity)  // remove() when the page closes
/// }
/// ```
public final class CallActivity: CallObserver {
    /// The calls that run.
    public struct State: Sendable, Hashable {
        /// The number of calls that run, with those in the background.
        public fileprivate(set) var count = 0
        fileprivate var shownCount = 0
        fileprivate var blockingCount = 0
        /// Whether a call runs that is to be shown.
        public var isShown: Bool { shownCount > 0 }
        /// Whether a call runs until whose end nothing else can be done.
        public var isBlocking: Bool { blockingCount > 0 }
    }

    private let tag: String?
    private let current = Mutex<(state: State, calls: Set<CallIdentity.ID>)>((State(), []))
    private let changed: @Sendable (State) -> Void

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - tag: The tag of the calls that count; nil for all calls.
    ///   - changed: Called after each change, as an observer is. Changes at the same time may come
    ///     in any order; ``state`` is the present one.
    public init(tag: String? = nil, changed: @escaping @Sendable (State) -> Void = { _ in }) {
        self.tag = tag
        self.changed = changed
    }

    /// The calls that run now. A call that began before the observer was added doesn't count.
    public var state: State { current.withLock { $0.state } }

    /// Takes an event.
    public func receive(_ event: CallEvent) {
        let change: Int
        switch event {
        case .started: change = 1
        case .finished: change = -1
        default: return
        }
        let identity = event.identity
        if let tag, !identity.tags.contains(tag) { return }
        let state = current.withLock { current -> State? in
            if change > 0 {
                current.calls.insert(identity.id)
            } else if current.calls.remove(identity.id) == nil {
                return nil
            }
            current.state.count += change
            if identity.interaction != .background { current.state.shownCount += change }
            if identity.interaction == .blocking { current.state.blockingCount += change }
            return current.state
        }
        if let state { changed(state) }
    }
}
