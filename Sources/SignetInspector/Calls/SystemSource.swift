#if Inspector
import SignetBase
import SignetClient
import SignetJSON
import SignetTransport
import Synchronization

/// The calls and the switches of a running system.
final class SystemSource: PageSource {
    private let system: NetworkSystem
    private let ledger: CallLedger
    private let observation: CallObservation
    private let stubs: PageStubs
    private let title: String
    private let views: [InspectorOptions.View]
    private let maySwitch: Bool
    private let values: ShownValues
    private let sent: SentAgain
    private let first: (switches: DebugSwitches, isHeld: Bool)
    private let hasSwitched = Atomic(false)
    private let hasStopped = Atomic(false)

    /// The time for which a request waits for calls, and the time between two looks. Looking, in
    /// place of being told, joins what a busy program does into a few answers a second.
    private static let (patience, pause): (Duration, Duration) = (.seconds(10), .milliseconds(50))
    /// The most calls of one answer, and its bytes, about: at least 1000 for each call.
    private static let (limit, byteLimit) = (256, 256_000)

    init(_ system: NetworkSystem, options: InspectorOptions, showing values: ShownValues) {
        self.system = system
        title = options.title
        views = options.views
        maySwitch = system.mode != .production
        ledger = CallLedger(
            maximumCalls: options.maximumCalls, maximumBytes: options.maximumBytes,
            showing: values)
        self.values = values
        observation = system.addObserver(ledger)
        stubs = PageStubs(system.stubs)
        sent = SentAgain(system)
        first = (system.switches, system.holdsSwitches)
        #if DEBUG
        if values.keepsSecrets { system.secretKeeping.begin() }
        #endif
    }

    /// Removes the observer and the stubs from the system, cancels what the page sent, and puts
    /// the switches back that the page changed.
    func stop() {
        observation.remove()
        if values.keepsSecrets, !hasStopped.exchange(true, ordering: .relaxed) {
            system.secretKeeping.end()
        }
        stubs.replace(with: [])
        sent.stop()
        // Refused only by a system that was shut down, or in production, with no switch on.
        guard hasSwitched.load(ordering: .relaxed) else { return }
        try? system.update(switches: first.switches, isHeld: first.isHeld)
    }

    func about() async -> JSONObject {
        let mode = system.mode
        return [
            "mode": .string(mode.rawValue), "title": .string(title),
            "version": .string(NetworkSystem.version),
            "isSwitchable": .bool(maySwitch && mode != .production),
            "hasSecrets": .bool(values.keepsSecrets),
            "switches": .object(switches),
            "services": .array(
                system.serviceURLs.sorted { $0.key.name < $1.key.name }.map { service in
                    ["name": .string(service.key.name), "url": .string(service.value)]
                }),
            "engines": .array(system.engineNames.map { .string($0.name) }),
            "limit": PageJSON.number(ledger.maximumCalls),
            "views": .array(views.map { [.string($0.name), .string($0.filter)] }),
        ]
    }

    func changes(after revision: Int) async -> PageChanges {
        let end = ContinuousClock.now + Self.patience
        while ledger.revision <= revision, ContinuousClock.now < end {
            do { try await Task.sleep(for: Self.pause) } catch { break }
        }
        let found = ledger.changes(after: revision, limit: Self.limit)
        var changes = PageChanges(
            revision: found.revision, dropped: found.dropped, oldest: found.dropped + 1)
        var size = 0
        for entry in found.entries {
            let row = entry.row
            size += 1000 + (row["text"]?.string?.utf8.count ?? 0)
            guard size <= Self.byteLimit || changes.rows.isEmpty else {
                // The next answer begins with this call.
                changes.revision = entry.revision - 1
                break
            }
            changes.rows.append(.object(row))
        }
        return changes
    }

    func detail(of id: String) async -> JSONValue? { ledger.entry(id)?.detail }

    func act(_ action: JSONObject) async throws(InspectorError) {
        guard maySwitch, system.mode != .production else {
            throw InspectorError(
                .notSwitchable, "found the run mode production, in which nothing is switched")
        }
        switch action["action"]?.string {
        case "switches": try change(action["switches"])
        case "all-off": try switchOff()
        case "send": try sent.send(action)
        default:
            throw InspectorError(
                .invalidAction, "expected the action \"switches\", \"all-off\" or \"send\"")
        }
    }

