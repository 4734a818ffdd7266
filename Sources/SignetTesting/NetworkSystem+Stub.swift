public import SignetClient
import SignetPinning
import SignetTransport

extension NetworkSystem {
    /// Starts a system whose requests go to a stub engine instead of the network.
    ///
    /// For a system with a configuration, set `NetworkSystem.Options.engine` to the stub engine.
    ///
    /// - Parameters:
    ///   - services: The services of the program. They need no pins.
    ///   - stub: The engine that responds.
    ///   - keys: The keys that the services sign with.
    ///   - options: The system's options; the stub replaces all of their engines, and their CA file
    ///     and engine settings have no effect.
    /// - Throws: `ClientError` if a service can't work.
    public static func start(
        services: [ServiceName: ServiceConfiguration], stub: StubEngine, keys: KeySet? = nil,
        options: Options = Options()
    ) async throws(ClientError) -> NetworkSystem {
        var options = options
        options.engines = options.engines.mapValues { _ -> any HTTPEngine in stub }
        options.engine = stub
        (options.caFile, options.engineSettings) = (nil, nil)  // they configure the replaced engine
        options.dangerous.allowUnpinnedServices()  // nothing leaves the process
        return try await start(services: services, keys: keys, policy: nil, options: options)
    }
}
