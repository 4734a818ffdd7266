public import SignetJSON

/// Why a call could not be boxed, or why its response gives no result.
///
/// Neither `message` nor the description nor a dump holds the error's `data` or the response's body.
public struct RPCError: Error, Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The kind of an error.
    ///
    /// More may be added, so a `switch` over it needs a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case rpcError = "rpc-error"
            case httpStatus = "http-status"
            case malformedResponse = "malformed-reply"
            case responseTooLarge = "reply-too-large"
            case batchIncomplete = "batch-incomplete"
            case invalidParameters = "invalid-params"
            case invalidMethod = "invalid-method"
            case reservedMethod = "reserved-method"
            case reservedMember = "reserved-member"
            case invalidID = "invalid-id"
            case emptyBatch = "empty-batch"
            case batchTooLarge = "batch-too-large"
            case unsupportedCall = "unsupported-call"
            case invalidPath = "invalid-path"
            case unknownMethod = "unknown-method"
            case malformedDescription = "malformed-description"
            case timeout = "timeout"
            case cutOff = "cut-off"
            case connectionClosed = "connection-closed"
            case malformedFrame = "malformed-frame"
            case messageTooLarge = "message-too-large"
            case tooManyCalls = "too-many-calls"
        }

        private let value: Value

        /// The server answered with an RPC error; `RPCError.server` holds it.
        public static let rpcError = Code(value: .rpcError)
        /// The status is not 2xx and the body is no RPC response.
        public static let httpStatus = Code(value: .httpStatus)
        /// The response is not what the protocol demands.
        public static let malformedResponse = Code(value: .malformedResponse)
        /// The response's body is longer than the limit.
        public static let responseTooLarge = Code(value: .responseTooLarge)
        /// A call of a batch has no response.
        public static let batchIncomplete = Code(value: .batchIncomplete)
        /// The parameters cannot be said in this protocol; nothing has been sent.
        public static let invalidParameters = Code(value: .invalidParameters)
        /// The method cannot be said in this protocol; nothing has been sent.
        public static let invalidMethod = Code(value: .invalidMethod)
        /// The method begins with `rpc.`, which is reserved; nothing has been sent.
        public static let reservedMethod = Code(value: .reservedMethod)
        /// An additional member has one of the protocol's own names; nothing has been sent.
        public static let reservedMember = Code(value: .reservedMember)
        /// The generator's id is not in 1..<2^53, or one came twice; nothing has been sent.
        public static let invalidID = Code(value: .invalidID)
        /// The batch holds no call; nothing has been sent.
        public static let emptyBatch = Code(value: .emptyBatch)
        /// The batch holds more calls than the limit; nothing has been sent.
        public static let batchTooLarge = Code(value: .batchTooLarge)
        /// The protocol has no such call, for example a REST notification; nothing has been sent.
        public static let unsupportedCall = Code(value: .unsupportedCall)
        /// A path, or a value in it, cannot be sent or would name another resource; nothing has been
        /// sent.
        public static let invalidPath = Code(value: .invalidPath)
        /// The service's description has no such method; nothing has been sent.
        public static let unknownMethod = Code(value: .unknownMethod)
        /// What a service says of itself is neither OpenRPC 1.x nor OpenAPI 3.x.
        public static let malformedDescription = Code(value: .malformedDescription)

        /// The call's time has passed without a response; streams only.
        public static let timeout = Code(value: .timeout)
        /// The peer ended the stream, or the stream failed; streams only.
        public static let cutOff = Code(value: .cutOff)
        /// The connection was closed on this side; streams only.
        public static let connectionClosed = Code(value: .connectionClosed)
        /// The peer's bytes are no frame, so that nothing behind them can be read; streams only.
        public static let malformedFrame = Code(value: .malformedFrame)
        /// A message is longer than the limit; one of one's own has not been sent. Streams only.
        public static let messageTooLarge = Code(value: .messageTooLarge)
        /// As many calls as the limit allows are open; nothing has been sent. Streams only.
        public static let tooManyCalls = Code(value: .tooManyCalls)

        /// The code's name in kebab-case, as the tool prints it.
        public var name: String { value.rawValue }

        /// The code's name.
        public var description: String { name }
    }

    /// The kind of the error.
    public let code: Code
    /// Found, expected and where, for people; without control characters and never with `data`.
    public let message: String
    /// The response's HTTP status, where there was a response.
    public let status: Int?
    /// The server's own error, with code `rpc-error` only.
    public let server: RPCServerError?
    /// The response's body with code `http-status`, for those who know what the server writes there.
    public let body: [UInt8]
    /// What the response's body says of the error with code `http-status`, where it is
    /// `application/problem+json` (RFC 9457).
    public let problem: ProblemDetails?

    /// Makes an error; `message` must hold neither a value of the response nor a secret.
    public init(
        code: Code, message: String, status: Int? = nil, server: RPCServerError? = nil,
        body: [UInt8] = [], problem: ProblemDetails? = nil
    ) {
        self.code = code
        self.message = message
        self.status = status
        self.server = server
        self.body = body
        self.problem = problem
    }

    /// Decodes the body of an error response, for an API whose errors have a shape of their own.
    ///
    /// - Throws: `JSONError` where it is no strict JSON, or of another type.
    public func decodeBody<Value: Decodable>(_ type: Value.Type) throws(JSONError) -> Value {
        try StrictJSONDecoder().decode(type, from: body)
    }

    /// The message.
    public var description: String { message }

    /// Code, message and status; neither `data` nor the body.
    public var customMirror: Mirror {
        Mirror(self, children: ["code": code.name, "message": message, "status": status as Any])
    }
}

extension RPCError {
    /// The server's own error.
    public static func rpcError(_ error: RPCServerError, status: Int?) -> RPCError {
        RPCError(
            code: .rpcError, message: "the server answered with \(error.description)",
            status: status, server: error)
    }

    /// A status that is not 2xx, of a response that says nothing in the protocol.
    public static func httpStatus(_ response: RawResponse) -> RPCError {
        let problem = ProblemDetails(response)
        let title = problem?.title == nil ? "" : " (\(problem?.description ?? ""))"
        return RPCError(
            code: .httpStatus,
            message:
                "the server answered with HTTP status \(response.status)\(title), expected 2xx",
            status: response.status, body: response.body, problem: problem)
    }

    /// A response that is not what the protocol demands; `what` holds no value of it.
    public static func malformedResponse(_ what: String, status: Int?) -> RPCError {
        let place =
            status.map { (200..<300).contains($0) ? "" : " (HTTP status \($0))" } ?? ""
        return RPCError(
            code: .malformedResponse, message: "the response is malformed\(place): \(what)",
            status: status)
    }

    static func responseTooLarge(_ response: RawResponse, limit: Int) -> RPCError {
        RPCError(
            code: .responseTooLarge,
            message: "the response's body has \(response.body.count) bytes, the limit is \(limit)",
            status: response.status)
    }

    static func invalidParameters(_ what: String) -> RPCError {
        RPCError(code: .invalidParameters, message: what)
    }
}

/// Text of a server made fit for a line that people read.
enum Printable {
    /// A parameter's name in a message, short and in quotation marks.
    static func name(_ name: String) -> String { "\"\(text(name, limit: 64))\"" }

    /// The text with everything escaped that could move the cursor or turn the line around, and cut
    /// after `limit` scalars.
    static func text(_ text: String, limit: Int = 200) -> String {
        var result = ""
        for scalar in text.unicodeScalars.prefix(limit) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return text.unicodeScalars.dropFirst(limit).isEmpty ? result : result + "…"
    }
}
