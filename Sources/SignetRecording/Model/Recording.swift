/// Calls with their requests and responses, redacted, in the order in which they began.
///
/// A recording is a value. A program makes one with `NetworkSystem.record(…)`, reads one that it or
/// another program wrote (``init(har:)``), and writes it as HAR 1.2 (``har()``). It is edited by
/// hand for mocks.
///
/// ```swift
/// var recording = Recording()
/// recording.calls.append(
///     RecordedCall(
///         RecordedExchange(
///             request: .init(method: "GET", url: "https://api.example.com/orders/7"),
///             response: .init(status: 200, body: RecordedBody(text: #"{"id":7}"#)))))
/// precondition(recording.exchanges.count == 1)
/// ```
public struct Recording: Sendable, Hashable {
    /// The program that wrote the recording.
    public struct Creator: Sendable, Hashable {
        /// The program's name.
        public var name: String
        /// The program's version.
        public var version: String

        /// Names a program.
        public init(name: String, version: String) {
            self.name = name
            self.version = version
        }
    }

    /// The calls. Those of another program's recording have one exchange each.
    public var calls: [RecordedCall]
    /// The program that wrote the recording; nil for one that was made in this process.
    public var creator: Creator?
    /// The number of calls that were left out, because a limit was reached.
    public var droppedCount = 0
    /// The problems of an input that was read tolerantly, such as a damaged body.
    public internal(set) var problems: [RecordingProblem] = []

    /// Creates a recording of calls.
    public init(calls: [RecordedCall] = []) { self.calls = calls }

    /// All requests with their responses, in the order in which they were sent.
    public var exchanges: [RecordedExchange] {
        calls.flatMap(\.exchanges).enumerated()
            .sorted { ($0.element.started, $0.offset) < ($1.element.started, $1.offset) }
            .map(\.element)
    }

    /// The largest number of a mark of redaction; 0 if nothing was redacted.
    public var lastMark: Int {
        calls.map(\.lastMark).max() ?? 0
    }
}

/// A problem of one entry of an input.
public struct RecordingProblem: Sendable, Hashable, CustomStringConvertible {
    /// The place in the input, such as `log.entries[3].response.content`.
    public let place: String
    /// The words for people: found and expected.
    public let message: String

    init(_ place: String, _ message: String) {
        self.place = place
        self.message = message
    }

    /// The place and the message.
    public var description: String { "\(place): \(message)" }
}
