public import HTTPTypes
public import SignetCrypto
public import SignetPinning
public import SignetRPC
import SignetTransport
public import SignetVault
import Synchronization

/// The client network system: one entry point for every call of a program.
///
/// It is started once from a configuration, takes calls until it is shut down, and every call ends
/// exactly once. A call is admitted, boxed by its service's adapter, built, frozen, signed, sent if
/// the pins allow it, and unboxed, in this order. It keeps to its end the configuration that it
/// began with; ``update(_:keys:)`` changes what later calls see.
///
/// A call begins on its caller's thread, and leaves it when it first waits. It begins on Swift's
/// pool of threads instead if its caller is an actor, such as the main one, if it was started for a
/// closure or a receiver, or if its body or its response isn't in memory. It begins on the engine's
/// thread if the system runs its calls there (``Options/runsOnEngineThread``).
///
/// A call runs in its caller's task if all that it can wait for is requests to the standard
/// engine. It has a task of its own, which is cancelled if the call is ended,
/// - if the standard engine isn't a `CancellableHTTPEngine`, or the call chooses an engine,
/// - if code of the program may wait in it: an interceptor, a credential source, an external
///   signer, an adapter, a stub, or a body or a response that isn't in memory,
/// - if it may wait in a queue, for a call that it joins or is merged with, or for a cache,
/// - if its caller is an actor, or the system runs its calls on the engine's thread.
///
/// An endpoint, an interceptor, a response check and an engine must not block a thread. If one
/// does, the call may end after its deadline.
public final class NetworkSystem: Sendable {
    /// The network system's own version, to which sealed dumps are bound.
    public static let version = SignetVersion.current

    let pipeline: CallPipeline
    let options: Options
    let reporter: PinReporter
    let fetcher: ConfigurationFetcher?
    let updates: PinUpdates?
    let lists: AddressLists?
    private let start: Mutex<StartReport>

    var calls: RunningCalls { pipeline.admission.calls }
    var snapshots: SnapshotBox { pipeline.admission.snapshots }
    var engines: EngineSet { pipeline.attempts.hops.engines }
    var addresses: NearestAddresses { pipeline.attempts.hops.addresses }

    /// The state of this machine's network, and its changes.
    public var connectivity: Connectivity { pipeline.attempts.hops.connectivity }

    /// The report of the system's start.
    public var startReport: StartReport { start.withLock { $0 } }

    private init(
        _ snapshot: SystemSnapshot, options: Options, fetching request: FetchRequest? = nil
    ) throws(ClientError) {
        let snapshots = SnapshotBox(snapshot, logger: options.logger)
        // Reports are sent by a pipeline that makes none of its own.
        let silent = try CallPipeline(options, snapshots: snapshots)
        let reporter = try PinReporter(options, sendingThrough: silent)
        let pipeline = silent.reporting(to: reporter)
        self.reporter = reporter
        self.pipeline = pipeline
        self.options = options
        fetcher = request.map { ConfigurationFetcher($0, options: options, pipeline: pipeline) }
        updates = try options.pinUpdates.map { plan throws(ClientError) in
            try PinUpdates(plan, pipeline: pipeline, logger: options.logger)
        }
        lists = try AddressLists(options.addresses, pipeline: pipeline, logger: options.logger)
        start = Mutex(StartReport(snapshot.mode))
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
        let system = try NetworkSystem(snapshot, options: options)
        system.reportStart()
        await system.beginPinUpdates()
        await system.beginAddresses()
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
        services: [ServiceName: ServiceConfiguration], keys: KeySet? = nil,
        policy: PinPolicy? = nil,
        options: Options = Options()
    ) async throws(ClientError) -> NetworkSystem {
        let snapshot = try SystemSnapshot(
            services: services, keys: keys, policy: policy, options: options)
        let system = try NetworkSystem(snapshot, options: options)
        system.reportStart()
        await system.beginPinUpdates()
        await system.beginAddresses()
        return system
    }

    /// Starts a system that fetches its values.
    static func start(
        _ request: FetchRequest, from base: GlobalConfiguration, now: Int64, options: Options,
        requiring: (GlobalConfiguration) throws(VaultError) -> GlobalConfiguration
    ) async throws(ClientError) -> NetworkSystem {
        let system = try NetworkSystem(request.snapshot, options: options, fetching: request)
        await system.beginPinUpdates()
        do throws(ClientError) {
            let fetch = try await system.fetcher?.begin(base, now: now, requiring: requiring)
            system.reportStart(fetch)
            await system.beginAddresses()
            return system
        } catch {
            await system.shutdown(gracePeriod: .zero)
            throw error
        }
    }

    private func reportStart(_ fetch: FetchReport? = nil) {
        let snapshot = snapshots.current
        let report = start.withLock { start in
            let pinUpdate = start.pinUpdate
            start = StartReport(snapshot.mode)
            (start.fetch, start.pinUpdate) = (fetch, pinUpdate)
            return start
        }
        report.log(to: options.logger)
        snapshot.logFindings(to: options.logger)
    }

    private func beginPinUpdates() async {
        let report = await updates?.begin()
        start.withLock { $0.pinUpdate = report }
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
        snapshots.close()
        let isFirst = calls.stop()
        if isFirst {
            updates?.stop()
            lists?.stop()
            addresses.stop()
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await self.calls.waitUntilIdle()
                await self.pipeline.caches?.http.renewals.stop()
            }
            group.addTask {
                try? await Task.sleep(for: gracePeriod)
                self.calls.end(with: .notRunning) { !$0.isInternal }
                self.pipeline.caches?.http.renewals.cancel()
            }
            await group.next()
            await calls.waitUntilIdle()
            await self.pipeline.caches?.http.renewals.stop()
            group.cancelAll()
        }
        guard isFirst else { return }
        await reporter.close()
        connectivity.finish()
        await engines.shutdown()
        pipeline.admission.hub.finish()
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
        _ call: RPCCall, on service: ServiceName, path: String? = nil,
        options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> UnboxedResponse {
        try await pipeline.run(
            CallTarget(
                service: service, method: call.method.name, options: options, isInMemory: true),
            request: { _ throws(ClientError) in .procedure(call, path: path) },
            value: { response throws(ClientError) in response })
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
        _ service: ServiceName, method: HTTPRequest.Method, target: String,
        fields: HTTPFields = [:], body: [UInt8], options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> RawResponse {
        try await exchange(
            service, method: method, target: target, fields: fields, body: HTTPRequestBody(body),
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
        _ service: ServiceName, method: HTTPRequest.Method, target: String,
        fields: HTTPFields = [:], body: HTTPRequestBody = [],
        options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> RawResponse {
        let asked = CallTarget(
            service: service, method: method.rawValue, options: options, isBoxed: false,
            isInMemory: body.bytes != nil)
        return try await pipeline.admission.admit(asked) { call throws(ClientError) in
            try await self.pipeline.exchange(
                PendingCall.Exchange(method: method, target: target, body: body),
                at: call.service.url, fields: fields, in: call)
        }
    }
}
