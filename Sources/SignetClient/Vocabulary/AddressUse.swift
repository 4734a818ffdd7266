/// The address that a request was sent to in place of the host's name, and why.
public struct AddressUse: Sendable, Hashable, CustomStringConvertible {
    /// A reason for the choice of an address. New reasons may be added.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        /// The reason's name.
        public let name: String

        /// It was the fastest address when it was measured.
        public static let fastest = Reason(name: "fastest")
        /// A faster one failed before anything was sent.
        public static let next = Reason(name: "next")
        /// No address works, or none has been measured yet, so the host's name was resolved.
        public static let name = Reason(name: "name")

        /// The reason's name.
        public var description: String { name }
    }

    /// The IP address, with its port if it isn't that of the URL; nil for the host's name.
    public let address: String?
    /// The reason.
    public let reason: Reason
    /// The addresses that were tried before, to which nothing was sent.
    public let failed: [String]

    /// Address and reason: `192.0.2.1 (fastest)`.
    public var description: String { "\(address ?? "by name") (\(reason))" }
}

/// An address of a service as it was measured last.
public struct MeasuredAddress: Sendable, Hashable, CustomStringConvertible {
    /// The state of an address. New states may be added.
    public struct State: Sendable, Hashable, CustomStringConvertible {
        /// The name in lower case.
        public let name: String

        /// It hasn't been measured.
        public static let unmeasured = State(name: "unmeasured")
        /// It works, and others are faster.
        public static let good = State(name: "good")
        /// Requests go there.
        public static let used = State(name: "used")
        /// No connection could be made.
        public static let failed = State(name: "failed")
        /// Its server isn't trusted, or has none of the pinned keys.
        public static let refused = State(name: "refused")

        /// The name.
        public var description: String { name }
    }

    /// The IP address, with its port if it isn't that of the URL.
    public let address: String
    /// The state.
    public let state: State
    /// The time for TCP and TLS; nil unless it works.
    public let time: Duration?

    /// Address, state and time.
    public var description: String { "\(address) \(state)\(time.map { " \($0)" } ?? "")" }
}
