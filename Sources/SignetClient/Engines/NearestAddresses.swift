import Logging
import SignetBase
import SignetPinning
import SignetSystem
import SignetTransport
import Synchronization

/// Finds the nearest address of each service that has several, and keeps what it measured.
///
/// A measurement is TCP, TLS and the verdict of the pin policy, without a request. The engine
/// checks the pins of each request besides, so a wrong measurement can't make one reach another
/// server.
final class NearestAddresses: Sendable {
    private struct Place {
        let origin: WebOrigin
        var table: AddressTable
        var task: Task<Void, Never>?
        /// Whether the task measures now, and doesn't wait to do it again.
        var isMeasuring = false
        /// Whether the nearest address is known, as far as the start waits for it.
        var isSettled = false
        /// Counts the tasks, so that an ended one changes nothing.
        var round = 0
        /// When the last measurement began.
        var measuredAt: MonotonicTime?
        /// The pause after the next measurement in which an address fails.
        var pause = NearestAddresses.pauses.first
        var conditions: Conditions
    }

    /// The parts of a configuration that decide whether an address can be used.
    private struct Conditions: Equatable {
        /// Then addresses aren't used.
        let hasProxy: Bool
        let policy: PinPolicy?
        /// The fingerprint of the client certificate that calls of the service show.
        let certificate: [UInt8]?
    }

    private struct State {
        var places: [ServiceName: Place] = [:]
        /// The lists that were fetched, which replace those of the configuration.
        var lists: [ServiceName: AddressListContents] = [:]
        var observation: ConnectivityObservation?
        /// Set when all places are settled; nil until the start waits for that.
        var settled: Latch<Bool>?
        var isStopped = false
    }

    private let options: AddressOptions
    private let engine: any HTTPEngine
    private let snapshots: SnapshotBox
    let connectivity: Connectivity
    private let clock: SystemClock
    private let logger: Logger
    private let state = Mutex(State())
    /// Whether a service has addresses, so that calls of other systems needn't look.
    private let isActive = Atomic(false)
    /// The first pause before an address that failed is measured again, and the last one.
    private static let pauses = (first: Duration.seconds(30), last: Duration.seconds(3600))
    /// The shortest time between the starts of two measurements that failed calls cause.
    private static let leastInterval = Duration.seconds(10)
    /// The quiet time before a measurement: networks and configurations change in several steps.
    private static let calm = Duration.milliseconds(250)

    init(
        _ options: AddressOptions, engine: any HTTPEngine, snapshots: SnapshotBox,
        connectivity: Connectivity, clock: SystemClock, logger: Logger
    ) {
        (self.options, self.engine) = (options, engine)
        (self.snapshots, self.connectivity) = (snapshots, connectivity)
        (self.clock, self.logger) = (clock, logger)
    }

    // MARK: Calls

    /// Whether a service has addresses.
    var isInUse: Bool { isActive.load(ordering: .relaxed) }

    /// Returns the addresses for a request to a service, to be tried one after another before the
    /// host's name; nil if the service has none or the request isn't for its host.
    func ways(of service: ServiceName, to origin: WebOrigin) -> [AddressWay]? {
        state.withLock { state in
            guard let place = state.places[service], place.origin == origin else { return nil }
            return place.table.ways.map {
                AddressWay(
                    address: $0.address, connection: $0.address.connection(for: origin),
                    limit: $0.limit)
            }
        }
    }

    /// Notes that no connection to an address could be made, and measures all again, but not once
    /// for each call that fails.
    func noteFailure(of address: ServiceAddress, for service: ServiceName, isRefused: Bool) {
        let delay = state.withLock { state -> Duration? in
            state.places[service]?.table.note(isRefused ? .refused : .failed, of: address)
            guard let place = state.places[service], !place.isMeasuring else { return nil }
            state.places[service]?.isMeasuring = true
            guard let last = place.measuredAt else { return .zero }
            return max(.zero, Self.leastInterval - (clock.instant() - last))
        }
        if let delay { measure(service, after: delay) }
    }

    /// The addresses of a service, as they were measured last.
    func report(of service: ServiceName) -> [MeasuredAddress] {
        state.withLock { $0.places[service]?.table.report ?? [] }
    }

    // MARK: Life

