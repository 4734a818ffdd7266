package import SignetVault

extension NetworkSystem {
    /// The observers of the system's requests and responses.
    package var exchangeObservers: ExchangeObservers { pipeline.attempts.hops.exchangeObservers }

    /// The pages that show secrets.
    package var secretKeeping: SecretKeeping { pipeline.admission.secretKeeping }

    /// The mode that the system runs in.
    package var runMode: RunMode { snapshots.current.mode.mode }

    /// A number that changes with the configuration.
    package var configurationNumber: Int { snapshots.numbered.generation }

    /// The configuration; nil for a system whose services are given as values.
    package var currentConfiguration: GlobalConfiguration? { snapshots.current.configuration }
}
