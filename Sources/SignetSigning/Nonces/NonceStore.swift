import SignetBase
import Synchronization

/// A store of used nonces.
///
/// ```swift
/// let nonces = FileNonceStore(path: "/var/lib/orders/nonces")  // For all processes of a machine.
/// let keys = try KeySource("partner-keys.json").load()
/// let api = try Verifier(keys: keys, nonces: nonces)
/// let webhooks = try Verifier(scheme: .saltedHMAC, keys: keys, nonces: nonces)
/// print(api.scheme, webhooks.scheme)
/// ```
///
/// A verifier stores a nonce only after the signature is valid, so a sender without a key cannot
/// fill the store. A store that never waits implements only the synchronous method, which Swift
/// also uses as the `async` one. A store that waits for a disk or a network implements both.
public protocol NonceStore: Sendable {
    /// Stores a key's nonce, unless it is stored already. The check and the storing are one atomic
    /// step.
    ///
    /// - Parameters:
    ///   - nonce: 1 to 256 bytes of ASCII.
    ///   - keyID: The key's id. Two keys may use the same nonce.
    ///   - expiration: The last second since 1970 at which the signature could be accepted again.
    ///   - now: The time, in seconds since 1970. Nonces that expired before may be dropped.
    /// - Throws: `SigningError`: `replayed-nonce` if the nonce is stored already;
    ///   `nonce-store-full`, `nonce-store-failed` or `nonce-store-unavailable` if it cannot be
    ///   stored or the outcome is unknown. Each refuses the message.
    func remember(
        _ nonce: String, of keyID: String, expiration: Int64, now: Int64
    ) throws(SigningError)

    /// Stores a key's nonce as the other method does. Suspends the task while the store waits.
    func remember(
        _ nonce: String, of keyID: String, expiration: Int64, now: Int64
    ) async throws(SigningError)
}

extension SigningError {
    static var replayed: SigningError {
        SigningError(.replayedNonce, "the key's nonce has been used before")
    }

    /// Refuses a time at which a dropped nonce was still live.
    ///
    /// - Parameter last: The latest expiration of a dropped nonce.
    static func requireNothingForgotten(at now: Int64, lastForgotten last: Int64?)
        throws(SigningError)
    {
        guard let last, now <= last else { return }
        throw SigningError(
            .nonceStoreFailed,
            "the clock went back to \(now), expected a time after \(last): "
                + "nonces that expired by then are dropped")
    }
}

/// A key id and a nonce as one byte string.
struct NonceIdentity: Hashable, Sendable {
    let bytes: [UInt8]

    init(_ nonce: String, of keyID: String) {
        bytes = Array("\(keyID.utf8.count):\(keyID)\(nonce)".utf8)
    }
}

/// Seconds for which an expired nonce is kept, because concurrent calls may pass slightly older
/// times.
let nonceGrace: Int64 = 10

/// A nonce store in memory with a fixed capacity. A full store refuses messages.
///
/// The store takes the time from the `now` of each call and drops a nonce only after it has
/// expired. If a clock was wrong, a later call can have a `now` at which a dropped nonce would
/// still be live; the store refuses that call. It accepts smaller differences, such as a few
/// seconds between threads.
public final class MemoryNonceStore: NonceStore {
    private struct State {
        /// The expiration of each nonce.
        var remembered: [NonceIdentity: Int64] = [:]
        /// The nonces that expire in each second.
        var bySecond: [Int64: [NonceIdentity]] = [:]
        /// A lower bound of the keys of `bySecond`.
        var earliest = Int64.max
        /// The latest expiration of a dropped nonce.
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
            // An expired nonce may have been stored again with a later expiration.
            for nonce in nonces where remembered[nonce] == second { remembered[nonce] = nil }
            lastForgotten = max(lastForgotten ?? second, second)
        }
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// Creates an empty store.
    ///
    /// - Parameter capacity: The largest number of nonces, about 200 bytes each.
    public init(capacity: Int = 1_000_000) { self.capacity = capacity }

    /// The number of nonces, including those that expired a moment ago.
    public var count: Int { state.withLock { $0.remembered.count } }

    /// Stores a key's nonce in one step, unless it is stored already.
    ///
    /// - Parameters:
    ///   - nonce: 1 to 256 bytes of ASCII.
    ///   - keyID: The key's id.
    ///   - expiration: The last second since 1970 at which the signature could be accepted again.
    ///   - now: The time, in seconds since 1970.
    /// - Throws: `SigningError` with `replayed-nonce`, `nonce-store-full` or `nonce-store-failed`.
    public func remember(
        _ nonce: String, of keyID: String, expiration: Int64, now: Int64
    ) throws(SigningError) {
        let identity = NonceIdentity(nonce, of: keyID)
        let expiration = max(expiration, 0)
        let capacity = capacity
        try state.withLock { (state) throws(SigningError) in
            state.forget(before: max(now, .min + nonceGrace) - nonceGrace)
            if let known = state.remembered[identity], known >= now { throw SigningError.replayed }
            if state.remembered.count >= capacity { state.forget(before: now) }
            try SigningError.requireNothingForgotten(at: now, lastForgotten: state.lastForgotten)
            guard state.remembered.count < capacity else {
                throw SigningError(.nonceStoreFull, "the store is full with \(capacity) nonces")
            }
            state.remembered[identity] = expiration
            state.bySecond[expiration, default: []].append(identity)
            state.earliest = min(state.earliest, expiration)
        }
    }
}
