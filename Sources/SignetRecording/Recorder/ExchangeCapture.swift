import HTTPTypes
import SignetBase
import SignetClient
import SignetCurl
import SignetPinning
import SignetSystem
import SignetTransport
import Synchronization

/// Takes down one request and its response while they pass. When the exchange ends, it is redacted,
/// and the bytes that were taken down are dropped.
///
/// A body that wasn't read to its end is dropped: what is secret can't be told by a part of it.
final class ExchangeCapture: ExchangeObservation, CustomStringConvertible, CustomReflectable {
    private struct State {
        var sent = CapturedBytes()
        var response: EngineResponse?
        var received = CapturedBytes()
        var hasEnded = false
    }

    private let request: HTTPRequest
    private let body: [UInt8]?
    private let attempt: Int
    private let started = WallClock.milliseconds()
    private let limit: Int
    private let redactor: ExchangeRedactor
    private let deliver: @Sendable (RecordedExchange) -> Void
    private let state = Mutex(State())

    /// - Parameter deliver: Takes the redacted exchange, once.
    init(
        _ request: HTTPRequest, body: [UInt8]?, attempt: Int, limit: Int,
        redactor: ExchangeRedactor, deliver: @escaping @Sendable (RecordedExchange) -> Void
    ) {
        self.request = request
        self.body = body
        self.attempt = attempt
        self.limit = limit
        self.redactor = redactor
        self.deliver = deliver
    }

    let description = "ExchangeCapture"

    /// A mirror without the messages.
    var customMirror: Mirror { Mirror(self, children: []) }

    func beginBody() { state.withLock { $0.sent = CapturedBytes() } }

    func send(_ piece: [UInt8]) { state.withLock { $0.sent.append(piece, limit: limit) } }

    func endBody() { state.withLock { $0.sent.isWhole = true } }

    func receive(_ response: EngineResponse) {
        var head = response
        // The body must not be held: it is cancelled when its last copy is released.
        head.body = HTTPResponseBody(bytes: [])
        state.withLock { $0.response = head }
    }

    func receive(_ piece: [UInt8]) { state.withLock { $0.received.append(piece, limit: limit) } }

    func endResponse() { state.withLock { $0.received.isWhole = true } }

    func end(_ exchange: CallRecord.Exchange) {
        end(failure: exchange.failure, timings: exchange.timings) { recorded in
            recorded.message = exchange.message
            // A chain that was refused has no response.
            recorded.pins = recorded.pins ?? exchange.pins.map(RecordedExchange.Pins.init)
            recorded.source = exchange.source
            recorded.engine = exchange.engine?.description
            recorded.address = exchange.address.map { use in
                RecordedExchange.Address(
                    use.address, reason: use.reason.name, failed: use.failed)
            }
            recorded.isSigned = exchange.isSigned
        }
    }

    /// Ends an exchange that failed.
    func end(_ error: TransportError) {
        end(failure: error.code.name, timings: Timings()) { recorded in
            recorded.message = error.message
            recorded.pins = recorded.pins ?? error.pinRefusal.map { .init(PinUse($0)) }
        }
    }

    /// Ends an exchange whose call has ended before it.
    func end(failure: String) { end(failure: failure, timings: Timings()) { _ in } }

    /// Ends an exchange whose response was read to its end.
    func end(timings: Timings) { end(failure: nil, timings: timings) { _ in } }

    private func end(
        failure: String?, timings: Timings, change: (inout RecordedExchange) -> Void
    ) {
        let ended = state.withLock { state -> State? in
            guard !state.hasEnded else { return nil }
            defer { state = State(hasEnded: true) }
            return state
        }
        guard let ended else { return }
        var sent = ended.sent
        if let body {
            sent.append(body, limit: limit)
            sent.isWhole = true
        }
        var recorded = RecordedExchange(
            request: RecordedExchange.Request(request, body: sent, limit: limit))
        recorded.request.httpVersion = ended.response?.httpVersion.description
        recorded.started = started
        recorded.attempt = attempt
        recorded.failure = failure
        recorded.times = RecordedExchange.Times(timings)
        if let response = ended.response {
            recorded.response = self.response(response, ended.received, failure: failure)
            recorded.pins = response.verdict.flatMap(PinUse.init).map(RecordedExchange.Pins.init)
        }
        change(&recorded)
        deliver(redactor.redacted(recorded))
    }

