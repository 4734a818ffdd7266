import HTTPTypes
import SignetBase
public import SignetClient
import SignetTransport
import Synchronization

/// A test of recorded calls: sends the requests of a call again, to a replay or to a host of its
/// own, and compares what was sent and received with the recording.
///
/// ```swift
/// import SignetClient
///
/// func check(_ recording: Recording, against staging: NetworkSystem) async throws {
///     let test = RecordedTest(on: staging, as: "shop")
///     for call in recording.calls { try await test.check(call) }
/// }
/// ```
///
/// With Swift Testing, the calls are arguments: `@Test(arguments: recording.calls)`. A changed
/// API then fails the tests of exactly its calls.
///
/// The request gets a new signature, if the service signs. It goes to the service's base URL, and
/// never to the host that the recording names. A request with a redacted value other than a
/// signature isn't sent unless ``fills`` has the value.
public struct RecordedTest: Sendable {
    /// The rule for responses. Defaults to `shape`.
    public var rule = ResponseRule.shape
    /// The rules for requests. Defaults to all parts but the host.
    public var matching: ReplayMatching
    /// The values of redacted places, by the numbers of their marks.
    public var fills: [Int: String] = [:]
    private let system: NetworkSystem
    private let service: ServiceName?
    private let isSigning: Bool

    /// Creates a test.
    ///
    /// - Parameters:
    ///   - system: The system that sends.
    ///   - service: The service to which the requests go; nil for the one that each call names.
    ///   - isSigning: Whether the service signs, so that recorded signatures are left out. Defaults
    ///     to `true`.
    public init(
        on system: NetworkSystem, as service: ServiceName? = nil, isSigning: Bool = true
    ) {
        self.system = system
        self.service = service
        self.isSigning = isSigning
        matching = ReplayMatching()
        matching.parts.remove(.host)
    }

    /// Sends a call's requests again, and throws if anything differs.
    ///
    /// - Throws: `RecordingError`: `differs-from-recording` with every difference;
    ///   `not-recorded` for a call without a request, or one that was skipped; the code of the
    ///   client's error if there was no response.
    public func check(_ call: RecordedCall) async throws {
        guard !call.exchanges.isEmpty else {
            throw RecordingError(.notRecorded, "found no request in call \(call), expected one")
        }
        for exchange in call.exchanges {
            switch try await outcome(of: exchange, service: call.service) {
            case .alike: continue
            case .differs(let differences):
                throw RecordingError(
                    .differsFromRecording,
                    "call \(call): " + differences.map(\.description).joined(separator: "; "))
            case .skipped(let reason):
                throw RecordingError(.notRecorded, "call \(call) can't be sent: \(reason)")
            case .unanswered(let code, let message):
                throw RecordingError(code, "call \(call): \(message)")
            }
        }
    }

    /// Sends one request again, and compares.
    ///
    /// - Parameters:
    ///   - exchange: The request and its recorded response.
    ///   - named: The service that the call names.
    /// - Throws: `RecordingError` if the system can't be observed.
    public func outcome(
        of exchange: RecordedExchange, service named: String? = nil
    ) async throws(RecordingError) -> ReplayOutcome {
        guard let service = service ?? named.map({ ServiceName($0) }) else {
            return .skipped("the call names no service")
        }
        let filled = RecordingFill(fills).filled(exchange, without: skippedFields)
        if let missing = filled.missing.min() {
            return .skipped(
                "the value of \(RedactionMark.variable(missing)) is not known"
                    + " (\(filled.place(of: missing)))")
        }
        if let problem = exchange.request.body?.problem {
            return .skipped("the body is not part of the recording: \(problem)")
        }
        return try await send(filled.request, of: exchange, to: service)
    }

    private var skippedFields: Set<String> {
        isSigning
            ? SentFields.ofConnections.union(SentFields.ofSignatures) : SentFields.ofConnections
    }

    private func send(
        _ request: RecordedExchange.Request, of exchange: RecordedExchange, to service: ServiceName
    ) async throws(RecordingError) -> ReplayOutcome {
        guard let method = HTTPRequest.Method(request.method) else {
            return .skipped("the method is invalid")
        }
        var fields = HTTPFields()
        for field in request.fields {
            let name = field.name.lowercased()
            guard !skippedFields.contains(name), let name = HTTPField.Name(field.name) else {
                continue
            }
            fields.append(HTTPField(name: name, value: field.bytes))
        }
        let tag = "recorded-test-\(UInt64.random(in: .min ... .max))"
        var options = RecordingOptions()
        options.recordsInProduction = true
        options.isRecorded = { $0.tags.contains(tag) }
        for value in fills.values { options.redaction.add(secret: Array(value.utf8)) }
        let recorder = Recorder(options)
        try recorder.start(on: system)
        defer { recorder.stop() }
        var callOptions = RequestOptions(tags: [tag])
        callOptions.attempts = 1
        do throws(ClientError) {
            _ = try await system.exchange(
                service, method: method, target: RequestTarget(request.url).target, fields: fields,
                body: HTTPRequestBody(request.body?.bytes ?? []), options: callOptions)
        } catch {
            let isExpected =
                exchange.response == nil
                && exchange.failure.map { sameBytes($0, error.code.name) } == true
            return isExpected ? .alike : .unanswered(error.code, error.message)
        }
        let sent = try await recorder.recording().calls.last?.exchanges.last
        guard let sent, let response = sent.response else {
            return .unanswered(.malformedRecording, "the exchange was not recorded")
        }
        // Another program's recording may have secrets.
        let known = Recording(calls: [RecordedCall(exchange)]).redacted()
        return compare(sent.request, response, with: known.exchanges.first ?? exchange)
    }

    private func compare(
        _ request: RecordedExchange.Request, _ response: RecordedExchange.Response,
        with exchange: RecordedExchange
    ) -> ReplayOutcome {
        let comparison = MessageComparison(matching: matching, rule: rule)
        var differences = comparison.differences(of: request, to: exchange.request)
        if let recorded = exchange.response {
            differences += comparison.differences(of: response, to: recorded)
        } else {
            differences.append(Difference("response", .added, found: "\(response.status)"))
        }
        return differences.isEmpty ? .alike : .differs(differences)
    }
}
