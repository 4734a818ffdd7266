import Logging
import SignetBase
import SignetCrypto
import SignetJSON
import SignetRPC
import SignetTransport
import SignetVault
import Synchronization

/// Fetches the values of a configuration: at the start, where stored ones may replace them, and
/// whenever it is asked again.
final class ConfigurationFetcher: Sendable {
    let request: FetchRequest
    private let options: NetworkSystem.Options
    private let pipeline: CallPipeline
    private let report = Mutex<FetchReport?>(nil)

    private var snapshots: SnapshotBox { pipeline.admission.snapshots }

    /// The outcome of the last fetch.
    var lastReport: FetchReport? { report.withLock { $0 } }

    init(_ request: FetchRequest, options: NetworkSystem.Options, pipeline: CallPipeline) {
        self.request = request
        self.options = options
        self.pipeline = pipeline
    }

    /// Fetches the values again and changes the configuration to them.
    func refetch(now: Int64) async throws(ClientError) -> FetchReport {
        do throws(ClientError) {
            let values = try await ask()
            try snapshots.change { current throws(ClientError) in
                let base = current.configuration ?? values
                return try SystemSnapshot(
                    base.fetching(values), keys: current.keys, options: options, after: current)
            }
            return keep(values, now: now)
        } catch {
            report.withLock { report in
                report?.askedAt = now
                report?.failure = .init(error)
            }
            throw error
        }
    }

    /// Fetches the values, or falls back to stored ones, and uses the merged configuration.
    ///
    /// - Parameters:
    ///   - base: Defaults and launch values.
    ///   - now: Unix seconds.
    ///   - requiring: Checks that the required keys can be read.
    /// - Throws: As `NetworkSystem.start(schema:defaults:launch:fetching:…)`.
    func begin(
        _ base: GlobalConfiguration, now: Int64,
        requiring: (GlobalConfiguration) throws(VaultError) -> GlobalConfiguration
    ) async throws(ClientError) -> FetchReport {
        func take(_ values: GlobalConfiguration?) throws(ClientError) {
            let merged = try values.map { values throws(ClientError) in try base.fetching(values) }
            let whole: GlobalConfiguration
            do {
                whole = try requiring(merged ?? base)
            } catch {
                throw ClientError(error)
            }
            try snapshots.change { current throws(ClientError) in
                try SystemSnapshot(whole, keys: current.keys, options: options, after: current)
            }
        }
        let failure: ClientError
        do throws(ClientError) {
            let values = try await ask()
            try take(values)
            return keep(values, now: now)
        } catch {
            // If the caller cancelled, don't fall back to the last good values.
            if Task.isCancelled || error.code == .cancelled {
                throw error
            }
            failure = error
        }
        var report = FetchReport(source: .none, askedAt: now, failure: .init(failure))
        var keeping: ClientError?
        if let place = request.plan.lastGood {
            do {
                let last = LastGoodValues(place: place, schema: base.schema, now: now)
                let found = try last.read()
                try take(found.values)
                report.source = .lastGood
                report.kept = found.kept
                return note(report)
            } catch let error as VaultError {
                keeping = ClientError(error)
            } catch let error as ClientError {
                keeping = error
            } catch {
                keeping = nil
            }
            report.keepingFailure = keeping.map(FetchReport.Failure.init)
        }
        guard request.plan.ifUnavailable == .proceed else {
            let rest = keeping.map { "\($0.code.name): \($0.message)" } ?? "the plan names no file"
            throw failure.withMessage(
                "the configuration was not fetched: \(failure.message); "
                    + "no last good values either (\(rest))")
        }
        try take(nil)
        return note(report)
    }

    /// The snapshot of the request, under the policy that replaced the services' pins, if there is
    /// one. Such a policy comes from the program or is signed, and never from fetched values.
    private var snapshot: SystemSnapshot {
        guard let given = snapshots.current.givenPolicy else { return request.snapshot }
        return SystemSnapshot(request.snapshot, policy: given)
    }

    /// Makes the call and reads its result as fetched values.
    private func ask() async throws(ClientError) -> GlobalConfiguration {
        let plan = request.plan
        var options = RequestOptions(deadline: plan.timeout, idempotency: .always)
        options.maximumResponseSize = plan.maximumResponseSize
        // Follow no redirect: only the plan decides where values come from.
        options.redirects = .never
        let asked = CallTarget(
            service: plan.service, method: plan.method.name, options: options,
            snapshot: snapshot)
        let call = CallRequest.procedure(
            RPCCall(plan.method, parameters: request.parameters), path: plan.path)
        return try await pipeline.admission.admit(asked) { context throws(ClientError) in
            let response = try await self.pipeline.response(
                to: { () throws(ClientError) in call }, in: context
            ) { request, context throws(ClientError) in try context.box(request) }
            guard let result = response.result,
                let schema = self.request.snapshot.configuration?.schema
            else {
                throw ClientError(
                    .typeMismatch, "the response holds no values", status: response.status)
            }
            do throws(VaultError) {
                return try GlobalConfiguration(
                    schema: schema, defaults: .none, fetched: .json(result.bytes))
            } catch {
                throw ClientError(error)
            }
        }
    }

    /// Keeps good values for the next start. If that fails, the system logs it and continues.
    private func keep(_ values: GlobalConfiguration, now: Int64) -> FetchReport {
        var report = FetchReport(source: .fetched, askedAt: now)
        if let place = request.plan.lastGood {
            do {
                let last = LastGoodValues(place: place, schema: values.schema, now: now)
                report.kept = try last.write(values)
            } catch {
                report.keepingFailure = .init(ClientError(error))
                options.logger.warning(
                    "fetched values could not be kept",
                    metadata: ["code": "\(error.code.name)", "reason": "\(error.message)"])
            }
        }
        return note(report)
    }

    private func note(_ report: FetchReport) -> FetchReport {
        self.report.withLock { $0 = report }
        return report
    }
}

extension GlobalConfiguration {
    /// This configuration with the values of one that holds nothing but fetched ones.
    fileprivate func fetching(
        _ values: GlobalConfiguration
    ) throws(ClientError) -> GlobalConfiguration {
        do {
            return try replacing(.fetched, with: .values(values.values))
        } catch {
            throw ClientError(error)
        }
    }
}
