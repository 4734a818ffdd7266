import HTTPTypes
import Logging
import SignetBase
import SignetCrypto
import SignetPinning
import SignetTransport
import Synchronization

/// Fetches signed pin policies by a plan, keeps the newest one in a file, and puts it into use.
final class PinUpdates: Sendable {
    private let plan: PinUpdatePlan
    private let url: WebURL
    /// The host as the pipeline calls it.
    private let host: SystemHost
    private let store: PinUpdateStore
    private let pipeline: CallPipeline
    private let logger: Logger
    private let task = LoopTask()
    private let state = Mutex<PinUpdateReport?>(nil)

    private var snapshots: SnapshotBox { pipeline.admission.snapshots }
    private var hops: HopStage { pipeline.attempts.hops }
    private var clock: SystemClock { hops.clock }
    private static let soon: Int64 = 7 * 86_400

    /// Checks a plan.
    ///
    /// - Throws: `invalid-plan`.
    init(
        _ plan: PinUpdatePlan, pipeline: CallPipeline, logger: Logger
    ) throws(ClientError) {
        func invalid(_ what: String) -> ClientError {
            ClientError(.invalidPlan, "the plan for pin updates: \(what)")
        }
        do throws(ClientError) {
            url = try WebURL(plan.url)
        } catch {
            throw invalid(error.message)
        }
        guard url.scheme == "https" else { throw invalid("its URL must begin with https://") }
        guard plan.timeout > .zero, plan.interval > .zero, plan.retryPause > .zero else {
            throw invalid("its times must be above zero")
        }
        self.plan = plan
        host = try SystemHost(
            "pin-updates", url: plan.url, timeout: plan.timeout, policy: plan.hostPolicy,
            clientCertificate: plan.clientCertificate)
        store = PinUpdateStore(
            path: plan.file, verifier: plan.verifier, builtInSerial: plan.builtInSerial)
        self.pipeline = pipeline
        self.logger = logger
    }

    /// The state of the updates; nil before they began.
    var report: PinUpdateReport? {
        let report = state.withLock { $0 }
        guard var report, let expires = report.expires else { return report }
        let now = clock.now()
        let isOver = now >= expires
        guard isOver || expires - now < Self.soon else { return report }
        report.findings.append(
            PinUpdateReport.Finding(
                code: isOver ? "expired" : "expires-soon",
                message:
                    "the signed policy \(report.serial ?? 0) \(isOver ? "expired" : "expires") at"
                    + " \(UnixTime.rfc3339(expires)), and no newer one was found"))
        return report
    }

    /// Uses the stored policy, fetches a newer one, and starts the periodic updates.
    ///
    /// - Returns: The state before the periodic updates.
    func begin() async -> PinUpdateReport? {
        do throws(ClientError) {
            let kept = try Self.pins { () throws(PinError) in try store.current() }
            if let kept {
                try take(kept, from: .kept, chain: [])
            } else {
                state.withLock { $0 = PinUpdateReport() }
            }
        } catch {
            state.withLock { state in
                state = PinUpdateReport()
                state?.keepingFailure = FetchReport.Failure(error)
            }
            logger.error(
                "the kept pin policy is not used",
                metadata: ["code": "\(error.code.name)", "reason": "\(error.message)"])
        }
        _ = try? await update()
        let report = report
        start()
        return report
    }

    private func start() {
        task.start { [weak self, plan] in
            while !Task.isCancelled {
                let failures = self?.state.withLock { $0?.failures } ?? 0
                let pause = plan.pause(
                    afterFailures: failures, random: Double.random(in: 0..<1))
                try? await Task.sleep(for: pause)
                guard let self, self.pipeline.admission.calls.isRunning, !Task.isCancelled else {
                    return
                }
                _ = try? await self.update()
            }
        }
    }

    /// Stops the periodic updates.
    func stop() { task.stop() }

    /// Fetches a newer policy, and uses it.
    func update() async throws(ClientError) {
        guard pipeline.admission.calls.isRunning else { throw .notRunning }
        do throws(ClientError) {
            let seen = SeenChain()
            var options = RequestOptions()
            options.maximumResponseSize = SignedPinPolicy.maximumByteCount
            options.attemptInterceptors = [seen]
            let asked = CallTarget(
                service: host.name, method: HTTPRequest.Method.get.rawValue, options: options,
                isBoxed: false, host: host)
            try await pipeline.admission.admit(asked) { context throws(ClientError) in
                let bytes = try await self.ask(in: context)
                let new = try Self.pins { () throws(PinError) in
                    try self.store.accept(bytes, now: self.clock.now())
                }
                let chain = await self.chainOfHost(under: new, seen: seen.chain)
                try self.take(new, from: .fetched, chain: chain)
            }
        } catch {
            state.withLock { state in
                var report = state ?? PinUpdateReport()
                report.askedAt = clock.now()
                report.failures += 1
                report.failure = FetchReport.Failure(error)
                state = report
            }
            logger.warning(
                "the pin policy was not updated",
                metadata: ["code": "\(error.code.name)", "reason": "\(error.message)"])
            throw error
        }
    }

