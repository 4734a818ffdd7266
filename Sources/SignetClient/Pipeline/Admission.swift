internal import Logging
internal import SignetPinning
internal import SignetTransport

/// The request for a call: where it goes and which options it has.
struct CallTarget: Sendable {
    var service: Service
    /// The remote procedure's name, or the HTTP method.
    var method: String
    /// The options of endpoint and call.
    var options = CallOptions()
    /// Whether an adapter makes the request. Then a call that isn't REST is never redirected to GET.
    var isBoxed = true
    /// The snapshot to use; nil is the current one.
    var snapshot: SystemSnapshot?
    /// A host of the system's own, in the place of a service of the configuration.
    var host: SystemHost?
}

/// A host that the system calls for itself: that of signed pin policies, or a collector of pin reports.
struct SystemHost: Sendable {
    /// The name that identities of calls show.
    let name: Service
    let service: PreparedService
    /// The pins that hold in place of the snapshot's policy.
    var policy: PinPolicy?
    /// Whether the call sends a pin report. It is sent while the system stops too, and makes no report.
    let isReport: Bool

    /// Prepares a host that is called without a signature, once, and whose redirects are not followed.
    init(
        _ name: Service, url: String, timeout: Duration, policy: PinPolicy?, isReport: Bool = false
    ) throws(ClientError) {
        var configuration = ServiceConfiguration(
            baseURL: url, payloadProtocol: .rest, timeout: timeout, attempts: 1)
        configuration.redirects = .none
        configuration.options.connectTimeout = timeout
        self.name = name
        self.service = try PreparedService(
            name, configuration: configuration, keys: nil, maximumResponseSize: .max)
        self.policy = policy
        self.isReport = isReport
    }
}

/// A call that was admitted: all that holds for it to its end.
struct Admission: Sendable {
    let snapshot: SystemSnapshot
    let service: PreparedService
    let policy: PinPolicy?
    let identity: CallIdentity
    /// The merged options.
    let options: CallOptions
    var rules: CallRules
    let call: RunningCall
    let log: CallLog
    /// Whose credentials the call carries, from its admission on; nil for none.
    let credentialKey: CredentialKey?
    /// Whether refusals of the pin policy are reported.
    let reportsPins: Bool
    /// Whether content codings of responses are decoded.
    let decodes: Bool

}

extension NetworkSystem {
    /// The first stage: merges the options, gives the call its identity and its snapshot, and runs the
    /// rest of the pipeline as the call's work. Each call ends once.
    func admitted<Output: Sendable>(
        _ target: CallTarget,
        work: @escaping @Sendable (Admission) async throws(ClientError) -> Output
    ) async throws(ClientError) -> Output {
        guard calls.isRunning || target.host?.isReport == true else { throw .notRunning }
        let snapshot = target.snapshot ?? box.snapshot
        let service =
            if let host = target.host { host.service } else {
                try snapshot.service(named: target.service)
            }
        var options = try mergedOptions(of: service, target.options, in: snapshot)
        // Fields and credentials for all services are not for hosts that the system calls for itself.
        if target.host != nil {
            options.fields = target.options.fields
            options.credentials = nil
        }
        let merged = options
        let rules = CallRules(
            merged, isBoxed: target.isBoxed, of: service.configuration,
            maximumResponseSize: self.options.maximumResponseSize)
        let identity = CallIdentity(
            id: calls.nextID(), service: target.service, method: target.method, tags: merged.tags)
        let log = CallLog(merged.trace)
        let call = RunningCall(
            identity, isInternal: target.host?.isReport == true, owner: merged.weakOwner, log: log)
        let admission = Admission(
            snapshot: snapshot, service: service, policy: target.host?.policy ?? snapshot.policy,
            identity: identity, options: merged, rules: rules, call: call, log: log,
            credentialKey: merged.credentials.map { CredentialKey(of: $0, at: target.service) },
            reportsPins: target.host?.isReport != true, decodes: self.options.decoding != nil)
        let start = ContinuousClock.now
        do throws(ClientError) {
            return try await calls.run(
                call, deadline: merged.deadline,
                began: { call.send(.started(identity), to: hub) },
                ended: { self.finish(admission, since: start, with: $0) }
            ) { () throws(ClientError) in try await work(admission) }
        } catch {
            throw error.of(identity, url: log.url, attempts: log.attempts.count)
        }
    }

