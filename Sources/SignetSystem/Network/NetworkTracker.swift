/// A question for all entries of a kind.
struct NetlinkQuestion: Sendable, Hashable {
    /// The kinds in the order in which they are asked for, because a socket takes one question at a
    /// time.
    enum Kind: Int32, CaseIterable, Sendable {
        case links = 18
        case addresses = 22
        case routes = 26
    }

    let kind: Kind
    let number: UInt32
}

/// Follows the state of the network by the kernel's messages: what it asks, and what it learns. It
/// has no socket.
struct NetworkTracker {
    /// The entries that are complete; nil before the first questions were answered.
    private var table: NetworkTable?
    /// The entries that are being asked for.
    private var fresh: (table: NetworkTable, question: NetlinkQuestion)?
    /// Whether all must be asked for again after the questions that are out.
    private var isStale = false
    /// Whether one of the last questions was refused, or one of those that are out: what the kernel
    /// doesn't tell isn't missing.
    private var (isRefused, isRefusedNow) = (false, false)
    private var lastNumber: UInt32 = 0
    /// Returns the device type of a link's name.
    private let deviceType: (String) -> String?

    init(deviceType: @escaping (String) -> String? = { _ in nil }) {
        self.deviceType = deviceType
    }

    /// The state; nil before it is known, and `unknown` if the kernel refused a question.
    var state: NetworkState? { isRefused ? NetworkState(.unknown) : table?.state }

    /// Begins to ask for all entries; nil if questions are out, after which it begins again.
    mutating func ask() -> NetlinkQuestion? {
        guard fresh == nil else {
            isStale = true
            return nil
        }
        (isStale, isRefusedNow) = (false, false)
        return ask(.links, filling: NetworkTable())
    }

    /// Takes a datagram.
    ///
    /// - Returns: The next question; nil for none.
    mutating func receive(_ datagram: [UInt8]) -> NetlinkQuestion? {
        var next: NetlinkQuestion?
        for message in NetlinkMessage.messages(in: datagram) {
            if let question = receive(message) { next = question }
        }
        return next
    }

    private mutating func receive(_ message: NetlinkMessage) -> NetlinkQuestion? {
        switch message {
        case .lost: return ask()
        case .done(let number, let isConsistent):
            guard let fresh, fresh.question.number == number else { return nil }
            if !isConsistent { isStale = true }
            return answered(fresh)
        case .refused(let number, let code):
            // An error of 0 is an acknowledgement.
            guard code != 0, let fresh, fresh.question.number == number else { return nil }
            isRefusedNow = true
            return answered(fresh)
        case .link(var link):
            link.deviceType = deviceType(link.name)
            return note(.link(link))
        default: return note(message)
        }
    }

    /// Notes a change in the entries that are complete, and in those that are being asked for.
    private mutating func note(_ message: NetlinkMessage) -> NetlinkQuestion? {
        if fresh != nil { _ = fresh?.table.note(message) }
        guard table?.note(message) == true else { return nil }
        return ask()
    }

    /// Continues with the next kind of entries.
    private mutating func answered(
        _ fresh: (table: NetworkTable, question: NetlinkQuestion)
    ) -> NetlinkQuestion? {
        let kinds = NetlinkQuestion.Kind.allCases
        if let index = kinds.firstIndex(of: fresh.question.kind), index + 1 < kinds.count {
            return ask(kinds[index + 1], filling: fresh.table)
        }
        (table, isRefused) = (fresh.table, isRefusedNow)
        self.fresh = nil
        return isStale ? ask() : nil
    }

    private mutating func ask(
        _ kind: NetlinkQuestion.Kind, filling table: NetworkTable
    ) -> NetlinkQuestion {
        lastNumber &+= 1
        let question = NetlinkQuestion(kind: kind, number: lastNumber)
        fresh = (table, question)
        return question
    }
}
