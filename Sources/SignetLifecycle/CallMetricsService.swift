#if Lifecycle && Metrics
public import ServiceLifecycle
public import SignetClient
public import SignetMetrics

/// The metrics of a system's calls as a service of a `ServiceGroup`, in any order with the system.
///
/// ```swift
/// import ServiceLifecycle
/// import SignetClient
/// import SignetLifecycle
/// import SignetMetrics
///
/// func serve(_ system: NetworkSystem, _ server: some Service) async throws {
///     let metrics = CallMetricsService(CallMetrics(), of: system)
///     let group = ServiceGroup(
///         services: [metrics, system, server], gracefulShutdownSignals: [.sigterm],
///         logger: Logger(label: "shop"))
///     try await group.run()
/// }
/// ```
public struct CallMetricsService: Service {
    private let metrics: CallMetrics
    private let events: CallEvents

    /// Prepares the metrics of the calls from now on.
    public init(_ metrics: CallMetrics, of system: NetworkSystem) {
        self.metrics = metrics
        events = system.events
    }

    /// Records events until the group's graceful shutdown, or until the task is cancelled.
    ///
    /// If the group shuts the system down first, all its calls are recorded; otherwise those that
    /// have ended by then.
    public func run() async throws {
        await withGracefulShutdownHandler {
            await metrics.record(events)
        } onGracefulShutdown: {
            events.stop()
        }
        // The end of the system alone isn't that of the group, which takes a service that returns
        // for a failure.
        try? await gracefulShutdown()
    }
}
#endif
