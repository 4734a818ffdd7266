/// The times at which one list is fetched and expires, each from now.
///
/// Times pass by the pauses of the task that fetches, so that each list has times of its own.
struct AddressSchedule {
    private static let day = Duration.seconds(86_400)

    /// The time until the next fetch.
    private var due = Duration.zero
    /// The time until the list that is used expires; nil if it doesn't.
    private var expiry: Duration?
    private var failures = 0
    /// When the newest list was issued, in Unix seconds; nil if none was signed.
    var issued: Int64?

    /// The time until something is to be done.
    var next: Duration { max(.zero, min(due, expiry ?? due)) }

    var isDue: Bool { due <= .zero }

    var hasExpired: Bool { expiry.map { $0 <= .zero } ?? false }

    /// Lets time pass.
    mutating func pass(_ time: Duration) {
        due -= time
        expiry = expiry.map { $0 - time }
    }

    /// Makes the list due now.
    mutating func makeDue() { due = .zero }

    /// Notes that the list isn't used any longer.
    mutating func drop() { expiry = nil }

    /// Notes that a list is used.
    mutating func take(_ list: AddressListContents, now: Int64) {
        expiry = list.expires.map { .seconds($0 - now) }
        issued = list.issued ?? issued
    }

    /// Refuses a list that was issued before the newest one.
    ///
    /// - Throws: `rolled-back`.
    func requireNewer(_ list: AddressListContents) throws(ClientError) {
        guard let issued, let other = list.issued, other < issued else { return }
        throw ClientError(
            .rolledBack,
            "the list of addresses: found one that was issued at \(other), expected none before"
                + " \(issued)")
    }

    /// Waits for a day, a tenth more or less, so that programs don't ask at the same moment; less
    /// if the list expires before.
    mutating func waitADay(random: Double) {
        failures = 0
        due = Self.day * (0.9 + random / 5)
        if let expiry { due = min(due, max(.seconds(1), expiry * 0.8)) }
    }

    /// Waits after a failure, for twice the time after each further one.
    mutating func waitAfterFailure(_ first: Duration, random: Double) {
        failures += 1
        var strategy = RetryStrategy()
        (strategy.firstPause, strategy.longestPause) = (first, Self.day)
        due = strategy.pause(after: failures, random: random)
    }
}
