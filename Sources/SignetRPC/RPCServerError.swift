public import SignetJSON

/// An error as the server tells it (JSON-RPC 2.0, section 5.1).
///
/// `data` often holds what no log should (an exception's arguments, a traceback), so neither the
/// description nor a dump shows it.
public struct RPCServerError: Error, Sendable, Hashable, CustomStringConvertible, CustomReflectable
{
    /// The codes that the protocols name.
    public enum Standard: Int64, Sendable, Hashable, CaseIterable {
        /// The text is no JSON (JSON-RPC 2.0, section 5.1).
        case parseError = -32700
        /// The JSON is no request.
        case invalidRequest = -32600
        /// There is no such method.
        case methodNotFound = -32601
        /// The method takes other parameters.
        case invalidParameters = -32602
        /// The server failed.
        case internalError = -32603
        /// The caller cancelled the call (Language Server Protocol 3.17, ErrorCodes).
        case requestCancelled = -32800

        /// The words that the protocols give the code.
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

    /// What a code means by its range (JSON-RPC 2.0, section 5.1).
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
        /// −32099 to −32000: the implementation's own.
        case serverError
        /// The rest of −32768 to −32000.
        case reserved
        /// Any other code: the application's own.
        case application
    }

    /// The code: always an integer, whose text may be longer than an `Int64` holds.
    public let code: JSONNumber
    /// The code of a protocol whose codes are texts, such as `"OUT_OF_STOCK"`; `code` is 0 then.
    public let textCode: String?
    /// The server's words, as they came; use `description` for people.
    public let message: String
    /// What the server adds; never printed.
    public let data: JSONValue?

    /// Makes an error.
    public init(code: JSONNumber, message: String, data: JSONValue? = nil) {
        self.code = code
        self.textCode = nil
        self.message = message
        self.data = data
    }

    /// Makes an error of a protocol whose codes are texts.
    public init(textCode: String, message: String, data: JSONValue? = nil) {
        self.code = JSONNumber(0)
        self.textCode = textCode
        self.message = message
        self.data = data
    }

    /// Makes an error with a code that the protocols name; its own words where `message` is nil.
    public init(_ standard: Standard, message: String? = nil, data: JSONValue? = nil) {
        self.init(
            code: JSONNumber(standard.rawValue), message: message ?? standard.message, data: data)
    }

    /// Decodes `data`; nil where there is none.
    ///
    /// - Throws: `JSONError` that names path and byte offset, and no value.
    public func decodeData<Value: Decodable>(_ type: Value.Type) throws(JSONError) -> Value? {
        guard let data else { return nil }
        return try StrictJSONDecoder().decode(type, from: data.serialized())
    }

    /// What the code means by its range.
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

    /// The error as the JSON object that came, without members the protocol does not know.
    public var object: JSONObject {
        var object: JSONObject = [
            "code": textCode.map(JSONValue.string) ?? .number(code), "message": .string(message),
        ]
        object["data"] = data
        return object
    }

    /// The code and the shortened message, control characters escaped, without `data`.
    public var description: String {
        "RPC error \(Printable.text(textCode ?? code.text, limit: 24)): \(Printable.text(message))"
    }

    /// The description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
