import SignetBase
import Synchronization

/// A call that was started, with its number at once.
///
/// ```swift
/// func load(with system: NetworkSystem) {
///     let handle = system.start(.get("/orders/7", on: "shop")) { result in
///         if case .success(let order) = result { print(order.status) }
///     }
///     print("call \(handle.id) runs")
///     if handle.cancel() { print("the closure is never called") }
/// }
/// ```
///
/// The closure is called once, however the call ends: with a value, an error, `cancelled` if
/// another part of the program ends it, `not-running` at a shutdown. Only ``cancel()`` keeps it
/// from being called, and the release of the receiver, if the call has one. A handle that is
/// released changes nothing.
public final class CallHandle<Success: Sendable>: Sendable {
    /// The call's number, for ``NetworkSystem/cancelCall(_:)`` and ``NetworkSystem/events(of:)``.
    public let id: CallIdentity.ID

    private enum Phase {
        case running, cancelled, delivered
    }

    private struct State {
        var phase = Phase.running
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())
    private let outcome = Latch<CallResponse<Success>>()
    private let end: @Sendable () -> Void

    /// - Parameter end: Ends the call with `cancelled`.
    init(_ id: CallIdentity.ID, end: @escaping @Sendable () -> Void) {
        self.id = id
        self.end = end
    }

    /// Cancels the call.
    ///
    /// - Returns: True if this was in time: then the closure is never called. False if the closure
    ///   has run or is running, or if the call was cancelled before.
    @discardableResult
    public func cancel() -> Bool {
        let (isFirst, task) = state.withLock { state in
            guard case .running = state.phase else { return (false, Task<Void, Never>?.none) }
            state.phase = .cancelled
            return (true, state.task.take())
        }
        guard isFirst else { return false }
        task?.cancel()
        end()
        return true
    }

    /// The outcome with everything that is known of the call, after it has ended. Of a call that
    /// was cancelled it is a failure with the code `cancelled`, unless the call had ended.
    /// Cancelling the task that waits changes nothing.
    public var response: CallResponse<Success> {
        get async { await outcome.wait() }
    }

    // MARK: The call

    func attach(_ task: Task<Void, Never>) {
        let isCancelled = state.withLock { state in
            switch state.phase {
            case .running:
                state.task = task
                return false
            case .cancelled: return true
            case .delivered: return false
            }
        }
        if isCancelled { task.cancel() }
    }

    /// Whether the closure may still be called.
    var isRunning: Bool { state.withLock { if case .running = $0.phase { true } else { false } } }

    /// Keeps the outcome, and calls the closure unless the call was cancelled.
    func finish(
        _ response: CallResponse<Success>, on delivery: CallDelivery,
        deliver: (@Sendable (Result<Success, ClientError>) -> Void)?
    ) {
        outcome.set(response)
        guard let deliver else {
            _ = begin()
            return
        }
        delivery.run {
            // Here and not before, so that a cancellation is in time until the closure runs.
            if self.begin() { deliver(response.result) }
        }
    }

    private func begin() -> Bool {
        state.withLock { state in
            state.task = nil
            guard case .running = state.phase else { return false }
            state.phase = .delivered
            return true
        }
    }
}

/// Cancels a call once its receiver has been released.
final class ReceiverWatch<Success: Sendable>: Sendable {
    private weak let handle: CallHandle<Success>?
    private let isGone: @Sendable () -> Bool

    /// The time between two looks at the receiver: Swift has no callback for a release.
    static var interval: Duration { .milliseconds(50) }

    init(_ handle: CallHandle<Success>, isGone: @escaping @Sendable () -> Bool) {
        self.handle = handle
        self.isGone = isGone
    }

    /// Looks until the call has ended.
    func begin() {
        _ = Alarms.shared.add(after: Self.interval) {
            guard let handle = self.handle, handle.isRunning else { return }
            if self.isGone() {
                // In a task of its own, because the program's cancellation handlers run there.
                Task.detached { handle.cancel() }
            } else {
                self.begin()
            }
        }
    }
}

/// A weak reference to the receiver of a call's outcome.
struct WeakReceiver<Receiver: AnyObject & Sendable>: Sendable {
    private(set) weak var object: Receiver?
}
