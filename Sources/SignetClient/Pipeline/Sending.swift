internal import HTTPTypes
internal import SignetBase
internal import SignetCrypto
internal import SignetPinning
internal import SignetTransport

extension NetworkSystem {
    /// Stage 5c: sends one request, and returns when its response's header has arrived.
    ///
    /// The reader of the body adds the request to the log; this function adds one without a
    /// response.
    func open(
        _ request: FrozenRequest, isSigned: Bool, for admission: Admission,
        within timeout: Duration, limit: Int
    ) async throws(ClientError) -> OpenedResponse {
        let start = ContinuousClock.now
        let stage = admission.log.begin(.request)
        defer { admission.log.end(stage) }
        var hop = CallRecord.Hop(
            method: request.head.method, url: CallRecord.url(of: request.head), isSigned: isSigned)
        let authority = request.head.authority ?? ""
        let use = engines.use(admission.engine, at: authority)
        hop.engine = use
        let began = options.instant()
        do throws(ClientError) {
            guard !Task.isCancelled, !admission.hasEnded else { throw .cancelledByCaller }
            let engine = engines.engine(of: use)
            try requirePins(of: engine, for: request.head, admission)
            do throws(ClientError) {
                try admission.snapshot.mode.simulation.act()
            } catch {
                hop.isSimulated = true
                throw error
            }
            guard timeout > .zero else {
                throw ClientError(.timeout, "the time for the call has passed with its redirects")
            }
            var response = try await handOver(
                request, to: engine, for: admission, within: timeout, limit: limit)
            engines.noteResponse(
                of: use, for: admission.engine, at: authority, after: options.instant() - began)
            admission.progress?.observe(&response, answering: request.head.method)
            hop.status = response.response.status.code
            hop.httpVersion = response.httpVersion
            hop.isPinned = response.verdict.map { $0.isPinned && $0.isMatch } ?? false
            return OpenedResponse(response: response, hop: hop, start: start)
        } catch {
            engines.noteFailure(error.code, of: use, for: admission.engine, at: authority)
            hop.failure = error.code.name
            hop.timings.total = .now - start
            admission.log.add(hop, since: start)
            throw error
        }
    }

    /// Makes the engine's request and hands it to the engine.
    private func handOver(
        _ request: FrozenRequest, to engine: any HTTPEngine, for admission: Admission,
        within timeout: Duration, limit: Int
    ) async throws(ClientError) -> EngineResponse {
        do throws(TransportError) {
            var outgoing = EngineRequest(request.head, body: request.body)
            admission.progress?.observe(&outgoing)
            outgoing.policy = admission.policy
            outgoing.timeout = timeout
            outgoing.connectTimeout = admission.rules.connectTimeout.map { min(timeout, $0) }
            outgoing.maximumBodySize = limit
            outgoing.connectTo = options.connectTo
            outgoing.proxy = admission.snapshot.proxies.proxy(
                for: try WebURL(request.head).origin)
            guard admission.reportsPins else { return try await engine.send(outgoing) }
            return try await sendReporting(outgoing, through: engine)
        } catch {
            throw ClientError(error)
        }
    }

    /// Decides whether the engine may speak to a host: one that can't pin gets no request to a host
    /// that the policy pins or refuses, or that has CAs of its own.
    private func requirePins(
        of engine: any HTTPEngine, for head: HTTPRequest, _ admission: Admission
    ) throws(ClientError) {
        guard let policy = admission.policy, !engine.capabilities.pinsPublicKeys else { return }
        let origin: WebOrigin
        do throws(TransportError) {
            origin = try WebURL(head).origin
        } catch {
            throw ClientError(error)
        }
        let decision = policy.decision(
            for: origin.host, isSecure: origin.isSecure, now: UnixTime.now())
        if let error = decision.refusal {
            if admission.reportsPins, let refusal = error.refusal {
                report(refusal, kind: error.code, at: origin)
            }
            throw ClientError(ClientError.Code(error.code.value), error.message)
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

/// A response whose header has arrived, and what is written down of it after its body.
struct OpenedResponse: Sendable {
    let response: EngineResponse
    fileprivate var hop: CallRecord.Hop
    let start: ContinuousClock.Instant

    /// The request's entry in the log, at the end of the body or where it was left.
    func hop(failure: String? = nil) -> CallRecord.Hop {
        var hop = hop
        hop.timings = response.finalTimings
        if hop.timings.total == .zero { hop.timings.total = .now - start }
        hop.failure = failure
        return hop
    }
}
