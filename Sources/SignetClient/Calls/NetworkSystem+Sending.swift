internal import HTTPTypes
internal import Logging
internal import SignetBase
internal import SignetCrypto
internal import SignetJSON
internal import SignetPinning
internal import SignetRPC
internal import SignetSigning
internal import SignetTransport

/// A call that was let in: the snapshot, service and limits that hold for it to its end.
struct Admission: Sendable {
    let snapshot: SystemSnapshot
    let service: PreparedService
    var rules: CallRules
    /// Where what happens is written down; nil for nowhere.
    var trace: CallTrace?
}

// MARK: - The way of a request

extension NetworkSystem {
    /// Steps 0 and 1: every call is let in once, keeps one snapshot, and leaves once.
    ///
    /// - Parameter given: The snapshot to be used; nil is the current one.
    func admitted<Result>(
        _ name: Service, _ scenario: Scenario?, in given: SystemSnapshot? = nil,
        trace: CallTrace? = nil,
        _ work: (Admission) async throws(ClientError) -> Result
    ) async throws(ClientError) -> Result {
        guard lifecycle.admit() else { throw Self.notRunning }
        defer { lifecycle.leave() }
        let snapshot = given ?? box.snapshot
        guard let service = snapshot.services[name] else {
            throw ClientError(
                code: .unknownService, message: "the configuration has no service \(name)")
        }
        let rules = try snapshot.settings.rules(
            of: service.configuration, in: scenario,
            maximumResponseSize: options.maximumResponseSize)
        return try await work(
            Admission(snapshot: snapshot, service: service, rules: rules, trace: trace))
    }

    static var notRunning: ClientError {
        ClientError(code: .notRunning, message: "the network system is shut down")
    }

    /// Steps 4 to 12: builds, boxes, freezes, sends, unboxes and checks one call.
    func complete(
        _ call: RPCCall, path: String?, _ admission: Admission
    ) async throws(ClientError) -> UnboxedResponse {
        let service = admission.service
        let call = try service.joiningCommonParameters(call)
        let boxed = try Self.rpc { () throws(RPCError) in try service.adapter.box(call) }
        return try await complete(boxed, at: service.url(below: path), admission)
    }

    /// Steps 6 to 12, of what has been boxed; its body may be a stream in place of its bytes.
    func complete(
        _ boxed: BoxedRequest, streaming body: RequestBody? = nil, at base: RequestURL,
        _ admission: Admission
    ) async throws(ClientError) -> UnboxedResponse {
        let service = admission.service
        let url =
            try boxed.path.map { path throws(ClientError) in try base.appending(path: path) }
            ?? base
        try admission.snapshot.urlRules.check(url)
        var frozen = admission.freeze(boxed, at: url, decodes: options.decoding != nil)
        if let body { frozen.body = body }
        let raw = try await attempt(frozen, for: admission)
        let reply = try Self.rpc { () throws(RPCError) in
            try service.adapter.unbox(raw, to: boxed)
        }
        try admission.snapshot.settings.checks.check(reply)
        return reply
    }

    /// Step 9: each attempt is signed anew. Tried again is what cannot have reached the server, and
    /// what the server put off, where the configuration and the call allow it.
    func attempt(
        _ request: FrozenRequest, for admission: Admission
    ) async throws(ClientError) -> RawResponse {
        let rules = admission.rules
        var attempt = 1
        while true {
            let isLast = attempt >= rules.attempts
            var chain: RedirectChain
            do throws(TransportError) {
                chain = try RedirectChain(request.head, policy: rules.redirects)
            } catch {
                throw ClientError(error)
            }
            do throws(ClientError) {
                let reply = try await exchange(request, for: admission, &chain)
                guard !isLast, request.body.isReplayable,
                    let pause = rules.retry.pause(
                        after: attempt, of: request.head, isRepeatable: rules.isRepeatable,
                        reply: reply),
                    await goesOn(after: attempt, pause, "\(reply.status)", rules)
                else { return reply }
            } catch {
                // A server that redirected has seen the call.
                let isHarmless =
                    chain.redirects.isEmpty || rules.isRepeatable
                    || RetryPolicy.isIdempotent(request.head.method)
                guard !isLast, error.neverReachedTheServer, isHarmless,
                    await goesOn(
                        after: attempt, rules.retry.pause(after: attempt), error.code.name, rules)
                else { throw error }
            }
            attempt += 1
        }
    }

