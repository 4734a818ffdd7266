import SignetBase
public import SignetJSON

/// An error reported by the server (JSON-RPC 2.0, section 5.1).
///
/// `data` often contains details that must not be logged (an exception's arguments, a traceback).
/// Neither the description nor a dump shows it.
public struct RPCServerError: Error, Sendable, Hashable, CustomStringConvertible, CustomReflectable
{
    /// The codes defined by the protocols.
    public enum Standard: Int64, Sendable, Hashable, CaseIterable {
        /// The text is not JSON (JSON-RPC 2.0, section 5.1).
        case parseError = -32700
        /// The JSON is not a request.
        case invalidRequest = -32600
        /// The method doesn't exist.
        case methodNotFound = -32601
        /// The method doesn't accept these parameters.
        case invalidParameters = -32602
        /// The server failed.
        case internalError = -32603
        /// The caller cancelled the call (Language Server Protocol 3.17, ErrorCodes).
        case requestCancelled = -32800

        /// The message that the protocols define for the code.
        public var message: String {
            switch self {
            case .parseError: "Parse error"
            case .invalidRequest: "Invalid Request"
            case .methodNotFound: "Method not found"
            case .invalidParameters: "Invalid params"
            case .internalError: "Internal error"
            case .requestCancelled: "Request cancelled"
            }
        }
    }

    /// The meaning of a code by its range (JSON-RPC 2.0, section 5.1).
    public enum Kind: Sendable, Hashable {
        /// −32700.
        case parseError
        /// −32600.
        case invalidRequest
        /// −32601.
        case methodNotFound
        /// −32602.
        case invalidParameters
        /// −32603.
        case internalError
        /// −32099 to −32000: defined by the server's implementation.
        case serverError
        /// The rest of −32768 to −32000.
        case reserved
        /// Any other code: defined by the application.
        case application
    }

    /// The code: an integer, which may be too large for an `Int64`.
    public let code: JSONNumber
    /// The code in protocols whose codes are text, such as `"OUT_OF_STOCK"`; `code` is then 0.
    public let textCode: String?
    /// The server's message, unchanged. For people use `description`, which escapes control
    /// characters.
    public let message: String
    /// The server's additional data. It is never printed.
    public let data: JSONValue?
    /// The conventions by which `data` is decoded; nil for those of `JSONConventions()`.
    package var conventions: JSONConventions?

    /// Creates an error.
    public init(code: JSONNumber, message: String, data: JSONValue? = nil) {
        self.code = code
        self.textCode = nil
        self.message = message
        self.data = data
    }

    /// Creates an error of a protocol whose codes are text.
    public init(textCode: String, message: String, data: JSONValue? = nil) {
        self.code = JSONNumber(0)
        self.textCode = textCode
        self.message = message
        self.data = data
    }

    /// Creates an error with a standard code; if `message` is nil, with the code's standard
    /// message.
    public init(_ standard: Standard, message: String? = nil, data: JSONValue? = nil) {
        self.init(
            code: JSONNumber(standard.rawValue), message: message ?? standard.message, data: data)
    }

    /// Decodes `data`; returns nil if there isn't one.
    ///
    /// - Throws: `JSONError` that names path and byte offset but no value.
    public func decodeData<Value: Decodable>(
        _ type: Value.Type, conventions: JSONConventions? = nil
    ) throws(JSONError) -> Value? {
        guard let data else { return nil }
        return try StrictJSONDecoder(
            conventions: conventions ?? self.conventions ?? JSONConventions()
        ).decode(type, from: data.serialized())
    }

    /// The meaning of the code by its range.
    public var kind: Kind {
        switch code.int64 {
        case -32700: .parseError
        case -32600: .invalidRequest
        case -32601: .methodNotFound
        case -32602: .invalidParameters
        case -32603: .internalError
        case .some(-32099 ... -32000): .serverError
        case .some(-32768 ... -32000): .reserved
        default: .application
        }
    }

    /// The error as a JSON object, without members unknown to the protocol.
    public var object: JSONObject {
        var object: JSONObject = [
            "code": textCode.map(JSONValue.string) ?? .number(code), "message": .string(message),
        ]
        object["data"] = data
        return object
    }

    /// The code and the shortened message, with control characters escaped, without `data`.
    public var description: String {
        "RPC error \(printable(textCode ?? code.text, limit: 24)): \(printable(message, limit: 200))"
    }

    /// The description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