    private func response(
        _ response: EngineResponse, _ received: CapturedBytes, failure: String?
    ) -> RecordedExchange.Response {
        var recorded = RecordedExchange.Response(
            status: response.response.status.code,
            fields: response.response.headerFields.map(RecordedField.init))
        recorded.reason = response.response.status.reasonPhrase
        recorded.httpVersion = response.httpVersion.description
        recorded.body = received.body(of: response.response.headerFields, limit: limit)
        if let failure, received.size > 0, !received.isWhole {
            recorded.body?.problem = "the body ended early (\(failure))"
        }
        return recorded
    }
}

/// The bytes of a body that passed, up to a limit.
private struct CapturedBytes {
    private(set) var bytes: [UInt8] = []
    private(set) var size: Int64 = 0
    /// Whether the end has passed.
    var isWhole = false

    mutating func append(_ piece: [UInt8], limit: Int) {
        size += Int64(piece.count)
        if size > limit {
            bytes = []
        } else if bytes.isEmpty {
            bytes = piece
        } else {
            bytes += piece
        }
    }

    /// Returns the body without its content coding; nil if there was none. A part of a body is
    /// never kept, because a secret could be cut in two.
    func body(of fields: HTTPFields, limit: Int) -> RecordedBody? {
        guard size > 0 else { return nil }
        var body = RecordedBody(bytes: bytes, mediaType: fields[.contentType] ?? "")
        body.size = size
        guard size <= limit else {
            body.problem = "the body has \(size) bytes, more than the limit of \(limit)"
            return body
        }
        guard isWhole else {
            body.bytes = []
            body.problem = "the body ended early"
            return body
        }
        let coding = fields[values: .contentEncoding].joined(separator: ",").lowercased()
        guard !coding.isEmpty, coding != "identity" else { return body }
        body.encodedSize = size
        switch BodyDecoding.decoded(bytes, coding: coding, limit: limit) {
        case .success(let decoded):
            body.bytes = decoded
            body.size = Int64(decoded.count)
        case .failure(let error) where error.code == .responseTooLarge:
            body.bytes = []
            body.problem =
                "the body has more bytes without its content coding than the limit of \(limit)"
        case .failure(let error):
            body.bytes = []
            body.problem = "the content coding can't be undone: \(error.message)"
        }
        return body
    }
}

extension RecordedExchange.Request {
    /// A request with its body, not redacted.
    init(_ request: HTTPRequest, body: [UInt8], limit: Int) {
        var captured = CapturedBytes()
        captured.append(body, limit: limit)
        captured.isWhole = true
        self.init(request, body: captured, limit: limit)
    }

    fileprivate init(_ request: HTTPRequest, body: CapturedBytes, limit: Int) {
        self.init(
            method: request.method.rawValue,
            url: "\(request.scheme ?? "https")://\(request.authority ?? "")\(request.path ?? "/")",
            fields: request.headerFields.map(RecordedField.init),
            body: body.body(of: request.headerFields, limit: limit))
    }
}

extension RecordedField {
    /// A field of a message.
    init(_ field: HTTPField) { self.init(name: field.name.rawName, bytes: field.valueBytes) }
}

extension RecordedExchange.Pins {
    fileprivate init(_ use: PinUse) {
        self.init(
            seen: use.seen.map(\.pin.text), wanted: use.wanted.map(\.text), isMatch: use.isMatch)
    }
}

extension RecordedExchange.Times {
    /// The parts of timings that count from the request's start.
    init(_ timings: Timings) {
        self.init()
        func part(_ end: Duration, from start: Duration) -> Duration? {
            end > start ? (end - start).inMicroseconds : nil
        }
        nameLookup = part(timings.nameResolved, from: .zero)
        connect = part(timings.connected, from: timings.nameResolved)
        let open = max(timings.connected, timings.tunnelled)
        tls = part(timings.secured, from: open)
        let ready = max(timings.secured, open, timings.nameResolved)
        send = .zero  // not measured
        wait = part(timings.firstByte, from: ready) ?? .zero
        receive = part(timings.total, from: max(timings.firstByte, ready)) ?? .zero
    }
}
