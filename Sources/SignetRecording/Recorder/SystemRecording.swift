import HTTPTypes
import SignetClient
import SignetSystem
import SignetTransport
import Synchronization

/// Records the calls of one system: collects the exchanges of each call, and hands the call on when
/// it has ended.
final class SystemRecording: CallObserver, ExchangeObserver {
    private struct Pending {
        let id: Int
        let started: Int64
        var exchanges: [RecordedExchange] = []
        var open: [ObjectIdentifier: ExchangeCapture] = [:]
    }

    private struct State {
        var calls: [CallIdentity.ID: Pending] = [:]
        /// Made for the configuration with this number.
        var redactor: (number: Int, value: ExchangeRedactor)
    }

    private let options: RecordingOptions
    private let marks: RedactionMarks
    private weak let system: NetworkSystem?
    private let nextID: @Sendable () -> Int
    private let deliver: @Sendable (RecordedCall) -> Void
    private let state: Mutex<State>

    /// - Parameter deliver: Takes each call that has ended, redacted.
    init(
        _ system: NetworkSystem, _ options: RecordingOptions, marks: RedactionMarks,
        nextID: @escaping @Sendable () -> Int,
        deliver: @escaping @Sendable (RecordedCall) -> Void
    ) {
        self.system = system
        self.options = options
        self.marks = marks
        self.nextID = nextID
        self.deliver = deliver
        let number = system.configurationNumber
        state = Mutex(
            State(redactor: (number, Self.redactor(for: system, options, marks: marks))))
    }

    private static func redactor(
        for system: NetworkSystem, _ options: RecordingOptions, marks: RedactionMarks
    ) -> ExchangeRedactor {
        var rules = options.redaction
        if let configuration = system.currentConfiguration {
            rules.addSecrets(of: configuration)
        }
        return ExchangeRedactor(rules, marks: marks)
    }

    /// The redactor that knows the secrets of the present configuration.
    private var redactor: ExchangeRedactor {
        let current = state.withLock { $0.redactor }
        guard let system, system.configurationNumber != current.number else {
            return current.value
        }
        let number = system.configurationNumber
        let value = Self.redactor(for: system, options, marks: marks)
        state.withLock { $0.redactor = (number, value) }
        return value
    }

    // MARK: Calls

    func receive(_ event: CallEvent) {
        switch event {
        case .started(let identity):
            guard options.isRecorded?(identity) ?? true else { return }
            let pending = Pending(id: nextID(), started: WallClock.milliseconds())
            state.withLock { $0.calls[identity.id] = pending }
        case .finished(let record): finish(record)
        default: return
        }
    }

    private func finish(_ record: CallRecord) {
        let id = record.identity.id
        let open = state.withLock { $0.calls[id].map { Array($0.open.values) } ?? [] }
        for capture in open { capture.end(failure: record.failure?.name ?? "cancelled") }
        let (pending, joined, redactor) = state.withLock { state in
            (
                state.calls.removeValue(forKey: id),
                record.work.joinedCall.flatMap { state.calls[$0]?.id }, state.redactor.value
            )
        }
        guard let pending else { return }
        var call = RecordedCall(
            record, id: pending.id, started: pending.started, exchanges: pending.exchanges)
        call.joinedCall = joined
        deliver(redactor.redacted(texts: call))
    }

    // MARK: Exchanges

    func observe(
        _ request: HTTPRequest, body: HTTPRequestBody, of call: CallIdentity, attempt: Int
    ) -> (any ExchangeObservation)? {
        guard state.withLock({ $0.calls[call.id] != nil }) else { return nil }
        let place = CapturePlace()
        let capture = ExchangeCapture(
            request, body: body.bytes, attempt: attempt, limit: options.limits.bodySize,
            redactor: redactor
        ) { [weak self] exchange in self?.add(exchange, of: call.id, at: place) }
        state.withLock { $0.calls[call.id]?.open[ObjectIdentifier(place)] = capture }
        return capture
    }

    private func add(
        _ exchange: RecordedExchange, of call: CallIdentity.ID, at place: CapturePlace
    ) {
        state.withLock { state in
            state.calls[call]?.open[ObjectIdentifier(place)] = nil
            state.calls[call]?.exchanges.append(exchange)
        }
    }
}

/// The identity of a capture, before there is one.
private final class CapturePlace: Sendable {}
