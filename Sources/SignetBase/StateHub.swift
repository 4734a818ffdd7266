import Synchronization

/// A state that many listeners follow.
///
/// A listener gets the present state first, if there is one, and then each change, in their order
/// and one at a time. It is called on the thread of the change or on Swift's pool of threads, and
/// never within `add`.
package final class StateHub<State: Sendable & Equatable>: Sendable {
    /// The states that one listener hasn't taken.
    fileprivate final class Mailbox: Sendable {
        private struct Contents {
            var states: [State] = []
            var isDelivering = false
            var isClosed = false
        }

        private let contents = Mutex(Contents())
        private let receive: @Sendable (State) -> Void

        init(_ receive: @escaping @Sendable (State) -> Void) { self.receive = receive }

        func put(_ state: State) { contents.withLock { $0.states.append(state) } }

        func close() { contents.withLock { $0.isClosed = true } }

        /// Delivers the states, unless another thread does.
        func deliver() {
            let isMine = contents.withLock { contents in
                defer { contents.isDelivering = true }
                return !contents.isDelivering
            }
            guard isMine else { return }
            while true {
                let next = contents.withLock { contents -> State? in
                    if contents.isClosed || contents.states.isEmpty {
                        contents.isDelivering = false
                        return nil
                    }
                    return contents.states.removeFirst()
                }
                guard let next else { return }
                receive(next)
            }
        }
    }

    /// The listeners that have something to receive.
    package struct Deliveries: Sendable {
        fileprivate let mailboxes: [Mailbox]

        /// Calls the listeners. Holds no lock.
        package func perform() { for mailbox in mailboxes { mailbox.deliver() } }
    }

    private struct Contents {
        var state: State?
        var mailboxes: [Int: Mailbox] = [:]
        var lastNumber = 0
    }

    private let contents = Mutex(Contents())

    /// Creates a hub whose state is unknown.
    package init() {}

    /// The present state; nil if it is unknown.
    package var state: State? { contents.withLock { $0.state } }

    /// The number of listeners.
    package var count: Int { contents.withLock { $0.mailboxes.count } }

    /// Adds a listener.
    ///
    /// - Returns: Its number.
    package func add(_ receive: @escaping @Sendable (State) -> Void) -> Int {
        let mailbox = Mailbox(receive)
        let (number, isKnown) = contents.withLock { contents in
            contents.lastNumber += 1
            contents.mailboxes[contents.lastNumber] = mailbox
            if let state = contents.state { mailbox.put(state) }
            return (contents.lastNumber, contents.state != nil)
        }
        if isKnown { Task.detached { mailbox.deliver() } }
        return number
    }

    /// Removes a listener. A state that is being delivered may still reach it.
    package func remove(_ number: Int) {
        contents.withLock { $0.mailboxes.removeValue(forKey: number) }?.close()
    }

    /// Changes the state; nil makes it unknown and isn't delivered.
    ///
    /// - Returns: The deliveries to perform after the caller has released its own locks. States
    ///   keep the order of these calls.
    package func set(_ state: State?) -> Deliveries {
        contents.withLock { contents in
            guard contents.state != state else { return Deliveries(mailboxes: []) }
            contents.state = state
            guard let state else { return Deliveries(mailboxes: []) }
            let mailboxes = Array(contents.mailboxes.values)
            for mailbox in mailboxes { mailbox.put(state) }
            return Deliveries(mailboxes: mailboxes)
        }
    }
}
