internal import Logging
internal import SignetBase
public import SignetCrypto
public import SignetPinning
public import SignetVault

// MARK: - Changing the configuration while calls run

extension NetworkSystem {
    /// The public part of the configuration that new calls are made with; nil in a system that was
    /// started with services as values.
    public var configuration: PublicView? { box.snapshot.configuration?.public }

    /// The mode that the system runs in; in a release build always `production`.
    public var mode: RunMode { box.snapshot.mode.mode }

    /// Replaces the configuration.
    ///
    /// Services, signers, pins, URL rules and limits are prepared completely, and then replaced in
    /// one step. Calls under way keep those that they began with. Every attempt of a later call is
    /// checked against the new pins, also on a connection that an earlier call left open.
    ///
    /// - Parameters:
    ///   - configuration: The new one, such as `LiveConfiguration.set(launch:)` returns.
    ///   - keys: Other keys to sign with; nil keeps the current ones.
    /// - Throws: As `start`, and `not-running`. Then nothing has changed.
    public func update(
        _ configuration: GlobalConfiguration, keys: KeySet? = nil
    ) throws(ClientError) {
        try change { current throws(ClientError) in
            try SystemSnapshot(
                configuration, keys: keys ?? current.keys, options: self.options, after: current)
        }
    }

    /// The pin policy of new calls; nil in a system that was started without any.
    public var policy: PinPolicy? { box.snapshot.policy }

    /// Replaces the pin policy, and with it the pins of the services.
    ///
    /// The policy is replaced in one step. Calls under way keep the policy that they began with,
    /// also for redirects and further attempts. Each later request is checked against the new
    /// policy, also on a connection or in a TLS session of an earlier call. The policy stays in use
    /// when the configuration changes.
    ///
    /// - Parameter policy: The new one. A service whose host it refuses can't be called any longer.
    /// - Throws: `not-running`.
    public func update(policy: PinPolicy) throws(ClientError) {
        try change { current throws(ClientError) in SystemSnapshot(current, policy: policy) }
    }

    /// Follows a configuration that changes: takes its current snapshot and each later one, until
    /// the task is cancelled or a snapshot comes after the system was shut down.
    ///
    /// If the system can't work with a snapshot, it logs the reason and keeps its current
    /// configuration.
    public func follow(_ live: LiveConfiguration) async {
        for await configuration in live.snapshots {
            do throws(ClientError) {
                try update(configuration)
            } catch {
                if error.code == .notRunning { return }
                logger.error(
                    "a changed configuration is invalid and not used",
                    metadata: ["code": "\(error.code.name)", "reason": "\(error.message)"])
            }
        }
    }

    /// Logs the warnings of `signet pins lint`: parts of a policy that work now and may cause
    /// failures later.
    func logFindings(of policy: PinPolicy?) {
        guard let policy,
            let findings = try? PinLint.findings(of: policy.serialized(), now: UnixTime.now())
        else { return }
        for finding in findings {
            var metadata: Logger.Metadata = [
                "code": "\(finding.code)", "reason": "\(finding.message)",
            ]
            metadata["host"] = finding.host.map { "\($0)" }
            logger.warning("the pin policy has warnings", metadata: metadata)
        }
    }

    /// Makes a new snapshot of the current one; does so again if another change came first.
    func change(
        _ make: (SystemSnapshot) throws(ClientError) -> SystemSnapshot
    ) throws(ClientError) {
        while true {
            let (current, generation) = box.numbered
            let next = try make(current)
            guard calls.isRunning else { throw .notRunning }
            if box.replace(generation, with: next) {
                if next.policy != current.policy { logFindings(of: next.policy) }
                break
            }
        }
        logger.debug("configuration changed", metadata: ["mode": "\(mode.rawValue)"])
    }
}
