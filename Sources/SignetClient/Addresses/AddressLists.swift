import HTTPTypes
import Logging
import SignetBase
import SignetTransport
import Synchronization

/// Fetches lists of addresses once a day, keeps them in files, and puts them into use.
final class AddressLists: Sendable {
    private struct Source {
        let list: AddressList
        let url: WebURL
        let host: SystemHost
    }

    private let sources: [Source]
    private let pipeline: CallPipeline
    private let logger: Logger
    private let task = LoopTask()

    private var addresses: NearestAddresses { pipeline.attempts.hops.addresses }
    private var clock: SystemClock { pipeline.attempts.clock }
    private static let day = Duration.seconds(86_400)

    /// Checks the plans; nil if there are none.
    ///
    /// - Throws: `invalid-plan`.
    init?(
        _ options: AddressOptions, pipeline: CallPipeline, logger: Logger
    ) throws(ClientError) {
        guard !options.lists.isEmpty else { return nil }
        var sources: [Source] = []
        for (service, plan) in options.lists.sorted(by: { $0.key.name < $1.key.name }) {
            func invalid(_ what: String) -> ClientError {
                ClientError(.invalidPlan, "the plan for the addresses of \(service): \(what)")
            }
            let url: WebURL
            do throws(ClientError) {
                url = try WebURL(plan.url)
            } catch {
                throw invalid(error.message)
            }
            guard url.scheme == "https" else {
                throw invalid("its URL must begin with https://")
            }
            guard plan.timeout > .zero, plan.retryPause > .zero else {
                throw invalid("its times must be above zero")
            }
            let host = try SystemHost(
                ServiceName("addresses-\(service)"), url: plan.url, timeout: plan.timeout,
                policy: plan.hostPolicy)
            sources.append(
                Source(list: AddressList(service: service, plan: plan), url: url, host: host))
        }
        self.sources = sources
        self.pipeline = pipeline
        self.logger = logger
    }

    /// Uses the lists that were kept, and fetches those that are not of today, now and once a day.
    ///
    /// - Returns: A latch that is set after the first fetches, which need not have succeeded.
    func begin() -> Latch<Bool> {
        let ready = Latch<Bool>()
        let now = clock.now()
        var stale: [Source] = []
        for source in sources {
            do throws(ClientError) {
                let kept = try source.list.kept(now: now)
                if let kept { addresses.use(kept.addresses, for: source.list.service) }
                if kept?.isOfToday(now) != true { stale.append(source) }
            } catch {
                warn("a kept list of addresses isn't used", of: source, error)
                stale.append(source)
            }
        }
        let first = stale
        task.start { [weak self] in
            var failed = await self?.fetch(first) ?? []
            ready.set(true)
            var failures = 0
            while !Task.isCancelled {
                failures = failed.isEmpty ? 0 : failures + 1
                guard let pause = self?.pause(after: failures, of: failed),
                    let clock = self?.clock
                else { return }
                do { try await clock.sleep(pause) } catch { return }
                guard let self, self.pipeline.admission.calls.isRunning else { return }
                failed = await self.fetch(failed.isEmpty ? self.sources : failed)
            }
        }
        return ready
    }

    /// Ends the fetches.
    func stop() { task.stop() }

    /// Returns the pause before the next fetch: a day, a tenth more or less, so that programs don't
    /// ask at the same moment, and less after failures.
    private func pause(after failures: Int, of failed: [Source]) -> Duration {
        guard failures > 0 else { return Self.day * (0.9 + clock.random() / 5) }
        var pause = failed.map(\.list.plan.retryPause).min() ?? Self.day
        for _ in 1..<min(failures, 32) where pause < Self.day { pause = pause * 2 }
        return min(pause, Self.day) * (0.5 + clock.random() / 2)
    }

    /// Fetches lists, and uses and keeps them.
    ///
    /// - Returns: Those that couldn't be fetched.
    private func fetch(_ sources: [Source]) async -> [Source] {
        var failed: [Source] = []
        for source in sources {
            do throws(ClientError) {
                let document = try await document(of: source)
                let now = clock.now()
                let found = try source.list.addresses(in: document, now: now)
                addresses.use(found, for: source.list.service)
                do {
                    try source.list.keep(document, fetchedAt: now)
                } catch {
                    warn(
                        "a list of addresses couldn't be kept", of: source,
                        ClientError(.unwritableFile, error.description))
                }
            } catch {
                failed.append(source)
                warn("a list of addresses was not fetched", of: source, error)
            }
        }
        return failed
    }

    private func document(of source: Source) async throws(ClientError) -> [UInt8] {
        var options = RequestOptions()
        options.maximumResponseSize = AddressListVerifier.maximumByteCount
        let asked = CallTarget(
            service: source.host.name, method: HTTPRequest.Method.get.rawValue, options: options,
            isBoxed: false, host: source.host)
        return try await pipeline.admission.admit(asked) { context throws(ClientError) in
            let response = try await self.pipeline.exchange(
                PendingCall.Exchange(method: .get, target: source.url.target, body: []),
                at: source.url, fields: [:], in: context)
            guard response.status == 200 else {
                throw AddressListVerifier.malformed(
                    "\(source.url.authority) responded with \(response.status), expected 200")
            }
            return response.body
        }
    }

    private func warn(_ message: Logger.Message, of source: Source, _ error: ClientError) {
        logger.warning(
            message,
            metadata: [
                "service": "\(source.list.service)", "code": "\(error.code.name)",
                "reason": "\(error.message)",
            ])
    }
}
