public import SignetJSON
import Synchronization

/// A configuration that changes while the program runs: one immutable snapshot at a time.
///
/// A change is checked as a whole and then takes effect at once, or not at all. Snapshots that are
/// in use don't change: a call ends with the values that it started with.
///
/// ```swift
/// import SignetJSON
///
/// let live = LiveConfiguration(
///     try GlobalConfiguration(
///         schema: Schema(contentsOf: "/etc/shop/schema.json"),
///         defaults: .file("/etc/shop/defaults.json")))
/// let watcher = Task {
///     for await snapshot in live.snapshots { print(snapshot.public) }
/// }
/// try live.set(launch: ["orders.timeout": "2s"])
/// try live.replace(fetched: .file("/var/lib/shop/fetched.json"))
/// watcher.cancel()
/// ```
public final class LiveConfiguration: Sendable, CustomStringConvertible, CustomReflectable {
    private struct State {
        var current: GlobalConfiguration
        /// The number of snapshots after the first.
        var generation = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0
    }

    private let state: Mutex<State>

    /// Creates a live configuration. Its first snapshot's required keys stay required.
    public init(_ configuration: GlobalConfiguration) {
        self.state = Mutex(State(current: configuration))
    }

    /// The latest snapshot. Read values that belong together from the same snapshot.
    public var current: GlobalConfiguration { state.withLock { $0.current } }

    /// The public part of the latest snapshot.
    public var `public`: PublicView { state.withLock { $0.current.public } }

    /// The latest snapshot, and then each later one.
    ///
    /// A reader that is slower than the changes receives only the latest snapshot. The sequence
    /// ends when the reader's task is cancelled.
    public var snapshots: Snapshots { Snapshots(live: self) }

    /// Requires public keys in the current snapshot and all later ones.
    ///
    /// - Throws: As ``PublicView/require(_:)``; then nothing changes.
    public func require<each Value: ConfigurationValue>(
        _ keys: repeat ConfigurationKey<each Value, PublicValue>
    ) throws(VaultError) {
        let required = RequiredKey.all(repeat each keys)
        try update { current throws(VaultError) in try current.requiring(required) }
    }

    /// Replaces the current configuration.
    ///
    /// - Throws: `missing-value`, `wrong-type`, `not-public` or `unknown-config-key` if a required
    ///   key can't be read in the new one; then nothing changes.
    public func replace(with configuration: GlobalConfiguration) throws(VaultError) {
        try update { _ in configuration }
    }

    /// Changes some launch values; `null` removes one.
    ///
    /// - Returns: The new snapshot.
    /// - Throws: As ``GlobalConfiguration/changing(_:with:)``; then nothing changes.
    @discardableResult
    public func set(launch values: JSONObject) throws(VaultError) -> GlobalConfiguration {
        try update { current throws(VaultError) in try current.changing(.launch, with: values) }
    }

    /// Replaces all fetched values, after fetching them again.
    ///
    /// - Returns: The new snapshot.
    /// - Throws: As ``GlobalConfiguration/replacing(_:with:)``; then nothing changes.
    @discardableResult
    public func replace(
        fetched input: ConfigurationInput
    ) throws(VaultError) -> GlobalConfiguration {
        try update { current throws(VaultError) in try current.replacing(.fetched, with: input) }
    }

    /// Creates a new snapshot from the current one.
    ///
    /// - Parameter change: Returns the new snapshot. Runs without a lock, and again if another
    ///   change came first.
    /// - Returns: The new snapshot.
    /// - Throws: The error of `change`; and, as ``replace(with:)``, if a required key can't be
    ///   read. Then nothing changes.
    @discardableResult
    public func update(
        _ change: (GlobalConfiguration) throws(VaultError) -> GlobalConfiguration
    ) throws(VaultError) -> GlobalConfiguration {
        while true {
            let (old, generation) = state.withLock { ($0.current, $0.generation) }
            let new = try change(old).keepingRequirements(of: old)
            if publish(new, after: generation) { return new }
        }
    }

    /// Publishes a snapshot and wakes the readers, unless another snapshot was published since
    /// `generation`.
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

    /// The number of keys that have a value, without the values.
    public var description: String { "LiveConfiguration(\(current.count) values, redacted)" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: - Reading

extension LiveConfiguration {
    /// The snapshots of a live configuration. Each loop over it starts with the latest snapshot.
    public struct Snapshots: AsyncSequence, Sendable {
        /// A snapshot.
        public typealias Element = GlobalConfiguration
        /// The sequence never throws.
        public typealias Failure = Never

        fileprivate let live: LiveConfiguration

        /// Creates an iterator that starts with the latest snapshot.
        public func makeAsyncIterator() -> Iterator { Iterator(live: live) }

        /// An iterator over the snapshots, for one reader.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let live: LiveConfiguration
            private var seen = -1

            fileprivate init(live: LiveConfiguration) { self.live = live }

            /// Waits for a snapshot that this reader hasn't seen and returns the latest one.
            /// Returns nil if the task is cancelled.
            public mutating func next(
                isolation actor: isolated (any Actor)? = #isolation
            ) async -> GlobalConfiguration? {
                guard let (snapshot, generation) = await live.snapshot(after: seen, on: actor)
                else { return nil }
                seen = generation
                return snapshot
            }
        }
    }

    private func snapshot(
        after seen: Int, on actor: isolated (any Actor)?
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
                        // A change or cancellation before this point wouldn't resume the
                        // continuation, so don't wait.
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
