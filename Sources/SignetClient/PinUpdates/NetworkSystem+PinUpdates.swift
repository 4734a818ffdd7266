internal import HTTPTypes
internal import Logging
internal import SignetBase
internal import SignetCrypto
internal import SignetPinning
internal import SignetTransport
internal import Synchronization

// MARK: - Signed pin policies

extension NetworkSystem {
    /// The state of the updates of signed pin policies; nil if no updates are planned.
    public var lastPinUpdate: PinUpdateReport? {
        let report = history.withLock { $0.pinUpdate }
        guard var report, let expires = report.expires else { return report }
        let now = options.clock()
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

    private static var soon: Int64 { 7 * 86_400 }

    /// Fetches a newer signed policy now, and uses it.
    ///
    /// The request is judged by the plan's own pins or by the policy in use, and goes to the plan's
    /// URL alone: a redirect is a failure. On failure nothing changes.
    ///
    /// - Returns: The state after it, as ``lastPinUpdate``.
    /// - Throws: `not-configured` without a plan; `not-running`; the error of the fetch; or, if the
    ///   document is refused, a code of `PinError`, such as `tampered`, `rolled-back` or
    ///   `update-expired`.
    @discardableResult
    public func updatePins() async throws(ClientError) -> PinUpdateReport {
        guard let updates else {
            throw ClientError(
                .notConfigured,
                "the system was started without a plan for pin updates"
            )
        }
        guard calls.isRunning else { throw .notRunning }
        do throws(ClientError) {
            let seen = SeenChain()
            var options = CallOptions()
            options.maximumResponseSize = SignedPinPolicy.maximumByteCount
            options.attemptInterceptors = [seen]
            let asked = CallTarget(
                service: updates.target.name, method: HTTPRequest.Method.get.rawValue,
                options: options, isBoxed: false, host: updates.target)
            try await admitted(asked) { context throws(ClientError) in
                let bytes = try await self.askForPins(updates, for: context)
                let new = try Self.pins { () throws(PinError) in
                    try updates.store.accept(bytes, now: self.options.clock())
                }
                let chain = await self.chainOfHost(updates, policy: new, chain: seen.chain)
                try self.take(new, from: .fetched, updates: updates, chain: chain)
            }
        } catch {
            history.withLock { history in
                var report = history.pinUpdate ?? PinUpdateReport()
                report.askedAt = options.clock()
                report.failures += 1
                report.failure = FetchReport.Failure(error)
                history.pinUpdate = report
            }
            logger.warning(
                "the pin policy was not updated",
                metadata: ["code": "\(error.code.name)", "reason": "\(error.message)"])
            throw error
        }
        return lastPinUpdate ?? PinUpdateReport()
    }

    /// Uses the stored policy, fetches a newer one, and starts the periodic updates.
    func beginPinUpdates() async {
        guard let updates else { return }
        do throws(ClientError) {
            let kept = try Self.pins { () throws(PinError) in
                try updates.store.current()
            }
            if let kept {
                try take(kept, from: .kept, updates: updates, chain: [])
            } else {
                history.withLock { $0.pinUpdate = PinUpdateReport() }
            }
        } catch {
            history.withLock { history in
                history.pinUpdate = PinUpdateReport()
                history.pinUpdate?.keepingFailure = FetchReport.Failure(error)
            }
            logger.error(
                "the kept pin policy is not used",
                metadata: ["code": "\(error.code.name)", "reason": "\(error.message)"])
        }
        _ = try? await updatePins()
        let report = lastPinUpdate
        history.withLock { $0.start.pinUpdate = report }
        let plan = updates.plan
        updates.start { [weak self] in
            while !Task.isCancelled {
                let failures = self?.history.withLock { $0.pinUpdate?.failures } ?? 0
                let pause = plan.pause(
                    afterFailures: failures, random: Double.random(in: 0..<1))
                try? await Task.sleep(for: pause)
                guard let self, self.calls.isRunning, !Task.isCancelled else { return }
                _ = try? await self.updatePins()
            }
        }
    }

    // MARK: The steps

    /// Asks for the document.
    private func askForPins(
        _ updates: PinUpdates, for context: CallContext
    ) async throws(ClientError) -> [UInt8] {
        let response = try await send(
            context.request(.get, to: updates.url, fields: [:], body: []), for: context)
        guard response.status == 200 else {
            throw ClientError(
                .malformedResponse,
                "\(updates.url.authority) responded with \(response.status), expected 200 and a"
                    + " signed pin policy")
        }
        return response.body
    }

    /// Returns the chain of the document's host, to check that the new policy still accepts that
    /// host.
    private func chainOfHost(
        _ updates: PinUpdates, policy new: VerifiedPinPolicy, chain: [SeenCertificate]
    ) async -> [SeenCertificate] {
        guard updates.plan.hostPolicy == nil, chain.isEmpty, new.serial != box.snapshot.pinSerial,
            let authority = try? Authority(parsing: updates.url.authority)
        else { return chain }
        let seen = try? await engine.probe(
            authority, connectTo: options.connectTo,
            proxy: box.snapshot.proxies.proxy(for: WebOrigin(https: authority)),
            timeout: updates.plan.timeout,
            policy: new.policy)
        return seen?.isTrusted == true ? seen?.chain ?? [] : []
    }

    /// Uses a policy unless a newer one is already in use, and updates the report.
    private func take(
        _ new: VerifiedPinPolicy, from source: PinUpdateReport.Source, updates: PinUpdates,
        chain: [SeenCertificate]
    ) throws(ClientError) {
        var isNew = box.snapshot.pinSerial ?? 0 < new.serial
        if isNew {
            try change { current throws(ClientError) in
                isNew = (current.pinSerial ?? 0) < new.serial
                return isNew
                    ? SystemSnapshot(current, policy: new.policy, serial: new.serial) : current
            }
        }
        let findings = isNew ? findings(new, updates: updates, chain: chain) : nil
        let isTaken = isNew
        history.withLock { history in
            var report = history.pinUpdate ?? PinUpdateReport()
            if source == .fetched {
                report.askedAt = options.clock()
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
            history.pinUpdate = report
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
        _ new: VerifiedPinPolicy, updates: PinUpdates, chain: [SeenCertificate]
    ) -> [PinUpdateReport.Finding] {
        let now = options.clock()
        var findings: [PinUpdateReport.Finding] = []
        if updates.plan.hostPolicy == nil {
            let decision = new.policy.decision(for: updates.host, isSecure: true, now: now)
            let verdict = new.policy.verdict(for: updates.host, chain: chain, now: now)
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
        for (service, prepared) in box.snapshot.services.sorted(by: { $0.key.name < $1.key.name }) {
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
            throw ClientError(ClientError.Code(error.code.value), error.message)
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
