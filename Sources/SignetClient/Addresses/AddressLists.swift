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
    private let wakeup = Wakeup()
    /// The origins that the services had last, and the sources of those that have another one.
    private let moves = Mutex<(origins: [WebOrigin?], sources: Set<Int>)>(([], []))

    private var addresses: NearestAddresses { pipeline.attempts.hops.addresses }
    private var clock: SystemClock { pipeline.attempts.clock }

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
        moves.withLock { $0.origins = sources.map(origin) }
        pipeline.admission.snapshots.observe { [weak self] in self?.noteMoves() }
        let schedules = sources.map { useKept(of: $0) }
        task.start { [weak self, schedules] in
            var schedules = schedules
            var last = self?.clock.instant()
            await self?.fetchDue(&schedules)
            ready.set(true)
            while !Task.isCancelled {
                guard let clock = self?.clock, let wakeup = self?.wakeup,
                    let pause = schedules.map(\.next).min()
                else { return }
                await wakeup.wait(atMost: pause, by: clock)
                guard !Task.isCancelled, let self, self.pipeline.admission.calls.isRunning
                else { return }
                // The fetches took time too.
                let now = clock.instant()
                let moved = self.takeMoves()
                let passed = max(moved.isEmpty ? pause : .zero, last.map { now - $0 } ?? .zero)
                last = now
                for index in schedules.indices { schedules[index].pass(passed) }
                for index in moved { schedules[index].makeDue() }
                self.dropExpired(&schedules)
                await self.fetchDue(&schedules)
            }
        }
        return ready
    }

    /// Ends the fetches.
    func stop() { task.stop() }

    /// Uses the list that was kept, if there is one.
    private func useKept(of source: Source) -> AddressSchedule {
        var schedule = AddressSchedule()
        let now = clock.now()
        do throws(ClientError) {
            guard let kept = try source.list.kept(for: origin(of: source), now: now) else {
                return schedule
            }
            schedule.issued = kept.issued
            let contents = try kept.contents.get()
            addresses.use(contents, for: source.list.service)
            schedule.take(contents, now: now)
            if kept.isOfToday(now) { schedule.waitADay(random: clock.random()) }
        } catch {
            warn("a kept list of addresses isn't used", of: source, error)
        }
        return schedule
    }

    /// Wakes the task if a service has another origin, because its signed list is for one alone.
    private func noteMoves() {
        let hasMoved = moves.withLock { moves in
            for (index, source) in sources.enumerated() where source.list.plan.verifier != nil {
                let origin = origin(of: source)
                guard origin != moves.origins[index] else { continue }
                moves.origins[index] = origin
                moves.sources.insert(index)
            }
            return !moves.sources.isEmpty
        }
        if hasMoved { wakeup.set() }
    }

    private func takeMoves() -> Set<Int> {
        moves.withLock { moves in
            defer { moves.sources = [] }
            return moves.sources
        }
    }

    private func origin(of source: Source) -> WebOrigin? {
        pipeline.admission.snapshots.current.services[source.list.service]?.url.origin
    }

    /// Uses the configuration's addresses in place of lists that have expired.
    private func dropExpired(_ schedules: inout [AddressSchedule]) {
        for (index, source) in sources.enumerated() where schedules[index].hasExpired {
            schedules[index].drop()
            addresses.use(nil, for: source.list.service)
            logger.warning(
                "a list of addresses isn't used any longer, because it has expired",
                metadata: ["service": "\(source.list.service)"])
        }
    }

    /// Fetches the lists that are due, and uses and keeps them.
    private func fetchDue(_ schedules: inout [AddressSchedule]) async {
        for (index, source) in sources.enumerated() where schedules[index].isDue {
            do throws(ClientError) {
                let document = try await document(of: source)
                let now = clock.now()
                let found = try source.list.contents(
                    of: document, for: origin(of: source), now: now)
                try schedules[index].requireNewer(found)
                addresses.use(found, for: source.list.service)
                schedules[index].take(found, now: now)
                schedules[index].waitADay(random: clock.random())
                do {
                    try source.list.keep(document, fetchedAt: now, issued: found.issued)
                } catch {
                    warn(
                        "a list of addresses couldn't be kept", of: source,
                        ClientError(.unwritableFile, error.description))
                }
            } catch {
                schedules[index].waitAfterFailure(
                    source.list.plan.retryPause, random: clock.random())
                warn("a list of addresses was not fetched", of: source, error)
            }
        }
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
