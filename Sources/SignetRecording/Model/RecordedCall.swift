import SignetBase
public import SignetTransport

/// A call of a network system, as it is recorded: what was asked, what the system did with it, and
/// each request with its response.
///
/// A call from another program's recording has one exchange and no stages. A call that a cache
/// answered, or that failed before it was sent, has no exchange.
public struct RecordedCall: Sendable, Hashable, CustomStringConvertible {
    /// A part of a call's way, such as an attempt or a pause. Stages contain each other.
    public struct Stage: Sendable, Hashable {
        /// The name, such as `attempt` (`CallRecord.Stage.Name`).
        public var name: String
        /// The time from the call's start to the beginning of the stage.
        public var start: Duration
        /// The time that the stage took.
        public var duration: Duration

        /// Creates a stage.
        public init(name: String, start: Duration, duration: Duration) {
            self.name = name
            self.start = start
            self.duration = duration
        }
    }

    /// The bytes that a signature was made of, redacted.
    public struct SignatureBase: Sendable, Hashable {
        /// A part of the request in a base.
        public struct Part: Sendable, Hashable {
            /// The component or the placeholder, such as `@method` or `{method}`.
            public var name: String
            /// The value that was signed.
            public var value: String

            /// Creates a part.
            public init(name: String, value: String) {
                self.name = name
                self.value = value
            }
        }

        /// The name of the scheme.
        public var scheme: String
        /// The id of the key.
        public var keyID: String
        /// The whole base as text.
        public var text: String
        /// The parts of the request in the base, in order.
        public var parts: [Part]

        /// Creates a base.
        public init(scheme: String, keyID: String, text: String, parts: [Part]) {
            self.scheme = scheme
            self.keyID = keyID
            self.text = text
            self.parts = parts
        }
    }

    /// The contents of a call before and after a stage, redacted, as text for people.
    public struct Contents: Sendable, Hashable {
        /// The name of the stage.
        public var stage: String
        /// Before the stage; nil if there was nothing yet.
        public var before: String?
        /// After the stage; nil if it failed.
        public var after: String?
        /// The bytes that were signed; nil if the stage signed nothing.
        public var base: SignatureBase?

        /// Creates the contents of a stage.
        public init(stage: String, before: String?, after: String?) {
            self.stage = stage
            self.before = before
            self.after = after
        }
    }

    /// The number of the call in its recording, from 1; 0 for one that isn't part of one yet.
    public var id = 0
    /// The name of the service; nil for another program's call.
    public var service: String?
    /// The remote procedure's name, or the HTTP method.
    public var method: String
    /// The path of a REST call without its values, such as `/orders/{id}`; nil if it isn't known.
    public var path: String?
    /// The tags of the call, sorted.
    public var tags: [String] = []
    /// The run mode of the system: `production`, `staging` or `development`.
    public var mode: String?
    /// The start in Unix milliseconds.
    public var started: Int64
    /// The time from the start to the end; nil if it isn't known.
    public var duration: Duration?
    /// The code of the error that the call ended with; nil for a success.
    public var failure: String?
    /// The message of that error, one line for people; nil if it isn't known.
    public var message: String?
    /// The service's own code of its error; nil if there was none.
    public var serverCode: String?
    /// Whether a switch `simulation.…` failed an attempt.
    public var isSimulated = false
    /// Whether the call was ended from outside: by its caller, a newer call or the shutdown.
    public var isCancelled = false
    /// The origin of the response that the caller got; nil if there was none.
    public var source: ResponseSource?
    /// How a cache handled the call, in the form of the field Cache-Status; nil if none was asked.
    public var cache: String?
    /// The number of the call whose work this one shared.
    public var joinedCall: Int?
    /// The stubs that changed something: place and module.
    public var stubs: [String] = []
    /// The stages in the order in which they began.
    public var stages: [Stage] = []
    /// The contents of the call before and after its stages; empty unless they are kept.
    public var contents: [Contents] = []
    /// The requests with their responses, in the order in which they were sent.
    public var exchanges: [RecordedExchange]

    /// Creates a call.
    public init(method: String, started: Int64 = 0, exchanges: [RecordedExchange] = []) {
        self.method = method
        self.started = started
        self.exchanges = exchanges
    }

    /// Creates the call of one request.
    public init(_ exchange: RecordedExchange) {
        self.init(
            method: exchange.request.method, started: exchange.started, exchanges: [exchange])
        (failure, message) = (exchange.failure, exchange.message)
        source = exchange.response == nil ? nil : exchange.source
    }

    /// The request that the caller got the response to: the last one.
    public var last: RecordedExchange? { exchanges.last }

    /// Number, service and method, and the first request's URL without its query.
    public var description: String {
        let asked = ["#\(id)", service.map(printable), printable(method)].compactMap { $0 }
        let url = exchanges.first.map { " " + $0.request.shownURL } ?? ""
        return asked.joined(separator: " ") + url
    }
}