    // MARK: Switches

    private var switches: JSONObject {
        let switches = system.switches
        var hosts = JSONObject()
        for (service, url) in switches.baseURLs.sorted(by: { $0.key.name < $1.key.name }) {
            hosts[service.name] = .string(url)
        }
        return [
            "isOffline": .bool(switches.simulation.isOffline),
            "timesOut": .bool(switches.simulation.timesOut),
            "delay": PageJSON.time(switches.simulation.delay),
            "failureRate": JSONNumber(switches.simulation.failureRate).map(JSONValue.number) ?? 0,
            "engine": .string(switches.engine?.name ?? ""), "hosts": .object(hosts),
            "stubs": .array(stubs.answers.map { .object($0.json) }),
        ]
    }

    /// Replaces the members that are given; the others stay as they are.
    private func change(_ wanted: JSONValue?) throws(InspectorError) {
        guard let wanted = wanted?.object else {
            throw InspectorError(.invalidAction, "expected an object \"switches\"")
        }
        var switches = system.switches
        var answers: [PageStubs.Answer]?
        for (name, value) in wanted {
            switch name {
            case "isOffline": switches.simulation.isOffline = try Self.bool(value, name)
            case "timesOut": switches.simulation.timesOut = try Self.bool(value, name)
            case "failureRate": switches.simulation.failureRate = try Self.double(value, name)
            case "delay":
                // A day, and no number that a duration can't have.
                let delay = try Self.double(value, name)
                guard (0...86_400_000).contains(delay) else {
                    throw InspectorError(.invalidAction, "expected a delay of 0 to 86400000 ms")
                }
                switches.simulation.delay = .microseconds(Int64(delay * 1000))
            case "engine":
                let engine = try Self.text(value, name)
                switches.engine = engine.isEmpty ? nil : EngineName(engine)
            case "hosts": try Self.change(&switches.baseURLs, as: value)
            case "stubs":
                guard let stubs = value.array else { throw Self.wrong(name, "a list") }
                answers = []
                for stub in stubs { answers?.append(try PageStubs.Answer(stub)) }
            default: throw InspectorError(.invalidAction, "there is no switch \(name)")
            }
        }
        try update(switches)
        if let answers { stubs.replace(with: answers) }
    }

    private func update(_ switches: DebugSwitches) throws(InspectorError) {
        do throws(ClientError) {
            try system.update(switches: switches)
        } catch {
            throw InspectorError(.invalidAction, error.message)
        }
        hasSwitched.store(true, ordering: .relaxed)
    }

    /// Turns all switches off. Those of the program's next configuration act again.
    private func switchOff() throws(InspectorError) {
        try update(DebugSwitches())
        stubs.replace(with: [])
    }

    /// Changes the hosts that are given; an empty one is the service's own again.
    private static func change(
        _ hosts: inout [ServiceName: String], as value: JSONValue
    ) throws(InspectorError) {
        guard let wanted = value.object else { throw wrong("hosts", "an object") }
        for (service, url) in wanted {
            let url = try text(url, "hosts.\(service)")
            hosts[ServiceName(service)] = url.isEmpty ? nil : url
        }
    }

    private static func wrong(_ name: String, _ expected: String) -> InspectorError {
        InspectorError(.invalidAction, "expected \(name) as \(expected)")
    }

    private static func bool(_ value: JSONValue, _ name: String) throws(InspectorError) -> Bool {
        guard let bool = value.bool else { throw wrong(name, "true or false") }
        return bool
    }

    private static func double(
        _ value: JSONValue, _ name: String
    ) throws(InspectorError) -> Double {
        guard let double = value.number?.double else { throw wrong(name, "a number") }
        return double
    }

    private static func text(_ value: JSONValue, _ name: String) throws(InspectorError) -> String {
        guard let text = value.string else { throw wrong(name, "a text") }
        return text
    }
}
#endif
