import Logging
import SignetCurl
package import SignetPinning
import SignetTransport
package import SignetVault

extension SelfCheckRun {
    /// Makes the test calls of a configuration, as a program with it would.
    ///
    /// - Parameters:
    ///   - configuration: The configuration, which ``check(_:)`` found valid.
    ///   - services: The services that it found.
    ///   - keys: The keys that the services sign with.
    ///   - policy: A policy in place of the services' pins; nil for those.
    ///   - given: CAs, addresses and proxies.
    ///   - isOffline: Whether each call is a line that says that it was left out.
    package mutating func makeTestCalls(
        of configuration: GlobalConfiguration, services: Services, keys: KeySet?,
        policy: PinPolicy?, options given: NetworkSystem.Options, isOffline: Bool
    ) async {
        let probes = Probe.all(in: configuration, of: services.all)
        guard !probes.isEmpty else { return }
        let reason: String? =
            if isOffline {
                "offline"
            } else if services.isOffline {
                "offline, as simulation.offline says"
            } else {
                nil
            }
        guard reason == nil else {
            await check(probes, skipping: reason, through: nil)
            return
        }
        var options = given
        options.logger = Logger(label: "signet.self-check") { _ in SwiftLogNoOpLogHandler() }
        if policy != nil { options.dangerous.allowUnpinnedServices() }
        do throws(ClientError) {
            var snapshot = try SystemSnapshot(configuration, keys: keys, options: options)
            if let policy {
                try NetworkSystem.Options.requireAgreement(
                    of: policy, with: snapshot.services.mapValues(\.configuration))
                snapshot = SystemSnapshot(snapshot, policy: policy)
            }
            let pipeline = try CallPipeline(
                options, snapshots: SnapshotBox(snapshot, logger: options.logger))
            await check(probes, through: pipeline)
            await pipeline.attempts.hops.engines.shutdown()
        } catch {
            report.add(
                area: "probes", subject: "network system", status: .bad,
                detail: "\(error.code.name): \(error.message)",
                remedy: "fix the configuration or the policy; the program can't start with them")
        }
    }
}
