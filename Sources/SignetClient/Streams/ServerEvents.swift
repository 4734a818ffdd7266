import HTTPTypes
import SignetBase
import SignetRPC

/// The events of a `text/event-stream`, over as many connections as it takes (WHATWG HTML, section
/// 9.2).
///
/// Each connection is a call of the pipeline: signed, pinned, with the call's options. After a
/// connection ended or broke, the next one follows after the time that the stream asked for
/// (`retry`, at most five minutes), or ``reconnectionTime``, and asks for the events after the last
/// one (`Last-Event-ID`). The events end if the server responds with 204, or if the reader stops.
///
/// ```swift
/// func follow(_ system: NetworkSystem) async throws {
///     for try await event in system.serverEvents(of: .get("/prices", on: "shop")) {
///         print(event.type, event.data)
///     }
/// }
/// ```
///
/// A connection ends after `RequestOptions.timeout`, by default that of the service, and the next
/// one follows; a longer one saves connections. It also ends after
/// `RequestOptions.maximumResponseSize`, which is an error if it has brought no event by then.
public struct ServerEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerEvent
    /// The error that ends the events.
    public typealias Failure = ClientError

    /// The longest time that a stream can ask for: five minutes.
    static let longestPause: Duration = .seconds(300)

    let connect: @Sendable (_ lastID: String) async throws(ClientError) -> StreamedResponse
    let sleep: @Sendable (Duration) async throws -> Void
    /// The time to wait before a reconnection, unless the stream asks for another. Defaults to
    /// three seconds.
    public var reconnectionTime: Duration = .seconds(3)
    /// The maximum number of failed connections in a row. Defaults to no limit.
    public var maximumFailures = Int.max
    /// The maximum size of a line and of an event's data in bytes.
    public var maximumEventSize = 1 << 20

    /// Reads event after event.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let events: ServerEvents
        fileprivate var parser: ServerEventParser
        fileprivate var chunks: StreamedBody.AsyncIterator?
        fileprivate var ready: [ServerEvent] = []
        fileprivate var hasConnected = false
        fileprivate var hasEnded = false
        fileprivate var failures = 0
        /// Whether the connection has brought an event.
        fileprivate var hasEvents = false

        /// Returns the next event, or nil after the last one.
        ///
        /// - Throws: `ClientError`: `http-status` if the server refuses, `malformed-response` for
        ///   another content type, `response-too-large`, `cancelled`, `not-running`; an error of
        ///   the connection after ``ServerEvents/maximumFailures``.
        public mutating func next() async throws(ClientError) -> ServerEvent? {
            while !hasEnded {
                if !ready.isEmpty { return ready.removeFirst() }
                do throws(ClientError) {
                    guard chunks != nil else {
                        try await connect()
                        continue
                    }
                    if let chunk = try await chunks?.next() {
                        ready = try parser.push(chunk)
                        if !ready.isEmpty { hasEvents = true }
                    } else {
                        close()
                    }
                } catch {
                    close()
                    failures += 1
                    guard isWorthAnother(error), failures < events.maximumFailures else {
                        hasEnded = true
                        throw error
                    }
                }
            }
            return nil
        }

        /// Returns the next event, or nil after the last one.
        public mutating func next(isolation actor: isolated (any Actor)?)
            async throws(ClientError) -> ServerEvent?
        {
            try await next()
        }

        private mutating func close() { chunks = nil }

        /// Whether an error is one of the connection, which another one may not have.
        private func isWorthAnother(_ error: ClientError) -> Bool {
            // A connection that brought events has only become too long.
            if error.code == .responseTooLarge { return hasEvents }
            // If TLS or the pins refused the server, the reader should know.
            return error.kind == .noResponse && error.pinRefusal == nil && error.code != .tls
        }

        private mutating func connect() async throws(ClientError) {
            if hasConnected {
                let pause =
                    parser.retry.map { Swift.min(.milliseconds($0), ServerEvents.longestPause) }
                    ?? events.reconnectionTime
                do { try await events.sleep(pause) } catch { throw .cancelledByCaller }
            }
            (hasConnected, hasEvents) = (true, false)
            parser.restart()
            let response = try await events.connect(parser.lastID)
            guard response.status != 204 else {
                hasEnded = true
                return
            }
            let type = response.fields[.contentType].flatMap { MediaType($0) }
            guard response.status == 200, type?.essence == "text/event-stream" else {
                throw ClientError(
                    .malformedResponse,
                    "found status \(response.status) and the content type"
                        + " \(printable(type?.essence ?? "none")), expected 200 and"
                        + " text/event-stream", status: response.status
                ).of(response.identity, record: nil)
            }
            failures = 0
            chunks = response.body.makeAsyncIterator()
        }
    }

    /// Connects when the first event is asked for.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(events: self, parser: ServerEventParser(limit: maximumEventSize))
    }
}
