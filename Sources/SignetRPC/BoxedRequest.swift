public import HTTPTypes

/// A call as an HTTP request, without the service's URL and the fields common to all its requests.
public struct BoxedRequest: Sendable, Hashable {
    /// The responses that a request expects.
    public struct Expected: Sendable, Hashable {
        /// The id of each call in order; nil for a notification.
        public var ids: [RPCID?]
        /// Whether the calls were sent as one array.
        public var isBatch: Bool
        /// The content that the caller can read.
        public var content: ResponseContent

        /// Creates an expectation; leave `ids` empty if the protocol has no ids.
        public init(
            ids: [RPCID?] = [], isBatch: Bool = false, content: ResponseContent = .json
        ) {
            self.ids = ids
            self.isBatch = isBatch
            self.content = content
        }
    }

    /// The HTTP method.
    public var method: HTTPRequest.Method
    /// The path to append to the service's URL: escaped, beginning with `/`, without a query; nil
    /// to append nothing.
    public var path: String?
    /// The pairs to add to the URL's query: percent-encoded `name=value` pairs joined by `&`,
    /// without `?`; nil to add none.
    public var query: String?
    /// The request's own fields, such as Content-Type and Accept.
    public var fields: HTTPFields
    /// The body's bytes, signed and sent unchanged.
    public var body: [UInt8]
    /// The responses that unboxing expects.
    public var expected: Expected

    /// Creates a boxed request.
    public init(
        method: HTTPRequest.Method, path: String? = nil, query: String? = nil,
        fields: HTTPFields = [:], body: [UInt8] = [], expected: Expected = Expected()
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.fields = fields
        self.body = body
        self.expected = expected
    }

    /// Returns a request target (path and query) with `query` added. `target` has no fragment.
    public func target(joinedTo target: String) -> String {
        guard let query, !query.isEmpty else { return target }
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else {
            return target + "?" + query
        }
        let isOpen = target.utf8.index(after: mark) == target.endIndex || target.utf8.last == 0x26
        return target + (isOpen ? "" : "&") + query
    }
}