    /// Measures the addresses of all services; returns when the nearest ones are known, or after a
    /// limit.
    ///
    /// - Parameter lists: Set when lists were fetched, or couldn't be; nil if there are none.
    func begin(after lists: Latch<Bool>?) async {
        snapshots.observe { [weak self] in self?.reconcile() }
        reconcile()
        guard lists != nil || isInUse else { return }
        let (clock, limit) = (clock, options.startLimit)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                if let lists { await Self.wait(for: lists) }
                let settled = Latch<Bool>()
                self.state.withLock { state in
                    state.settled = settled
                    Self.noteSettled(&state)
                }
                await Self.wait(for: settled)
            }
            group.addTask { try? await clock.sleep(limit) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Waits for a latch or the end of the task.
    private static func wait(for latch: Latch<Bool>) async {
        await withTaskCancellationHandler {
            _ = await latch.wait()
        } onCancel: {
            latch.set(false)
        }
    }

    /// Lets the start continue if the nearest address of each service is known.
    private static func noteSettled(_ state: inout State) {
        guard let settled = state.settled, state.places.values.allSatisfy(\.isSettled) else {
            return
        }
        state.settled = nil
        // Its waiter resumes on another thread.
        settled.set(true)
    }

    /// Follows the network: another one needs other measurements.
    private func listen() {
        let isFirst = Mutex(true)
        let observation = connectivity.observe { [weak self] state in
            // The first state isn't a change.
            let isChange = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return !isFirst
            }
            if isChange, state.isOnline { self?.measureAgain() }
        }
        let isNeeded = state.withLock { state in
            guard state.observation == nil, !state.isStopped else { return false }
            state.observation = observation
            return true
        }
        if !isNeeded { observation.remove() }
    }

    /// Ends all measurements.
    func stop() {
        let (tasks, observation) = state.withLock { state in
            state.isStopped = true
            defer { state.observation = nil }
            return (state.places.values.compactMap(\.task), state.observation)
        }
        for task in tasks { task.cancel() }
        observation?.remove()
    }

    /// Uses a fetched list in place of the configuration's; nil uses the configuration's again.
    func use(_ list: AddressListContents?, for service: ServiceName) {
        state.withLock { $0.lists[service] = list }
        reconcile()
    }

    /// Takes the services of the present configuration, and measures those that are new, or have
    /// other addresses, pins or proxies.
    private func reconcile() {
        let (new, changed, ended) = state.withLock {
            state -> ([ServiceName], [ServiceName], [Task<Void, Never>]) in
            guard !state.isStopped else { return ([], [], []) }
            // Read here, so that of two changes the later one counts.
            let snapshot = snapshots.current
            let services = snapshot.services
            var (new, changed): ([ServiceName], [ServiceName]) = ([], [])
            var ended: [Task<Void, Never>] = []
            for (name, place) in state.places where services[name]?.url.origin != place.origin {
                if let task = place.task { ended.append(task) }
                state.places[name] = nil
            }
            for (name, service) in services {
                let origin = service.url.origin
                let conditions = Conditions(
                    hasProxy: snapshot.proxies.proxy(for: origin) != nil, policy: snapshot.policy,
                    certificate: service.options.clientCertificate?.fingerprint)
                let addresses =
                    state.lists[name]?.addresses(for: origin) ?? service.configuration.addresses
                guard state.places[name]?.table.addresses ?? [] != addresses else {
                    guard let place = state.places[name], place.conditions != conditions else {
                        continue
                    }
                    state.places[name]?.conditions = conditions
                    state.places[name]?.table.forget()
                    changed.append(name)
                    continue
                }
                if let task = state.places[name]?.task { ended.append(task) }
                state.places[name] = nil
                guard !addresses.isEmpty, origin.isSecure else { continue }
                state.places[name] = Place(
                    origin: origin, table: AddressTable(addresses), conditions: conditions)
                new.append(name)
            }
            isActive.store(!state.places.isEmpty, ordering: .relaxed)
            return (new, changed, ended)
        }
        for task in ended { task.cancel() }
        for name in new { measure(name) }
        for name in changed { measure(name, after: Self.calm) }
        if !new.isEmpty, state.withLock({ $0.observation == nil }) { listen() }
    }

    /// Measures all addresses again, because the network is another one.
    private func measureAgain() {
        let names = state.withLock { state in
            for name in state.places.keys {
                state.places[name]?.table.forget()
                state.places[name]?.pause = Self.pauses.first
            }
            return Array(state.places.keys)
        }
        for name in names { measure(name, after: Self.calm) }
    }

    // MARK: Measuring

    /// Measures a service's addresses in a task, and those that fail again after pauses.
    private func measure(_ service: ServiceName, after delay: Duration = .zero) {
        let before = state.withLock { state -> Task<Void, Never>? in
            guard !state.isStopped, let place = state.places[service] else { return nil }
            let round = place.round + 1
            state.places[service]?.round = round
            state.places[service]?.isMeasuring = true
            let (clock, origin, addresses) = (clock, place.origin, place.table.addresses)
            // It isn't part of the call that failed.
            state.places[service]?.task = Task.detached { [weak self] in
                var pause: Duration? = delay
                while let next = pause, !Task.isCancelled {
                    if next > .zero { do { try await clock.sleep(next) } catch { return } }
                    await self?.measure(addresses, of: service, at: origin, round: round)
                    pause = self?.endRound(round, of: service) ?? nil
                }
            }
            return place.task
        }
        before?.cancel()
    }

