import Synchronization

/// The tokens for further attempts, for each host: so that an outage does not multiply its traffic.
///
/// A further attempt takes tokens; without enough of them the call ends with its failure. A success
/// returns one token, or the tokens of its last attempt. Attempts after a request that never
/// reached the server are counted separately.
final class RetryBudget: Sendable {
    /// The failure before a further attempt.
    enum Cause {
        /// The request can't have reached the server.
        case unsent
        /// The server failed, or the response was cut off.
        case failed
        /// The server asked for fewer requests.
        case throttled

        var cost: Int { self == .throttled ? 5 : 14 }
    }

    private struct Tokens {
        var sent: Int
        var unsent: Int
    }

    private let capacity: Int
    private let hosts = Mutex<[String: Tokens]>([:])

    /// Creates a budget; 500 tokens are enough for 35 further attempts after failures.
    init(capacity: Int = 500) { self.capacity = capacity }

    /// Returns the tokens that are left for further attempts at a host.
    func tokens(for cause: Cause, of host: String) -> Int {
        hosts.withLock { hosts in
            guard let tokens = hosts[host] else { return capacity }
            return cause == .unsent ? tokens.unsent : tokens.sent
        }
    }

    /// Takes the tokens of a further attempt.
    ///
    /// - Returns: Whether there were enough.
    func withdraw(for cause: Cause, from host: String) -> Bool {
        hosts.withLock { hosts in
            var tokens = hosts[host] ?? Tokens(sent: capacity, unsent: capacity)
            guard (cause == .unsent ? tokens.unsent : tokens.sent) >= cause.cost else {
                return false
            }
            if cause == .unsent { tokens.unsent -= cause.cost } else { tokens.sent -= cause.cost }
            hosts[host] = tokens
            return true
        }
    }

    /// Gives tokens back after a success, or those of an attempt that was not made.
    ///
    /// - Parameter cause: The failure before the successful attempt; nil for a first attempt.
    func deposit(after cause: Cause?, to host: String) {
        hosts.withLock { hosts in
            guard var tokens = hosts[host] else { return }
            let amount = cause?.cost ?? 1
            if cause != .unsent { tokens.sent = min(capacity, tokens.sent + amount) }
            if cause != .failed, cause != .throttled {
                tokens.unsent = min(capacity, tokens.unsent + amount)
            }
            hosts[host] = tokens.sent == capacity && tokens.unsent == capacity ? nil : tokens
        }
    }
}
