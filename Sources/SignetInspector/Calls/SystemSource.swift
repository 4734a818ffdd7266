#if Inspector
import HTTPTypes
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
    private let maySwitch: Bool

    /// The time for which a request waits for calls, and the time between two looks. Looking, in
    /// place of being told, joins what a busy program does into a few answers a second.
    private static let (patience, pause): (Duration, Duration) = (.seconds(10), .milliseconds(50))
    /// The most calls of one answer.
    private static let limit = 2000

    init(_ system: NetworkSystem, options: InspectorOptions) {
        self.system = system
        title = options.title
        maySwitch = system.mode != .production
        ledger = CallLedger(
            maximumCalls: options.maximumCalls, maximumBytes: options.maximumBytes)
        observation = system.addObserver(ledger)
        stubs = PageStubs(system.stubs)
    }

    /// Removes the observer and the stubs from the system.
    func stop() {
        observation.remove()
        stubs.replace(with: [])
    }

    func about() async -> JSONObject {
        let mode = system.mode
        return [
            "mode": .string(mode.rawValue), "title": .string(title),
            "version": .string(NetworkSystem.version),
            "isSwitchable": .bool(maySwitch && mode != .production),
            "switches": .object(switches),
            "services": .array(
                system.serviceURLs.sorted { $0.key.name < $1.key.name }.map { service in
                    ["name": .string(service.key.name), "url": .string(service.value)]
                }),
            "engines": .array(system.engineNames.map { .string($0.name) }),
        ]
    }

    func changes(after revision: Int) async -> PageChanges {
        let end = ContinuousClock.now + Self.patience
        while ledger.revision <= revision, ContinuousClock.now < end {
            do { try await Task.sleep(for: Self.pause) } catch { break }
        }
        let found = ledger.changes(after: revision, limit: Self.limit)
        return PageChanges(
            rows: found.entries.map { .object($0.row) }, revision: found.revision,
            dropped: found.dropped)
    }

    func detail(of id: String) async -> JSONValue? { ledger.entry(id)?.detail }

    func act(_ action: JSONObject) async throws(InspectorError) {
        guard maySwitch, system.mode != .production else {
            throw InspectorError(
                .notSwitchable, "found the run mode production, in which nothing is switched")
        }
        switch action["action"]?.string {
        case "switches": try change(action["switches"])
        case "send": try send(action)
        default:
            throw InspectorError(.invalidAction, "expected the action \"switches\" or \"send\"")
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

    private func change(_ wanted: JSONValue?) throws(InspectorError) {
        guard let wanted = wanted?.object else {
            throw InspectorError(.invalidAction, "expected an object \"switches\"")
        }
        var switches = DebugSwitches()
        switches.simulation.isOffline = wanted["isOffline"]?.bool ?? false
        switches.simulation.timesOut = wanted["timesOut"]?.bool ?? false
        switches.simulation.failureRate = wanted["failureRate"]?.number?.double ?? 0
        // A day, and no number that a duration can't have.
        let delay = wanted["delay"]?.number?.double ?? 0
        guard (0...86_400_000).contains(delay) else {
            throw InspectorError(.invalidAction, "expected a delay of 0 to 86400000 ms")
        }
        switches.simulation.delay = .microseconds(Int64(delay * 1000))
        if let engine = wanted["engine"]?.string, !engine.isEmpty {
            switches.engine = EngineName(engine)
        }
        for (service, url) in wanted["hosts"]?.object ?? JSONObject() {
            switches.baseURLs[ServiceName(service)] = url.string
        }
        var answers: [PageStubs.Answer] = []
        for stub in wanted["stubs"]?.array ?? [] { answers.append(try PageStubs.Answer(stub)) }
        do throws(ClientError) {
            try system.update(switches: switches)
        } catch {
            throw InspectorError(.invalidAction, error.message)
        }
        stubs.replace(with: answers)
    }

    // MARK: Sending

    /// The mark in place of secrets, which is never sent.
    private static let mark = "(redacted)"

    /// Sends a request through the whole system, and returns before its response arrives.
    private func send(_ action: JSONObject) throws(InspectorError) {
        guard let service = action["service"]?.string.map({ ServiceName($0) }),
            system.serviceURLs[service] != nil
        else { throw InspectorError(.invalidAction, "expected a service of the system") }
        guard let method = action["method"]?.string.flatMap({ HTTPRequest.Method($0) }) else {
            throw InspectorError(.invalidAction, "expected a method of HTTP")
        }
        guard let target = action["target"]?.string, target.utf8.first == ASCII.slash else {
            throw InspectorError(.invalidAction, "expected a path that begins with /")
        }
        var fields = HTTPFields()
        for pair in action["fields"]?.array ?? [] {
            guard let pair = pair.array, pair.count == 2, let value = pair[1].string,
                let name = pair[0].string.flatMap({ HTTPField.Name($0) })
            else { throw InspectorError(.invalidAction, "expected fields with valid names") }
            guard HTTPField.isValidValue(value) else {
                throw InspectorError(.invalidAction, "the field \(name) has an invalid value")
            }
            fields.append(HTTPField(name: name, value: value))
        }
        let body = Array((action["body"]?.string ?? "").utf8)
        let texts = [target] + fields.map(\.value) + [String(decoding: body, as: UTF8.self)]
        guard
            !texts.contains(where: { Array($0.utf8).firstRange(of: Array(Self.mark.utf8)) != nil })
        else {
            throw InspectorError(
                .invalidAction, "found a mark in place of a secret, expected the value itself")
        }
        var options = RequestOptions()
        options.tags = ["sent-again"]
        Task { [system, options, fields] in
            _ = try? await system.exchange(
                service, method: method, target: target, fields: fields, body: body,
                options: options)
        }
    }
}
#endif
