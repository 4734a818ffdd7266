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

    /// Moves the form of the exchange out: a `CapturedExchange` as an element of an array.
    ///
    /// - Parameter failure: Why the exchange ended, if it hasn't yet: its call ended before it.
    func bytes(endedBy failure: String) -> [UInt8] {
        state.withLock { state in
            defer { state = State(bytes: []) }
            if let bytes = state.bytes { return bytes }
            var form = form(of: state)
            form.writeEnd(failure: failure, pins: state.head?.verdict?.use)
            return form.takeBytes()
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
        state.withLock { state in
            guard state.bytes == nil else { return }
            var form = form(of: state)
            form.writeEnd(
                timings: exchange.timings, failure: exchange.failure, message: exchange.message,
                source: exchange.source, engine: exchange.engine, address: exchange.address,
                isSigned: exchange.isSigned, pins: exchange.pins)
            state = State(bytes: form.takeBytes())
        }
    }

    /// Ends an exchange that failed.
    func end(_ error: TransportError) {
        end { form, pins in
            form.writeEnd(
                failure: error.code.name, message: error.message,
                pins: pins ?? error.pinRefusal.map(PinUse.init))
        }
    }

    /// Ends an exchange whose response was read to its end.
    func end(timings: Timings) { end { $0.writeEnd(timings: timings, pins: $1) } }

    /// Ends an exchange that belongs to no call.
    ///
    /// - Parameter writeEnd: Writes how the exchange ended, with the pins of its response.
    private func end(_ writeEnd: (inout ByteForm, PinUse?) -> Void) {
        let bytes = state.withLock { state -> [UInt8] in
            guard state.bytes == nil else { return [] }
            var form = form(of: state)
            writeEnd(&form, state.head?.verdict?.use)
            state = State(bytes: [])
            return form.takeBytes()
        }
        // After the number that says that an element follows.
        let captured: CapturedExchange? = ByteForm.value(of: Array(bytes.dropFirst()))
        if let captured { ended?(captured) }
    }

    /// The form of the messages, with room for fields, and for the call after them.
    private func form(of state: State) -> ByteForm {
        var form = ByteForm(size: (body?.count ?? state.sent.count) + state.received.count + 1536)
        form.beginElement()
        form.write(started)
        form.write(attempt)
        form.write(request)
        form.write(body.map { CapturedBytes($0, limit: limit) } ?? state.sent)
        form.write(state.head != nil)
        if let head = state.head {
            form.write(head.response, version: head.httpVersion)
            form.write(state.received)
        }
        return form
    }
}

extension RecordedExchange.Request {
    /// A request with its body, not redacted.
    init(_ request: HTTPRequest, body: [UInt8], limit: Int) {
        self = CapturedRequest(request, body: CapturedBytes(body, limit: limit))
            .recorded(limit: limit)
    }
}

extension PinVerdict {
    /// The pins as an observer sees them.
    fileprivate var use: PinUse? { PinUse(self) }
}
