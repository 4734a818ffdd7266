/// The switches that a person uses while a program runs, to see how it handles a failure, another
/// engine or another server.
///
/// Switches act in the run modes staging and development alone, on every call that begins
/// (``NetworkSystem/update(switches:)``).
///
/// ```swift
/// func breakEveryFifth(_ system: NetworkSystem) throws {
///     var switches = system.switches
///     switches.simulation.failureRate = 0.2
///     try system.update(switches: switches)
/// }
/// ```
public struct DebugSwitches: Sendable, Hashable {
    /// The failures that are simulated.
    public var simulation = FailureSimulation()
    /// The engine of all calls, in place of the one that they choose; nil for theirs.
    public var engine: EngineName?
    /// Base URLs in place of those of services, their environments and their calls. The pin policy
    /// and the URL rules hold for these hosts too.
    public var baseURLs: [ServiceName: String] = [:]

    /// No switch is on.
    public init() {}

    /// Whether no switch is on.
    public var isEmpty: Bool { self == DebugSwitches() }
}
