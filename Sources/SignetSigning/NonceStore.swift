internal import Synchronization

/// Remembers which nonces have been used.
///
/// A verifier asks only once a signature holds, so that nobody without a key can fill it.
///
/// A store in memory has the first method alone, which Swift takes for the second one too. A store that
/// waits, for a disk or for another machine, has both.
public protocol NonceStore: Sendable {
    /// Remembers a key's nonce unless it is remembered already, in one step that no other caller of
    /// the store can come between.
    ///
    /// - Parameters:
    ///   - nonce: 1 to 256 bytes of ASCII.
    ///   - keyID: Two keys may use the same nonce.
    ///   - expiration: The last second, since 1970, at which the signature could be taken again.
    ///   - now: The time, in seconds since 1970; what expired before may be forgotten.
    /// - Throws: `SigningError` with `replayed-nonce` where it is remembered, and with
    ///   `nonce-store-full`, `nonce-store-failed` or `nonce-store-unavailable` where it cannot be, or
    ///   where it is not known whether it was: then the message is refused.
    func remember(
        _ nonce: String, of keyID: String, expiration: Int64, now: Int64
    ) throws(SigningError)

    /// The same, for a task: where the store has to wait, the task is suspended and its thread does
    /// other work.
    func remember(
        _ nonce: String, of keyID: String, expiration: Int64, now: Int64
    ) async throws(SigningError)
}

extension SigningError {
    static var replayed: SigningError {
        SigningError(.replayedNonce, "the key's nonce has been used before")
    }

    /// Refuses a time at which something was live that has been dropped since.
    ///
    /// - Parameter last: The last second of anything that was dropped.
    static func requireNothingForgotten(at now: Int64, lastForgotten last: Int64?)
        throws(SigningError)
    {
        guard let last, now <= last else { return }
        throw SigningError(
            .nonceStoreFailed,
            "the clock went back to \(now): nonces that were live until \(last) are forgotten, so no "
                + "message is taken before that")
    }
}

/// A key's nonce as one run of bytes.
struct NonceIdentity: Hashable, Sendable {
    let bytes: [UInt8]

    init(_ nonce: String, of keyID: String) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(keyID.utf8.count + nonce.utf8.count + 4)
        bytes.append(decimal: Int64(keyID.utf8.count))
        bytes.append(ASCII.colon)
        bytes.append(keyID)
        bytes.append(nonce)
        self.bytes = bytes
    }
}

/// Seconds for which what has expired is still kept: calls of one moment may come with the time of a
/// moment before.
let nonceGrace: Int64 = 10

/// Nonces in memory, up to a bound; a full store refuses.
///
/// Nothing is forgotten before it has expired, by the `now` of the calls. A call whose `now` lies so far
/// behind an earlier one's that what was forgotten is live again is refused, as after a clock that
/// was wrong; a `now` that lies back less, such as the few seconds between threads, does no harm.
public final class MemoryNonceStore: NonceStore {
    private struct State {
        /// The last second of each.
        var remembered: [NonceIdentity: Int64] = [:]
        /// What is to be forgotten after each second.
        var bySecond: [Int64: [NonceIdentity]] = [:]
        /// No second before this one is in `bySecond`.
        var earliest = Int64.max
        /// The last second of anything that was forgotten.
        var lastForgotten: Int64?

        mutating func forget(before end: Int64) {
            guard earliest < end else { return }
            if end - earliest > Int64(bySecond.count) {
                for second in bySecond.keys where second < end { forget(second) }
            } else {
                for second in earliest..<end { forget(second) }
            }
            earliest = bySecond.isEmpty ? .max : end
        }

        private mutating func forget(_ second: Int64) {
            guard let nonces = bySecond.removeValue(forKey: second) else { return }
            // One that had expired may have been taken again since.
            for nonce in nonces where remembered[nonce] == second { remembered[nonce] = nil }
            lastForgotten = max(lastForgotten ?? second, second)
        }
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// Makes an empty store.
    ///
    /// - Parameter capacity: The most nonces that are remembered at a time, about 200 bytes each.
    public init(capacity: Int = 1_000_000) { self.capacity = capacity }

    /// How many nonces are remembered, with those that expired a moment ago.
    public var count: Int { state.withLock { $0.remembered.count } }

    /// Remembers a key's nonce unless it is remembered already, in one step.
    ///
    /// - Parameters:
    ///   - nonce: 1 to 256 bytes of ASCII.
    ///   - keyID: The key's id.
    ///   - expiration: The last second at which the signature could be taken again.
    ///   - now: The time, in seconds since 1970.
    /// - Throws: `SigningError` with `replayed-nonce`, `nonce-store-full` or `nonce-store-failed`.
    public func remember(
        _ nonce: String, of keyID: String, expiration: Int64, now: Int64
    ) throws(SigningError) {
        let identity = NonceIdentity(nonce, of: keyID)
        let expiration = max(expiration, 0)
        let capacity = capacity
        try state.withLock { (state) throws(SigningError) in
            state.forget(before: now.subtractingWithoutOverflow(nonceGrace))
            if let known = state.remembered[identity], known >= now { throw SigningError.replayed }
            if state.remembered.count >= capacity { state.forget(before: now) }
            try SigningError.requireNothingForgotten(
                at: now, lastForgotten: state.lastForgotten)
            guard state.remembered.count < capacity else {
                throw SigningError(
                    .nonceStoreFull, "\(capacity) nonces are remembered, no room for another")
            }
            state.remembered[identity] = expiration
            state.bySecond[expiration, default: []].append(identity)
            state.earliest = min(state.earliest, expiration)
        }
    }
}

extension Int64 {
    func subtractingWithoutOverflow(_ other: Int64) -> Int64 {
        let (difference, isTooMuch) = subtractingReportingOverflow(other)
        return isTooMuch ? .min : difference
    }
}
