import HTTPTypes
import SignetClient
import SignetSystem
import SignetTransport
import Synchronization

/// Records the calls of one system: collects the exchanges of each call, and hands the call on when
/// it has ended.
final class SystemRecording: CallSpanObserver, ExchangeObserver {
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
    private let numbers: CallNumbers
    private let deliver: @Sendable (consuming UnredactedCall) -> Void
    private let state: Mutex<State>

    /// - Parameters:
    ///   - numbers: The numbers of the recording's calls.
    ///   - deliver: Takes each call that has ended.
    init(
        _ system: NetworkSystem, _ options: RecordingOptions, marks: RedactionMarks,
        numbers: CallNumbers, deliver: @escaping @Sendable (consuming UnredactedCall) -> Void
    ) {
        self.system = system
        self.options = options
        self.marks = marks
        self.numbers = numbers
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

    func begin(_ call: CallIdentity) {
        guard options.isRecorded?(call) ?? true else { return }
        let recorded = Call(
            id: numbers.next(), started: WallClock.milliseconds(), redactor: redactor)
        state.withLock { $0.calls[call.id] = recorded }
    }

    func end(_ summary: CallSummary) {
        let (call, joined) = state.withLock { state in
            (
                state.calls.removeValue(forKey: summary.identity.id),
                summary.joinedCall.flatMap { state.calls[$0]?.id }
            )
        }
        guard let call else { return }
        let failure = summary.outcome.code?.name ?? "cancelled"
        // Most calls have one exchange, whose bytes aren't copied.
        var form = ByteForm(after: call.captures.first?.bytes(endedBy: failure) ?? [])
        for capture in call.captures.dropFirst() { form.add(capture.bytes(endedBy: failure)) }
        form.endArray()
        form.write(summary, id: call.id, started: call.started, joined: joined)
        deliver(
            UnredactedCall(
                bytes: form.takeBytes(), exchanges: call.captures.count,
                redaction: CallRedaction(
                    redactor: call.redactor, bodyLimit: options.limits.bodySize)))
    }

    // MARK: Exchanges

    func observe(
        _ request: HTTPRequest, body: HTTPRequestBody, of call: CallIdentity, attempt: Int
    ) -> (any ExchangeObservation)? {
        state.withLock { state in
            guard let index = state.calls.index(forKey: call.id) else { return nil }
            let capture = ExchangeCapture(
                request, body: body.bytes, attempt: attempt, limit: options.limits.bodySize)
            state.calls.values[index].captures.append(capture)
            return capture
        }
    }
}

/// Numbers the calls of a recording.
final class CallNumbers: Sendable {
    private let last = Atomic(0)

    /// The next number, from 1.
    func next() -> Int { last.add(1, ordering: .relaxed).newValue }
}
