public import HTTPTypes
internal import Logging
public import SignetCrypto
internal import SignetCurl
internal import SignetJSON
public import SignetPinning
public import SignetRPC
internal import SignetTransport
public import SignetVault
internal import Synchronization

/// The client network system: one entry point for every call of a program.
///
/// It is started once from a configuration, takes calls until it is shut down, and every call ends
/// exactly once. A call is admitted, built by its service, boxed, frozen, signed, sent if the pins
/// allow it, and unboxed, in this order. It keeps to its end the configuration that it began
/// with; ``update(_:keys:)`` changes what later calls see.
public final class NetworkSystem: Sendable {
    /// The network system's own version, to which sealed dumps are bound.
    public static let version = SignetVersion.current

    let calls: RunningCalls
    let duplicateCalls = DuplicateCalls()
    let retryBudget = RetryBudget()
    let credentials = CredentialStore()
    let hub = EventHub()
    let engines: EngineSet
    var engine: any HTTPEngine { engines.standard }
    let box: SnapshotBox
    let options: Options
    var logger: Logger { options.logger }

    let fetcher: Fetcher?
    let history: Mutex<History>
    let reporter: PinReporter
    let updates: PinUpdates?

    /// How the system started, and what was fetched last.
    struct History: Sendable {
        var start: StartReport
        var fetch: FetchReport?
        var pinUpdate: PinUpdateReport?
    }

    private init(
        engines: EngineSet, snapshot: SystemSnapshot, options: Options, fetcher: Fetcher?,
        collectors: [PreparedCollector], updates: PinUpdates?
    ) {
        let box = SnapshotBox(snapshot)
        let weakSystem = WeakSystem()
        self.engines = engines
        self.calls = RunningCalls(
            executor: options.runsOnEngineThread ? engines.standard.executor : nil)
        self.box = box
        self.updates = updates
        var sinks: [any PinReportSink] = options.pinReports.sinks
        if options.pinReports.logs { sinks.append(LogPinReportSink(logger: options.logger)) }
        for collector in collectors {
            sinks.append(
                HTTPPinReportSink(target: collector, box: box, system: weakSystem))
        }
        self.reporter = PinReporter(
            options.pinReports, sinks: sinks, logger: options.logger, clock: options.clock)
        self.options = options
        self.fetcher = fetcher
        self.history = Mutex(History(start: StartReport(snapshot.mode)))
        weakSystem.object = self
    }

    // MARK: Start and end

    /// Starts a system with the services, URL rules, limits and pins of a configuration.
    ///
    /// - Parameters:
    ///   - configuration: The configuration; <doc:ConfigurationKeys> lists the keys that are read.
    ///   - keys: The keys that the services sign with.
    ///   - options: Trust, limits and the weak choices.
    /// - Throws: `ClientError` if a service can't work (an invalid pattern or URL, a service
    ///   without pins, an unknown or expired key), or if libcurl can't be used.
    public static func start(
        _ configuration: GlobalConfiguration, keys: KeySet? = nil, options: Options = Options()
    ) async throws(ClientError) -> NetworkSystem {
        let snapshot = try SystemSnapshot(configuration, keys: keys, options: options)
        let system = try started(snapshot, options: options)
        await system.beginPinUpdates()
        return system
    }

    /// Starts a system with services given as values.
    ///
    /// The options say what a configuration says beside its services; <doc:ConfigurationKeys> lists
    /// both.
    ///
    /// - Parameters:
    ///   - services: The configuration of each service.
    ///   - keys: The keys that the services sign with.
    ///   - policy: The pins of all hosts. If nil, the services' own `pins` are the policy, as those
    ///     of a configuration do: no other host is called, and a service without pins needs
    ///     `dangerous.allowUnpinnedServices()`. If there is a policy and a service has pins (or
    ///     CAs) too, both must hold: the policy's rule for the service's host must enforce no other
    ///     pins than the service's. To call a host without pins, give a policy that excludes that
    ///     host or allows unlisted hosts; CA, dates and host name are still checked.
    ///   - options: Trust, limits and the weak choices.
    /// - Throws: As `start(_:keys:options:)`; `invalid-service` also if a policy and a service's
    ///   pins disagree.
    public static func start(
        services: [Service: ServiceConfiguration], keys: KeySet? = nil, policy: PinPolicy? = nil,
        options: Options = Options()
    ) async throws(ClientError) -> NetworkSystem {
        let snapshot = try SystemSnapshot(
            services: services, keys: keys, policy: policy, options: options)
        let system = try started(snapshot, options: options)
        await system.beginPinUpdates()
        return system
    }