    /// Waits before another attempt, and says whether one may be made.
    private func goesOn(
        after attempt: Int, _ pause: Duration, _ reason: String, _ rules: CallRules
    ) async -> Bool {
        if let deadline = rules.deadline, .now + pause >= deadline { return false }
        guard await lifecycle.pause(pause) else { return false }
        logger.info("trying again", metadata: ["after": "\(reason)", "attempt": "\(attempt)"])
        return true
    }

    /// An engine that cannot pin gets no request to a host that the policy pins or refuses.
    private func requireEngine(
        for head: HTTPRequest, _ admission: Admission
    ) throws(ClientError) {
        guard let policy = admission.snapshot.policy, !engine.capabilities.pinsPublicKeys else {
            return
        }
        let origin: WebOrigin
        do throws(TransportError) {
            origin = try WebURL(head).origin
        } catch {
            throw ClientError(error)
        }
        let decision = policy.decision(
            for: origin.host, isSecure: origin.isSecure, now: UnixTime.now())
        if let error = decision.refusal {
            if let refusal = error.refusal { report(refusal, error.code, at: origin) }
            throw ClientError(code: ClientError.Code(error.code.name), message: error.message)
        }
        guard !decision.isPinned else {
            throw ClientError(
                code: .engineCannotPin,
                message:
                    "the engine \(engine.capabilities.name) cannot check the pins of \(origin.authority)"
            )
        }
    }

    /// Sends one request and reads all of its reply.
    func send(
        _ request: FrozenRequest, isSigned: Bool, for admission: Admission,
        within timeout: Duration
    ) async throws(ClientError) -> RawResponse {
        try requireEngine(for: request.head, admission)
        try admission.snapshot.mode.simulation.act()
        let rules = admission.rules
        let start = ContinuousClock.now
        guard timeout > .zero else { throw Self.timePassed }
        var hop = CallTrace.Hop(
            method: request.head.method, url: CallTrace.url(of: request.head), isSigned: isSigned)
        do throws(TransportError) {
            let outgoing = try outgoing(
                request, for: admission, within: timeout, limit: Int64(rules.maximumResponseSize))
            let response = try await sendReporting(outgoing)
            hop.status = response.response.status.code
            hop.httpVersion = response.httpVersion
            hop.timings = response.timings
            let reply = try await collect(
                response, answering: request.head.method, limit: rules.maximumResponseSize)
            logger.debug(
                "reply", metadata: ["status": "\(response.response.status.code)"])
            hop.timings = response.finalTimings
            if hop.timings.total == .zero { hop.timings.total = .now - start }
            admission.trace?.add(hop)
            return reply
        } catch {
            hop.failure = error.code.name
            hop.timings.total = .now - start
            admission.trace?.add(hop)
            throw ClientError(error)
        }
    }
}

/// A reply whose header has come, and what is written down of it when its body has.
struct OpenedReply: Sendable {
    let reply: EngineResponse
    fileprivate var hop: CallTrace.Hop
    fileprivate let start: ContinuousClock.Instant

    /// What happened, at the end of the body or where it was left.
    func hop(failure: String? = nil) -> CallTrace.Hop {
        var hop = hop
        hop.timings = reply.finalTimings
        if hop.timings.total == .zero { hop.timings.total = .now - start }
        hop.failure = failure
        return hop
    }
}

