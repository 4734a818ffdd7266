public import HTTPTypes
internal import Logging
public import SignetCrypto
internal import SignetCurl
internal import SignetJSON
public import SignetPinning
public import SignetRPC
internal import SignetSigning
internal import SignetTransport
public import SignetVault

/// The client network system: one entry point for every call of a program.
///
/// It is started once from a configuration, takes calls until it is shut down, and every call ends
/// exactly once. A call is admitted, built by its service, boxed, frozen, signed, sent where the
/// pins allow it, and unboxed, in this order.
public final class NetworkSystem: Sendable {
    /// The network system's own version, to which sealed dumps are bound.
    public static let version = SignetVersion.current

    private let lifecycle = Lifecycle()
    private let engine: any HTTPEngine
    private let services: [Service: PreparedService]
    private let policy: PinPolicy?
    private let urlRules: URLRules
    private let options: Options
    private let logger: Logger

    private init(
        engine: any HTTPEngine, services: [Service: PreparedService], policy: PinPolicy?,
        urlRules: URLRules, options: Options
    ) {
        self.engine = engine
        self.services = services
        self.policy = policy
        self.urlRules = urlRules
        self.options = options
        self.logger = Logger(label: "signet.client")
    }

    // MARK: Start and end

    /// Starts a system with the services, URL rules and pins of a configuration.
    ///
    /// - Parameters:
    ///   - configuration: Its keys `services.NAME.…` (see ``ServiceConfiguration``) and `urlRules.…`
    ///     are read now and never again.
    ///   - keys: The keys that the services sign with.
    ///   - options: Trust, limits and the weak choices.
    /// - Throws: `ClientError` where a service cannot work: a pattern or URL that is none, a service
    ///   without pins, an unknown or expired key; or where libcurl cannot be used.
    public static func start(
        _ configuration: GlobalConfiguration, keys: KeySet? = nil, options: Options = Options()
    ) async throws(ClientError) -> NetworkSystem {
        let services = try ServiceConfiguration.all(in: configuration)
        let policy = try options.policy(of: services)
        return try await start(
            services: services, keys: keys, policy: policy, urlRules: URLRules(configuration),
            options: options)
    }

    /// Starts a system with services given as values.
    ///
    /// - Parameters:
    ///   - services: What is known of each service; their own `pins` are not looked at.
    ///   - keys: The keys that the services sign with.
    ///   - policy: The pins of all hosts; nil leaves the check to CA, dates and host name.
    ///   - options: Trust and limits.
    /// - Throws: As `start(_:keys:options:)`.
    public static func start(
        services: [Service: ServiceConfiguration], keys: KeySet? = nil, policy: PinPolicy?,
        options: Options = Options()
    ) async throws(ClientError) -> NetworkSystem {
        try await start(
            services: services, keys: keys, policy: policy, urlRules: URLRules(), options: options)
    }

    private static func start(
        services: [Service: ServiceConfiguration], keys: KeySet?, policy: PinPolicy?,
        urlRules: URLRules, options: Options
    ) async throws(ClientError) -> NetworkSystem {
        var prepared: [Service: PreparedService] = [:]
        for (service, configuration) in services {
            prepared[service] = try PreparedService(
                service, configuration, keys: keys, maximumReplySize: options.maximumReplySize)
        }
        let engine: any HTTPEngine
        do throws(TransportError) {
            if let given = options.engine {
                engine = given
            } else {
                var settings = CurlEngine.Configuration()
                settings.caFile = options.caFile
                engine = try CurlEngine(settings)
            }
        } catch {
            throw ClientError(error)
        }
        return NetworkSystem(
            engine: engine, services: prepared, policy: policy, urlRules: urlRules,
            options: options)
    }

