import HTTPTypes
import SignetBase
import SignetCrypto
import SignetPinning
import SignetRPC
import SignetSystem
import SignetTransport

extension HopStage {
    /// Sends one request, and returns when its response's header has arrived.
    ///
    /// The reader of the body adds the request to the log; this function adds one without a
    /// response.
    func send(
        _ request: FrozenRequest, isSigned: Bool, showing certificate: ClientCertificate?,
        in context: CallContext, attempt: Int, within timeout: Duration, limit: Int
    ) async throws(ClientError) -> OpenedResponse {
        // Before the request begins, because it says nothing about the server or the engine.
        let pause = context.snapshot.mode.simulation.pause(within: timeout)
        if pause > .zero { await wait(for: pause, in: context) }
        let start = MonotonicTime.now
        let stage = context.log.begin(.request, at: start)
        defer { context.log.end(stage) }
        let authority = request.head.authority ?? ""
        let use = engines.use(context.engine, at: authority)
        let began = context.engine.map { _ in clock.instant() }
        let entry = ExchangeEntry(request.head, isSigned: isSigned, through: use, at: start)
        var observations: [any ExchangeObservation] = []
        do throws(ClientError) {
            guard !Task.isCancelled, !context.hasEnded else { throw .cancelledByCaller }
            let engine = engines.engine(of: use)
            try requirePins(of: engine, at: request.url.origin, in: context)
            try requireCertificates(of: engine, for: certificate)
            try engines.requireRecordable(of: use, in: context.snapshot.mode.mode)
            let timeout = timeout - pause
            do throws(ClientError) {
                try simulation(in: context).fail(after: pause)
            } catch {
                entry.change { $0.isSimulated = true }
                throw error
            }
            guard timeout > .zero else {
                throw ClientError(.timeout, "the time for the call has passed with its redirects")
            }
            var source = engines.source(of: use)
            context.log.contents?.begin(.request) {
                $0.message(request.head, body: request.body)
            }
            observations = exchangeObservers.observe(
                request.head, body: request.body, of: context.identity, attempt: attempt)
            var response: EngineResponse
            if !context.stubs.isEmpty, let stubbed = try await context.beforeEngine(request) {
                response = stubbed
                source = .stub
            } else {
                response = try await transmit(
                    request, to: engine, showing: certificate, in: context,
                    observations: observations, within: timeout, limit: limit, noting: entry)
                source = response.source ?? source
                if let engine = context.engine, let began {
                    engines.noteResponse(
                        of: use, for: engine, at: authority, after: clock.instant() - began)
                }
            }
            if !context.stubs.isEmpty { response = try await context.afterEngine(response) }
            if source != .server { response.isMadeUp = true }
            context.receipt?.note(response, from: request.url.origin)
            context.progress?.observe(&response, answering: request.head.method)
            observations.tap(&response)
            context.log.contents?.end(.request) {
                $0.message(response.response)
            }
            entry.receive(response, from: source)
            return OpenedResponse(response, noting: entry, observations: observations)
        } catch {
            entry.end(after: Timings(), error)
            if !entry.exchange.isSimulated {
                engines.noteFailure(error.code, of: use, for: context.engine, at: authority)
            }
            context.log.add(entry)
            observations.end(entry.exchange)
            throw error
        }
    }

    /// The failures to simulate. A call that waits for the network sees when `simulation.offline`
    /// is switched off; everything else of a call stays as it began.
    private func simulation(in context: CallContext) -> FailureSimulation {
        var simulation = context.snapshot.mode.simulation
        if simulation.isOffline, context.options.waitsForConnectivity == true {
            simulation.isOffline = connectivity.simulatesOffline
        }
        return simulation
    }

    /// Waits for as long as the switch `simulation.delay` says, unless the call was cancelled.
    private func wait(for pause: Duration, in context: CallContext) async {
        guard !Task.isCancelled, !context.hasEnded else { return }
        let stage = context.log.begin(.delay)
        defer { context.log.end(stage) }
        _ = await context.call.separately { [clock] in try? await clock.sleep(pause) }
    }

