/// The identity of a call in errors, events, records and interceptors.
public struct CallIdentity: Sendable, Hashable {
    /// The number of a call in its network system, from 1.
    public struct ID: Sendable, Hashable, CustomStringConvertible {
        let number: UInt64

        /// The number in decimal.
        public var description: String { "\(number)" }
    }

    /// The call's number.
    public let id: ID
    /// The service that is called.
    public let service: ServiceName
    /// The remote procedure's name, or the HTTP method of a REST call.
    public let method: String
    /// The tags of `RequestOptions.tags`.
    public let tags: Set<String>
    /// The path of a REST call without its values, such as `/orders/{id}`, or with `{}` in place of
    /// a value that the program interpolates; nil if it isn't known.
    public internal(set) var path: String?
    /// Whether it is a test call of the configuration (``Probe``), which counters and metrics leave
    /// out.
    public internal(set) var isProbe = false
    /// How the program shows the call.
    public internal(set) var interaction = CallInteraction.indicator
}