    /// The last stage: the call's record, and one line of the log.
    private func finish(
        _ admission: Admission, since start: ContinuousClock.Instant, with error: ClientError?
    ) {
        let (identity, log) = (admission.identity, admission.log)
        let duration = ContinuousClock.now - start
        admission.call.finish(
            CallRecord(
                identity: identity, url: log.url, attempts: log.attempts, duration: duration,
                status: log.status, failure: error?.code), to: hub)
        logger.debug(
            "call",
            metadata: [
                "call": "\(identity.id)", "service": "\(identity.service)",
                "method": "\(identity.method)", "attempts": "\(admission.log.attempts.count)",
                "duration": "\(duration)",
                "outcome": "\(error?.code.name ?? admission.log.status.map(String.init) ?? "none")",
            ])
    }

    /// Merges the options of all levels.
    func mergedOptions(
        of service: PreparedService, _ asked: CallOptions, in snapshot: SystemSnapshot
    ) throws(ClientError) -> CallOptions {
        try asked.validate()
        var options = snapshot.settings.options.merging(self.options.callOptions)
            .merging(service.configuration.levelOptions)
        if let scenario = asked.scenario ?? options.scenario {
            options = options.merging(try snapshot.settings.options(of: scenario))
        }
        options = options.merging(asked)
        try options.validate()
        return options
    }

    /// Returns the options that a call of a service has: those of all levels, merged.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - options: The options of the endpoint and the call.
    /// - Throws: `unknown-service`, `unknown-scenario`, `invalid-options`.
    public func callOptions(
        for service: Service, merging options: CallOptions = CallOptions()
    ) throws(ClientError) -> CallOptions {
        let snapshot = box.snapshot
        return try mergedOptions(of: snapshot.service(named: service), options, in: snapshot)
    }

    // MARK: Running calls

    /// The calls that are running, in the order in which they began.
    public var runningCalls: [CallIdentity] { calls.identities }

    /// Ends a running call with `cancelled`.
    ///
    /// - Returns: Whether the call was running.
    @discardableResult
    public func cancelCall(_ id: CallIdentity.ID) -> Bool {
        calls.end(with: .cancelledByCaller) { $0.identity.id == id } > 0
    }

    /// Ends the running calls that have a tag with `cancelled`.
    ///
    /// - Returns: Their number.
    @discardableResult
    public func cancelCalls(taggedWith tag: String) -> Int {
        calls.end(with: .cancelledByCaller) { $0.identity.tags.contains(tag) }
    }

    /// Ends the running calls of a service with `cancelled`.
    ///
    /// - Returns: Their number.
    @discardableResult
    public func cancelCalls(of service: Service) -> Int {
        calls.end(with: .cancelledByCaller) { $0.identity.service == service }
    }
}

extension SystemSnapshot {
    /// - Throws: `unknown-service`.
    func service(named name: Service) throws(ClientError) -> PreparedService {
        guard let service = services[name] else {
            throw ClientError(.unknownService, "the configuration has no service \(name)")
        }
        return service
    }
}

/// The limits of one call.
struct CallRules: Sendable {
    /// Of one attempt.
    let timeout: Duration
    let connectTimeout: Duration?
    let attempts: Int
    /// In bytes.
    let maximumResponseSize: Int
    let retry: RetryPolicy
    let redirects: RedirectPolicy
    /// Whether the call may reach the server twice; nil if the HTTP method decides.
    let isIdempotent: Bool?
    /// The end of all attempts together.
    var end: ContinuousClock.Instant?

    /// Makes limits of merged options.
    ///
    /// - Parameters:
    ///   - isBoxed: Whether an adapter makes the request.
    ///   - service: What says whether the adapter is one for REST.
    ///   - limit: The system's limit of a response's size.
    init(
        _ options: CallOptions, isBoxed: Bool, of service: ServiceConfiguration,
        maximumResponseSize limit: Int
    ) {
        timeout = options.timeout ?? service.timeout
        connectTimeout = options.connectTimeout
        attempts = options.attempts ?? service.attempts
        maximumResponseSize = min(limit, options.maximumResponseSize ?? limit)
        retry = options.retry ?? RetryPolicy()
        var redirects = options.redirects ?? service.redirects
        // A remote procedure's call is its body: as GET it would be another request.
        if isBoxed, service.payloadProtocol != .rest { redirects.changesMethod = false }
        self.redirects = redirects
        isIdempotent = options.isIdempotent
        end = options.deadline.map { .now + $0 }
    }

    /// The time that an attempt which begins now may take.
    ///
    /// - Throws: `timeout` if the deadline has passed.
    func timeLeft() throws(ClientError) -> Duration {
        guard let end else { return timeout }
        let left = end - .now
        guard left > .zero else { throw .deadlinePassed }
        return min(timeout, left)
    }
}
