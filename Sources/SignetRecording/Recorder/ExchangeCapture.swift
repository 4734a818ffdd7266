import HTTPTypes
import SignetBase
import SignetClient
import SignetCurl
import SignetPinning
import SignetSystem
import SignetTransport
import Synchronization

/// Takes down one request and its response while they pass, with their secrets.
///
/// A body that wasn't read to its end is dropped: what is secret can't be told by a part of it.
final class ExchangeCapture: ExchangeObservation, CustomStringConvertible, CustomReflectable {
    /// The head of a response.
    private struct Head {
        let response: HTTPResponse
        let httpVersion: EngineResponse.HTTPVersion
        let verdict: PinVerdict?
    }

    private struct State {
        var sent = CapturedBytes()
        var head: Head?
        var received = CapturedBytes()
        var bytes: [UInt8]?
    }

    private let request: HTTPRequest
    private let body: [UInt8]?
    private let attempt: Int
    private let started = WallClock.milliseconds()
    private let limit: Int
    private let ended: (@Sendable (CapturedExchange) -> Void)?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - body: The request's body; nil if it isn't in memory.
    ///   - limit: The largest body that is kept, in bytes.
    ///   - ended: Takes the exchange at its end, once.
    init(
        _ request: HTTPRequest, body: [UInt8]?, attempt: Int, limit: Int,
        ended: (@Sendable (CapturedExchange) -> Void)? = nil
    ) {
        self.request = request
        self.body = body
        self.attempt = attempt
        self.limit = limit
        self.ended = ended
    }

    /// Moves the form of the exchange out: a `CapturedExchange` as an element of an array; nil
    /// before its end.
    func takeBytes() -> [UInt8]? {
        state.withLock { state in
            defer { if state.bytes != nil { state.bytes = [] } }
            return state.bytes
        }
    }

    let description = "ExchangeCapture"

    /// A mirror without the messages.
    var customMirror: Mirror { Mirror(self, children: []) }

    /// Notes something, unless the exchange has ended: work that was given up may still run.
    private func note(_ change: (inout State) -> Void) {
        state.withLock { if $0.bytes == nil { change(&$0) } }
    }

    func beginBody() { note { $0.sent = CapturedBytes() } }

    func send(_ piece: [UInt8]) { note { $0.sent.append(piece, limit: limit) } }

    func endBody() { note { $0.sent.isWhole = true } }

    /// Takes the head. The body must not be held: it is cancelled when its last copy is released.
    func receive(_ response: EngineResponse) {
        let head = Head(
            response: response.response, httpVersion: response.httpVersion,
            verdict: response.verdict)
        note { $0.head = head }
    }

    func receive(_ piece: [UInt8]) { note { $0.received.append(piece, limit: limit) } }

    func endResponse() { note { $0.received.isWhole = true } }

    func end(_ exchange: CallRecord.Exchange) {
        end { captured in
            captured.failure = exchange.failure
            captured.message = exchange.message
            captured.timings = exchange.timings
            // A chain that was refused has no response.
            if captured.pins == nil {
                captured.pins = exchange.pins.map(RecordedExchange.Pins.init)
            }
            captured.source = exchange.source
            captured.engine = exchange.engine?.description
            captured.address = exchange.address.map { use in
                RecordedExchange.Address(
                    use.address, reason: use.reason.name, failed: use.failed)
            }
            captured.isSigned = exchange.isSigned
        }
    }

    /// Ends an exchange that failed.
    func end(_ error: TransportError) {
        end { captured in
            captured.failure = error.code.name
            captured.message = error.message
            captured.pins = captured.pins ?? error.pinRefusal.map { .init(PinUse($0)) }
        }
    }

    /// Ends an exchange whose call has ended before it.
    func end(failure: String) { end { $0.failure = failure } }

    /// Ends an exchange whose response was read to its end.
    func end(timings: Timings) { end { $0.timings = timings } }

    private func end(_ change: (inout CapturedExchange) -> Void) {
        let captured = state.withLock { state -> CapturedExchange? in
            guard state.bytes == nil else { return nil }
            var captured = CapturedExchange()
            captured.started = started
            captured.attempt = attempt
            captured.request = CapturedRequest(
                request, body: body.map { CapturedBytes($0, limit: limit) } ?? state.sent)
            if let head = state.head {
                captured.response = CapturedExchange.Response(
                    status: head.response.status.code, reason: head.response.status.reasonPhrase,
                    major: head.httpVersion.major, minor: head.httpVersion.minor,
                    fields: .passed(head.response.headerFields), body: state.received)
                captured.pins = head.verdict.flatMap(PinUse.init).map(RecordedExchange.Pins.init)
            }
            change(&captured)
            // With room for fields, and for the call after them.
            var form = ByteForm(
                size: captured.request.body.count + state.received.count + 1536)
            form.add(&captured)
            state = State(bytes: form.bytes)
            return ended == nil ? nil : captured
        }
        if let captured { ended?(captured) }
    }
}

extension RecordedExchange.Request {
    /// A request with its body, not redacted.
    init(_ request: HTTPRequest, body: [UInt8], limit: Int) {
        self = CapturedRequest(request, body: CapturedBytes(body, limit: limit))
            .recorded(limit: limit)
    }
}

extension RecordedExchange.Pins {
    fileprivate init(_ use: PinUse) {
        self.init(
            seen: use.seen.map(\.pin.text), wanted: use.wanted.map(\.text), isMatch: use.isMatch)
    }
}