    static func started(
        _ snapshot: SystemSnapshot, options: Options, fetcher: Fetcher? = nil
    ) throws(ClientError) -> NetworkSystem {
        try options.checkEngineSettings()
        var collectors: [PreparedCollector] = []
        for collector in options.pinReports.collectors {
            collectors.append(try PreparedCollector(collector))
        }
        let updates = try options.pinUpdates.map { plan throws(ClientError) in
            try PinUpdates(plan)
        }
        var settings = options.engineSettings ?? CurlEngine.Configuration()
        if options.engineSettings == nil, let configuration = snapshot.configuration {
            settings = try CurlEngine.Configuration(configuration)
        }
        let engine: any HTTPEngine
        do throws(TransportError) {
            if let given = options.engine {
                engine = given
            } else {
                settings.caFile = options.caFile ?? settings.caFile
                engine = try CurlEngine(settings)
            }
        } catch {
            throw ClientError(error)
        }
        let system = NetworkSystem(
            engines: EngineSet(standard: engine, options.engines, now: options.instant),
            snapshot: snapshot, options: options, fetcher: fetcher,
            collectors: collectors,
            updates: updates)
        if fetcher == nil { system.logStart(system.startReport) }
        return system
    }

    /// Stops the system: takes no more calls, gives those under way some time, and ends the rest.
    ///
    /// Returns after every call has ended; each that was cut short has thrown `not-running`,
    /// wherever it waited. Pin reports that have not left get their own time after that
    /// (``PinReportOptions/flushTime``).
    ///
    /// - Parameter gracePeriod: The maximum time that running calls have to end. A second shutdown
    ///   with less time ends them sooner.
    public func shutdown(gracePeriod: Duration = .seconds(5)) async {
        let isFirst = calls.stop()
        if isFirst { updates?.stop() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.calls.waitUntilIdle() }
            group.addTask {
                try? await Task.sleep(for: gracePeriod)
                self.calls.end(with: .notRunning) { !$0.isInternal }
            }
            await group.next()
            await calls.waitUntilIdle()
            group.cancelAll()
        }
        guard isFirst else { return }
        await reporter.close()
        await engines.shutdown()
        hub.finish()
    }

    // MARK: Calls

    /// Makes one call, or sends one notification, with JSON in and JSON out.
    ///
    /// ```swift
    /// func listOrders(with system: NetworkSystem) async throws -> JSONValue? {
    ///     try await system.call(RPCCall("orders.list"), on: "orders").result?.value
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - call: Method, parameters, and whether a response is expected; with REST the method is
    ///     the HTTP method.
    ///   - service: The service that responds.
    ///   - path: The text to append to the base URL's path, beginning with `/`; nil for nothing.
    ///   - options: The call's options.
    /// - Throws: `ClientError`.
    public func call(
        _ call: RPCCall, on service: Service, path: String? = nil,
        options: CallOptions = CallOptions()
    ) async throws(ClientError) -> UnboxedResponse {
        try await admitted(
            CallTarget(service: service, method: call.method.name, options: options)
        ) { context throws(ClientError) in
            try await self.duplicateCalls.run(.procedure(call, path: path), for: context) {
                context throws(ClientError) in
                try await self.complete(call, path: path, for: context)
            }
        }
    }

    /// Signs and sends a request unchanged, without a payload protocol; the server's pins are
    /// checked.
    ///
    /// - Parameters:
    ///   - service: The service whose base URL's origin, signing and options apply.
    ///   - method: The HTTP method.
    ///   - target: Path and query as they are to be sent, beginning with `/`.
    ///   - fields: The request's fields. They replace common fields of the same names; Host is made
    ///     from the base URL.
    ///   - body: The body, byte for byte unless the options compress it.
    ///   - options: The call's options.
    /// - Returns: The response, whatever its status.
    /// - Throws: `ClientError` if no response arrived.
    public func exchange(
        _ service: Service, method: HTTPRequest.Method, target: String,
        fields: HTTPFields = [:], body: [UInt8], options: CallOptions = CallOptions()
    ) async throws(ClientError) -> RawResponse {
        try await exchange(
            service, method: method, target: target, fields: fields, body: RequestBody(body),
            options: options)
    }

    /// Signs and sends a request unchanged, with a body that may be a stream; the server's pins are
    /// checked.
    ///
    /// If the service's requests are signed, a stream is read twice: once for its digest, which the
    /// signature covers, and once to send it, in constant memory. It must be replayable then (a
    /// file is), and its last piece is sent only if the whole body is what was signed. A stream
    /// that can be read once is never sent again, under any retry policy.
    ///
    /// - Parameters: As `exchange(_:method:target:fields:body:options:)` with bytes.
    /// - Returns: The response, whatever its status.
    /// - Throws: `ClientError`; also `body-length`, `body-failed`, `body-changed` and
    ///   `body-not-replayable`.
    public func exchange(
        _ service: Service, method: HTTPRequest.Method, target: String,
        fields: HTTPFields = [:], body: RequestBody = [], options: CallOptions = CallOptions()
    ) async throws(ClientError) -> RawResponse {
        let asked = CallTarget(
            service: service, method: method.rawValue, options: options, isBoxed: false)
        return try await admitted(asked) { context throws(ClientError) in
            let url = try context.service.url.at(target: target)
            return try await self.send(
                context.request(method, to: url, fields: fields, body: body), for: context)
        }
    }
}

/// A weak reference to a system, for parts of it that send calls through it.
final class WeakSystem: Sendable {
    private struct Reference {
        weak var system: NetworkSystem?
    }

    private let reference = Mutex(Reference())

    var object: NetworkSystem? {
        get { reference.withLock { $0.system } }
        set { reference.withLock { $0.system = newValue } }
    }
}
