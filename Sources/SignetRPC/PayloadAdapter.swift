public import HTTPTypes
internal import SignetBase
public import SignetJSON

/// Turns calls into HTTP requests ("boxing") and responses into results ("unboxing").
///
/// An adapter holds no state of a single call: what unboxing must know about the request travels in
/// ``BoxedRequest/expected``. Conform to this protocol to support a protocol of your own:
///
/// ```swift
/// import HTTPTypes
/// import SignetJSON
/// import SignetRPC
///
/// struct PlainTextAdapter: PayloadAdapter {
///     func box(_ call: RPCCall) throws(RPCError) -> BoxedRequest {
///         guard !call.isNotification, case .object(let members)? = call.parameters else {
///             throw RPCError(.unsupportedCall, "expected parameters by name")
///         }
///         return BoxedRequest(
///             method: .post, path: "/" + call.method.name,
///             fields: [.contentType: "application/json"],
///             body: JSONValue.object(members).serialized())
///     }
///
///     func unbox(
///         _ response: RawResponse, to request: BoxedRequest
///     ) throws(RPCError) -> UnboxedResponse {
///         guard response.isSuccess else { throw .httpStatus(response) }
///         let text = String(decoding: response.body, as: UTF8.self)
///         return UnboxedResponse(result: RPCResult(.string(text)), status: response.status)
///     }
/// }
/// ```
public protocol PayloadAdapter: Sendable {
    /// Boxes a call. If this throws, nothing has been sent.
    func box(_ call: RPCCall) throws(RPCError) -> BoxedRequest

    /// Unboxes the response to a call that this adapter boxed.
    func unbox(_ response: RawResponse, to request: BoxedRequest) throws(RPCError)
        -> UnboxedResponse
}

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

/// An HTTP response with its whole body, not yet interpreted.
public struct RawResponse: Sendable, Hashable {
    /// The HTTP status.
    public var status: Int
    /// The response's fields.
    public var fields: HTTPFields
    /// The body's bytes, after content codings were decoded.
    public var body: [UInt8]
    /// The fields that followed the body (RFC 9110, section 6.5); nil if there were none.
    public var trailers: HTTPFields?

    /// Creates a response without trailers.
    public init(status: Int, fields: HTTPFields = [:], body: [UInt8]) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// Whether the status is 2xx.
    public var isSuccess: Bool { (200..<300).contains(status) }
}

extension RawResponse: CustomStringConvertible, CustomReflectable {
    /// The status, the names of the fields and the body's size; no value of a field and not the
    /// body.
    public var description: String {
        let names = fields.map(\.name.canonicalName).joined(separator: ", ")
        return "RawResponse(status: \(status), fields: [\(names)], body: \(body.count) bytes)"
    }

    /// The parts of the description, and the names of the trailers.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "status": status, "fields": fields.map(\.name.canonicalName),
                "body": "\(body.count) bytes",
                "trailers": trailers.map { $0.map(\.name.canonicalName) } as Any,
            ])
    }
}

/// The outcome of one call.
public struct UnboxedResponse: Sendable, Hashable {
    /// The result; nil for a notification, and for content that isn't JSON if the caller can read
    /// any.
    public var result: RPCResult?
    /// The HTTP status.
    public var status: Int
    /// The response's fields if the adapter passes them on, as ``RESTAdapter`` does; otherwise
    /// empty.
    public var fields: HTTPFields
    /// Harmless violations of the protocol by the server.
    public var warnings: [RPCWarning]
    /// The response as it was received, after content codings were decoded. An adapter needn't set
    /// it, because the network system does. Until then the body is the result's text.
    public var raw: RawResponse

    /// Creates an unboxed response.
    public init(
        result: RPCResult?, status: Int, fields: HTTPFields = [:], warnings: [RPCWarning] = []
    ) {
        self.result = result
        self.status = status
        self.fields = fields
        self.warnings = warnings
        self.raw = RawResponse(status: status, fields: fields, body: result?.bytes ?? [])
    }
}

/// A call's result: validated JSON text, parsed when a type is asked for.
public struct RPCResult: Sendable, Hashable {
    /// The JSON text, as the server wrote it.
    public let bytes: [UInt8]
    /// How the service writes dates and names members, for ``decode(_:)``. The client's system sets
    /// the conventions of the call.
    public var conventions = JSONConventions()

    /// Creates a result from JSON text that has been validated.
    package init(validated bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a result from a JSON value.
    public init(_ value: JSONValue) { self.bytes = value.serialized() }

    /// Creates a result from JSON text.
    ///
    /// - Throws: `JSONError` if the text is not strict JSON.
    public init(parsing bytes: [UInt8]) throws(JSONError) {
        let reader = try JSONReader(bytes, recordedDepth: 0)
        self.bytes = reader.bytes(of: reader.root)
    }

    /// The result as a JSON value.
    public var value: JSONValue {
        (try? JSONValue(parsing: bytes)) ?? .null  // validated before, so it is valid again
    }

    /// The bytes of `value.serialized()`, made without a tree, which may take many times the text's
    /// size.
    package var compactBytes: [UInt8] { JSONReader.compact(validated: bytes) }

    /// Decodes the result.
    ///
    /// - Throws: `JSONError` that names path and byte offset but no value.
    public func decode<Value: Decodable>(_ type: Value.Type) throws(JSONError) -> Value {
        try StrictJSONDecoder(conventions: conventions).decode(type, from: bytes)
    }
}

/// A harmless violation of the protocol by the server.
public struct RPCWarning: Sendable, Hashable, CustomStringConvertible {
    /// The kind of a warning. Later versions may add more.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's name in kebab-case.
        public let name: String
        /// The code's name.
        public var description: String { name }

        private init(_ name: String) { self.name = name }

        /// A notification's response has a body.
        public static let bodyForNotification = Code("body-for-notification")
        /// The response has a result although its status is not 2xx.
        public static let resultWithStatus = Code("result-with-status")
        /// A call has a second response; the first one counts.
        public static let duplicateResponse = Code("duplicate-reply")
        /// A response has no pending call's id.
        public static let unknownResponse = Code("unknown-reply")
        /// A malformed response names no call.
        public static let malformedResponse = Code(ErrorCode.malformedResponse.name)
        /// A numeric id came back as a string, and the adapter accepts that.
        public static let stringifiedID = Code("stringified-id")
        /// A response has both result and error, and the adapter accepts that.
        public static let resultAndError = Code("result-and-error")
        /// There were more warnings than are kept.
        public static let furtherWarnings = Code("further-warnings")
    }

    /// The kind of the warning.
    public let code: Code
    /// One line for people. It holds no value from the response.
    public let message: String

    /// Creates a warning.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
