import Logging
import SignetBase
public import SignetCrypto
public import SignetPinning
public import SignetRPC
public import SignetVault

// MARK: - Changing the configuration while calls run

extension NetworkSystem {
    /// The public part of the configuration that new calls are made with; nil in a system that was
    /// started with services as values.
    public var configuration: PublicView? { snapshots.current.configuration?.public }

    /// The mode that the system runs in; in a release build always `production`.
    public var mode: RunMode { snapshots.current.mode.mode }

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
        try snapshots.change { current throws(ClientError) in
            try SystemSnapshot(
                configuration, keys: keys ?? current.keys, options: options, after: current)
        }
    }

    /// The pin policy of new calls; nil in a system that was started without any.
    public var policy: PinPolicy? { snapshots.current.policy }

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
        try snapshots.change { current throws(ClientError) in
            SystemSnapshot(current, policy: policy)
        }
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
                options.logger.error(
                    "a changed configuration is invalid and not used",
                    metadata: ["code": "\(error.code.name)", "reason": "\(error.message)"])
            }
        }
    }

    /// Returns the options that a call of a service has: those of all levels, merged.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - method: The procedure's name or the HTTP method, whose options the service may have.
    ///   - options: The options of the endpoint and the call.
    /// - Throws: `unknown-service`, `unknown-scenario`, `invalid-options`.
    public func callOptions(
        for service: ServiceName, method: RPCMethod? = nil,
        merging options: RequestOptions = RequestOptions()
    ) throws(ClientError) -> RequestOptions {
        let snapshot = snapshots.current
        return try pipeline.admission.mergedOptions(
            of: snapshot.service(named: service), options, method: method?.name, in: snapshot)
    }

    /// Forgets credentials, for example after a user has signed out. The next call asks its source
    /// for a new one. Calls that are under way keep theirs.
    ///
    /// - Parameter scope: The scope whose credentials are forgotten, at all services; nil forgets
    ///   all.
    public func removeCredentials(of scope: String? = nil) {
        pipeline.attempts.credentials.removeAll(of: scope.map(ByteName.init))
    }
}