extension NetworkSystem {
    /// Sends one request, and returns when its reply's header has come. Redirects are replies.
    ///
    /// A reply is written down by who reads its body; a request without one is here.
    func open(
        _ request: FrozenRequest, isSigned: Bool, for admission: Admission,
        within timeout: Duration, limit: Int64
    ) async throws(ClientError) -> OpenedReply {
        try requireEngine(for: request.head, admission)
        try admission.snapshot.mode.simulation.act()
        let start = ContinuousClock.now
        guard timeout > .zero else { throw Self.timePassed }
        var hop = CallTrace.Hop(
            method: request.head.method, url: CallTrace.url(of: request.head), isSigned: isSigned)
        do throws(TransportError) {
            let reply = try await sendReporting(
                outgoing(request, for: admission, within: timeout, limit: limit))
            hop.status = reply.response.status.code
            hop.httpVersion = reply.httpVersion
            return OpenedReply(reply: reply, hop: hop, start: start)
        } catch {
            hop.failure = error.code.name
            hop.timings.total = .now - start
            admission.trace?.add(hop)
            throw ClientError(error)
        }
    }

    private static var timePassed: ClientError {
        ClientError(
            code: .timeout, message: "the time for the call has passed with its redirects")
    }

    private func outgoing(
        _ request: FrozenRequest, for admission: Admission, within timeout: Duration, limit: Int64
    ) throws(TransportError) -> EngineRequest {
        var outgoing = EngineRequest(request.head, body: request.body)
        outgoing.policy = admission.snapshot.policy
        outgoing.timeout = timeout
        outgoing.connectTimeout = min(
            timeout, admission.rules.connectTimeout ?? outgoing.connectTimeout)
        outgoing.maximumBodySize = Int(limit)
        outgoing.connectTo = options.connectTo
        outgoing.proxy = admission.snapshot.proxies.proxy(for: try WebURL(request.head).origin)
        return outgoing
    }
}

extension CallTrace {
    /// A request's URL without its query.
    fileprivate static func url(of head: HTTPRequest) -> String {
        let path = (head.path ?? "/").prefix { $0 != "?" }
        return "\(head.scheme ?? "https")://\(head.authority ?? "")\(path)"
    }
}

extension Admission {
    /// Step 7: from here on the request's bytes do not change.
    func freeze(
        _ boxed: BoxedRequest, at url: RequestURL, decodes: Bool
    ) -> FrozenRequest {
        var fields = HTTPFields()
        if let userAgent = snapshot.settings.userAgent { fields[.userAgent] = userAgent }
        for field in service.configuration.commonFields {
            if field.name == .userAgent { fields[.userAgent] = nil }
            fields.append(field)
        }
        for field in boxed.fields where field.name != .cookie { fields[field.name] = nil }
        fields.append(contentsOf: boxed.fields)
        // The service's cookies and the call's own go out as one field (RFC 6265, section 5.4).
        let cookies = fields[values: .cookie]
        if cookies.count > 1 { fields[values: .cookie] = [cookies.joined(separator: "; ")] }
        if decodes, fields[.acceptEncoding] == nil {
            fields[.acceptEncoding] = ContentDecoding.acceptEncoding
        }
        let head = HTTPRequest(
            method: boxed.method, scheme: url.scheme, authority: url.authority,
            path: boxed.target(joinedTo: url.target), headerFields: fields)
        return FrozenRequest(head: head, body: RequestBody(boxed.body))
    }
}

extension PreparedService {
    /// Step 4: the base URL, with a resource's path where one is given.
    func url(below path: String?) throws(ClientError) -> RequestURL {
        guard let path else { return url }
        return try url.appending(path: path)
    }

    /// Step 3: the call with the parameters that all calls of the service carry; its own win.
    ///
    /// - Throws: `invalid-params` for parameters by position, which common ones cannot join.
    func joiningCommonParameters(_ call: RPCCall) throws(ClientError) -> RPCCall {
        let common = configuration.commonParameters
        guard !common.isEmpty else { return call }
        var joined = common
        switch call.parameters {
        case nil: break
        case .object(let own): for (name, value) in own { joined[name] = value }
        case .array:
            throw ClientError(
                code: .invalidParameters,
                message:
                    "parameters by position cannot be joined with commonParameters, which are by name"
            )
        }
        return RPCCall(
            call.method, parameters: .object(joined), isNotification: call.isNotification)
    }
}
