import HTTPTypes
import SignetSystem
import SignetTransport
import Synchronization

/// One request in a call's log.
///
/// It is an object, so that the record's parts are copied only if the record is read (benchmark row
/// `system-exchange`).
final class ExchangeEntry: Sendable {
    let start: MonotonicTime
    private let state: Mutex<CallRecord.Exchange>

    init(
        _ head: HTTPRequest, isSigned: Bool, through engine: EngineUse, at start: MonotonicTime
    ) {
        self.start = start
        state = Mutex(
            CallRecord.Exchange(
                method: head.method, location: CallRecord.Location(head), isSigned: isSigned,
                engine: engine))
    }

    /// The request and its outcome, without its start.
    var exchange: CallRecord.Exchange { state.withLock { $0 } }

    /// The status, the version and the origin of its response; nil if there is none.
    var response: CallRecord.Response? {
        state.withLock { exchange in
            exchange.status.map { status in
                CallRecord.Response(
                    status: status, httpVersion: exchange.httpVersion, bodySize: nil,
                    source: exchange.source)
            }
        }
    }

    func change(_ change: (inout CallRecord.Exchange) -> Void) {
        state.withLock { change(&$0) }
    }

    /// Notes a response whose header has arrived.
    func receive(_ response: EngineResponse, from source: ResponseSource) {
        let pins = response.verdict.flatMap(PinUse.init)
        change { exchange in
            exchange.status = response.status
            exchange.httpVersion = response.httpVersion
            exchange.isPinned = response.verdict.map { $0.isPinned && $0.isMatch } ?? false
            exchange.pins = pins
            exchange.source = source
        }
    }

    /// Ends the request.
    ///
    /// - Parameters:
    ///   - timings: How long its parts took; empty if the engine doesn't know.
    ///   - error: The error that ended it or its response; nil for a success.
    func end(after timings: Timings, _ error: ClientError?) {
        let passed = MonotonicTime.now - start
        change { exchange in
            exchange.timings = timings
            if timings.total == .zero { exchange.timings.total = passed }
            guard let error else { return }
            exchange.failure = error.code.name
            exchange.message = error.message
            if let refusal = error.pinRefusal { exchange.pins = PinUse(refusal) }
        }
    }
}

/// One attempt in a call's log: the first request and those that redirects led to.
struct LoggedAttempt {
    var exchanges: [ExchangeEntry] = []
    var redirects: [CallRecord.Redirect] = []

    /// The last response that it got, without its body's size; nil if there was none.
    var lastResponse: CallRecord.Response? {
        exchanges.lazy.reversed().compactMap(\.response).first
    }

    /// Whether a switch made one of its failures.
    var isSimulated: Bool { exchanges.contains { $0.exchange.isSimulated } }

    /// The attempt of a record, whose call began at a time.
    func recorded(since start: MonotonicTime) -> CallRecord.Attempt {
        CallRecord.Attempt(
            hops: exchanges.map { entry in
                var exchange = entry.exchange
                exchange.start = entry.start - start
                return exchange
            }, redirects: redirects)
    }
}