    // MARK: The steps

    /// Asks for the document.
    private func ask(in context: CallContext) async throws(ClientError) -> [UInt8] {
        let response = try await pipeline.exchange(
            PendingCall.Exchange(method: .get, target: url.target, body: []), at: url,
            fields: [:], in: context)
        guard response.status == 200 else {
            throw ClientError(
                .malformedResponse,
                "\(url.authority) responded with \(response.status), expected 200 and a"
                    + " signed pin policy\(response.note.map { "; \($0)" } ?? "")")
        }
        return response.body
    }

    /// Returns the chain of the document's host, to check that the new policy still accepts that
    /// host.
    private func chainOfHost(
        under new: VerifiedPinPolicy, seen chain: [SeenCertificate]
    ) async -> [SeenCertificate] {
        guard plan.hostPolicy == nil, chain.isEmpty, new.serial != snapshots.current.pinSerial,
            let authority = try? Authority(parsing: url.authority)
        else { return chain }
        let seen = try? await hops.engines.standard.probe(
            authority, connectTo: hops.connectTo,
            proxy: snapshots.current.proxies.proxy(for: WebOrigin(https: authority)),
            timeout: plan.timeout, policy: new.policy, clientCertificate: plan.clientCertificate)
        return seen?.isTrusted == true ? seen?.chain ?? [] : []
    }

    /// Uses a policy unless a newer one is already in use, and updates the report.
    private func take(
        _ new: VerifiedPinPolicy, from source: PinUpdateReport.Source, chain: [SeenCertificate]
    ) throws(ClientError) {
        var isNew = snapshots.current.pinSerial ?? 0 < new.serial
        if isNew {
            try snapshots.change { current throws(ClientError) in
                isNew = (current.pinSerial ?? 0) < new.serial
                return isNew
                    ? SystemSnapshot(current, policy: new.policy, serial: new.serial) : current
            }
        }
        let findings = isNew ? findings(new, chain: chain) : nil
        let isTaken = isNew
        state.withLock { state in
            var report = state ?? PinUpdateReport()
            if source == .fetched {
                report.askedAt = clock.now()
                report.failures = 0
                report.failure = nil
            }
            // Another update may have reported a newer policy since this one was put into use.
            if isTaken, new.serial > report.serial ?? 0 {
                report.source = source
                report.serial = new.serial
                report.expires = new.signed.expires
                report.findings = findings ?? []
            }
            state = report
        }
        guard isNew else { return }
        logger.notice(
            "a signed pin policy is in use",
            metadata: ["serial": "\(new.serial)", "source": "\(source.rawValue)"])
        for finding in findings ?? [] {
            logger.error(
                "the signed pin policy has warnings",
                metadata: ["code": "\(finding.code)", "reason": "\(finding.message)"])
        }
    }

    /// Returns the hosts that a new policy makes unreachable. The system uses the policy anyway:
    /// its signer may intend that, and a lost key must be removed even if a host depends on it.
    private func findings(
        _ new: VerifiedPinPolicy, chain: [SeenCertificate]
    ) -> [PinUpdateReport.Finding] {
        let now = clock.now()
        var findings: [PinUpdateReport.Finding] = []
        if plan.hostPolicy == nil {
            let decision = new.policy.decision(for: url.origin.host, isSecure: true, now: now)
            let verdict = new.policy.verdict(for: url.origin.host, chain: chain, now: now)
            let end = "no further update can be fetched from it"
            if let refusal = decision.refusal {
                findings.append(
                    .init(
                        code: "update-host-refused", message: "\(refusal.message); \(end)"))
            } else if !chain.isEmpty, let refusal = verdict.refusal {
                findings.append(
                    .init(
                        code: "update-host-locked-out", message: "\(refusal.message); \(end)"))
            }
        }
        for (service, prepared) in snapshots.current.services.sorted(by: {
            $0.key.name < $1.key.name
        }) {
            let host = prepared.url.origin.host
            let isSecure = prepared.url.scheme == "https"
            let decision = new.policy.decision(for: host, isSecure: isSecure, now: now)
            guard let refusal = decision.refusal else { continue }
            findings.append(
                .init(code: "service-refused", message: "\(service): \(refusal.message)"))
        }
        return findings
    }

    private static func pins<Value>(
        _ work: () throws(PinError) -> Value
    ) throws(ClientError) -> Value {
        do {
            return try work()
        } catch {
            throw ClientError(error.code, error.message)
        }
    }
}

/// Keeps the verified chain of the last response, if pins were checked.
private final class SeenChain: AttemptInterceptor {
    private let seen = Mutex<[SeenCertificate]>([])

    var chain: [SeenCertificate] { seen.withLock { $0 } }

    func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
        let response = try await next(call)
        seen.withLock { $0 = response.peerChain }
        return response
    }
}
