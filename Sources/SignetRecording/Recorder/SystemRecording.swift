import HTTPTypes
import SignetClient
import SignetSystem
import SignetTransport
import Synchronization

/// Records the calls of one system: collects the exchanges of each call, and hands the call on when
/// it has ended.
final class SystemRecording: CallObserver, ExchangeObserver {
    /// A call that runs.
    private struct Call {
        let id: Int
        let started: Int64
        /// By the configuration that the call began with, and so keeps.
        let redactor: ExchangeRedactor
        var captures: [ExchangeCapture] = []
    }

    private struct State {
        var calls: [CallIdentity.ID: Call] = [:]
        /// Made for the configuration with this number.
        var redactor: (number: Int, value: ExchangeRedactor)
    }

    private let options: RecordingOptions
    private let marks: RedactionMarks
    private weak let system: NetworkSystem?
    private let nextID: @Sendable () -> Int
    private let deliver: @Sendable (consuming UnredactedCall) -> Void
    private let state: Mutex<State>

    /// - Parameter deliver: Takes each call that has ended.
    init(
        _ system: NetworkSystem, _ options: RecordingOptions, marks: RedactionMarks,
        nextID: @escaping @Sendable () -> Int,
        deliver: @escaping @Sendable (consuming UnredactedCall) -> Void
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
            let call = Call(
                id: nextID(), started: WallClock.milliseconds(), redactor: redactor)
            state.withLock { $0.calls[identity.id] = call }
        case .finished(let record): finish(record)
        default: return
        }
    }

    private func finish(_ record: CallRecord) {
        let id = record.identity.id
        let (call, joined) = state.withLock { state in
            (
                state.calls.removeValue(forKey: id),
                record.work.joinedCall.flatMap { state.calls[$0]?.id }
            )
        }
        guard let call else { return }
        for capture in call.captures { capture.end(failure: record.failure?.name ?? "cancelled") }
        var recorded = RecordedCall(record, id: call.id, started: call.started)
        recorded.joinedCall = joined
        deliver(
            UnredactedCall(
                recorded, exchanges: call.captures.compactMap { $0.takeBytes() },
                redaction: CallRedaction(
                    redactor: call.redactor, bodyLimit: options.limits.bodySize)))
    }

    // MARK: Exchanges

    func observe(
        _ request: HTTPRequest, body: HTTPRequestBody, of call: CallIdentity, attempt: Int
    ) -> (any ExchangeObservation)? {
        state.withLock { state in
            guard state.calls[call.id] != nil else { return nil }
            let capture = ExchangeCapture(
                request, body: body.bytes, attempt: attempt, limit: options.limits.bodySize)
            state.calls[call.id]?.captures.append(capture)
            return capture
        }
    }
}
