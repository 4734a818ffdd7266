import SignetBase

/// The measurements of the addresses of one host, and the one that is used. It measures nothing.
struct AddressTable: Sendable {
    /// The outcome of a measurement.
    enum Outcome: Sendable, Hashable {
        /// TCP and TLS took so long, and the server has a pinned key.
        case good(Duration)
        /// There was no connection.
        case failed
        /// The server isn't the host.
        case refused
    }

    /// Another address replaces the one that is used only if it takes less than this share of its
    /// time, so that two that are alike don't replace each other.
    private static let share = 0.8

    /// The addresses in the order of the list.
    let addresses: [ServiceAddress]
    private var outcomes: [ServiceAddress: Outcome] = [:]
    /// The address that is used; nil if none works.
    private(set) var used: ServiceAddress?

    init(_ addresses: [ServiceAddress]) { self.addresses = addresses }

    /// Notes a measurement, and chooses.
    mutating func note(_ outcome: Outcome, of address: ServiceAddress) {
        guard addresses.contains(address) else { return }
        var outcome = outcome
        // One slow handshake says little.
        if case .good(let new) = outcome, case .good(let old)? = outcomes[address] {
            outcome = .good((old + new) / 2)
        }
        outcomes[address] = outcome
        choose()
    }

    /// Forgets the times, because the network is another one. The address that was used stays until
    /// others are known.
    mutating func forget() { outcomes = [:] }

    /// Whether an address doesn't work.
    var hasFailures: Bool { outcomes.values.contains { $0 == .failed || $0 == .refused } }

    private func time(of address: ServiceAddress) -> Duration? {
        if case .good(let time)? = outcomes[address] { time } else { nil }
    }

    private mutating func choose() {
        let best = ordered.first
        switch used.flatMap({ outcomes[$0] }) {
        case .good(let time)?:
            if let best, let better = self.time(of: best), better < time * Self.share {
                used = best
            }
        case .failed?, .refused?: used = best
        // One whose time was forgotten stays until it is measured again.
        case nil: used = used ?? best
        }
    }

    /// The addresses that work, the fastest first.
    private var ordered: [ServiceAddress] {
        addresses.filter { time(of: $0) != nil }.sorted {
            (time(of: $0) ?? .zero) < (time(of: $1) ?? .zero)
        }
    }

    /// The addresses to try one after another: the one that is used, and then the others that work.
    /// Each has the time that a connection may take, so that a dead one holds a call up for no
    /// longer.
    var ways: [(address: ServiceAddress, limit: Duration)] {
        var all = ordered
        if let used, outcomes[used].map({ $0 != .failed && $0 != .refused }) ?? true {
            all.removeAll { $0 == used }
            all.insert(used, at: 0)
        }
        return all.map { address in
            let usual = time(of: address) ?? .zero
            return (address, max(Self.patience, usual * 3))
        }
    }

    /// The shortest time that a connection may take.
    private static let patience = Duration.milliseconds(250)

    /// The addresses with what is known of them.
    var report: [MeasuredAddress] {
        addresses.map { address in
            let state: MeasuredAddress.State =
                switch outcomes[address] {
                case nil: .unmeasured
                case .failed?: .failed
                case .refused?: .refused
                case .good?: address == used ? .used : .good
                }
            return MeasuredAddress(
                address: address.description, state: state, time: time(of: address))
        }
    }
}
