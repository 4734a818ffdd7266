internal import Synchronization

/// Hands events to everybody who listens.
final class EventHub: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<CallEvent>.Continuation] = [:]
        var lastNumber = 0
        var isFinished = false
    }

    private let state = Mutex(State())

    /// The events that one listener has not taken; the oldest are dropped.
    private static let limit = 10_000

    /// Returns a new listener's events, from now on.
    func events() -> AsyncStream<CallEvent> {
        let (stream, listener) = AsyncStream.makeStream(
            of: CallEvent.self, bufferingPolicy: .bufferingNewest(Self.limit))
        let number = state.withLock { state -> Int? in
            guard !state.isFinished else { return nil }
            state.lastNumber += 1
            state.listeners[state.lastNumber] = listener
            return state.lastNumber
        }
        guard let number else {
            listener.finish()
            return stream
        }
        listener.onTermination = { [weak self] _ in
            self?.state.withLock { $0.listeners[number] = nil }
        }
        return stream
    }

    /// Hands an event on. It is made only if somebody listens.
    func send(_ event: @autoclosure () -> CallEvent) {
        let listeners = state.withLock { Array($0.listeners.values) }
        guard !listeners.isEmpty else { return }
        let event = event()
        for listener in listeners { listener.yield(event) }
    }

    /// Ends all listeners' events.
    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}

extension NetworkSystem {
    /// The events of all calls from now on, until the system is shut down. Each use of the property is a
    /// listener of its own; one that falls behind by 10,000 events loses the oldest.
    public var events: AsyncStream<CallEvent> { hub.events() }
}
