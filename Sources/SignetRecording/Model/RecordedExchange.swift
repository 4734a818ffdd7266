import SignetBase
public import SignetTransport

/// One request and its response, redacted. A call has several of them if it was redirected or
/// retried.
public struct RecordedExchange: Sendable, Hashable {
    /// A request as it was sent.
    public struct Request: Sendable, Hashable {
        /// The method.
        public var method: String
        /// The whole URL with its query, without user info.
        public var url: String
        /// The version, such as `HTTP/1.1`; nil if it isn't known.
        public var httpVersion: String?
        /// The fields in their order. Pseudo-fields of HTTP/2, such as `:path`, which browsers
        /// write down, stay, but are never sent.
        public var fields: [RecordedField]
        /// The body; nil if there was none.
        public var body: RecordedBody?

        /// Creates a request.
        public init(
            method: String, url: String, fields: [RecordedField] = [], body: RecordedBody? = nil
        ) {
            self.method = method
            self.url = url
            self.fields = fields
            self.body = body
        }
    }

    /// A response as it was received.
    public struct Response: Sendable, Hashable {
        /// The status.
        public var status: Int
        /// The reason phrase; empty if there was none.
        public var reason = ""
        /// The version, such as `HTTP/2`; nil if it isn't known.
        public var httpVersion: String?
        /// The fields in their order.
        public var fields: [RecordedField]
        /// The body, without its content coding; nil if there was none.
        public var body: RecordedBody?

        /// Creates a response.
        public init(status: Int, fields: [RecordedField] = [], body: RecordedBody? = nil) {
            self.status = status
            self.fields = fields
            self.body = body
        }
    }

    /// The pins that a request was sent with.
    public struct Pins: Sendable, Hashable {
        /// The pins of the verified chain, leaf first, each `sha256/…`.
        public var seen: [String]
        /// The pins of the policy's rule, each `sha256/…`.
        public var wanted: [String]
        /// Whether one of the wanted pins was seen.
        public var isMatch: Bool

        /// Creates the pins of a request.
        public init(seen: [String], wanted: [String], isMatch: Bool) {
            self.seen = seen
            self.wanted = wanted
            self.isMatch = isMatch
        }
    }

    /// The address that a request went to.
    public struct Address: Sendable, Hashable {
        /// The IP address, with its port if it isn't that of the URL; nil for the host's name.
        public var address: String?
        /// Why it was chosen (`AddressUse.Reason`); nil if it isn't known.
        public var reason: String?
        /// The addresses that were tried before, to which nothing was sent.
        public var failed: [String]

        /// Creates an address.
        public init(_ address: String?, reason: String? = nil, failed: [String] = []) {
            self.address = address
            self.reason = reason
            self.failed = failed
        }
    }

    /// How long the parts of an exchange took. A part that didn't happen, or isn't known, is nil.
    public struct Times: Sendable, Hashable {
        /// The time that the request waited for a connection.
        public var blocked: Duration?
        /// The time for resolving the name.
        public var nameLookup: Duration?
        /// The time for connecting, without TLS.
        public var connect: Duration?
        /// The time for the TLS handshake.
        public var tls: Duration?
        /// The time for sending the request.
        public var send: Duration?
        /// The time until the first byte of the response.
        public var wait: Duration?
        /// The time for receiving the response.
        public var receive: Duration?

        /// Creates times of which none is known.
        public init() {}

        /// The sum.
        public var total: Duration {
            [blocked, nameLookup, connect, tls, send, wait, receive]
                .reduce(.zero) { $0 + ($1 ?? .zero) }
        }
    }

    /// A value that was replaced by a mark.
    public struct Redaction: Sendable, Hashable {
        /// The place of the value, such as `request.fields.authorization` or
        /// `response.body.tokens.access`.
        public var place: String
        /// The number of the mark. Equal values in a recording have the same one.
        public var mark: Int
        /// Whether the mark, with its quotation marks, stands for a JSON value that isn't a string.
        public var isWholeValue = false

        /// Creates the redaction of a place.
        public init(place: String, mark: Int) {
            self.place = place
            self.mark = mark
        }
    }

    /// The start in Unix milliseconds.
    public var started: Int64 = 0
    /// The request.
    public var request: Request
    /// The response; nil if there was none.
    public var response: Response?
    /// How long the parts took.
    public var times = Times()
    /// The code of the error that ended the request or its response; nil if there was none.
    public var failure: String?
    /// The message of that error, one line for people; nil if it isn't known.
    public var message: String?
    /// The origin of the response.
    public var source = ResponseSource.server
    /// The engine that sent the request, and why it was chosen; nil if it isn't known.
    public var engine: String?
    /// The address that the request went to, and why; nil if it isn't known.
    public var address: Address?
    /// The number of the attempt in its call, from 1.
    public var attempt = 1
    /// Whether the request was signed.
    public var isSigned = false
    /// The pins of the request; nil if none were checked.
    public var pins: Pins?
    /// The values that were replaced by marks.
    public var redactions: [Redaction] = []

    /// Creates an exchange.
    public init(request: Request, response: Response? = nil) {
        self.request = request
        self.response = response
    }
}

extension RecordedExchange.Request {
    /// The URL without user info, query and fragment, for people.
    package var shownURL: String {
        let target = RequestTarget(url)
        return printable(target.origin + target.path, limit: 200)
    }
}
