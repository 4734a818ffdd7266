public import HTTPTypes
public import SignetJSON

/// Turns calls into messages and responses into results.
///
/// An adapter is a value without state of one call: what unboxing must know of the request travels
/// in `BoxedRequest.expected`. An API with an envelope of its own implements this protocol.
public protocol PayloadAdapter: Sendable {
    /// Boxes a call. Nothing has been sent where this throws.
    func box(_ call: RPCCall) throws(RPCError) -> BoxedRequest

    /// Unboxes the response to a call that this adapter boxed.
    func unbox(_ response: RawResponse, to request: BoxedRequest) throws(RPCError)
        -> UnboxedResponse
}

/// What an adapter makes of a call; the service's URL and common fields come from elsewhere.
public struct BoxedRequest: Sendable, Hashable {
    /// Which responses a request expects.
    public struct Expected: Sendable, Hashable {
        /// The id of each call in order; nil for a notification.
        public var ids: [RPCID?]
        /// Whether the calls went out as one array.
        public var isBatch: Bool

        /// Makes an expectation; a protocol without ids has none.
        public init(ids: [RPCID?] = [], isBatch: Bool = false) {
            self.ids = ids
            self.isBatch = isBatch
        }
    }

    /// The HTTP method.
    public var method: HTTPRequest.Method
    /// What is added to the path of the service's URL: escaped, beginning with `/`, without a query; nil
    /// is nothing.
    public var path: String?
    /// What joins the URL's query: percent-encoded `name=value` pairs joined by `&`, without `?`;
    /// nil is nothing.
    public var query: String?
    /// Content type and accept.
    public var fields: HTTPFields
    /// The body's bytes; they are signed and sent as they stand.
    public var body: [UInt8]
    /// What unboxing must know.
    public var expected: Expected

    /// Makes a boxed request.
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

    /// A request target (path and query) with `query` joined to it; a fragment is no part of one.
    public func target(joinedTo target: String) -> String {
        guard let query, !query.isEmpty else { return target }
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else {
            return target + "?" + query
        }
        let isOpen = target.utf8.index(after: mark) == target.endIndex || target.utf8.last == 0x26
        return target + (isOpen ? "" : "&") + query
    }
}

/// A response as it came, its body whole.
public struct RawResponse: Sendable, Hashable {
    /// The HTTP status.
    public var status: Int
    /// The fields.
    public var fields: HTTPFields
    /// The body's bytes, content codings undone.
    public var body: [UInt8]

    /// Makes a response.
    public init(status: Int, fields: HTTPFields = [:], body: [UInt8]) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// Whether the status is 2xx.
    public var isSuccess: Bool { (200..<300).contains(status) }
}

/// What came back for one call.
public struct UnboxedResponse: Sendable, Hashable {
    /// The result; nil for a notification only.
    public var result: RPCResult?
    /// The HTTP status.
    public var status: Int
    /// The response's fields, where the adapter hands them on, as REST does.
    public var fields: HTTPFields
    /// What the server did against the protocol without harm.
    public var warnings: [RPCWarning]

    /// Makes a response.
    public init(
        result: RPCResult?, status: Int, fields: HTTPFields = [:], warnings: [RPCWarning] = []
    ) {
        self.result = result
        self.status = status
        self.fields = fields
        self.warnings = warnings
    }
}

/// A result: JSON that has been read strictly, as bytes until somebody asks for a type.
public struct RPCResult: Sendable, Hashable {
    /// The JSON text, as the server wrote it.
    public let bytes: [UInt8]

    /// Takes a text that has been validated.
    init(validated bytes: [UInt8]) { self.bytes = bytes }

    /// Takes a tree.
    public init(_ value: JSONValue) { self.bytes = value.serialized() }

    /// Takes a JSON text.
    ///
    /// - Throws: `JSONError` where it is none.
    public init(parsing bytes: [UInt8]) throws(JSONError) {
        let reader = try JSONReader(bytes, recordedDepth: 0)
        self.bytes = reader.bytes(of: reader.root)
    }

    /// The result as a tree.
    public var value: JSONValue {
        (try? JSONValue(parsing: bytes)) ?? .null  // validated before, so it is valid again
    }

    /// The bytes of `value.serialized()`; no tree is built, which may take many times the text's size.
    package var compactBytes: [UInt8] { JSONReader.compact(validated: bytes) }

    /// Decodes the result.
    ///
    /// - Throws: `JSONError` that names path and byte offset, and no value.
    public func decode<Value: Decodable>(_ type: Value.Type) throws(JSONError) -> Value {
        try StrictJSONDecoder().decode(type, from: bytes)
    }
}

/// Something a server did against the protocol that harms nothing.
public struct RPCWarning: Sendable, Hashable, CustomStringConvertible {
    /// The kind of a warning; more may be added.
    public struct Code: Sendable, Hashable {
        private enum Value: String {
            case bodyForNotification = "body-for-notification"
            case resultWithStatus = "result-with-status"
            case duplicateResponse = "duplicate-reply"
            case unknownResponse = "unknown-reply"
            case malformedResponse = "malformed-reply"
            case stringifiedID = "stringified-id"
            case resultAndError = "result-and-error"
            case furtherWarnings = "further-warnings"
        }

        private let value: Value

        /// A notification was answered with a body.
        public static let bodyForNotification = Code(value: .bodyForNotification)
        /// A result came with a status that is not 2xx.
        public static let resultWithStatus = Code(value: .resultWithStatus)
        /// A second response to one call of a batch; the first one counts.
        public static let duplicateResponse = Code(value: .duplicateResponse)
        /// A response in a batch to no call of it.
        public static let unknownResponse = Code(value: .unknownResponse)
        /// A response in a batch that belongs to no call because it is malformed.
        public static let malformedResponse = Code(value: .malformedResponse)
        /// A number id came back as a string, and the adapter was told to take it.
        public static let stringifiedID = Code(value: .stringifiedID)
        /// A response has both result and error, and the adapter was told to take it.
        public static let resultAndError = Code(value: .resultAndError)
        /// There were more warnings than are kept.
        public static let furtherWarnings = Code(value: .furtherWarnings)

        /// The code's name in kebab-case.
        public var name: String { value.rawValue }
    }

    /// The kind of the warning.
    public let code: Code
    /// One line for people, without a value of the response.
    public let message: String

    /// Makes a warning.
    public init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