    /// Makes the engine's request and hands it to the engine, on the nearest address if the service
    /// has several.
    private func transmit(
        _ request: FrozenRequest, to engine: any HTTPEngine,
        showing certificate: ClientCertificate?, in context: CallContext,
        observations: [any ExchangeObservation], within timeout: Duration, limit: Int,
        noting entry: ExchangeEntry
    ) async throws(ClientError) -> EngineResponse {
        var outgoing = EngineRequest(request.head, body: request.body)
        context.progress?.observe(&outgoing)
        observations.tap(&outgoing)
        outgoing.policy = context.policy
        outgoing.timeout = timeout
        outgoing.connectTimeout = context.limits.connectTimeout.map { min(timeout, $0) }
        outgoing.maximumBodySize = limit
        outgoing.connectTo = connectTo
        outgoing.clientCertificate = certificate
        outgoing.proxy = context.snapshot.proxies.proxy(for: request.url.origin)
        if addresses.isInUse, engine.capabilities.connectsToAddresses, outgoing.proxy == nil,
            let ways = addresses.ways(of: context.identity.service, to: request.url.origin)
        {
            return try await send(outgoing, on: ways, to: engine, in: context, noting: entry)
        }
        do throws(TransportError) {
            return try await send(outgoing, through: engine, in: context)
        } catch {
            throw ClientError(error)
        }
    }

    /// Hands a request to the engine, and reports what the pin policy found about the host.
    func send(
        _ request: EngineRequest, through engine: any HTTPEngine, in context: CallContext
    ) async throws(TransportError) -> EngineResponse {
        do throws(TransportError) {
            let response: EngineResponse
            if context.call.isInCallersTask, let cancellable = engines.cancellable {
                // Those of the requests before, which have ended.
                context.call.forgetActions()
                response = try await cancellable.send(request, cancelledBy: context.call)
            } else {
                response = try await engine.send(request)
            }
            if let finding = response.verdict?.finding {
                reporter?.submit(finding, port: request.port, isEnforced: false)
            }
            return response
        } catch {
            if let refusal = error.pinRefusal {
                reporter?.submit(refusal, port: request.port, isEnforced: true)
            }
            throw error
        }
    }

    private func requireCertificates(
        of engine: any HTTPEngine, for certificate: ClientCertificate?
    ) throws(ClientError) {
        guard certificate != nil, !engine.capabilities.usesClientCertificates else { return }
        throw ClientError(
            .clientCertificate,
            "the engine \(engine.capabilities.name) can't use a client certificate; nothing was sent"
        )
    }

    /// Decides whether the engine may speak to a host: one that can't pin gets no request to a host
    /// that the policy pins or refuses, or that has CAs of its own.
    private func requirePins(
        of engine: any HTTPEngine, at origin: WebOrigin, in context: CallContext
    ) throws(ClientError) {
        guard let policy = context.policy, !engine.capabilities.pinsPublicKeys else { return }
        let decision = policy.decision(
            for: origin.host, isSecure: origin.isSecure, now: UnixTime.now(), port: origin.port)
        if let refusal = decision.refusal {
            reporter?.submit(refusal, port: origin.port, isEnforced: true)
            throw ClientError(TransportError(refusal))
        }
        guard !decision.isPinned else {
            throw ClientError(
                .engineCannotPin,
                "the engine \(engine.capabilities.name) cannot check the pins of"
                    + " \(origin.authority)")
        }
        guard decision.rule?.authorities == nil || !origin.isSecure else {
            throw ClientError(
                .engineCannotPin,
                "the engine \(engine.capabilities.name) cannot check the host's own CAs of"
                    + " \(origin.authority)")
        }
    }
}

extension EngineRequest {
    fileprivate var port: Int {
        let authority = try? Authority(parsing: request.authority ?? "")
        return authority?.port(scheme: request.scheme ?? "https") ?? 443
    }
}

/// A response whose header has arrived.
///
/// It is an object, which costs less to hand on than its members.
final class OpenedResponse: Sendable {
    let response: EngineResponse
    private let entry: ExchangeEntry
    private let observations: [any ExchangeObservation]

    fileprivate init(
        _ response: EngineResponse, noting entry: ExchangeEntry,
        observations: [any ExchangeObservation]
    ) {
        self.response = response
        self.entry = entry
        self.observations = observations
    }

    /// Ends the request at the end of the body or where it was left.
    ///
    /// - Returns: Its entry in the log.
    func end(_ error: ClientError? = nil) -> ExchangeEntry {
        entry.end(after: response.finalTimings, error)
        if !observations.isEmpty { observations.end(entry.exchange) }
        return entry
    }
}
