public import SignetJSON
import Synchronization

/// A configuration that changes while the program runs: one immutable snapshot at a time.
///
/// A change is checked whole and then takes effect at once or not at all. Who holds a snapshot keeps
/// it: a call under way ends with the values that it began with.
///
/// ```swift
/// let live = LiveConfiguration(configuration)
/// try live.set(launch: ["orders.timeout": "2s"])
/// for await snapshot in live.snapshots { apply(snapshot) }
/// ```
public final class LiveConfiguration: Sendable, CustomStringConvertible, CustomReflectable {
    private struct State {
        var current: GlobalConfiguration
        /// Counts the snapshots.
        var generation = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0
    }

    private let state: Mutex<State>

    /// Starts with a configuration; keys that it requires stay required.
    public init(_ configuration: GlobalConfiguration) {
        self.state = Mutex(State(current: configuration))
    }

    /// The newest snapshot. Values that belong together are read from one snapshot.
    public var current: GlobalConfiguration { state.withLock { $0.current } }

    /// The public part of the newest snapshot.
    public var `public`: PublicView { state.withLock { $0.current.public } }

    /// The newest snapshot, and then each later one.
    ///
    /// A reader that is slower than the changes gets the newest and misses those between. The sequence
    /// ends when the reader's task is cancelled.
    public var snapshots: Snapshots { Snapshots(live: self) }

    /// Requires public keys in the current snapshot and all later ones.
    ///
    /// - Throws: As `PublicView.require`; then nothing has changed.
    public func require<each Value: ConfigurationValue>(
        _ keys: repeat ConfigurationKey<each Value, Public>
    ) throws(VaultError) {
        let required = RequiredKey.all(repeat each keys)
        try update { current throws(VaultError) in try current.requiring(required) }
    }

    /// Puts another configuration in the place of the current one.
    ///
    /// - Throws: Where a key that was required cannot be read in it: `missing-value`, `wrong-type`,
    ///   `not-public` or `unknown-config-key`. Then nothing has changed.
    public func replace(with configuration: GlobalConfiguration) throws(VaultError) {
        try update { _ in configuration }
    }

    /// Changes some launch values; `null` removes one.
    ///
    /// - Returns: The new snapshot.
    /// - Throws: As `GlobalConfiguration.changing`; then nothing has changed.
    @discardableResult
    public func set(launch values: JSONObject) throws(VaultError) -> GlobalConfiguration {
        try update { current throws(VaultError) in try current.changing(.launch, values) }
    }

    /// Replaces all fetched values, after they have been fetched again.
    ///
    /// - Returns: The new snapshot.
    /// - Throws: As `GlobalConfiguration.replacing`; then nothing has changed.
    @discardableResult
    public func replace(
        fetched input: ConfigurationInput
    ) throws(VaultError) -> GlobalConfiguration {
        try update { current throws(VaultError) in try current.replacing(.fetched, with: input) }
    }

    /// Makes a new snapshot of the current one.
    ///
    /// - Parameter change: Runs without a lock, and once more where another change came between.
    /// - Returns: The new snapshot.
    /// - Throws: What `change` throws; and, as `replace(with:)`, where what it made lacks a key that
    ///   was required. Then nothing has changed.
    @discardableResult
    public func update(
        _ change: (GlobalConfiguration) throws(VaultError) -> GlobalConfiguration
    ) throws(VaultError) -> GlobalConfiguration {
        while true {
            let (old, generation) = state.withLock { ($0.current, $0.generation) }
            let new = try change(old).keeping(old)
            if publish(new, after: generation) { return new }
        }
    }

    /// Takes a snapshot if none came after the one it was made of, and wakes the readers.
    private func publish(_ new: GlobalConfiguration, after generation: Int) -> Bool {
        let waiting: [CheckedContinuation<Void, Never>]? = state.withLock { state in
            guard state.generation == generation else { return nil }
            state.current = new
            state.generation += 1
            defer { state.waiting.removeAll() }
            return Array(state.waiting.values)
        }
        guard let waiting else { return false }
        for continuation in waiting { continuation.resume() }
        return true
    }

    /// How many keys there are, and no value.
    public var description: String { "LiveConfiguration(\(current.count) values, redacted)" }
    /// Without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: - Reading

extension LiveConfiguration {
    /// The snapshots of a configuration that changes; each loop over it begins with the newest.
    public struct Snapshots: AsyncSequence, Sendable {
        /// A snapshot.
        public typealias Element = GlobalConfiguration
        /// No error.
        public typealias Failure = Never

        fileprivate let live: LiveConfiguration

        /// Starts reading.
        public func makeAsyncIterator() -> Iterator { Iterator(live: live) }

        /// One reader's place.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let live: LiveConfiguration
            private var seen = -1

            fileprivate init(live: LiveConfiguration) { self.live = live }

            /// The newest snapshot that this reader has not seen, once there is one; nil where the
            /// task is cancelled.
            public mutating func next(
                isolation actor: isolated (any Actor)? = #isolation
            ) async -> GlobalConfiguration? {
                guard let (snapshot, generation) = await live.snapshot(after: seen, actor)
                else { return nil }
                seen = generation
                return snapshot
            }
        }
    }

    private func snapshot(
        after seen: Int, _ actor: isolated (any Actor)?
    ) async -> (GlobalConfiguration, Int)? {
        while !Task.isCancelled {
            let newest: (GlobalConfiguration, Int)? = state.withLock { state in
                state.generation == seen ? nil : (state.current, state.generation)
            }
            if let newest { return newest }
            let waiter = state.withLock { state in
                state.nextWaiter += 1
                return state.nextWaiter
            }
            await withTaskCancellationHandler {
                await withCheckedContinuation(isolation: actor) { continuation in
                    let waits = state.withLock { state in
                        // A change or a cancellation that came between would be slept through.
                        guard state.generation == seen, !Task.isCancelled else { return false }
                        state.waiting[waiter] = continuation
                        return true
                    }
                    if !waits { continuation.resume() }
                }
            } onCancel: {
                state.withLock { $0.waiting.removeValue(forKey: waiter) }?.resume()
            }
        }
        return nil
    }
}
