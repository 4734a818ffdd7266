public import SignetBase
public import SignetJSON

/// An error in boxing a call, in its response, or on a connection's stream.
///
/// `message`, the description and a dump contain neither the error's `data` nor the response's
/// body.
public struct PayloadError: SignetError, Sendable, Hashable, CustomStringConvertible,
    CustomReflectable
{
    /// The type of `code`.
    public typealias Code = SignetErrorCode

    /// The kind of the error.
    public let code: Code
    /// A message for people: what was found, what was expected, and where. It contains no control
    /// characters and no `data`.
    public let message: String
    /// The response's HTTP status; nil without a response.
    public let status: Int?
    /// The server's own error; only with code `rpc-error`.
    public internal(set) var server: RPCServerError?
    /// The response's body; only with code `http-status`.
    public let body: [UInt8]
    /// The problem details of the response's body; only with code `http-status` and a body of type
    /// `application/problem+json` (RFC 9457).
    public let problem: ProblemDetails?

    /// Creates an error. `message` must contain neither a value from the response nor a secret.
    public init(
        _ code: Code, _ message: String, status: Int? = nil, server: RPCServerError? = nil,
        body: [UInt8] = [], problem: ProblemDetails? = nil
    ) {
        self.code = code
        self.message = message
        self.status = status
        self.server = server
        self.body = body
        self.problem = problem
    }

    /// Decodes the body of an error response, for an API with an error format of its own.
    ///
    /// - Throws: `JSONError` if the body is not strict JSON, or has another type.
    public func decodeResponse<Value: Decodable>(
        _ type: Value.Type, conventions: JSONConventions = JSONConventions()
    ) throws(JSONError) -> Value {
        try StrictJSONDecoder(conventions: conventions).decode(type, from: body)
    }

    /// The message.
    public var description: String { message }

    /// Code, message and status; neither `data` nor the body.
    public var customMirror: Mirror {
        Mirror(self, children: ["code": code.name, "message": message, "status": status as Any])
    }
}

extension PayloadError {
    /// Returns an error for the server's own error.
    public static func rpcError(_ error: RPCServerError, status: Int?) -> PayloadError {
        PayloadError(
            .rpcError, "the server responded with \(error.description)",
            status: status, server: error)
    }

    /// Returns an error for a status that is not 2xx, if the body is not a response of the
    /// protocol.
    public static func httpStatus(_ response: RawResponse) -> PayloadError {
        let problem = ProblemDetails(response)
        let title = problem?.title == nil ? "" : " (\(problem?.description ?? ""))"
        return PayloadError(
            .httpStatus,
            "the server responded with HTTP status \(response.status)\(title), expected 2xx"
                + (response.note.map { "; \($0)" } ?? ""),
            status: response.status, body: response.body, problem: problem)
    }

    /// Returns an error for a response that violates the protocol. `what` must contain no value
    /// from it.
    public static func malformedResponse(_ what: String, status: Int?) -> PayloadError {
        let place =
            status.map { (200..<300).contains($0) ? "" : " (HTTP status \($0))" } ?? ""
        return PayloadError(
            .malformedResponse, "the response is malformed\(place): \(what)",
            status: status)
    }

    /// Returns the error of a response that the protocol doesn't define: `malformed-response` if
    /// the status is 2xx, otherwise `http-status`.
    static func unusable(_ response: RawResponse, because what: String) -> PayloadError {
        guard response.isSuccess else { return .httpStatus(response) }
        return .malformedResponse(what, status: response.status)
    }

    package static func invalidParameters(_ what: String) -> PayloadError {
        PayloadError(.invalidParameters, what)
    }
}

extension SignetErrorCode {
    /// The server responded with an RPC error; `PayloadError.server` holds it.
    public static let rpcError = checkFailed("rpc-error", kind: .refused)
    /// The status is not 2xx and the body is not a response of the protocol.
    public static let httpStatus = checkFailed("http-status", kind: .refused)
    /// A call of a batch has no response.
    public static let batchIncomplete = noResponse("batch-incomplete", kind: .malformed)
    /// The protocol cannot express the parameters; nothing has been sent.
    public static let invalidParameters = usage("invalid-params")
    /// The protocol cannot express the method; nothing has been sent.
    public static let invalidMethod = usage("invalid-method")
    /// The method begins with `rpc.`, which is reserved; nothing has been sent.
    public static let reservedMethod = usage("reserved-method")
    /// An additional member has the name of one of the protocol's members; nothing has been
    /// sent.
    public static let reservedMember = usage("reserved-member")
    /// The generator's id is out of range, or the generator repeated one; nothing has been
    /// sent.
    public static let invalidCallID = usage("invalid-id")
    /// The batch contains no call; nothing has been sent.
    public static let emptyBatch = usage("empty-batch")
    /// The batch contains more calls than the limit; nothing has been sent.
    public static let batchTooLarge = usage("batch-too-large")
    /// The protocol doesn't have this kind of call, for example REST has no notifications;
    /// nothing has been sent.
    public static let unsupportedCall = usage("unsupported-call")
    /// A path, or a value in it, is invalid or would name another resource; nothing has been
    /// sent.
    public static let invalidPath = usage("invalid-path")
    /// The service's description doesn't contain the method; nothing has been sent.
    public static let unknownMethod = usage("unknown-method")
    /// The service's description is neither a valid OpenRPC 1.x nor a valid OpenAPI 3.x
    /// document.
    public static let malformedDescription = usage("malformed-description")
    /// This side closed the connection. Streams only.
    public static let connectionClosed = usage("connection-closed")
    /// The peer sent an invalid frame, so no later bytes can be read. Streams only.
    public static let malformedFrame = usage("malformed-frame")
    /// A message is longer than the limit. An outgoing one has not been sent. Streams only.
    public static let messageTooLarge = usage("message-too-large")
    /// As many calls as the limit allows are pending; nothing has been sent. Streams only.
    public static let tooManyCalls = usage("too-many-calls")
}