    /// Notes that all addresses were measured.
    ///
    /// - Returns: The pause before they are measured again, because one failed; nil if none did.
    private func endRound(_ round: Int, of service: ServiceName) -> Duration? {
        state.withLock { state in
            guard let place = state.places[service], place.round == round else { return nil }
            state.places[service]?.isMeasuring = false
            state.places[service]?.isSettled = true
            Self.noteSettled(&state)
            let next = place.table.hasFailures ? min(place.pause * 2, Self.pauses.last) : nil
            state.places[service]?.pause = next ?? Self.pauses.first
            return next == nil ? nil : place.pause
        }
    }

    private func measure(
        _ addresses: [ServiceAddress], of service: ServiceName, at origin: WebOrigin, round: Int
    ) async {
        let begins = state.withLock { state in
            guard state.places[service]?.round == round else { return false }
            state.places[service]?.measuredAt = clock.instant()
            state.places[service]?.isMeasuring = true
            return true
        }
        guard begins, engine.capabilities.connectsToAddresses,
            snapshots.current.proxies.proxy(for: origin) == nil
        else { return }
        await withTaskGroup(of: Void.self) { group in
            for address in addresses {
                group.addTask {
                    let outcome = await self.outcome(of: address, for: service, at: origin)
                    guard !Task.isCancelled else { return }
                    self.note(outcome, of: address, for: service, round: round)
                }
            }
        }
    }

    private func note(
        _ outcome: AddressTable.Outcome, of address: ServiceAddress, for service: ServiceName,
        round: Int
    ) {
        let used = state.withLock { state -> ServiceAddress? in
            guard state.places[service]?.round == round else { return nil }
            let before = state.places[service]?.table.used
            state.places[service]?.table.note(outcome, of: address)
            let used = state.places[service]?.table.used
            return used == before ? nil : used
        }
        if case .good(let time) = outcome { settle(service, round: round, after: time / 2) }
        if outcome == .refused {
            logger.warning(
                "an address isn't used, because its server isn't the service's host",
                metadata: ["service": "\(service)", "address": "\(address)"])
        }
        if let used {
            logger.debug(
                "the nearest address of a service",
                metadata: ["service": "\(service)", "address": "\(used)"])
        }
    }

    /// Lets the start continue a moment after the first address was measured: one that takes a
    /// quarter longer for its two handshakes is slower.
    private func settle(_ service: ServiceName, round: Int, after time: Duration) {
        guard state.withLock({ $0.places[service]?.isSettled == false }) else { return }
        let clock = clock
        Task.detached { [weak self] in
            try? await clock.sleep(time)
            self?.state.withLock { state in
                guard state.places[service]?.round == round else { return }
                state.places[service]?.isSettled = true
                Self.noteSettled(&state)
            }
        }
    }

    /// Makes two handshakes, of which the faster one counts: one lost packet says nothing.
    private func outcome(
        of address: ServiceAddress, for service: ServiceName, at origin: WebOrigin
    ) async -> AddressTable.Outcome {
        var best: Duration?
        for _ in 0..<2 {
            let start = clock.instant()
            do throws(TransportError) {
                let snapshot = snapshots.current
                let policy = snapshot.policy
                let result = try await engine.probe(
                    Authority(host: origin.host, port: origin.port),
                    connectTo: [address.connection(for: origin)], timeout: options.timeout,
                    policy: policy,
                    clientCertificate: snapshot.services[service]?.options.clientCertificate)
                let time = clock.instant() - start
                guard Self.isHost(result, at: origin, under: policy) else { return .refused }
                best = min(best ?? time, time)
            } catch {
                break
            }
        }
        guard let best else { return .failed }
        return .good(best)
    }

    /// Whether a server is the origin's host: its chain is trusted and has a pinned key.
    private static func isHost(
        _ result: ProbeResult, at origin: WebOrigin, under policy: PinPolicy?
    ) -> Bool {
        guard result.isTrusted else { return false }
        guard let policy else { return true }
        let now = UnixTime.now()
        let decision = policy.decision(
            for: origin.host, isSecure: true, now: now, port: origin.port)
        guard decision.refusal == nil else { return false }
        return policy.verdict(for: origin.host, chain: result.chain, now: now, port: origin.port)
            .finding == nil
    }
}

/// An address of a service's host, for one request.
struct AddressWay: Sendable {
    let address: ServiceAddress
    let connection: EngineRequest.ConnectTo
    /// The time that a connection may take.
    let limit: Duration
}