    /// Stops the system: takes no more calls, gives those under way some time, and ends the rest.
    ///
    /// Returns when every call has ended; each that was cut short has thrown `not-running`.
    ///
    /// - Parameter gracePeriod: How long calls under way may go on.
    public func shutdown(gracePeriod: Duration = .seconds(5)) async {
        guard lifecycle.stop() else { return await lifecycle.waitUntilIdle() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.lifecycle.waitUntilIdle() }
            group.addTask { try? await Task.sleep(for: gracePeriod) }
            await group.next()
            await engine.shutdown()
            group.cancelAll()
        }
    }

    // MARK: Calls

    /// Calls a remote procedure with typed parameters and a typed result.
    ///
    /// - Throws: `ClientError`; its `kind` says whether no reply came, the status was wrong, the
    ///   service said no, or the format was wrong on one side.
    public func send<Call: Endpoint>(_ endpoint: Call) async throws(ClientError) -> Call.Success {
        let parameters = try Self.parameters(of: endpoint)
        let reply = try await call(Call.service, RPCCall(Call.method, parameters))
        return try Self.decode(Call.Success.self, reply)
    }

    /// Calls a REST service with a typed representation and a typed result.
    ///
    /// - Throws: `ClientError`, as `send(_:)` of an `Endpoint`.
    public func send<Call: RESTEndpoint>(
        _ endpoint: Call
    ) async throws(ClientError) -> Call.Success {
        let parameters = try Self.parameters(of: endpoint)
        let reply = try await call(
            Call.service, RPCCall(RPCMethod(Call.verb.rawValue), parameters), path: endpoint.path)
        return try Self.decode(Call.Success.self, reply)
    }

    /// Makes one call, or sends one notification, with JSON in and JSON out.
    ///
    /// - Parameters:
    ///   - service: The service that answers.
    ///   - call: Method, parameters, and whether an answer is wanted; with REST the method is the
    ///     HTTP method.
    ///   - path: What is added to the base URL's path, beginning with `/`; nil for nothing.
    /// - Throws: `ClientError`.
    public func call(
        _ service: Service, _ call: RPCCall, path: String? = nil
    ) async throws(ClientError) -> UnboxedReply {
        try await admitted(service) { service throws(ClientError) in
            let url = try service.url(below: path)
            try self.urlRules.check(url)
            let boxed = try Self.rpc { () throws(RPCError) in try service.adapter.box(call) }
            let frozen = service.freeze(boxed, at: url)
            let reply = try await self.attempt(frozen, by: service)
            return try Self.rpc { () throws(RPCError) in
                try service.adapter.unbox(reply, to: boxed)
            }
        }
    }

    /// Makes several JSON-RPC 2.0 calls in one request.
    ///
    /// - Throws: `ClientError` where the whole batch fails; what became of each call stands in the
    ///   result.
    public func batch(
        _ service: Service, _ calls: [RPCCall]
    ) async throws(ClientError) -> BatchReply {
        try await admitted(service) { service throws(ClientError) in
            try self.urlRules.check(service.url)
            guard let adapter = service.adapter as? JSONRPCAdapter else {
                throw ClientError(
                    .processing, ClientError.Code("unsupported-call"),
                    "only JSON-RPC 2.0 knows batches")
            }
            let boxed = try Self.rpc { () throws(RPCError) in try adapter.box(batch: calls) }
            let reply = try await self.attempt(service.freeze(boxed, at: service.url), by: service)
            return try Self.rpc { () throws(RPCError) in
                try adapter.unboxBatch(reply, to: boxed)
            }
        }
    }

    /// Sends a request as it stands through signing and pins, without boxing.
    ///
    /// - Parameters:
    ///   - service: The service whose base URL's origin, signing and timeout apply.
    ///   - method: The HTTP method.
    ///   - target: Path and query as they are to be sent, beginning with `/`.
    ///   - fields: The request's fields; Host is made from the base URL.
    ///   - body: The body, byte for byte.
    /// - Returns: The reply, whatever its status.
    /// - Throws: `ClientError` where no reply came.
    public func exchange(
        _ service: Service, method: HTTPRequest.Method, target: String, fields: HTTPFields,
        body: [UInt8]
    ) async throws(ClientError) -> RawReply {
        try await admitted(service) { service throws(ClientError) in
            let url = try RequestURL("\(service.url.scheme)://\(service.url.authority)\(target)")
            try self.urlRules.check(url)
            let head = HTTPRequest(
                method: method, scheme: url.scheme, authority: url.authority, path: url.target,
                headerFields: fields)
            return try await self.attempt(FrozenRequest(head: head, body: body), by: service)
        }
    }

    // MARK: The way of a request

    /// Step 0: every call is let in once and leaves once.
    private func admitted<Result>(
        _ name: Service,
        _ work: (PreparedService) async throws(ClientError) -> Result
    ) async throws(ClientError) -> Result {
        guard lifecycle.admit() else {
            throw ClientError(.processing, .notRunning, "the network system is shut down")
        }
        defer { lifecycle.leave() }
        guard let service = services[name] else {
            throw ClientError(
                .processing, .unknownService, "the configuration has no service \(name)")
        }
        return try await work(service)
    }

    /// Step 9: each attempt is signed anew; only a call that cannot have reached the server is
    /// tried again.
    private func attempt(
        _ request: FrozenRequest, by service: PreparedService
    ) async throws(ClientError) -> RawReply {
        var attempt = 1
        while true {
            do throws(ClientError) {
                return try await send(signed(request, by: service), by: service)
            } catch {
                guard attempt < service.configuration.attempts, error.neverReachedTheServer,
                    !Task.isCancelled, lifecycle.isRunning
                else { throw error }
                logger.info(
                    "trying again",
                    metadata: ["code": "\(error.code.name)", "attempt": "\(attempt)"])
                attempt += 1
            }
        }
    }

    private func signed(
        _ request: FrozenRequest, by service: PreparedService
    ) throws(ClientError) -> FrozenRequest {
        guard let signer = service.signer else { return request }
        do {
            return try request.signed(by: signer, at: UnixTime.now())
        } catch {
            throw ClientError(error)
        }
    }

    /// An engine that cannot pin gets no request to a host that the policy pins or refuses.
    private func requireEngine(for service: PreparedService) throws(ClientError) {
        guard let policy, !engine.capabilities.pinsPublicKeys else { return }
        let decision = policy.decision(
            for: try service.url.host(), isSecure: service.url.scheme == "https",
            now: UnixTime.now())
        if let refusal = decision.refusal {
            throw ClientError(
                .noReply, ClientError.Code(refusal.code.name), refusal.message)
        }
        guard !decision.isPinned else {
            throw ClientError(
                .processing, .engineCannotPin,
                "the engine \(engine.capabilities.name) cannot check the pins of "
                    + service.url.authority)
        }
    }

    private func send(
        _ request: FrozenRequest, by service: PreparedService
    ) async throws(ClientError) -> RawReply {
        try requireEngine(for: service)
        do throws(TransportError) {
            var outgoing = EngineRequest(request.head, body: request.body)
            outgoing.policy = policy
            outgoing.timeout = service.configuration.timeout
            outgoing.maximumBodySize = options.maximumReplySize
            outgoing.connectTo = options.connectTo
            let response = try await engine.send(outgoing)
            let body = try await response.body.collect(limit: options.maximumReplySize)
            logger.debug(
                "reply", metadata: ["status": "\(response.response.status.code)"])
            return RawReply(
                status: response.response.status.code,
                fields: response.response.headerFields, body: body)
        } catch {
            throw ClientError(error)
        }
    }

    // MARK: Helpers

    private static func parameters(
        of endpoint: some Encodable
    ) throws(ClientError) -> RPCParameters? {
        let parameters = try rpc { () throws(RPCError) in try RPCParameters(encoding: endpoint) }
        return parameters.isEmpty ? nil : parameters
    }

    private static func decode<Value: Decodable>(
        _ type: Value.Type, _ reply: UnboxedReply
    ) throws(ClientError) -> Value {
        guard let result = reply.result else {
            throw ClientError(
                .processing, .typeMismatch, "the reply has no result", status: reply.status)
        }
        do {
            return try result.decode(type)
        } catch {
            throw ClientError(
                .processing, .typeMismatch, "the result is of another type: \(error.message)",
                status: reply.status)
        }
    }

    private static func rpc<Value>(
        _ work: () throws(RPCError) -> Value
    ) throws(ClientError) -> Value {
        do {
            return try work()
        } catch {
            throw ClientError(error)
        }
    }
}

extension PreparedService {
    /// Step 4: the base URL, with a resource's path where one is given.
    func url(below path: String?) throws(ClientError) -> RequestURL {
        guard let path else { return url }
        return try url.appending(path: path)
    }

    /// Step 7: from here on the request's bytes do not change.
    func freeze(_ boxed: BoxedRequest, at url: RequestURL) -> FrozenRequest {
        var fields = configuration.commonFields
        for field in boxed.fields { fields[field.name] = field.value }
        let head = HTTPRequest(
            method: boxed.method, scheme: url.scheme, authority: url.authority,
            path: boxed.target(joinedTo: url.target), headerFields: fields)
        return FrozenRequest(head: head, body: boxed.body)
    }
}
