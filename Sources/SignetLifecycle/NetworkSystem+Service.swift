#if Lifecycle
public import ServiceLifecycle
public import SignetClient

/// A running network system as a service of a `ServiceGroup`.
///
/// The system takes calls from its start on, so services before and after it in the group can use
/// it. The group shuts services down in the opposite order: put the system before those that make
/// calls, so that their last calls still end as they should.
///
/// ```swift
/// import ServiceLifecycle
/// import SignetClient
/// import SignetLifecycle
///
/// func serve(_ system: NetworkSystem, _ server: some Service) async throws {
///     let group = ServiceGroup(
///         services: [system, server], gracefulShutdownSignals: [.sigterm],
///         logger: Logger(label: "shop"))
///     try await group.run()
/// }
/// ```
extension NetworkSystem: Service {
    /// Waits for the group's graceful shutdown, or until the task is cancelled, and shuts the
    /// system down.
    public func run() async throws {
        // Cancellation ends the system too, and isn't an error of it.
        try? await gracefulShutdown()
        await shutdown()
    }
}
#endif
