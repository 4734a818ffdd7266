import Synchronization

/// The events of calls, for one listener.
///
/// The system never waits for a listener. Up to 10,000 events are kept for it; if it falls further
/// behind, it loses the oldest ones, and ``lostCount`` says how many. Then the events that are left
/// of a call may begin in the middle, but keep their order.
public struct CallEvents: AsyncSequence, Sendable {
    /// The event type.
    public typealias Element = CallEvent
    /// The sequence never fails.
    public typealias Failure = Never

    private let stream: AsyncStream<CallEvent>
    private let lost: LostCount
    private let end: @Sendable () -> Void

    init(_ stream: AsyncStream<CallEvent>, lost: LostCount, end: @escaping @Sendable () -> Void) {
        self.stream = stream
        self.lost = lost
        self.end = end
    }

    /// Ends the sequence after the events that were sent so far.
    public func stop() { end() }

    /// The number of events that this listener lost so far because it was too slow.
    public var lostCount: Int { lost.value }

    /// Returns the events one by one; the sequence has one iterator.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: stream.makeAsyncIterator())
    }

    /// Returns the events one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var base: AsyncStream<CallEvent>.Iterator

        /// Returns the next event; nil at the end, or if the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> CallEvent? {
            await base.next(isolation: actor)
        }
    }
}

/// Counts the events that a listener lost.
final class LostCount: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func increment() { count.withLock { $0 += 1 } }
}
